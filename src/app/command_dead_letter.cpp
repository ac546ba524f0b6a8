#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "app/help_text.hpp"
#include "app/text_table.hpp"
#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"
#include "tasks/dead_letter/letter_content.hpp"
#include "tasks/retry_fates.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using postgres::dead_letter_form;

constexpr const char* no_table =
    "no dead letters: the table walrelay.dead_letter does not exist yet\n";

dead_letter_form form_of(const tasks::dead_letter_request& request) {
    return request.json ? dead_letter_form::json : dead_letter_form::columns;
}

using read_retries = std::vector<postgres::queued_retry>;

postgres::dead_letter_selection selection_of(const tasks::dead_letter_request& request,
                                             const read_retries& read) {
    return {request.all, request.ids, request.table, read};
}

postgres::listed_letters state_of(const tasks::dead_letter_request& request) {
    using postgres::listed_letters;
    return request.given_up ? listed_letters::given_up
           : request.open   ? listed_letters::open
                            : listed_letters::all;
}

bool has_id(const postgres::row_set& rows, std::int64_t id) {
    return std::ranges::any_of(rows.rows(),
                               [&](const auto& row) { return row.front() == std::to_string(id); });
}

/// Says on standard error which of the ids that were asked for are not among the rows.
int exit_code_of(const tasks::dead_letter_request& request, const postgres::row_set& rows) {
    int code = exit_done;
    for (const auto id : request.ids) {
        if (!has_id(rows, id)) {
            fmt::print(stderr, "there is no dead letter {}\n", id);
            code = exit_findings;
        }
    }
    return code;
}

int without_table(const tasks::dead_letter_request& request) {
    const bool asks_for_one = !request.ids.empty();
    if (request.action == tasks::dead_letter_action::list && request.json) {
        fmt::print("{{\"{}\":[]}}\n", request.given_up ? "given_up" : "dead_letters");
    } else {
        fmt::print(asks_for_one ? stderr : stdout, no_table);
    }
    return asks_for_one ? exit_findings : exit_done;
}

void print_json(const postgres::row_set& rows, bool given_up) {
    fmt::print("{{\"{}\":[", given_up ? "given_up" : "dead_letters");
    for (std::size_t row = 0; row < rows.size(); ++row) {
        fmt::print("{}{}", row == 0 ? "" : ",", printable_json(rows.text(row, 0)));
    }
    fmt::print("]}}\n");
}

/// Those that the relay has read. What cannot be looked at stays queued, and is said.
awaitable<read_retries> look_for_retries(servers::executors on, postgres::connection& sql,
                                         const config::settings& settings) {
    auto seen = co_await tasks::look_at_retries(std::move(on), settings, sql, tasks::however_old);
    if (!seen) {
        fmt::print(stderr, "what became of queued retries is not known: {}\n",
                   to_string(seen.error()));
        co_return read_retries{};
    }
    co_return std::move(seen->read);
}

std::string value_of(const postgres::row_set& letters, std::string_view column) {
    const auto& names = letters.column_names();
    const auto found = std::ranges::find(names, column);
    const auto at = static_cast<std::size_t>(found - names.begin());
    return found == names.end() ? std::string() : letters.text(0, at);
}

/// What to do with those that are open.
void offer_retry(const postgres::row_set& open) {
    fmt::print(stderr,
               "walrelay dead-letter show {} says more of one; once the cause is gone, walrelay "
               "dead-letter retry --all sends the open ones again\n",
               value_of(open, "id"));
}

awaitable<int> list(postgres::connection& sql, const tasks::dead_letter_request& request,
                    const std::string& slot) {
    const auto rows = co_await list_dead_letters(sql, slot, request.limit, request.table,
                                                 form_of(request), state_of(request));
    if (!rows) {
        co_return fail(rows.error());
    }
    if (request.json) {
        print_json(*rows, request.given_up);
    } else if (rows->empty()) {
        fmt::print("{}\n", request.given_up ? "no rows were given up"
                           : request.open   ? "no open dead letters"
                                            : "no dead letters");
    } else {
        fmt::print("{}", text_table(*rows, width_of_output()));
        if (request.open) {
            offer_retry(*rows);
        }
    }
    if (static_cast<std::int64_t>(rows->size()) == request.limit) {
        fmt::print(stderr, "these are the newest {}; more with --limit\n", request.limit);
    }
    co_return exit_done;
}

void print_letter(const postgres::row_set& letter) {
    for (std::size_t column = 0; column < letter.column_names().size(); ++column) {
        fmt::print("{:<13} {}\n", letter.column_names()[column], one_line(letter.text(0, column)));
    }
}

