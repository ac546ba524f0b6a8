// Looks every few milliseconds at what the slot has confirmed and at the stream's tail, so that it
// can be said afterwards whether the slot ever forgot a row before the stream had it.
#pragma once

#include "support/stream_reader.hpp"

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::chaos {

/// What of `Walrelay-Position` orders messages of one history.
struct stream_place {
    std::uint64_t commit_lsn = 0;
    /// 0 in the older form, which counts the rows of a transaction instead.
    std::uint64_t row_lsn = 0;
    std::uint64_t index = 0;

    friend auto operator<=>(const stream_place&, const stream_place&) = default;
};

/// Nothing if the text is not a position.
[[nodiscard]] std::optional<stream_place> place_in(const std::string& position);

struct confirmed_sample {
    /// confirmed_flush_lsn, read before the tail.
    std::uint64_t confirmed = 0;
    /// Nothing while the stream is empty.
    std::optional<stream_place> tail{};
};

class confirmed_watch {
public:
    confirmed_watch(std::string conninfo, std::string urls);
    ~confirmed_watch();
    confirmed_watch(const confirmed_watch&) = delete;
    confirmed_watch& operator=(const confirmed_watch&) = delete;

    void stop();
    /// Once stopped.
    [[nodiscard]] const std::vector<confirmed_sample>& samples() const { return samples_; }
    /// How often confirmed_flush_lsn went back while the server stayed up.
    [[nodiscard]] std::uint64_t steps_back() const { return steps_back_; }

private:
    void work();
    void watch_until_lost();
    [[nodiscard]] bool pause();

    std::string conninfo_;
    std::string urls_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::vector<confirmed_sample> samples_;
    std::uint64_t steps_back_ = 0;
    std::thread thread_;
};

/// How many of the samples show a slot that had confirmed a message, of all that are in the stream
/// in the end, behind the tail of that time.
[[nodiscard]] std::uint64_t confirmed_too_early(const std::vector<confirmed_sample>& samples,
                                                const std::vector<stream_place>& stream);

}  // namespace walrelay::chaos
