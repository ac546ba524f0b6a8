#include "app/dead_letter_flags.hpp"

#include "config/identifier.hpp"
#include "core/one_line.hpp"

#include <charconv>
#include <string>
#include <system_error>
#include <vector>

namespace walrelay::app {
namespace {

CLI::Option* add_table(CLI::App& action, tasks::dead_letter_request& request) {
    const auto read = [&request](const std::string& text) {
        const auto name = config::read_table_name(text);
        if (!name) {
            throw CLI::ValidationError("--table",
                                       name.error().what + "; fix: " + name.error().remedy);
        }
        request.table = *name;
    };
    return action.add_option_function<std::string>("--table", read,
                                                   "only those of this table, schema.table");
}

void add_json(CLI::App& action, tasks::dead_letter_request& request) {
    action.add_flag("--json", request.json, "print JSON");
}

/// Ids or --all, one of them.
void add_selection(CLI::App& action, tasks::dead_letter_request& request, const std::string& all) {
    action.add_option_function<std::vector<std::string>>(
        "id",
        [&request](const std::vector<std::string>& texts) {
            for (const auto& text : texts) {
                request.ids.push_back(read_number("id", text));
            }
        },
        "numbers of dead letters, as list shows them");
    auto* const every = action.add_flag("--all", request.all, all);
    add_table(action, request)->needs(every);
}

void add_what_is_listed(CLI::App& list, tasks::dead_letter_request& request) {
    add_table(list, request);
    list.add_option_function<std::string>(
            "--limit",
            [&request](const std::string& text) { request.limit = read_number("--limit", text); },
            "how many of the newest (default: 50)")
        ->type_name("NUMBER");
    auto* const open =
        list.add_flag("--open", request.open,
                      "those whose row is still to become a message, as status counts them");
    auto* const all = list.add_flag("--all", request.all,
                                    "also those whose retry is in the stream (the default)");
    auto* const given_up = list.add_flag(
        "--given-up", request.given_up,
        "rows that were missing and that walrelay resume --give-up went on without, in "
        "place of the dead letters");
    open->excludes(all);
    given_up->excludes(open)->excludes(all);
    add_json(list, request);
}

/// In words that `usage_error` reads as those of the library.
void require_selection(const tasks::dead_letter_request& request) {
    const std::size_t given = (request.ids.empty() ? 0U : 1U) + (request.all ? 1U : 0U);
    if (given != 1) {
        throw CLI::RequiredError::Option(1, 1, given, "id,--all");
    }
}

}  // namespace

std::int64_t read_number(const std::string& name, const std::string& text) {
    std::int64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || number < 1) {
        constexpr std::size_t longest_shown = 100;
        throw CLI::ValidationError(name, "invalid value " + one_line(text, longest_shown) +
                                             "; fix: use a whole number of 1 or more");
    }
    return number;
}

CLI::App* add_dead_letter(CLI::App& program, tasks::dead_letter_request& request,
                          const std::function<void(CLI::App&)>& add_settings) {
    auto* const parent = program.add_subcommand(
        "dead-letter", "rows that could not be delivered: list | show | retry | drop");
    parent->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& about,
                         tasks::dead_letter_action action) -> CLI::App& {
        auto* const added = parent->add_subcommand(name, about);
        added->parse_complete_callback([&request, action] {
            request.action = action;
            if (action == tasks::dead_letter_action::retry ||
                action == tasks::dead_letter_action::drop) {
                require_selection(request);
            }
        });
        return *added;
    };

    auto& list = add("list", "one line for each, the newest last", tasks::dead_letter_action::list);
    add_what_is_listed(list, request);

    auto& show = add("show", "everything about one, with its row", tasks::dead_letter_action::show);
    show.add_option_function<std::string>(
            "id", [&request](const std::string& text) { request.ids = {read_number("id", text)}; },
            "its number, as list shows it")
        ->required();
    add_json(show, request);

    auto& retry = add("retry", "have the relay publish their rows again, as new messages",
                      tasks::dead_letter_action::retry);
    add_selection(retry, request, "all that were never retried, or whose retry failed");

    auto& drop = add("drop", "delete their content for good; their message ids stay",
                     tasks::dead_letter_action::drop);
    add_selection(drop, request, "every one");
    drop.add_flag("--yes", request.is_sure, "with --all: do not ask");
    for (auto* const each : parent->get_subcommands({})) {
        add_settings(*each);
    }
    return parent;
}

}  // namespace walrelay::app
