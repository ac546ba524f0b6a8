#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "config/keys.hpp"
#include "core/json_string.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace walrelay::app {
namespace {

/// What a key may be set to, but for what leaves the choice to walrelay, as a list in JSON.
std::string choices_of(std::string_view key) {
    std::string list;
    const auto* const found = config::find_key(key);
    for (const auto& choice : found->takes.accepted) {
        if (choice != "auto") {
            list += (list.empty() ? "" : ", ") + json_string(choice);
        }
    }
    return "[" + list + "]";
}

}  // namespace

int command_version(bool json) {
    if (!json) {
        fmt::print("walrelay {}\n", WALRELAY_VERSION);
        return exit_done;
    }
    constexpr std::string_view commit = WALRELAY_COMMIT;
    fmt::print(
        "{{\"version\": {}, \"commit\": {}, \"features\": {{\"plugins\": {}, \"bodies\": {}, "
        "\"snapshots\": {}, \"log_formats\": {}}}}}\n",
        json_string(WALRELAY_VERSION), commit.empty() ? "null" : json_string(commit),
        choices_of("postgres.plugin"), choices_of("outbox.body"), choices_of("postgres.snapshot"),
        choices_of("log.format"));
    return exit_done;
}

}  // namespace walrelay::app
