// walrelay itself, as an operator would run it.
#pragma once

#include "support/child_process.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

struct relay_start {
    /// The program `walrelay`.
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::filesystem::path folder;
    std::map<std::string, std::string> environment = {};
    std::string name = "walrelay";
};

struct finished_run {
    int exit_code = 0;
    std::string output;
    std::string errors;
};

/// Takes PG*, WALRELAY_* and NATS_URL variables of the caller's shell away from the program. It
/// opens no port unless `environment` sets WALRELAY_HTTP_LISTEN.
class relay_process {
public:
    explicit relay_process(const relay_start& how);

    [[nodiscard]] child_process& process() { return process_; }
    /// What it logged so far.
    [[nodiscard]] std::string log() const { return process_.standard_error(); }
    /// False if the text is still not in the log after `patience`, or the program has ended.
    [[nodiscard]] bool wait_for_log(const std::string& text, std::chrono::milliseconds patience);
    /// SIGTERM, and the exit code; nothing if it does not end.
    [[nodiscard]] std::optional<int> stop(std::chrono::milliseconds patience);
    void kill_9() { process_.kill_9(); }

private:
    child_process process_;
};

/// Runs a command of walrelay to its end. Throws std::runtime_error if it does not come to one.
[[nodiscard]] finished_run run_to_end(const relay_start& how, std::chrono::milliseconds patience);

}  // namespace walrelay::test
