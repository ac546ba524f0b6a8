#include "postgres/session/server_error.hpp"

#include "core/ascii.hpp"
#include "core/gap_words.hpp"
#include "core/sql_text.hpp"
#include "postgres/session/connect_error.hpp"
#include "postgres/session/refusal.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace walrelay::postgres {
namespace {

/// A connection does not know of which service the server is.
constexpr std::string_view or_as_the_service_does =
    " (a managed service has a way of its own, which walrelay check names)";

error unsuitable(std::string what, std::string remedy) {
    return {errc::postgres_unsuitable, std::move(what), std::move(remedy)};
}

error explain_missing_library(const server_context& context) {
    const auto major = context.version_number / 10'000;
    const auto package = major > 0 ? fmt::format("postgresql-{}-wal2json", major)
                                   : std::string{"postgresql-<major version>-wal2json"};
    return unsuitable("the output plugin wal2json is not installed on the server of PostgreSQL",
                      fmt::format("apt-get install {} on that server{}; or set postgres.plugin = "
                                  "\"pgoutput\"",
                                  package, or_as_the_service_does));
}

error explain_refused_plugin() {
    return unsuitable("PostgreSQL does not allow wal2json as an output plugin",
                      allow_wal2json_sql() +
                          " (a list of names: put no quotes around it, PostgreSQL would take them "
                          "for one name and refuse pgoutput as well; keep what the list holds "
                          "already; a managed service has a parameter for it, which walrelay "
                          "check names), or set postgres.plugin = \"pgoutput\"");
}

/// Errors of loading an output plugin: wherever a slot is created, started or peeked at.
std::optional<error> explain_plugin(const server_report& report, const server_context& context) {
    if (context.plugin != output_plugin::wal2json) {
        return std::nullopt;
    }
    if (report.sqlstate == sqlstate::insufficient_privilege &&
        (mentions(report, "output plugin") || mentions(report, "\"wal2json\""))) {
        return explain_refused_plugin();
    }
    if (report.sqlstate == sqlstate::undefined_file && mentions(report, "wal2json")) {
        return explain_missing_library(context);
    }
    return std::nullopt;
}

/// 55000 stands for four states of a slot and for wal_level.
error explain_state(const server_report& report, const server_context& context) {
    if (mentions(report, "wal_level")) {
        return unsuitable(
            "PostgreSQL does not write what logical decoding needs: wal_level is not "
            "logical",
            fmt::format("ALTER SYSTEM SET wal_level = logical; then restart PostgreSQL{}",
                        or_as_the_service_does));
    }
    if (mentions(report, "was not created in this database")) {
        return unsuitable(fmt::format("the slot {} belongs to another database than {}",
                                      context.slot, context.database),
                          "set postgres.slot to another name, or dbname in postgres.conninfo to "
                          "the slot's database");
    }
    if (mentions(report, "physical replication slot")) {
        return unsuitable(fmt::format("the slot {} is a physical one", context.slot),
                          "set postgres.slot to another name");
    }
    if (mentions(report, "cannot use replication slot")) {
        // A slot that is synchronized to a standby, from PostgreSQL 17 on: it becomes usable when
        // the standby is promoted, so nobody is told to drop it.
        return {errc::postgres_unavailable,
                fmt::format("the slot {} cannot be used on this server yet", context.slot)};
    }
    return unsuitable(fmt::format("the slot {} is invalidated: PostgreSQL gave up the WAL that "
                                  "walrelay has not read",
                                  context.slot),
                      how_to_close_a_gap);
}

/// It was not there when it was looked for: another relay starts at the same time.
error made_meanwhile(const std::string& thing) {
    return {errc::postgres_lost,
            thing + " was created by somebody else at this moment, so it is looked at again"};
}

error explain_create_slot(const server_report& report, const server_context& context) {
    const auto& code = report.sqlstate;
    if (code == sqlstate::insufficient_privilege) {
        return unsuitable(
            fmt::format("the role {} may not create a replication slot", context.role),
            how_to_let_replicate(context.role));
    }
    if (code == sqlstate::duplicate_object) {
        return made_meanwhile(fmt::format("the slot {}", context.slot));
    }
    if (code == sqlstate::configuration_limit_exceeded) {
        return unsuitable("all replication slots of PostgreSQL are in use",
                          fmt::format("raise max_replication_slots with ALTER SYSTEM SET and "
                                      "restart PostgreSQL{}; or drop a slot whose consumer is gone "
                                      "for good, which destroys what it holds for it",
                                      or_as_the_service_does));
    }
    if (code == sqlstate::object_not_in_prerequisite_state) {
        return explain_state(report, context);
    }
    const auto what = fmt::format("PostgreSQL did not create the slot {}", context.slot);
    const error failure{comes_back(code) ? errc::postgres_unsuitable : errc::postgres_lost, what};
    return with_state_behind(failure, report);
}

error explain_create_publication(const server_report& report, const server_context& context) {
    const auto& code = report.sqlstate;
    const auto what =
        fmt::format("PostgreSQL did not create the publication {}", context.publication);
    if (code == sqlstate::insufficient_privilege) {
        return unsuitable(
            what, fmt::format("GRANT CREATE ON DATABASE {} TO {}; and make it an "
                              "owner of the tables, or run the output of walrelay "
                              "init --print as a role that may",
                              quote_identifier(context.database), quote_identifier(context.role)));
    }
    if (code == sqlstate::duplicate_object || code == sqlstate::unique_violation) {
        return made_meanwhile(fmt::format("the publication {}", context.publication));
    }
    const error failure{comes_back(code) ? errc::postgres_unsuitable : errc::postgres_lost, what,
                        is_raised(report)  ? std::string(how_past_event_triggers)
                        : comes_back(code) ? "see what PostgreSQL says of the tables"
                                           : ""};
    return with_state_behind(failure, report);
}

/// Whether the words hold this number, which is none if it is 0, after the name of the slot.
bool names_process(std::string_view words, std::string_view slot, int process) {
    const auto named = words.find(slot);
    words.remove_prefix(named == std::string_view::npos ? 0 : named + slot.size());
    const auto number = std::to_string(process);
    for (auto at = words.find(number); process != 0 && at != std::string_view::npos;
         at = words.find(number, at + 1)) {
        const auto end = at + number.size();
        if ((at == 0 || !is_digit(words[at - 1])) &&
            (end == words.size() || !is_digit(words[end]))) {
            return true;
        }
    }
    return false;
}

error explain_start(const server_report& report, const server_context& context) {
    const auto& code = report.sqlstate;
    if (code == sqlstate::object_in_use &&
        names_process(report.message, context.slot, context.earlier_process)) {
        return slot_not_released(context.slot);
    }
    if (code == sqlstate::object_in_use) {
        return {errc::slot_in_use,
                fmt::format("the slot {} is in use by another consumer", context.slot)};
    }
    if (code == sqlstate::undefined_object) {
        return unsuitable(fmt::format("the slot {} does not exist", context.slot), "walrelay init");
    }
    if (code == sqlstate::object_not_in_prerequisite_state) {
        return explain_state(report, context);
    }
    if (code == sqlstate::insufficient_privilege) {
        return unsuitable(fmt::format("the role {} may not replicate", context.role),
                          how_to_let_replicate(context.role));
    }
    const auto what =
        fmt::format("PostgreSQL did not start the stream of the slot {}", context.slot);
    return {comes_back(code) ? errc::postgres_unsuitable : errc::postgres_lost, what,
            comes_back(code) ? "correct what PostgreSQL names, then start again" : ""};
}

/// Source: PostgreSQL, src/common/stringinfo.c (enlargeStringInfo) and
/// src/backend/utils/mmgr/mcxt.c: no text and no piece of memory has more than 1 GB.
bool is_over_the_limit(const server_report& report) {
    constexpr std::array<std::string_view, 3> words = {
        "Cannot enlarge string buffer", "string buffer exceeds maximum allowed length",
        "invalid memory alloc request size"};
    return std::ranges::any_of(words, [&](std::string_view each) {
        return mentions(report, each) || report.detail.find(each) != std::string::npos;
    });
}

/// " at LSN ..." as the server's context names it; empty where it does not.
std::string place_in(const server_report& report) {
    constexpr std::string_view before = "associated LSN ";
    const auto at = report.context.find(before);
    if (at == std::string::npos) {
        return {};
    }
    const auto begin = at + before.size();
    const auto end = report.context.find_first_not_of("0123456789ABCDEF/", begin);
    return " at LSN " + report.context.substr(begin, end - begin);
}

error explain_row_too_large(const server_report& report, const server_context& context) {
    const auto what = fmt::format(
        "PostgreSQL cannot hand out a change{} of the WAL to slot {}: as {} writes it, it has more "
        "than 1 GB, the server's limit. Nothing is lost, but nothing after it is relayed",
        place_in(report), context.slot, to_string(context.plugin));
    if (context.plugin == output_plugin::wal2json) {
        return unsuitable(what + " (wal2json writes a control character in six bytes)",
                          "with every relay stopped, set postgres.plugin = \"pgoutput\" and: "
                          "walrelay init --switch-plugin; the slot resumes where it stands");
    }
    return unsuitable(what,
                      "no plugin gets past it. walrelay verify names the rows that the stream "
                      "lacks; a new slot with on_slot_loss = \"heal\" under [delivery] publishes "
                      "those that are still in the tables, but no logical messages");
}

error explain_stream(const server_report& report, const server_context& context) {
    const auto& code = report.sqlstate;
    if (is_over_the_limit(report)) {
        return explain_row_too_large(report, context);
    }
    if (code == sqlstate::undefined_object && context.plugin == output_plugin::pgoutput) {
        return unsuitable(
            fmt::format("the publication {} is missing, or younger than the slot {}: pgoutput "
                        "cannot decode what was written before it",
                        context.publication, context.slot),
            "walrelay check tells whether the server has wal2json; where it has, with every relay "
            "stopped, set postgres.plugin = \"wal2json\" and: walrelay init --switch-plugin; the "
            "slot resumes where it stands, with all that it holds; where it has not, check names "
            "another way");
    }
    if (code == sqlstate::undefined_file || code == sqlstate::object_not_in_prerequisite_state) {
        return explain_state(report, context);
    }
    const auto what = fmt::format("the stream of the slot {} ended", context.slot);
    return {comes_back(code) ? errc::postgres_unsuitable : errc::postgres_lost, what,
            comes_back(code) ? "correct what PostgreSQL names, then start again" : ""};
}

error explain_query(const server_report& report, const server_context& context) {
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        return unsuitable(
            fmt::format("the role {} lacks a right", context.role),
            "grant the right that PostgreSQL names to " + quote_identifier(context.role));
    }
    if (comes_back(report.sqlstate)) {
        return unsuitable("PostgreSQL refused a query",
                          "correct what PostgreSQL names; its log has the whole statement");
    }
    if (report.sqlstate.empty()) {
        return {errc::postgres_lost, "a query to PostgreSQL was not answered"};
    }
    const auto state = state_behind(report.sqlstate);
    return {errc::postgres_lost,
            std::string(state.what.empty() ? "PostgreSQL ended a query" : state.what),
            std::string(state.fix)};
}

