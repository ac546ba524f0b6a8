// See postgres_standby.hpp.
#include "support/postgres_standby.hpp"

#include "support/eventually.hpp"

#include <fstream>
#include <stdexcept>

namespace walrelay::test {
namespace {

void need_slot(const std::string& primary, const std::string& slot) {
    postgres_session session(primary);
    (void)session.query(
        "SELECT pg_create_physical_replication_slot($1, true) WHERE NOT EXISTS "
        "(SELECT FROM pg_replication_slots WHERE slot_name = $1)",
        {slot});
}

void write_standby_signal(const std::filesystem::path& data) {
    std::ofstream file(data / "standby.signal");
    if (!file.flush()) {
        throw std::runtime_error("cannot write standby.signal");
    }
}

std::string quoted_for_configuration(const std::string& text) {
    std::string quoted = "'";
    for (const char each : text) {
        quoted += each == '\'' ? std::string("''") : std::string(1, each);
    }
    return quoted + "'";
}

}  // namespace

postgres_standby::postgres_standby(const std::string& primary, const standby_options& options)
    : postgres_instance("standby", options.binaries) {
    if (!options.slot.empty()) {
        need_slot(primary, options.slot);
    }
    run_program("pg_basebackup", {"--dbname=" + primary, "--pgdata=" + data().string(),
                                  "--checkpoint=fast", "--wal-method=stream", "--no-sync"});
    std::vector<std::string> lines{
        "primary_conninfo = " +
            quoted_for_configuration(primary + " application_name=" + options.name),
        "primary_slot_name = " + quoted_for_configuration(options.slot),
        std::string("hot_standby = ") + (options.hot_standby ? "on" : "off"),
    };
    lines.insert(lines.end(), options.settings.begin(), options.settings.end());
    configure(lines);
    write_standby_signal(data());
    expect_queries(options.hot_standby);
    start();
    expect_queries(true);
}

void postgres_standby::promote() {
    run_program("pg_ctl", {"promote", "--pgdata=" + data().string(), "--wait"});
    if (!eventually(std::chrono::seconds(60),
                    [this] { return session().value_of("SELECT pg_is_in_recovery()") == "f"; })) {
        throw std::runtime_error("the standby does not become a primary; its log:\n" + log());
    }
}

void postgres_standby::catch_up(const postgres_instance& primary) const {
    const auto target = primary.session().value_of("SELECT pg_current_wal_flush_lsn()");
    if (!eventually(std::chrono::seconds(30), [&] {
            return session().value_of("SELECT pg_last_wal_replay_lsn() >= " + as_literal(target) +
                                      "::pg_lsn") == "t";
        })) {
        throw std::runtime_error("the standby does not catch up; its log:\n" + log());
    }
}

}  // namespace walrelay::test
