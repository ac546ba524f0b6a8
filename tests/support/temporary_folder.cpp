// See temporary_folder.hpp. The remover is a shell that waits on a pipe whose other end only this
// process holds; it is detached, so that a test runner that kills the whole family spares it.
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace walrelay::test {
namespace {

// A server that was killed a moment ago may still be creating files, hence the second try.
constexpr const char* remove_when_input_ends =
    "read -r never; rm -rf -- \"$1\" 2>/dev/null || { sleep 1; rm -rf -- \"$1\"; }";

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void become_remover(int input, const char* folder) {
    setsid();
    if (fork() != 0) {
        _exit(0);
    }
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(input, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", remove_when_input_ends, "remover", folder, nullptr);
    _exit(127);
}

int start_remover(const std::string& folder) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    const pid_t child = fork();
    if (child < 0) {
        throw_errno("cannot fork");
    }
    if (child == 0) {
        become_remover(ends[0], folder.c_str());
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return ends[1];
}

}  // namespace

temporary_folder::temporary_folder(std::string_view label) {
    const auto base = std::filesystem::temp_directory_path();
    std::string pattern = (base / ("walrelay-" + std::string(label) + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr) {
        throw_errno("cannot make a folder like " + pattern);
    }
    path_ = pattern;
    constexpr mode_t readable_by_all = 0755;
    if (chmod(path_.c_str(), readable_by_all) != 0) {
        throw_errno("cannot open up " + path_.string());
    }
    lifeline_ = start_remover(path_.string());
}

temporary_folder::temporary_folder(temporary_folder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lifeline_(std::exchange(other.lifeline_, -1)) {}

temporary_folder::~temporary_folder() {
    if (lifeline_ < 0) {
        return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    close(lifeline_);
}

}  // namespace walrelay::test
