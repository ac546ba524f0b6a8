#include "preflight/commit_wait.hpp"

#include "core/ascii.hpp"
#include "preflight/managed.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace walrelay::preflight {
namespace {

/// The names of synchronous_standby_names: `a, "b c"`, `2 (a, b)`, `FIRST 2 (a, b)`, `ANY 1 (*)`.
/// Source: PostgreSQL, src/backend/replication/syncrep_gram.y.
std::vector<std::string> names_of(std::string_view list) {
    if (const auto open = list.find('('); open != std::string_view::npos) {
        list = list.substr(open + 1, list.rfind(')') - open - 1);
    }
    std::vector<std::string> names(1);
    bool quoted = false;
    for (const char each : list) {
        if (each == '"') {
            quoted = !quoted;
        } else if (each == ',' && !quoted) {
            names.emplace_back();
        } else if (quoted || (each != ' ' && each != '\t')) {
            names.back() += each;
        }
    }
    std::erase(names, "");
    return names;
}

}  // namespace

void look_at_commit_wait(const std::vector<outbox_table>& wanted, const postgres_facts& facts,
                         findings_list& found) {
    const auto names = names_of(facts.synchronous_standbys);
    const auto own = lower(facts.application_name);
    const auto is_own = [&](const std::string& name) { return lower(name) == own; };
    const bool is_named = std::ranges::any_of(names, is_own);
    const bool is_anybody = std::ranges::find(names, "*") != names.end();
    // A standby has no commits of its own.
    if (facts.in_recovery || !(is_named || is_anybody)) {
        return;
    }
    const auto what =
        "synchronous_standby_names = '" + facts.synchronous_standbys + "' names " +
        (is_named ? "walrelay's connection (application_name " + facts.application_name + ")"
                  : std::string("every connection, also walrelay's")) +
        ": commits of the applications can wait until walrelay confirms them, for "
        "as long as the broker or walrelay is down";
    const auto remedy =
        "name only the standby servers: " +
        how_to_set(facts.service, {"synchronous_standby_names", "'...'"}) +
        " (where no standby is meant: ''); application_name in postgres.conninfo gives walrelay "
        "another name";
    const auto table = std::ranges::find_if(wanted, &outbox_table::needs_visible_rows);
    if (table == wanted.end()) {
        found.warning("commits_wait", what, remedy);
        return;
    }
    const auto deadlock = " The rows of table " + to_string(table->table) +
                          " are written back before walrelay confirms them, and cannot be seen "
                          "before their commit ends: the two wait for each other for ever";
    if (std::ranges::all_of(names, is_own)) {
        found.error("commits_wait_for_ever", what + "." + deadlock, remedy);
    } else {
        found.warning("commits_wait_for_ever",
                      what + "." + deadlock + ", unless enough standby servers confirm the commit",
                      remedy);
    }
}

}  // namespace walrelay::preflight
