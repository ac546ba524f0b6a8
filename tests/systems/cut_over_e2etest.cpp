// From the poller to walrelay while writers go on: what was pending comes first, and every row that
// the poller had not published is in the stream once.
#include "systems/busy_service.hpp"
#include "systems/system_test.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace walrelay::test {
namespace {

using texts = std::vector<std::string>;

/// Rows of a snapshot have an LSN at which no WAL record can begin.
bool is_of_snapshot(const stored_message& message) {
    const auto position = message.header("Walrelay-Position");
    const auto end = position.rfind('.');
    constexpr std::size_t lsn_digits = 16;
    std::uint64_t lsn = 0;
    const auto* const first = position.data() + end - lsn_digits;
    std::from_chars(first, first + lsn_digits, lsn, lsn_digits);
    return lsn % 8 != 0;
}

class CutOver : public system_test {
protected:
    /// Some rows that the poller has published; returns their ids.
    texts published_by_the_poller() {
        bench.write(4);
        bench.execute("UPDATE " + facts().table + " SET " + facts().poller_mark);
        return row_ids();
    }

    /// Some that it has not, one of them half-way; returns their ids.
    texts left_by_the_poller(const texts& published, int writes) {
        bench.write(writes);
        const auto left = without(row_ids(), published);
        update(left.front(), facts().half_way);
        return left;
    }

    static texts without(const texts& all, const texts& some) {
        texts rest;
        std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                            std::back_inserter(rest));
        return rest;
    }

    static texts sorted_ids(const std::vector<stored_message>& messages) {
        auto ids = ids_of(messages);
        std::sort(ids.begin(), ids.end());
        return ids;
    }

    [[nodiscard]] testing::AssertionResult verified_without(const texts& published) {
        std::string list;
        for (const auto& id : published) {
            list += (list.empty() ? "" : ", ") + as_literal(id);
        }
        const auto run =
            bench.command({"verify", "--where", facts().message_id + " NOT IN (" + list + ")"});
        return (run.exit_code == 0 ? testing::AssertionSuccess() : testing::AssertionFailure())
               << run.output << run.errors;
    }
};

TEST_P(CutOver, PendingRowsComeFirstAndNoneIsLostOrTwiceWhileWritersGoOn) {
    const auto published = published_by_the_poller();
    const auto left = left_by_the_poller(published, 10);
    busy_service service(bench);
    bench.start();
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), left.size() + 40, patience));
    service.stop();

    const auto wanted = without(row_ids(), published);
    const auto messages = bench.messages(wanted.size());
    EXPECT_EQ(sorted_ids(messages), wanted);
    const auto streamed = std::find_if_not(messages.begin(), messages.end(), is_of_snapshot);
    EXPECT_TRUE(std::none_of(streamed, messages.end(), is_of_snapshot));
    EXPECT_GE(std::distance(streamed, messages.end()), 1);
    const auto first = sorted_ids({messages.begin(), streamed});
    EXPECT_TRUE(std::includes(first.begin(), first.end(), left.begin(), left.end()));
    bench.stop();
    EXPECT_TRUE(verified_without(published));
}

/// For what does not depend on the columns: two systems stand for all.
using CutOverAgain = CutOver;

TEST_P(CutOverAgain, IsNotRepeatedByTheNextStart) {
    const auto published = published_by_the_poller();
    const auto left = left_by_the_poller(published, 3);
    bench.start();
    EXPECT_EQ(sorted_ids(bench.messages(left.size())), left);
    bench.stop();
    bench.start();
    bench.write();
    const auto rows = static_cast<std::size_t>(facts().rows_per_write);
    EXPECT_EQ(bench.messages(left.size() + rows).size(), left.size() + rows);
    bench.stop();
    EXPECT_TRUE(verified_without(published));
}

TEST_P(CutOverAgain, GoesOnWhereACrashEndedIt) {
    const auto published = published_by_the_poller();
    const auto left = left_by_the_poller(published, 150);
    busy_service service(bench);
    bench.launch();
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), 1, patience));
    bench.kill_9();
    bench.start();
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), left.size() + 40, patience));
    service.stop();

    const auto wanted = without(row_ids(), published);
    EXPECT_EQ(sorted_ids(bench.messages(wanted.size())), wanted);
    bench.stop();
    EXPECT_TRUE(verified_without(published));
}

INSTANTIATE_TEST_SUITE_P(, CutOver, all_systems_with_both_plugins(), system_name);
INSTANTIATE_TEST_SUITE_P(, CutOverAgain,
                         testing::Combine(testing::Values("events", "wallet"), both_plugins()),
                         system_name);

}  // namespace
}  // namespace walrelay::test
