#include "audit/bucket_store.hpp"

#include "audit/id_facts.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace walrelay::audit {
namespace {

class BucketStore : public testing::Test {
protected:
    spill_file& file() { return *file_; }

    static void fill(bucket_store& store, std::uint64_t ids, std::uint64_t times) {
        for (std::uint64_t time = 1; time <= times; ++time) {
            for (std::uint64_t id = 0; id < ids; ++id) {
                ASSERT_TRUE(store.add(
                    {record_kind::message, time, 0, {lsn{time}, {}, 0}, std::to_string(id)}));
            }
        }
        ASSERT_TRUE(store.finish());
    }

    /// How often each id was visited, and with how many messages.
    std::map<std::string, std::vector<std::uint64_t>> visit(const bucket_store& store,
                                                            std::uint64_t bucket_bytes) {
        std::map<std::string, std::vector<std::uint64_t>> visits;
        EXPECT_TRUE(for_each_id(store, file(), bucket_bytes,
                                [&](std::string_view id, id_facts& facts) -> result<void> {
                                    visits[std::string(id)].push_back(facts.messages);
                                    EXPECT_EQ(facts.first_message.number, 1U);
                                    EXPECT_EQ(facts.last_message.number, facts.messages);
                                    return {};
                                }));
        return visits;
    }

private:
    test::temporary_folder folder_{"buckets"};
    result<spill_file> file_ = spill_file::make(folder_.path(), 0);
};

TEST_F(BucketStore, KeepsRecordsOfABucketInTheirOrder) {
    bucket_store store(file(), {2, 0, 32});
    fill(store, 50, 4);
    std::uint64_t all = 0;
    for (std::size_t bucket = 0; bucket < store.bucket_count(); ++bucket) {
        std::uint64_t last = 0;
        ASSERT_TRUE(store.for_each(bucket, [&](const record& one) -> result<void> {
            EXPECT_GE(one.number, last);
            last = one.number;
            ++all;
            return {};
        }));
    }
    EXPECT_EQ(all, 200U);
}

TEST_F(BucketStore, BringsEqualIdsTogether) {
    bucket_store store(file(), {4, 0, 64});
    fill(store, 300, 3);
    const auto visits = visit(store, 1'000'000);
    EXPECT_EQ(visits.size(), 300U);
    for (const auto& [id, counts] : visits) {
        EXPECT_EQ(counts, std::vector<std::uint64_t>{3}) << id;
    }
}

TEST_F(BucketStore, SplitsBucketsThatAreTooLargeForTheMemory) {
    bucket_store store(file(), {0, 0, 64});
    fill(store, 1000, 3);
    const auto visits = visit(store, 200);
    EXPECT_EQ(visits.size(), 1000U);
    for (const auto& [id, counts] : visits) {
        EXPECT_EQ(counts, std::vector<std::uint64_t>{3}) << id;
    }
}

TEST_F(BucketStore, AsManyCopiesOfOneIdAsOneLikesEndTheSplitting) {
    bucket_store store(file(), {0, 0, 64});
    fill(store, 1, 2000);
    const auto visits = visit(store, 100);
    ASSERT_EQ(visits.size(), 1U);
    EXPECT_EQ(visits.at("0"), std::vector<std::uint64_t>{2000});
}

TEST_F(BucketStore, HoldsNoMoreInMemoryThanAChunkForEachBucket) {
    bucket_store store(file(), {1, 0, 100});
    std::uint64_t added_bytes = 0;
    for (std::uint64_t id = 0; id < 10'000; ++id) {
        const auto text = std::to_string(id);
        const record one{record_kind::row, id, 0, {}, text};
        std::string bytes;
        append_to(bytes, one);
        added_bytes += bytes.size();
        ASSERT_TRUE(store.add(one));
        const auto written_bytes = store.size_bytes(0) + store.size_bytes(1);
        ASSERT_LE(added_bytes - written_bytes, 200U);
    }
}

TEST_F(BucketStore, AFailedVisitEndsTheReading) {
    bucket_store store(file(), {1, 0, 64});
    fill(store, 10, 1);
    int visits = 0;
    const auto ended =
        for_each_id(store, file(), 1000, [&](std::string_view, const id_facts&) -> result<void> {
            ++visits;
            return error{errc::temporary_file, "enough"};
        });
    EXPECT_FALSE(ended);
    EXPECT_EQ(visits, 1);
}

}  // namespace
}  // namespace walrelay::audit
