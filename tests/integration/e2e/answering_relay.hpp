// A relay of a bench that answers HTTP on a free port.
#pragma once

#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace walrelay::test {

[[nodiscard]] inline bool has(const std::string& text, const std::string& wanted) {
    return text.find(wanted) != std::string::npos;
}

/// A relay of the bench's configuration that answers on a free port.
class answering_relay {
public:
    answering_relay(const relay_bench& bench, const std::string& name,
                    std::map<std::string, std::string> environment = {})
        : process_(start_of(bench, name, std::move(environment))) {
        const std::string before_port = "answering at http://127.0.0.1:";
        if (!process_.wait_for_log(before_port, patience)) {
            throw std::runtime_error("it does not answer: " + process_.log());
        }
        const auto log = process_.log();
        port_ = static_cast<std::uint16_t>(
            std::stoi(log.substr(log.find(before_port) + before_port.size())));
    }

    [[nodiscard]] relay_process& process() { return process_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] http_answer get(const std::string& path) const { return http_get(port_, path); }
    [[nodiscard]] bool says(const std::string& path, const std::string& text) const {
        return has(get(path).body, text);
    }
    [[nodiscard]] bool comes_to_say(const std::string& path, const std::string& text) const {
        return eventually(patience, [&] { return says(path, text); });
    }

    /// Waits for the state; then all answers tell the same.
    [[nodiscard]] testing::AssertionResult is(const std::string& state, bool ready,
                                              bool leader) const {
        if (!comes_to_say("/status", "\"state\":\"" + state + "\"")) {
            return testing::AssertionFailure()
                   << "never " << state << ": " << get("/status").body << process_.log();
        }
        const auto metrics = get("/metrics").body;
        const auto status = get("/status").body;
        const auto flag = [](bool set) { return set ? "true" : "false"; };
        const bool agree =
            get("/readyz").status == (ready ? 200 : 503) && has(get("/readyz").body, state) &&
            get("/leader").status == (leader ? 200 : 503) && get("/healthz").status == 200 &&
            has(metrics, "walrelay_state{state=\"" + state + "\"} 1\n") &&
            has(metrics, std::string("walrelay_leader ") + (leader ? "1\n" : "0\n")) &&
            has(status, std::string("\"ready\":") + flag(ready)) &&
            has(status, std::string("\"leader\":") + flag(leader));
        return agree ? testing::AssertionSuccess()
                     : testing::AssertionFailure() << "they do not agree: " << status << metrics
                                                   << get("/readyz").body << get("/leader").body;
    }

private:
    static relay_start start_of(const relay_bench& bench, const std::string& name,
                                std::map<std::string, std::string> environment) {
        environment.emplace("WALRELAY_HTTP_LISTEN", "127.0.0.1:0");
        const auto file = bench.folder() / "walrelay.toml";
        std::ofstream(file) << bench.configuration();
        return {.program = WALRELAY_BINARY,
                .arguments = {"run", "--config", file.string()},
                .folder = bench.folder(),
                .environment = std::move(environment),
                .name = name};
    }

    relay_process process_;
    std::uint16_t port_ = 0;
};

}  // namespace walrelay::test
