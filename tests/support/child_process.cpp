// See child_process.hpp. Between fork and exec only calls that are safe there: the test may have
// threads (those of the NATS client), so whatever allocates is prepared before.
#include "support/child_process.hpp"

#include "support/eventually.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace walrelay::test {
namespace {

constexpr int could_not_run = 127;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

/// Debian has nats-server in /usr/sbin, which is not in the PATH of an ordinary user.
std::string with_server_folders(const std::string& variable) {
    constexpr std::string_view path = "PATH=";
    return variable.starts_with(path) ? variable + ":/usr/local/sbin:/usr/sbin:/sbin" : variable;
}

std::vector<std::string> environment_of(const command& what) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!what.environment.contains(text.substr(0, text.find('=')))) {
            all.push_back(with_server_folders(text));
        }
    }
    for (const auto& [name, value] : what.environment) {
        if (!value.empty()) {
            all.push_back(name + "=" + value);
        }
    }
    return all;
}

struct prepared_start {
    const command& what;
    std::vector<std::string> words;
    std::vector<std::string> variables;
    std::filesystem::path output;
    std::filesystem::path errors;
    pid_t parent = getpid();
};

/// False if the account cannot be taken on.
bool take_on(const account& identity) {
    return setgroups(1, &identity.group) == 0 && setgid(identity.group) == 0 &&
           setuid(identity.user) == 0;
}

void redirect(int descriptor, const char* file) {
    constexpr mode_t readable_by_all = 0644;
    const int target = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, readable_by_all);
    dup2(target, descriptor);
}

[[noreturn]] void become(const prepared_start& start, char** arguments, char** variables) {
    redirect(STDOUT_FILENO, start.output.c_str());
    redirect(STDERR_FILENO, start.errors.c_str());
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (start.what.run_as && !take_on(*start.what.run_as)) {
        _exit(could_not_run);
    }
    // Ctrl-C in a terminal goes to the test alone, which then stops its children in order.
    setpgid(0, 0);
    // After the change of user, which resets it; and the parent may have died before it took hold.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent || chdir(start.what.folder.c_str()) != 0) {
        _exit(could_not_run);
    }
    environ = variables;
    execvp(arguments[0], arguments);
    const char* reason = std::strerror(errno);
    (void)!write(STDERR_FILENO, reason, std::strlen(reason));
    _exit(could_not_run);
}

pid_t start_process(prepared_start& start) {
    const auto arguments = pointers_to(start.words);
    const auto variables = pointers_to(start.variables);
    const pid_t child = fork();
    if (child < 0) {
        throw std::system_error(errno, std::generic_category(), "cannot fork");
    }
    if (child == 0) {
        become(start, const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()));
    }
    return child;
}

std::string content_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return std::move(text).str();
}

int exit_code_of(int status) {
    constexpr int ended_by_signal = 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ended_by_signal + WTERMSIG(status);
}

}  // namespace

account find_account(const std::string& name) {
    const passwd* entry = getpwnam(name.c_str());
    if (entry == nullptr) {
        throw std::runtime_error("there is no user " + name);
    }
    return {.user = entry->pw_uid, .group = entry->pw_gid};
}

child_process::child_process(const command& what)
    : output_(what.folder / (what.name + ".stdout")),
      errors_(what.folder / (what.name + ".stderr")) {
    prepared_start start{.what = what,
                         .words = {what.program},
                         .variables = environment_of(what),
                         .output = output_,
                         .errors = errors_};
    start.words.insert(start.words.end(), what.arguments.begin(), what.arguments.end());
    pid_ = start_process(start);
}

child_process::child_process(child_process&& other) noexcept
    : output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      pid_(std::exchange(other.pid_, -1)),
      exit_(other.exit_) {}

child_process::~child_process() {
    kill_9();
}

bool child_process::running() {
    if (pid_ < 0 || exit_) {
        return false;
    }
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
        exit_ = exit_code_of(status);
    }
    return !exit_;
}

void child_process::signal(int number) const {
    // Once collected, its number may belong to somebody else.
    if (pid_ > 0 && !exit_) {
        kill(pid_, number);
    }
}

std::optional<int> child_process::wait_exit(std::chrono::milliseconds patience) {
    (void)eventually(patience, [this] { return !running(); });
    return exit_;
}

void child_process::kill_9() {
    if (!running()) {
        return;
    }
    signal(SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    exit_ = exit_code_of(status);
}

std::string child_process::standard_output() const {
    return content_of(output_);
}

std::string child_process::standard_error() const {
    return content_of(errors_);
}

std::uint64_t child_process::resident_peak_bytes() const {
    constexpr std::uint64_t bytes_in_kib = 1024;
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;) {
        if (std::uint64_t kib = 0; word == "VmHWM:" && status >> kib) {
            return kib * bytes_in_kib;
        }
    }
    throw std::runtime_error("process " + std::to_string(pid_) + " is gone: no memory to look at");
}

void run_to_success(const command& what, std::chrono::milliseconds patience) {
    child_process process(what);
    const auto code = process.wait_exit(patience);
    if (code != 0) {
        throw std::runtime_error(what.program + " failed: " + process.standard_output() +
                                 process.standard_error());
    }
}

}  // namespace walrelay::test
