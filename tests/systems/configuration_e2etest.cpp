// What `walrelay config` prints for the tables of the examples is a configuration to begin with.
#include "systems/system_test.hpp"

namespace walrelay::test {
namespace {

class Configuration : public system_test {
protected:
    /// For this example's table, with a slot and a stream of its own.
    finished_run print() const {
        return run_to_end({.program = WALRELAY_BINARY,
                           .arguments = {"config", "--postgres", bench.conninfo(), "--nats",
                                         bench.nats_url(), "--slot", std::get<0>(GetParam()),
                                         "--stream", bench.stream_name(), "--table", facts().table},
                           .folder = bench.folder(),
                           .name = "config"},
                          patience);
    }
};

TEST_P(Configuration, PrintedForATableIsEnoughToRelayIt) {
    const auto printed = print();
    ASSERT_EQ(printed.exit_code, 0) << printed.errors;
    bench.set_configuration(printed.output);
    const auto checked = bench.command({"config", "--check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.errors << printed.output;
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.output << made.errors << printed.output;
    const auto looked = bench.command({"check"});
    EXPECT_EQ(looked.exit_code, 0) << looked.output << looked.errors;
    bench.start();
    bench.write();
    const auto rows = static_cast<std::size_t>(facts().rows_per_write);
    EXPECT_EQ(bench.messages(rows).size(), rows);
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Configuration, all_systems_with_both_plugins(), system_name);

TEST(ConfigurationText, NamesColumnsRolesAndWhatMayBeAStatus) {
    const system_bench bench("bento", "pgoutput");
    const auto printed =
        run_to_end({.program = WALRELAY_BINARY,
                    .arguments = {"config", "--postgres", bench.conninfo(), "--table", "outbox"},
                    .folder = bench.folder(),
                    .name = "config"},
                   patience);
    for (const std::string part :
         {"# The columns of the table: id, tenant_id, aggregate_id,", "# No column plays version.",
          "\ntable = \"outbox\"\n",
          "\ncolumns = { id = \"id\", aggregate_type = \"aggregate_type\", aggregate_id = "
          "\"aggregate_id\", event_type = \"topic\", payload = \"payload\", metadata = "
          "\"event_metadata\", created_at = \"created_at\" }\n",
          "\nsubject = \"events.{aggregate_type|'none'}.{event_type}\"\n",
          "aggregate_type can be NULL", "# The column status seems to say",
          "\n#pending = \"status = 'NEW'\"\n",
          "\n#republish = { column = \"status\", value = \"NEW\" }\n",
          "\n#on_published = \"status = 'published'\"\n"}) {
        EXPECT_NE(printed.output.find(part), std::string::npos) << part << " in:\n"
                                                                << printed.output;
    }
}

}  // namespace
}  // namespace walrelay::test
