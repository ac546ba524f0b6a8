// The keys of [[outbox]] that say what is done with rows, and those of other sections that go with
// them.
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(OutboxRows, AreLeftAloneByDefault) {
    const auto loaded = must_load_beside_essentials("");
    const outbox_table& table = loaded.outbox[0];
    EXPECT_EQ(table.pending, "");
    EXPECT_FALSE(table.republish.has_value());
    EXPECT_EQ(table.on_published, "");
    EXPECT_EQ(table.on_dead_letter, "");
    EXPECT_EQ(table.delete_after, std::nullopt);
    EXPECT_EQ(loaded.postgres.snapshot, snapshot_mode::none);
    EXPECT_EQ(loaded.delivery.on_slot_loss, slot_loss_policy::halt);
}

TEST(OutboxRows, TakeWhatIsWrittenBack) {
    const auto loaded = must_load_beside_essentials(
        "pending = \"status = 'pending'\"\n"
        "republish = { column = \"status\", value = \"pending\" }\n"
        "on_published = \"status = 'published', published_at = now()\"\n"
        "on_dead_letter = \"last_error = left({error}, 500), retry_count = {attempts}\"\n"
        "delete_after = \"7d\"\n"
        "[delivery]\non_slot_loss = \"heal\"\n");
    const outbox_table& table = loaded.outbox[0];
    EXPECT_EQ(table.pending, "status = 'pending'");
    ASSERT_TRUE(table.republish.has_value());
    EXPECT_EQ(table.republish->column, "status");
    EXPECT_EQ(table.republish->value, "pending");
    EXPECT_EQ(table.on_published, "status = 'published', published_at = now()");
    EXPECT_EQ(table.on_dead_letter, "last_error = left({error}, 500), retry_count = {attempts}");
    EXPECT_EQ(table.delete_after, 7 * 24h);
    EXPECT_EQ(loaded.delivery.on_slot_loss, slot_loss_policy::heal);
}

TEST(OutboxRows, TellDeletingAtOnceFromKeeping) {
    EXPECT_EQ(must_load_beside_essentials("delete_after = \"0s\"\n").outbox[0].delete_after, 0ms);
}

TEST(OutboxRows, LetAnEmptyVariableTakeATimeBack) {
    auto from = from_file(essentials + "delete_after = \"1d\"\n");
    from.variables = {{"WALRELAY_OUTBOX_DELETE_AFTER", ""}};
    EXPECT_EQ(must_load(from).outbox[0].delete_after, std::nullopt);
}

TEST(OutboxRows, RefuseATimeThatIsNone) {
    EXPECT_THAT(problems_beside_essentials("delete_after = \"a week\"\n"),
                ElementsAre("walrelay.toml:5: outbox.delete_after: \"a week\" is not a duration; "
                            "fix: write a number and a unit, such as \"250ms\", \"5s\" or "
                            "\"7d\""));
}

TEST(Republish, NeedsColumnAndValue) {
    constexpr const char* fix =
        "; fix: write it like { column = \"status\", value = \"pending\" } or "
        "{ column = \"sent_at\", is = \"null\" }";
    EXPECT_THAT(
        problems_beside_essentials("republish = { colum = \"a\", value = \"b\" }\n"),
        ElementsAre(std::string("walrelay.toml:5: outbox.republish.colum: is not a member of it") +
                    fix));
    EXPECT_THAT(problems_beside_essentials("republish = { value = \"b\" }\n"),
                ElementsAre(std::string("walrelay.toml:5: outbox.republish: has no column") + fix));
    EXPECT_THAT(
        problems_beside_essentials("republish = { column = \"\", value = \"b\" }\n"),
        ElementsAre(std::string("walrelay.toml:5: outbox.republish.column: names no column") +
                    fix));
    EXPECT_THAT(problems_beside_essentials("republish = \"status\"\n"),
                ElementsAre(std::string("walrelay.toml:5: outbox.republish: expected a table of "
                                        "strings, found a string") +
                            fix));
    EXPECT_EQ(problems_beside_essentials("republish = { column = \"a\", value = 1 }\n").size(), 1U);
}

TEST(Republish, TakesNullInPlaceOfAValue) {
    const auto loaded =
        must_load_beside_essentials("republish = { column = \"sent_at\", is = \"null\" }\n");
    ASSERT_TRUE(loaded.outbox[0].republish.has_value());
    EXPECT_EQ(loaded.outbox[0].republish->value, std::nullopt);
    const auto problem = [](const std::string& members) {
        const auto all = problems_beside_essentials("republish = { " + members + " }\n");
        return all.size() == 1 ? all.front().substr(0, all.front().find("; fix: ")) : "";
    };
    EXPECT_EQ(problem("column = \"a\""),
              "walrelay.toml:5: outbox.republish: has neither value nor is");
    EXPECT_EQ(problem("column = \"a\", value = \"b\", is = \"null\""),
              "walrelay.toml:5: outbox.republish: has both value and is");
    EXPECT_EQ(problem("column = \"a\", is = \"NULL\""),
              "walrelay.toml:5: outbox.republish.is: can only be \"null\"");
}

TEST(NullPayload, IsForTheBodyThatIsThePayload) {
    EXPECT_FALSE(must_load_beside_essentials("body = \"payload\"\n").outbox[0].keeps_tombstones);
    EXPECT_TRUE(must_load_beside_essentials("body = \"payload\"\nnull_payload = \"tombstone\"\n")
                    .outbox[0]
                    .keeps_tombstones);
    EXPECT_THAT(problems_beside_essentials("null_payload = \"tombstone\"\n"),
                ElementsAre("walrelay.toml:5: outbox.null_payload: \"tombstone\" is for messages "
                            "that are the payload alone, and body is another one; fix: remove "
                            "null_payload, or write body = \"payload\""));
}

TEST(Republish, TakesAnEmptyValue) {
    const auto loaded =
        must_load_beside_essentials("republish = { column = \"a\", value = \"\" }\n");
    ASSERT_TRUE(loaded.outbox[0].republish.has_value());
    EXPECT_EQ(loaded.outbox[0].republish->value, "");
}

sources with_snapshot(const std::string& mode, const std::string& text) {
    auto from = from_file(essentials + text);
    from.flags = {{"postgres.snapshot", mode}};
    return from;
}

TEST(Snapshot, OfPendingRowsAsksEveryTableWhichTheyAre) {
    EXPECT_THAT(
        problems_of(with_snapshot("pending", "pending = \"a\"\n[[outbox]]\ntable = \"b\"\n")),
        ElementsAre("walrelay.toml:6: outbox.pending: is not set, but postgres.snapshot = "
                    "\"pending\" asks for it, see --snapshot; fix: write pending = "
                    "\"status = 'pending'\" in this entry, in the terms of the table"));
}

TEST(Snapshot, TakesItsModes) {
    EXPECT_EQ(must_load(with_snapshot("pending", "pending = \"a\"\n")).postgres.snapshot,
              snapshot_mode::pending);
    EXPECT_EQ(must_load(with_snapshot("all", "")).postgres.snapshot, snapshot_mode::all);
    EXPECT_EQ(must_load(with_snapshot("none", "")).postgres.snapshot, snapshot_mode::none);
}

TEST(Snapshot, DoesNotBlameATableForAPredicateThatIsWrong) {
    EXPECT_EQ(problems_of(with_snapshot("pending", "pending = \"a;\"\n")).size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
