// See confirmed_watch.hpp.
#include "chaos/confirmed_watch.hpp"

#include "chaos/arena.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace walrelay::chaos {
namespace {

constexpr std::chrono::milliseconds between_samples{40};
constexpr int hexadecimal = 16;

bool read_number(std::string_view text, std::uint64_t& number, int base) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

std::uint64_t lsn_from(const std::string& text) {
    const auto slash = text.find('/');
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    if (slash == std::string::npos ||
        !read_number(std::string_view(text).substr(0, slash), high, hexadecimal) ||
        !read_number(std::string_view(text).substr(slash + 1), low, hexadecimal)) {
        throw std::runtime_error("not an LSN: " + text);
    }
    constexpr unsigned half_bits = 32;
    return (high << half_bits) | low;
}

}  // namespace

std::optional<stream_place> place_in(const std::string& position) {
    constexpr std::size_t most_parts = 5;
    std::vector<std::string_view> parts;
    for (std::string_view left = position; parts.size() < most_parts;) {
        const auto dot = left.find('.');
        parts.push_back(left.substr(0, dot));
        if (dot == std::string_view::npos) {
            break;
        }
        left.remove_prefix(dot + 1);
    }
    const bool has_row = parts.size() == most_parts;
    stream_place place;
    if (parts.size() < most_parts - 1 || !read_number(parts[2], place.commit_lsn, hexadecimal) ||
        (has_row && !read_number(parts[3], place.row_lsn, hexadecimal)) ||
        !read_number(parts.back(), place.index, 10)) {
        return std::nullopt;
    }
    return place;
}

confirmed_watch::confirmed_watch(std::string conninfo, std::string urls)
    : conninfo_(std::move(conninfo)), urls_(std::move(urls)), thread_([this] { work(); }) {}

confirmed_watch::~confirmed_watch() {
    stop();
}

void confirmed_watch::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool confirmed_watch::pause() {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, between_samples, [this] { return stopping_; });
}

void confirmed_watch::work() {
    while (!pause()) {
        try {
            watch_until_lost();
        } catch (const std::runtime_error&) {
            // One of the servers is away: the next try comes after a pause.
        }
    }
}

void confirmed_watch::watch_until_lost() {
    constexpr std::chrono::milliseconds request_patience{300};
    test::postgres_session session(conninfo_);
    test::stream_reader reader(urls_, request_patience);
    std::uint64_t highest = 0;
    bool had_messages = false;
    while (!pause()) {
        const auto rows = session.query(
            "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = $1",
            {slot_name});
        if (rows.empty() || !rows.front().front()) {
            continue;
        }
        confirmed_sample sample{.confirmed = lsn_from(*rows.front().front())};
        steps_back_ += sample.confirmed < highest ? 1 : 0;
        highest = sample.confirmed;
        try {
            const auto last = reader.last(stream_name, all_subjects);
            if (last) {
                sample.tail = place_in(last->header("Walrelay-Position"));
            }
            // A cluster between two leaders may say that there is nothing.
            if (sample.tail || !had_messages) {
                samples_.push_back(sample);
            }
            had_messages = had_messages || last.has_value();
        } catch (const std::runtime_error&) {
            // The broker is away; PostgreSQL's side of the watch goes on.
        }
    }
}

std::uint64_t confirmed_too_early(const std::vector<confirmed_sample>& samples,
                                  const std::vector<stream_place>& stream) {
    std::uint64_t count = 0;
    for (const auto& sample : samples) {
        const auto next = sample.tail ? std::upper_bound(stream.begin(), stream.end(), *sample.tail)
                                      : stream.begin();
        // What is confirmed is the end of a transaction, which lies behind its commit record.
        if (next != stream.end() && next->commit_lsn < sample.confirmed) {
            ++count;
        }
    }
    return count;
}

}  // namespace walrelay::chaos
