#include "relay/replay/replay_reader.hpp"

#include "relay/replay/replay_plan.hpp"
#include "unit/relay/frame_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t orders_oid = 16384;
constexpr std::uint32_t control_oid = 16385;
constexpr std::uint32_t old_oid = 16386;
constexpr std::uint32_t other_oid = 16387;

outbox_table orders() {
    outbox_table table;
    table.table = {"public", "orders"};
    table.subject = "events.{kind}";
    table.body = body_format::payload;
    table.columns.aggregate_id = "id";
    return table;
}

class ReplayReader : public testing::Test {
protected:
    /// What of the frames is given, as `id@commit/row`.
    std::vector<std::string> read(const std::vector<std::string>& frames,
                                  replay_range range = all(), replay_choice choice = {}) {
        std::vector<outbox::table_mapper> mappers;
        mappers.push_back(*outbox::table_mapper::make(orders()));
        postgres_facts facts;
        facts.tables.resize(1);
        facts.tables[0].table = {"public", "orders"};
        facts.other_tables.push_back({"public", "other"});
        replay_source source;
        source.max_row_bytes = 1U << 20U;
        source.line.origin = {7, 1};
        replay_reader reader(std::move(mappers), table_catalog({orders()}, facts), source,
                             std::move(range), std::move(choice));
        std::vector<std::string> given;
        ended_ = false;
        plan_ = {};
        for (const auto& frame : frames) {
            const auto done = reader.read(frame);
            EXPECT_TRUE(done) << done.error().what;
            ended_ = ended_ || done->ended;
            if (done->row) {
                plan_.add(*done->row);
                const auto& at = done->row->where.at;
                given.push_back((done->row->content->id.empty() ? to_string(done->row->source)
                                                                : done->row->content->id) +
                                "@" + to_string(at.commit) + "/" + to_string(at.row));
            }
        }
        return given;
    }
    static replay_range all() { return {{}, lsn{0x1000}}; }

    static std::vector<std::string> described(std::vector<std::string> more) {
        std::vector<std::string> frames{
            test::begin_frame(lsn{0x100}),
            test::relation_frame(orders_oid, "public", "orders", {"id", "kind", "payload"})};
        frames.insert(frames.end(), more.begin(), more.end());
        return frames;
    }

    bool ended_ = false;
    replay_plan plan_;
};

std::string row(const std::string& id, const std::string& kind, lsn at) {
    return test::insert_frame(orders_oid, {id, kind, "{}"}, at);
}

TEST_F(ReplayReader, GivesEveryRowWithItsOwnPosition) {
    const auto frames = described({row("a", "x", lsn{0x80}), row("b", "y", lsn{0x88}),
                                   test::commit_frame(lsn{0x100}, lsn{0x110})});
    EXPECT_THAT(read(frames), ElementsAre("a@0/100/0/80", "b@0/100/0/88"));
    EXPECT_FALSE(ended_);
    EXPECT_EQ(plan_.all.rows, 2U);
    EXPECT_EQ(plan_.transactions, 1U);
    EXPECT_EQ(plan_.by_subject.at("events.x").rows, 1U);
}

TEST_F(ReplayReader, KnowsARowThatIsTooLargeByItsId) {
    const std::string content(std::size_t{2} << 20U, 'x');
    const auto frames = described({test::insert_frame(orders_oid, {"a", "x", content}, lsn{0x80})});
    EXPECT_THAT(read(frames), ElementsAre("a@0/100/0/80"));
    EXPECT_EQ(plan_.too_large, 1U);
    EXPECT_EQ(plan_.all.rows, 0U);
}

TEST_F(ReplayReader, BeginsAndEndsAtTheVeryRow) {
    const auto frames =
        described({row("a", "x", lsn{0x80}), row("b", "x", lsn{0x88}), row("c", "x", lsn{0x90})});
    auto range = all();
    range.from = {lsn{0x100}, lsn{0x88}};
    EXPECT_THAT(read(frames, range), ElementsAre("b@0/100/0/88", "c@0/100/0/90"));
    range.last = commit_position{lsn{0x100}, lsn{0x88}};
    EXPECT_THAT(read(frames, range), ElementsAre("b@0/100/0/88"));
}

