#include "tasks/replay/replay_scope.hpp"

#include "core/one_line.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/time_text.hpp"
#include "tasks/replay/table_rows.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

/// One end of the range as it is written: at most one of these.
struct replay_end {
    std::optional<std::string> bookmark = {};
    std::optional<commit_position> place = {};
    std::optional<lsn> at = {};
    std::optional<wall_time> time = {};
};

awaitable<result<replay_end>> read_end(postgres::connection& sql, std::string text) {
    constexpr std::string_view bookmark = "bookmark:";
    replay_end read;
    if (text.starts_with(bookmark)) {
        read.bookmark = text.substr(bookmark.size());
    } else if (const auto place = parse_position(text)) {
        read.place = place->at;
    } else if (const auto at = parse_lsn(text)) {
        read.at = *at;
    } else {
        const auto time = co_await postgres::read_time(sql, std::move(text));
        if (!time) {
            co_return time.error();
        }
        read.time = *time;
    }
    co_return read;
}

error no_such_bookmark(const std::string& name) {
    return {errc::position_not_kept, fmt::format("there is no bookmark {}", one_line(name)),
            "walrelay bookmark list shows those that there are"};
}

/// What is readable, with what it reaches back to.
error reaches_not_back(const kept_positions& there, const std::string& what) {
    std::string oldest;
    for (const auto& each : there.all) {
        if (each.state == kept_state::kept && each.confirmed && oldest.empty()) {
            oldest = fmt::format("the oldest one begins at LSN {} (slot {})",
                                 to_string(*each.confirmed), each.slot);
            if (each.covers_from) {
                oldest += ", " + utc_text(*each.covers_from);
            }
        }
    }
    return {errc::position_not_kept,
            fmt::format("no kept position reaches back to {}: {}", what,
                        oldest.empty() ? "there is none" : oldest),
            oldest.empty()
                ? "set replay.keep, or: walrelay bookmark create NAME; what is committed "
                  "from then on can be replayed"
                : "begin at that one"};
}

bool is_readable(const kept_position& each) {
    return each.state == kept_state::kept && each.confirmed.has_value();
}

/// The youngest that reaches back to it: the least has to be read.
const kept_position* youngest_before(const kept_positions& there, lsn at) {
    const kept_position* found = nullptr;
    for (const auto& each : there.all) {
        if (is_readable(each) && *each.confirmed <= at &&
            (found == nullptr || *each.confirmed > *found->confirmed)) {
            found = &each;
        }
    }
    return found;
}

const kept_position* youngest_before(const kept_positions& there, wall_time time) {
    const kept_position* found = nullptr;
    for (const auto& each : there.all) {
        if (is_readable(each) && each.covers_from && *each.covers_from <= time &&
            (found == nullptr || *each.confirmed > *found->confirmed)) {
            found = &each;
        }
    }
    return found;
}

result<void> begin_at(const kept_positions& there, const replay_end& from,
                      postgres::kept_replay& scope) {
    const kept_position* kept = nullptr;
    std::string what;
    if (from.bookmark) {
        kept = find_bookmark(there, *from.bookmark);
        if (kept == nullptr) {
            return no_such_bookmark(*from.bookmark);
        }
        if (auto whole = require_as_kept(*kept); !whole) {
            return whole;
        }
        scope.from = {*kept->confirmed};
    } else if (from.time) {
        kept = youngest_before(there, *from.time);
        scope.since = from.time;
        what = utc_text(*from.time);
    } else {
        const auto at = from.place ? from.place->commit : *from.at;
        kept = youngest_before(there, at);
        scope.from = from.place ? *from.place : commit_position{at};
        what = "LSN " + to_string(at);
    }
    if (kept == nullptr) {
        return reaches_not_back(there, what);
    }
    scope.kept_slot = kept->slot;
    if (from.time) {
        scope.from = {*kept->confirmed};
    }
    return {};
}

result<void> end_at(const kept_positions& there, const replay_end& until,
                    postgres::kept_replay& scope) {
    if (until.bookmark) {
        const auto* const kept = find_bookmark(there, *until.bookmark);
        if (kept == nullptr || !kept->confirmed) {
            return no_such_bookmark(*until.bookmark);
        }
        scope.until = std::min(scope.until, kept->made_at_lsn.value_or(*kept->confirmed));
    } else if (until.time) {
        scope.before = until.time;
    } else if (until.place) {
        scope.last = until.place;
        scope.until = std::min(scope.until, lsn{until.place->commit.value + 1});
    } else {
        scope.until = std::min(scope.until, *until.at);
    }
    return {};
}