/// Name and value are the first and the last of each row, the type is what stands between.
void print_members(const char* title, const postgres::row_set& members) {
    fmt::print("{}\n", title);
    for (const auto& row : members.rows()) {
        const auto name = one_line(row.front().value_or(""));
        const auto type =
            row.size() > 2 ? " (" + one_line(row[1].value_or("")) + ")" : std::string{};
        fmt::print("    {}{}: {}\n", name, type, row.back() ? one_line(*row.back()) : "NULL");
    }
}

awaitable<int> show(postgres::connection& sql, const tasks::dead_letter_request& request,
                    const std::string& slot) {
    const auto id = request.ids.front();
    const auto letter = co_await find_dead_letter(sql, slot, id, form_of(request));
    if (!letter) {
        co_return fail(letter.error());
    }
    if (letter->empty()) {
        co_return exit_code_of(request, *letter);
    }
    if (request.json) {
        fmt::print("{}\n", printable_json(letter->text(0, 0)));
        co_return exit_done;
    }
    const auto headers = co_await headers_of_dead_letter(sql, id);
    if (!headers) {
        co_return fail(headers.error());
    }
    const auto columns = co_await columns_of_dead_letter(sql, id);
    if (!columns) {
        co_return fail(columns.error());
    }
    print_letter(*letter);
    print_members("headers", *headers);
    print_members("row", *columns);
    if (columns->empty()) {
        fmt::print("    {}\n",
                   tasks::words_on_missing_content(
                       {id, {}, value_of(*letter, "message_id"), value_of(*letter, "reason")}));
    } else if (value_of(*letter, "state") == "open") {
        fmt::print("once the cause is gone: walrelay dead-letter retry {}\n", id);
    }
    co_return exit_done;
}

/// Where a retry could not be written, or no relay would see it.
awaitable<result<void>> prepare_retry(postgres::connection& sql, const config::settings& settings) {
    const auto complete =
        co_await complete_dead_letters(sql, servers::published_tables_of(settings));
    if (!complete) {
        co_return complete.error();
    }
    const auto& of = settings.postgres;
    co_return co_await check_slot_for_retries(sql, of.slot, of.publication);
}

/// Those of the letters that were asked for which a queued retry has kept from it.
struct held_back {
    std::vector<std::int64_t> queued;
    const char* words;
};

/// Says which they are, and as exit_code_of of the others.
int exit_code_of(tasks::dead_letter_request request, const postgres::row_set& rows,
                 const held_back& held) {
    for (const auto id : held.queued) {
        fmt::print(stderr, "dead letter {} is queued for retry {}\n", id, held.words);
        std::erase(request.ids, id);
    }
    const auto code = exit_code_of(request, rows);
    return held.queued.empty() ? code : int{exit_findings};
}

awaitable<result<held_back>> look_for_held(postgres::connection& sql, const std::string& slot,
                                           postgres::dead_letter_selection which,
                                           const postgres::row_set& done, const char* words) {
    auto queued = co_await queued_letters(sql, slot, std::move(which));
    if (!queued) {
        co_return queued.error();
    }
    std::erase_if(*queued, [&](std::int64_t id) { return has_id(done, id); });
    co_return held_back{std::move(*queued), words};
}

constexpr const char* not_retried_again =
    "already, and was not queued once more; fix: let the relay read it, then walrelay dead-letter "
    "list shows whether it was sent, failed or is lost";
constexpr const char* not_dropped =
    "and was not dropped: the relay sends its row when it reads the retry, which cannot be taken "
    "back; fix: let the relay read it (walrelay dead-letter list then shows another state; where "
    "the slot is gone for good, once walrelay init --new-slot has made another), then drop it";

/// Those that were retried, and those that could not be.
int print_retries(const tasks::dead_letter_request& request, const postgres::row_set& retried,
                  const std::vector<tasks::empty_letter>& empty, const held_back& held) {
    for (std::size_t row = 0; row < retried.size(); ++row) {
        fmt::print("queued dead letter {} for retry as {}\n", retried.text(row, 0),
                   one_line(retried.text(row, 1)));
    }
    for (const auto& each : empty) {
        fmt::print(stderr,
                   "dead letter {} stays open and was not retried: it has no content ({}), and {}; "
                   "fix: {}\n",
                   each.id, one_line(each.reason), one_line(each.why), one_line(each.fix));
    }
    if (request.all && retried.empty() && empty.empty()) {
        fmt::print("no dead letters that were never retried, or whose retry failed\n");
    }
    auto others = request;
    std::erase_if(others.ids, [&](std::int64_t id) {
        return std::ranges::find(empty, id, &tasks::empty_letter::id) != empty.end();
    });
    const auto code = exit_code_of(std::move(others), retried, held);
    return empty.empty() ? code : int{exit_findings};
}

