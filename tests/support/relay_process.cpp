// See relay_process.hpp.
#include "support/relay_process.hpp"

#include "support/eventually.hpp"

#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace walrelay::test {
namespace {

command command_of(const relay_start& how) {
    command what{.program = how.program.string(),
                 .arguments = how.arguments,
                 .folder = how.folder,
                 .name = how.name};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (text.starts_with("PG") || text.starts_with("WALRELAY_") ||
            text.starts_with("NATS_URL=")) {
            what.environment[text.substr(0, text.find('='))] = "";
        }
    }
    // Many relays run on one machine at a time.
    what.environment["WALRELAY_HTTP_LISTEN"] = "off";
    for (const auto& [name, value] : how.environment) {
        what.environment[name] = value;
    }
    return what;
}

}  // namespace

relay_process::relay_process(const relay_start& how) : process_(command_of(how)) {}

bool relay_process::wait_for_log(const std::string& text, std::chrono::milliseconds patience) {
    const auto logged = [&] { return log().find(text) != std::string::npos; };
    (void)eventually(patience, [&] { return logged() || !process_.running(); });
    return logged();
}

std::optional<int> relay_process::stop(std::chrono::milliseconds patience) {
    process_.signal(SIGTERM);
    return process_.wait_exit(patience);
}

finished_run run_to_end(const relay_start& how, std::chrono::milliseconds patience) {
    child_process process(command_of(how));
    const auto code = process.wait_exit(patience);
    if (!code) {
        throw std::runtime_error("walrelay does not end; it said: " + process.standard_error());
    }
    return {.exit_code = *code,
            .output = process.standard_output(),
            .errors = process.standard_error()};
}

}  // namespace walrelay::test
