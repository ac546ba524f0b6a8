// Every example runs as the role of least privilege that sql/role.sql makes.
#include "systems/system_test.hpp"

namespace walrelay::test {
namespace {

class Roles : public system_test {
protected:
    /// As an administrator would: psql -f sql/role.sql.
    void make_role(const std::string& role) const {
        run_to_success(
            {.program = (postgres_binary_folder() / "psql").string(),
             .arguments = {"-X", "-q", "-d", bench.conninfo(), "-v", "role=" + role, "-v",
                           "outbox=" + facts().table, "-f", WALRELAY_SQL_FOLDER "/role.sql"},
             .folder = bench.folder(),
             .name = "psql"},
            patience);
    }
};

TEST_P(Roles, OfLeastPrivilegeIsEnough) {
    static int roles = 0;
    const auto role = "relay_" + std::to_string(++roles);
    make_role(role);
    // What role.sql asks for where an UPDATE publishes a row again.
    bench.execute("ALTER PUBLICATION walrelay SET (publish = 'insert, update')");
    bench.set("WALRELAY_POSTGRES_CONNINFO", bench.conninfo() + " user=" + role);
    bench.write();
    bench.start();
    const auto poison = bench.value_of(facts().poison);
    bench.write();
    const auto rows = static_cast<std::size_t>(2 * facts().rows_per_write);
    EXPECT_EQ(bench.messages(rows).size(), rows);
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows)));
    EXPECT_TRUE(bench.becomes(state_of(poison), facts().dead));
    EXPECT_TRUE(bench.becomes("SELECT count(*) FROM walrelay.dead_letter", "1"));
    update(poison, facts().cure + ", " + facts().replay);
    EXPECT_EQ(bench.messages(rows + 1).size(), rows + 1);
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Roles, all_systems_with_both_plugins(), system_name);

}  // namespace
}  // namespace walrelay::test
