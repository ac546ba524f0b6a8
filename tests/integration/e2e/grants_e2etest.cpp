// The rights on an outbox that docs/security.md gives for each use of it are enough, to the column,
// and none of them is too much.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

struct use_of_outbox {
    const char* name;
    /// Of the outbox.
    const char* toml;
    /// As GRANT takes them; one at a time is left out.
    std::vector<std::string> rights;
    /// Rows that are as the use leaves them, where it changes them.
    const char* done = "true";
    std::vector<std::string> command = {};
};

const std::vector<use_of_outbox>& uses() {
    static const std::vector<use_of_outbox> all = {
        {"relay", "", {}},
        {"on_published",
         "on_published = \"status = 'sent', published_at = now()\"\npending = \"status = 'new'\"",
         {"SELECT (id, status)", "UPDATE (status, published_at)"},
         "status = 'sent' AND published_at IS NOT NULL"},
        {"on_dead_letter",
         "on_dead_letter = \"status = 'dead', last_error = {error}\"",
         {"SELECT (id)", "UPDATE (status, last_error)"}},
        {"delete_at_once", "delete_after = '0s'", {"SELECT (id)", "DELETE"}, "false"},
        {"delete_later", "delete_after = '1s'", {"SELECT (id)", "DELETE"}, "false"},
        {"verify", "", {"SELECT (id, created_at)"}, "true", {"verify"}},
        {"verify_since_slot",
         "",
         {"SELECT (id, created_at, xmin)"},
         "true",
         {"verify", "--since-slot"}}};
    return all;
}

class Grants : public testing::TestWithParam<std::tuple<std::size_t, const char*>> {
protected:
    const use_of_outbox& use() const { return uses()[std::get<0>(GetParam())]; }

    void SetUp() override {
        role_ = "limited_of_" + bench.database();
        bench.create_table();
        bench.set_outbox(std::string("[[outbox]]\ntable = 'outbox_events'\n"
                                     "subject = '%.{aggregate_type}.{event_type}'\n") +
                         use().toml);
        const auto init = bench.command({"init"});
        ASSERT_EQ(init.exit_code, 0) << init.errors;
        bench.execute("CREATE ROLE " + role_ +
                      " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " + role_ +
                      "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay "
                      "TO " +
                      role_);
        for (const auto& right : use().rights) {
            grant(right);
        }
        bench.set_conninfo(bench.conninfo() + " user=" + role_);
    }

    void grant(const std::string& right) const {
        bench.execute("GRANT " + right + " ON outbox_events TO " + role_);
    }
    void revoke(const std::string& right) const {
        bench.execute("REVOKE " + right + " ON outbox_events FROM " + role_);
    }

    relay_bench bench{shared_postgres(), shared_nats(), std::get<1>(GetParam())};
    std::string role_;
};

TEST_P(Grants, AreEnough) {
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, "
        "event_data, status, version, created_at) SELECT gen_random_uuid(), 'order', "
        "'a', 'placed', '{}', 'new', n, now() FROM generate_series(1, 50) AS n");
    ASSERT_TRUE(bench.wait_for_messages(50));
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM outbox_events WHERE NOT (" +
                                        std::string(use().done) + ")") == "0";
    }));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_THAT(bench.relay().log(), testing::Not(testing::HasSubstr("warning")))
        << "none is missed";
    if (!use().command.empty()) {
        const auto ran = bench.command(use().command);
        EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    }
}

TEST_P(Grants, AreAllNeeded) {
    for (const auto& right : use().rights) {
        revoke(right);
        const auto found = bench.command(use().command.empty() ? std::vector<std::string>{"check"}
                                                               : use().command);
        EXPECT_NE(found.exit_code, 0) << "without " << right;
        EXPECT_THAT(found.output + found.errors, testing::HasSubstr("GRANT ")) << right;
        grant(right);
    }
}

INSTANTIATE_TEST_SUITE_P(
    , Grants, testing::Combine(testing::Range(std::size_t{0}, uses().size()), both_plugins()),
    [](const auto& with) {
        return std::string(uses()[std::get<0>(with.param)].name) + "_" + std::get<1>(with.param);
    });

}  // namespace
}  // namespace walrelay::test
