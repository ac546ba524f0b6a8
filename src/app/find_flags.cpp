#include "app/find_flags.hpp"

#include "app/dead_letter_flags.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace walrelay::app {
namespace {

/// In words that `usage_error` reads as those of the library.
void require_one(const tasks::find_options& options) {
    const std::size_t given = (options.id.empty() ? 0U : 1U) +
                              (options.aggregate.empty() ? 0U : 1U) + (options.sequence ? 1U : 0U);
    if (given != 1) {
        throw CLI::RequiredError::Option(1, 1, given, "id,--aggregate,--sequence");
    }
}

void add_number(CLI::App& command, const std::string& flag, const std::string& about,
                const std::function<void(std::int64_t)>& take) {
    command
        .add_option_function<std::string>(
            flag, [flag, take](const std::string& text) { take(read_number(flag, text)); }, about)
        ->type_name("NUMBER");
}

}  // namespace

CLI::App* add_find(CLI::App& program, tasks::find_options& options,
                   const std::function<void(CLI::App&)>& add_settings) {
    auto* const command =
        program.add_subcommand("find", "where an event is: its row, its messages, its dead letter");
    command->add_option("id", options.id, "the Nats-Msg-Id of a message, or the id of a row");
    command->add_option("--aggregate", options.aggregate, "the rows of this aggregate")
        ->type_name("TYPE/ID");
    add_number(
        *command, "--sequence", "the event of the message with this sequence",
        [&options](std::int64_t number) { options.sequence = static_cast<std::uint64_t>(number); });
    command
        ->add_option("--since", options.since,
                     "look only at messages that were stored since then (UTC unless a zone is "
                     "given; \"10 minutes ago\"); default: since the row was created, and all "
                     "where it is not found there")
        ->type_name("TIME");
    command
        ->add_option("--consumer", options.consumer,
                     "a consumer of the stream: whether it has acked each message")
        ->type_name("NAME");
    add_number(
        *command, "--limit", "how many rows of an aggregate, the newest (default: 20)",
        [&options](std::int64_t number) { options.limit = static_cast<std::size_t>(number); });
    command->add_flag("--json", options.json, "print what was found as JSON");
    command->parse_complete_callback([&options] { require_one(options); });
    add_settings(*command);
    return command;
}

}  // namespace walrelay::app