error explain_words(const server_report& report, const server_context& context) {
    if (auto plugin_trouble = explain_plugin(report, context)) {
        return *plugin_trouble;
    }
    switch (context.action) {
        case server_action::connect_sql:
        case server_action::connect_replication:
            return explain_connect(report, context);
        case server_action::query:
            return explain_query(report, context);
        case server_action::create_publication:
            return explain_create_publication(report, context);
        case server_action::create_slot:
            return explain_create_slot(report, context);
        case server_action::start_streaming:
            return explain_start(report, context);
        case server_action::stream:
            return explain_stream(report, context);
    }
    return {errc::postgres_lost, "the connection to PostgreSQL ended"};
}

}  // namespace

std::string how_to_let_replicate(const std::string& role) {
    return grant_replication_sql(role) + std::string(or_as_the_service_does);
}

error slot_not_released(const std::string& slot) {
    return {errc::slot_not_released,
            fmt::format("PostgreSQL has not noticed yet that this relay's last connection to slot "
                        "{} has ended",
                        slot),
            "nothing: it does within wal_sender_timeout"};
}

error explain(const server_report& report, const server_context& context) {
    auto explained = explain_words(report, context);
    // Without a code they are libpq's: no server has answered.
    if (report.sqlstate.empty()) {
        explained.what += ": " + words_of(report);
    } else {
        explained.server_said = words_of(report);
    }
    return explained;
}

