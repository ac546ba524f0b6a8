#include "app/service_notes.hpp"

#include "core/one_line.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace walrelay::app {
namespace {

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): at the start
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

/// -1 where it cannot be had: then nobody is told anything.
int connected_to(std::string_view path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // Without the final zero, as one of the abstract namespace has none.
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return -1;
    }
    std::ranges::copy(path, address.sun_path);
    if (path.front() == '@') {
        address.sun_path[0] = '\0';
    }
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    if (descriptor >= 0 &&
        ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

/// Half of what the service manager waits, as sd_watchdog_enabled(3) asks for.
std::optional<std::chrono::microseconds> half_of_the_patience() {
    const auto patience = number_in(variable("WATCHDOG_USEC"));
    const auto process = number_in(variable("WATCHDOG_PID"));
    const bool is_ours = !process || *process == ::getpid();
    return patience && *patience > 1 && is_ours
               ? std::optional(std::chrono::microseconds(*patience / 2))
               : std::nullopt;
}

}  // namespace

service_notes::service_notes() : descriptor_(connected_to(variable("NOTIFY_SOCKET"))) {
    if (are_wanted()) {
        alive_every_ = half_of_the_patience();
    }
}

service_notes::~service_notes() {
    if (are_wanted()) {
        ::close(descriptor_);
    }
}

void service_notes::status(std::string_view text) {
    // A line feed would begin a note of its own, and a reason can be anybody's words.
    constexpr std::size_t bytes_max = 1000;
    auto line = one_line(text, bytes_max);
    if (line != last_status_) {
        say("STATUS=" + line);
        last_status_ = std::move(line);
    }
}

void service_notes::say(std::string_view note) const {
    if (are_wanted()) {
        // A service manager that does not read is no reason to wait.
        static_cast<void>(::send(descriptor_, note.data(), note.size(), MSG_NOSIGNAL));
    }
}

}  // namespace walrelay::app
