#include "app/bookmark_flags.hpp"

#include "config/read.hpp"

#include <string>

namespace walrelay::app {
namespace {

void set_expiry(bookmark_request& request, const std::string& text) {
    if (text == "never") {
        request.expires_after.reset();
        return;
    }
    constexpr std::chrono::seconds shortest{1};
    const auto time = config::read_duration({"--expires", config::plain_text{text}}, {shortest});
    if (!time) {
        throw CLI::ValidationError(
            "--expires", time.error().what + "; fix: " + time.error().remedy + ", or never");
    }
    request.expires_after = *time;
}

void add_name(CLI::App& action, bookmark_request& request) {
    action.add_option("name", request.name, "the bookmark's name: a-z, digits, _ and -")
        ->required();
}

}  // namespace

CLI::App* add_bookmark(CLI::App& program, bookmark_request& request,
                       const std::function<void(CLI::App&)>& add_settings) {
    auto* const parent = program.add_subcommand(
        "bookmark", "positions of the slot that are kept for a replay: create | list | drop");
    parent->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& about,
                         bookmark_action action) -> CLI::App& {
        auto* const added = parent->add_subcommand(name, about);
        added->parse_complete_callback([&request, action] { request.action = action; });
        add_settings(*added);
        return *added;
    };

    auto& create = add("create", "keep where the slot stands now; a relay may run meanwhile",
                       bookmark_action::create);
    add_name(create, request);
    create
        .add_option_function<std::string>(
            "--expires", [&request](const std::string& text) { set_expiry(request, text); },
            "when the relay drops it, as a duration from now, or never (default: 24h)")
        ->type_name("DURATION");
    create.add_option("--comment", request.comment, "what it is for")->type_name("TEXT");
    create.add_flag("--force", request.insists,
                    "make it although free slots, time-outs or WAL without a bound make it "
                    "dangerous");

    auto& list = add("list", "one line for each position, the oldest first; with the trail",
                     bookmark_action::list);
    list.add_flag("--json", request.json, "print JSON");

    auto& drop = add("drop", "give one up: what only it keeps cannot be replayed any more",
                     bookmark_action::drop);
    add_name(drop, request);
    return parent;
}

}  // namespace walrelay::app
