// One relay: the driver that the program runs, in a process that can be killed, paused and started
// again.
#pragma once

#include "sim/relay_broker.hpp"
#include "sim/relay_database.hpp"
#include "sim/relay_life.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::sim {

class relay_process {
public:
    relay_process(const relay_surroundings& around, std::string name);
    ~relay_process();
    relay_process(const relay_process&) = delete;
    relay_process& operator=(const relay_process&) = delete;

    /// Once with --accept-history, or with --skip-startup-check, if that is said.
    void start(bool accepts_history = false, bool skips_startup_check = false);
    /// kill -9.
    void kill();
    /// SIGTERM.
    void stop();
    /// SIGSTOP, and SIGCONT after a while.
    void pause(sim_time span);
    [[nodiscard]] bool is_running() const { return life_ != nullptr; }
    /// Of the present life, or the last one.
    [[nodiscard]] const configuration& configured() const { return configured_; }
    /// Set when the program has ended by itself since the last start.
    [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }
    /// In this life.
    [[nodiscard]] bool has_streamed() const;
    [[nodiscard]] bool was_told_to_stop() const { return told_to_stop_; }
    [[nodiscard]] const std::string& last_words() const { return last_error_; }
    /// It has ended because of the database's history, with the command that goes on with it.
    [[nodiscard]] bool needs_history_accepted() const {
        return last_error_.find("--accept-history") != std::string::npos;
    }
    /// It has ended because rows are missing.
    [[nodiscard]] bool misses_rows() const {
        return last_error_.find("nor in the dead letters") != std::string::npos;
    }
    [[nodiscard]] bool found_a_gap() const {
        return misses_rows() || last_error_.find("stands at LSN") != std::string::npos ||
               last_error_.find("has lost messages") != std::string::npos ||
               last_error_.find("it is another stream") != std::string::npos;
    }
    [[nodiscard]] bool reported_a_loss() const { return reported_a_loss_; }

private:
    class life;

    void die();
    void heard(const relay::write_log& line);

    relay_surroundings around_;
    std::string name_;
    configuration configured_;
    std::uint64_t lives_ = 0;
    std::shared_ptr<life> life_;
    std::optional<int> exit_code_;
    bool told_to_stop_ = false;
    bool reported_a_loss_ = false;
    std::string last_error_;
};

}  // namespace walrelay::sim