awaitable<int> retry(servers::executors on, postgres::connection& sql,
                     const tasks::dead_letter_request& request, const config::settings& settings,
                     read_retries read) {
    const auto possible = co_await prepare_retry(sql, settings);
    if (!possible) {
        co_return fail(possible.error());
    }
    auto which = selection_of(request, read);
    const auto empty = co_await tasks::read_contents(on, settings, sql, std::move(which));
    if (!empty) {
        co_return fail(empty.error());
    }
    std::optional<std::uint64_t> sequence;
    const auto stream = co_await servers::glance_at_stream(on.blocking, settings);
    if (stream && *stream) {
        sequence = (*stream)->usage.last_sequence;
    }
    which = selection_of(request, read);
    const auto rows =
        co_await retry_dead_letters(sql, settings.postgres.slot, sequence, std::move(which));
    if (!rows) {
        co_return fail(rows.error());
    }
    result<held_back> held{held_back{}};
    if (!request.all) {
        which = selection_of(request, read);
        held = co_await look_for_held(sql, settings.postgres.slot, std::move(which), *rows,
                                      not_retried_again);
    }
    co_return held ? print_retries(request, *rows, *empty, *held) : fail(held.error());
}

/// Whether the operator says yes to what cannot be undone.
bool is_confirmed(std::size_t count) {
    if (isatty(STDIN_FILENO) == 0) {
        fmt::print(
            stderr,
            "walrelay: dropping all dead letters deletes the content of {} for good; nothing "
            "was dropped; fix: walrelay dead-letter list shows them, --yes drops them\n",
            count);
        return false;
    }
    fmt::print(stderr, "Delete the content of {} for good? [y/N] ", counted(count, "dead letter"));
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "yes";
}

awaitable<int> drop(postgres::connection& sql, const tasks::dead_letter_request& request,
                    const std::string& slot, read_retries read) {
    if (request.all && !request.is_sure) {
        constexpr auto every = std::numeric_limits<std::int64_t>::max();
        const auto there =
            co_await list_dead_letters(sql, slot, every, request.table, dead_letter_form::columns,
                                       postgres::listed_letters::all);
        if (!there) {
            co_return fail(there.error());
        }
        if (!there->empty() && !is_confirmed(there->size())) {
            co_return exit_usage;
        }
    }
    auto which = selection_of(request, read);
    const auto rows = co_await drop_dead_letters(sql, slot, std::move(which));
    if (!rows) {
        co_return fail(rows.error());
    }
    fmt::print("dropped {}\n", rows->size());
    which = selection_of(request, read);
    const auto held = co_await look_for_held(sql, slot, std::move(which), *rows, not_dropped);
    co_return held ? exit_code_of(request, *rows, *held) : fail(held.error());
}

awaitable<int> work(servers::executors on, const config::settings& settings,
                    const tasks::dead_letter_request& request) {
    auto sql = co_await servers::open_sql_of_own_schema(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    const auto there = co_await has_table(*sql, postgres::own_table::dead_letter);
    if (!there) {
        co_return fail(there.error());
    }
    if (!*there) {
        co_return without_table(request);
    }
    if (request.table) {
        const auto known = co_await knows_table(*sql, *request.table);
        if (!known) {
            co_return fail(known.error());
        }
        if (!*known) {
            fmt::print(
                stderr,
                "walrelay: table {} is not in database {}, and no dead letter is of it; fix: "
                "give --table as walrelay dead-letter list shows it\n",
                one_line(to_string(*request.table)), one_line(sql->database()));
            co_return exit_usage;
        }
    }
    auto read = co_await look_for_retries(on, *sql, settings);
    const auto& slot = settings.postgres.slot;
    switch (request.action) {
        case tasks::dead_letter_action::list:
            co_return co_await list(*sql, request, slot);
        case tasks::dead_letter_action::show:
            co_return co_await show(*sql, request, slot);
        case tasks::dead_letter_action::retry:
            co_return co_await retry(std::move(on), *sql, request, settings, std::move(read));
        case tasks::dead_letter_action::drop:
            co_return co_await drop(*sql, request, slot, std::move(read));
    }
    co_return exit_usage;
}

}  // namespace

int command_dead_letter(const config::settings& settings,
                        const tasks::dead_letter_request& request) {
    return servers::run_to_end([&](servers::executors on) { return work(on, settings, request); });
}

}  // namespace walrelay::app
