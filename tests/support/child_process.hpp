// A process that a test starts, and that never outlives the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

/// What it takes to run a program as somebody else.
struct account {
    uid_t user = 0;
    gid_t group = 0;
};

/// The account of that name; throws std::runtime_error if there is none.
[[nodiscard]] account find_account(const std::string& name);

struct command {
    /// With its path, or looked up in PATH and then where Debian has servers (/usr/sbin).
    std::string program;
    std::vector<std::string> arguments = {};
    /// On top of the environment of the test; an empty value takes the variable away.
    std::map<std::string, std::string> environment = {};
    std::optional<account> run_as = {};
    /// Where the process starts, and where its output goes: `<name>.stdout` and `<name>.stderr`,
    /// appended to, so that a restarted server has one log.
    std::filesystem::path folder = {};
    std::string name = "process";
};

/// Started by the constructor, ended by the destructor with SIGKILL. The kernel kills it as well
/// when the thread that started it ends (PR_SET_PDEATHSIG): start it from the main thread.
class child_process {
public:
    /// Throws std::system_error if the process cannot be made. A program that cannot be run shows
    /// as exit code 127.
    explicit child_process(const command& what);
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&&) = delete;
    ~child_process();

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool running();
    void signal(int number) const;
    /// The exit code, or 128 + the signal that ended it; nothing if it is still running after
    /// `patience`.
    [[nodiscard]] std::optional<int> wait_exit(std::chrono::milliseconds patience);
    /// Ends it at once and collects it.
    void kill_9();

    /// Everything that it wrote so far.
    [[nodiscard]] std::string standard_output() const;
    [[nodiscard]] std::string standard_error() const;
    /// The most memory that it ever had resident; it must be running.
    [[nodiscard]] std::uint64_t resident_peak_bytes() const;

private:
    std::filesystem::path output_;
    std::filesystem::path errors_;
    pid_t pid_ = -1;
    std::optional<int> exit_;
};

/// Runs a command to its end; throws std::runtime_error, with what it said, unless it exits with 0.
void run_to_success(const command& what, std::chrono::milliseconds patience);

}  // namespace walrelay::test
