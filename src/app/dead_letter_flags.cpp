#include "app/dead_letter_flags.hpp"

#include "config/identifier.hpp"

#include <string>

namespace walrelay::app {
namespace {

CLI::Option* add_table(CLI::App& action, tasks::dead_letter_request& request) {
    const auto read = [&request](const std::string& text) {
        const auto name = config::read_table_name(text);
        if (!name) {
            throw CLI::ValidationError("--table", name.error().what + "; " + name.error().remedy);
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
    auto* const which = action.add_option_group("which");
    which->add_option("id", request.ids, "numbers of dead letters, as list shows them");
    auto* const every = which->add_flag("--all", request.all, all);
    which->require_option(1);
    add_table(action, request)->needs(every);
}

}  // namespace

CLI::App* add_dead_letter(CLI::App& program, tasks::dead_letter_request& request,
                          const std::function<void(CLI::App&)>& add_settings) {
    auto* const parent = program.add_subcommand(
        "dead-letter", "rows that could not be delivered: list | show | retry | drop");
    parent->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& about,
                         tasks::dead_letter_action action) -> CLI::App& {
        auto* const added = parent->add_subcommand(name, about);
        added->parse_complete_callback([&request, action] { request.action = action; });
        add_settings(*added);
        return *added;
    };

    auto& list = add("list", "one line for each, the newest last", tasks::dead_letter_action::list);
    add_table(list, request);
    list.add_option("--limit", request.limit, "how many of the newest")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_json(list, request);

    auto& show = add("show", "all of one, with its row", tasks::dead_letter_action::show);
    show.add_option("id", request.ids, "its number, as list shows it")->required()->expected(1);
    add_json(show, request);

    auto& retry = add("retry", "have the relay publish them once more, as new messages",
                      tasks::dead_letter_action::retry);
    add_selection(retry, request, "all that were never retried");

    auto& drop = add("drop", "delete their content for good; their message ids stay",
                     tasks::dead_letter_action::drop);
    add_selection(drop, request, "every one");
    return parent;
}

}  // namespace walrelay::app