error not_configured(const table_name& table) {
    return {errc::configuration_invalid,
            fmt::format("table {} is no outbox of the configuration", one_line(to_string(table))),
            "give --table as an [[outbox]] entry has it"};
}

result<std::vector<std::string>> read_ids(std::istream& from) {
    std::vector<std::string> ids;
    for (std::string line; std::getline(from, line);) {
        if (line.find_first_not_of(" \t\r") != std::string::npos) {
            const auto begin = line.find_first_not_of(" \t\r");
            ids.push_back(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
        }
    }
    return ids;
}

result<std::vector<std::string>> ids_in_file(const std::string& name) {
    if (name == "-") {
        return read_ids(std::cin);
    }
    std::ifstream file(name);
    if (!file) {
        return error{errc::configuration_invalid, "the file " + one_line(name) + " cannot be read",
                     "check the name, and that this user may read it"};
    }
    return read_ids(file);
}

/// Each once, in the order in which they are given.
std::vector<std::string> without_repeats(std::vector<std::string> ids) {
    std::set<std::string> seen;
    std::erase_if(ids, [&seen](const std::string& id) { return !seen.insert(id).second; });
    return ids;
}

awaitable<result<postgres::kept_replay>> scope_of_rows(postgres::connection& sql,
                                                       const config::settings& settings,
                                                       replay_request wanted) {
    if (wanted.tables.size() != 1) {
        co_return error{errc::configuration_invalid, "rows are replayed of one table at a time",
                        "give --table once"};
    }
    const auto table = wanted.tables.front();
    if (table.schema == message_source("").schema) {
        co_return error{errc::configuration_invalid, "rows of logical messages are in no table",
                        "replay them from a kept position: --from"};
    }
    auto ids = wanted.ids_file.empty() ? result<std::vector<std::string>>(std::move(wanted.ids))
                                       : ids_in_file(wanted.ids_file);
    if (ids && !wanted.rows.empty()) {
        const auto rows = co_await table_rows::open(settings, sql, table);
        if (!rows) {
            co_return rows.error();
        }
        ids = co_await postgres::ids_of_rows(sql, (*rows)->shape(), std::move(wanted.rows));
    }
    if (!ids) {
        co_return ids.error();
    }
    postgres::kept_replay scope;
    scope.slot = settings.postgres.slot;
    scope.tables = std::move(wanted.tables);
    scope.to_subject = std::move(wanted.to_subject);
    scope.ids = without_repeats(std::move(*ids));
    co_return scope;
}

}  // namespace

std::string utc_text(wall_time time) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                       std::chrono::time_point_cast<std::chrono::seconds>(time));
}

awaitable<result<postgres::kept_replay>> scope_of(postgres::connection& sql,
                                                  const config::settings& settings,
                                                  replay_request wanted) {
    for (const auto& table : wanted.tables) {
        if (std::ranges::find(settings.outbox, table, &outbox_table::table) ==
            settings.outbox.end()) {
            co_return not_configured(table);
        }
    }
    if (wanted.reads_table()) {
        co_return co_await scope_of_rows(sql, settings, std::move(wanted));
    }
    auto slot = settings.postgres.slot;
    const auto there = co_await postgres::read_kept_positions(sql, slot);
    if (!there) {
        co_return there.error();
    }
    if (!there->source) {
        co_return error{errc::position_not_kept, fmt::format("there is no slot {}", slot),
                        "set postgres.slot to the relay's slot"};
    }
    const auto from = co_await read_end(sql, wanted.from);
    if (!from) {
        co_return from.error();
    }
    postgres::kept_replay scope;
    scope.slot = std::move(slot);
    scope.until = there->source->confirmed;
    scope.tables = std::move(wanted.tables);
    scope.subject = std::move(wanted.subject);
    scope.aggregates = std::move(wanted.aggregates);
    scope.to_subject = std::move(wanted.to_subject);
    if (auto begun = begin_at(*there, *from, scope); !begun) {
        co_return begun.error();
    }
    if (!wanted.until.empty()) {
        const auto until = co_await read_end(sql, wanted.until);
        if (!until) {
            co_return until.error();
        }
        if (auto ended = end_at(*there, *until, scope); !ended) {
            co_return ended.error();
        }
    }
    co_return scope;
}

}  // namespace walrelay::tasks