error explain_read(const server_report& report, const std::string& role, const std::string& table,
                   const std::string& columns) {
    auto failure = explain(report, {.action = server_action::query, .role = role});
    if (is_about_row_security(report)) {
        failure.what =
            fmt::format("row-level security can hide rows of {} from the role {}", table, role);
        // A policy that shows all rows would not do: the next one may hide some silently.
        failure.remedy = fmt::format(
            "run it as the owner of the table, or: ALTER ROLE {} BYPASSRLS; which lets the role "
            "see the rows of every table that it may read",
            quote_identifier(role));
    } else if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format("the role {} may not read {}", role, table);
        failure.remedy =
            fmt::format("GRANT SELECT{} ON {} TO {};", columns, table, quote_identifier(role));
    }
    return failure;
}

error with_state_behind(error failure, const server_report& report) {
    const auto state = state_behind(report.sqlstate);
    if (!state.what.empty()) {
        failure.what += ": " + std::string(state.what);
        failure.remedy = state.fix;
    }
    return failure;
}

bool is_raised(const server_report& report) {
    return report.sqlstate.starts_with("P0");
}

bool is_about_row_security(const server_report& report) {
    return report.sqlstate == sqlstate::insufficient_privilege &&
           mentions(report, "row-level security");
}

std::string allow_all_rows(const std::string& table, const std::string& role) {
    return fmt::format(
        "CREATE POLICY walrelay ON {} TO {} USING (true); and name other roles in its restrictive "
        "policies: ALTER POLICY ... TO ...",
        table, quote_identifier(role));
}

std::string words_of(const server_report& report) {
    auto words = report.message;
    if (!report.detail.empty()) {
        words += "; " + report.detail;
    }
    std::ranges::replace(words, '\n', ' ');
    std::erase(words, '\r');
    const auto last = words.find_last_not_of(" \t");
    words.erase(last == std::string::npos ? 0 : last + 1);
    return words;
}

}  // namespace walrelay::postgres
