#include "postgres/session/password_source.hpp"

#include "files/ordinary_file.hpp"
#include "postgres/session/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace walrelay::postgres {
namespace {

using clock = std::chrono::steady_clock;

/// Of a token there is no telling, but nobody's is longer.
constexpr std::size_t longest_bytes = std::size_t{64} * 1024;

class open_file {
public:
    explicit open_file(int number = -1) : number_(number) {}
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    open_file(open_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    open_file& operator=(open_file&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~open_file() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

error unusable(const std::string& file, const std::string& key, const std::string& why) {
    return {errc::postgres_unavailable,
            "the password of PostgreSQL cannot be read from " + file + " (" + key + "): " + why,
            "put the password into the first line of the file, for walrelay's user to read and not "
            "for everybody; it is read again at every try"};
}

error failed(const std::string& key, const std::string& what) {
    return {errc::postgres_unavailable, key + " gave no password for PostgreSQL: " + what,
            "run the command by hand, as walrelay's user: it must write the password as its first "
            "line; it is run again at every try"};
}

std::optional<std::string> first_line(std::string text) {
    text.erase(std::min(text.find('\n'), text.size()));
    if (text.ends_with('\r')) {
        text.pop_back();
    }
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// All that comes from the descriptor, at most so much as a password can be. False where that takes
/// longer than until `deadline`.
bool read_all(int from, clock::time_point deadline, std::string& read) {
    std::array<char, 4096> block{};
    while (read.size() < longest_bytes) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
        pollfd waited{from, POLLIN, 0};
        if (left <= 0 || poll(&waited, 1, static_cast<int>(left)) == 0) {
            return false;
        }
        const auto count = ::read(from, block.data(), block.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return true;
        }
        read.append(block.data(), static_cast<std::size_t>(count));
    }
    return true;
}

/// In a process group of its own, with nothing of this process but its environment.
std::optional<pid_t> spawn(const std::string& command, int output) {
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t how{};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    sigset_t signals{};
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how, &signals);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(
        &how,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    std::string shell = "/bin/sh";
    std::string option = "-c";
    std::string text = command;
    std::array<char*, 4> words{shell.data(), option.data(), text.data(), nullptr};
    pid_t child = 0;
    const int refused = posix_spawn(&child, shell.c_str(), &files, &how, words.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return refused == 0 ? std::optional(child) : std::nullopt;
}

std::optional<int> exit_status(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return std::nullopt;
        }
    }
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

result<std::string> run(const std::string& command, const std::string& key,
                        clock::time_point deadline) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failed(key, std::strerror(errno));
    }
    const open_file reading(ends[0]);
    open_file writing(ends[1]);
    const auto child = spawn(command, writing.number());
    writing = open_file();
    if (!child) {
        return failed(key, "/bin/sh cannot be run here");
    }
    std::string said;
    const bool ended = read_all(reading.number(), deadline, said);
    const bool is_too_long = said.size() >= longest_bytes;
    if (!ended || is_too_long) {
        kill(-*child, SIGKILL);
    }
    const auto status = exit_status(*child);
    if (is_too_long) {
        return failed(key, "it wrote more than 64 KiB");
    }
    if (!ended) {
        return failed(key, "it did not end in time");
    }
    if (status != 0) {
        return failed(key, status ? "it ended with exit status " + std::to_string(*status)
                                  : "it was ended by a signal");
    }
    auto line = first_line(std::move(said));
    return line ? result<std::string>(std::move(*line)) : failed(key, "it wrote nothing");
}

}  // namespace

result<std::string> read_password_file(const std::string& file, const std::string& key) {
    auto text = files::read_secret(file);
    if (!text) {
        return unusable(file, key, text.error().why);
    }
    auto line = first_line(std::move(*text));
    return line ? result<std::string>(std::move(*line))
                : unusable(file, key, "its first line is empty");
}

boost::asio::awaitable<result<std::string>> run_password_command(
    boost::asio::any_io_executor executor, std::string command, clock::time_point deadline,
    std::string key) {
    const auto given = std::make_shared<result<std::string>>(failed(key, "it did not end in time"));
    // The thread ends the command itself, a little before nobody waits for it any more.
    const auto its_deadline = deadline - std::chrono::milliseconds(100);
    const std::function<void()> call = [given, command, key, its_deadline] {
        *given = run(command, key, its_deadline);
    };
    const bool ended = co_await run_apart(executor, call, deadline);
    co_return ended ? *given : failed(key, "it did not end in time");
}

}  // namespace walrelay::postgres
