// See slow_reader.hpp.
#include "soak/slow_reader.hpp"

#include "soak/disturbances.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

namespace walrelay::soak {
namespace {

constexpr int smallest_pipe_bytes = 4096;

/// Of "2026-01-31T12:00:00.250Z", UTC.
std::optional<moment> time_of(const std::string& text) {
    constexpr std::size_t whole_length = 24;
    constexpr std::size_t milliseconds_at = 20;
    std::tm parts{};
    if (text.size() != whole_length || text.back() != 'Z' ||
        strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S.", &parts) == nullptr) {
        return std::nullopt;
    }
    return clock::from_time_t(timegm(&parts)) +
           std::chrono::milliseconds(std::atoi(text.c_str() + milliseconds_at));
}

}  // namespace

slow_reader::slow_reader(const std::filesystem::path& pipe, const span& pause, diary& book,
                         std::uint64_t seed)
    : pause_(pause), book_(book) {
    constexpr mode_t for_its_owner = 0600;
    if (mkfifo(pipe.c_str(), for_its_owner) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot make " + pipe.string());
    }
    // With a writing end of its own it never meets the end of the file.
    descriptor_ = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ < 0 || fcntl(descriptor_, F_SETPIPE_SZ, smallest_pipe_bytes) < 0) {
        throw std::system_error(errno, std::generic_category(), "cannot read " + pipe.string());
    }
    thread_.add([this, random = std::make_shared<chaos::dice>(seed)] { read_slowly(*random); });
}

slow_reader::~slow_reader() {
    thread_.stop();
    close(descriptor_);
}

bool slow_reader::take(std::size_t most_bytes) {
    std::array<char, smallest_pipe_bytes> bytes{};
    const auto count = read(descriptor_, bytes.data(), std::min(bytes.size(), most_bytes));
    if (count > 0) {
        const std::scoped_lock lock(mutex_);
        text_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return count > 0;
}

void slow_reader::read_slowly(chaos::dice& random) {
    constexpr std::size_t sip_bytes = 512;
    constexpr std::chrono::milliseconds between_sips{20};
    const auto how_long = random.duration(pause_.shortest, pause_.longest);
    {
        const diary::happening now(book_, kinds::log_pause);
        (void)thread_.pass(how_long);
    }
    const auto until = std::chrono::steady_clock::now() + how_long;
    while (std::chrono::steady_clock::now() < until && thread_.pass(between_sips)) {
        (void)take(sip_bytes);
    }
}

void slow_reader::finish() {
    thread_.stop();
    while (take(smallest_pipe_bytes)) {
    }
}

std::string slow_reader::text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
}

std::vector<log_line> slow_reader::lines() const {
    std::vector<log_line> result;
    std::istringstream in(text());
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string time;
        log_line parsed;
        words >> time >> parsed.level;
        std::getline(words >> std::ws, parsed.text);
        if (const auto when = time_of(time)) {
            parsed.when = *when;
            result.push_back(parsed);
        }
    }
    return result;
}

}  // namespace walrelay::soak