TEST_F(ReplayReader, EndsWithTheLastTransactionOfTheRange) {
    const auto frames =
        described({row("a", "x", lsn{0x80}), test::commit_frame(lsn{0x100}, lsn{0x110})});
    read(frames, {{}, lsn{0x110}});
    EXPECT_TRUE(ended_) << "no later transaction has to come";
    EXPECT_THAT(read(described({row("a", "x", lsn{0x80})}), {{}, lsn{0x100}}), IsEmpty());
    EXPECT_TRUE(ended_);
}

TEST_F(ReplayReader, ChoosesBySubjectAndAggregate) {
    const auto frames = described({row("a", "x.1", lsn{0x80}), row("b", "y", lsn{0x88})});
    replay_choice choice;
    choice.subject = "events.y";
    EXPECT_THAT(read(frames, all(), choice), ElementsAre("b@0/100/0/88"));
    choice.subject = "events.>";
    EXPECT_EQ(read(frames, all(), choice).size(), 2U);
    choice.subject.clear();
    choice.aggregates = {"/a"};
    EXPECT_THAT(read(frames, all(), choice), ElementsAre("a@0/100/0/80"));
}

TEST_F(ReplayReader, ChoosesByTimeOfCommit) {
    const auto frames = described({row("a", "x", lsn{0x80})});
    auto range = all();
    range.since = wall_time::max();
    EXPECT_THAT(read(frames, range), IsEmpty());
    range.since = wall_time::min();
    range.before = wall_time::min();
    EXPECT_THAT(read(frames, range), IsEmpty());
    range.before = wall_time::max();
    EXPECT_EQ(read(frames, range).size(), 1U);
}

TEST_F(ReplayReader, LeavesRowsOutThatWerePublishedAgain) {
    const auto frames = described(
        {test::relation_frame(control_oid, "walrelay", "control", {"kind", "event"}),
         test::insert_frame(control_oid, {"replay", "[]"}, lsn{0x80}),
         test::insert_frame(control_oid, {"retry", "[]"}, lsn{0x88}), row("a", "x", lsn{0x90})});
    EXPECT_THAT(read(frames), ElementsAre("a@0/100/0/90"));
}

TEST_F(ReplayReader, GivesRowsOfAnOutboxThatWasRenamedSince) {
    const auto frames =
        described({test::relation_frame(old_oid, "public", "old_orders", {"id", "kind", "payload"}),
                   test::insert_frame(old_oid, {"a", "x", "{}"}, lsn{0x80}),
                   test::relation_frame(other_oid, "public", "notes", {"text"}),
                   test::insert_frame(other_oid, {"hello"}, lsn{0x88})});
    EXPECT_THAT(read(frames), ElementsAre("public.old_orders@0/100/0/80"));
    EXPECT_EQ(plan_.unmappable, 1U);
    replay_choice choice;
    choice.tables = {0};
    EXPECT_THAT(read(frames, all(), choice), IsEmpty());
}

TEST_F(ReplayReader, CountsWhatCannotBeMapped) {
    const auto frames = described({test::insert_frame(orders_oid, {"a", {}, "{}"}, lsn{0x80})});
    EXPECT_EQ(read(frames).size(), 1U);
    EXPECT_EQ(plan_.unmappable, 1U);
    replay_choice choice;
    choice.subject = "events.>";
    EXPECT_THAT(read(frames, all(), choice), IsEmpty()) << "nobody knows its subject";
}

TEST_F(ReplayReader, TellsOfAFrameThatIsNone) {
    std::vector<outbox::table_mapper> mappers;
    replay_source source;
    replay_reader reader(std::move(mappers), {}, source, all(), {});
    EXPECT_FALSE(reader.read("x"));
}

}  // namespace
}  // namespace walrelay::relay
