// Setting rows aside: which letters are to be stored, what the log says of them, and when somebody
// should know that storing them gets no answer. Pure; a part of the relay machine.
#pragma once

#include "core/instant.hpp"
#include "core/log_entry.hpp"
#include "relay/confirm/stall_watch.hpp"
#include "relay/intake/dead_letters.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace walrelay::relay {

class dead_letter_duty {
public:
    /// See dead_letter_queue.
    explicit dead_letter_duty(std::size_t most_bytes) : queue_(most_bytes) {}

    [[nodiscard]] bool has_room() const { return queue_.has_room(); }
    [[nodiscard]] bool empty() const { return queue_.empty(); }
    void add(dead_letter letter) { queue_.add(std::move(letter)); }
    /// The batch to be stored now; null while one is under way, and where there is none.
    [[nodiscard]] std::shared_ptr<const dead_letters> next(monotonic_time now);
    [[nodiscard]] bool is_under_way() const { return queue_.is_storing(); }
    /// The connection is gone; its rows are read again. Returns what was under way, null if nothing
    /// was: the server may have it.
    std::shared_ptr<const dead_letters> clear();

    struct outcome {
        std::shared_ptr<const dead_letters> letters;
        /// In commit order.
        std::vector<commit_position> places;
        /// Lines of the log.
        std::vector<log_entry> lines;
        /// How long it took, where it was told that it gets no answer.
        std::optional<std::chrono::milliseconds> stalled_for;
    };
    /// The batch that was under way is committed.
    [[nodiscard]] outcome stored(monotonic_time now);
    /// Since this relay began.
    [[nodiscard]] std::uint64_t count() const { return count_; }

    /// When the log has something to say of letters that were only counted.
    [[nodiscard]] std::optional<monotonic_time> summary_due() const { return told_.deadline(); }
    /// Nothing where there are none.
    [[nodiscard]] std::optional<log_entry> summary() { return told_.summary(); }

    [[nodiscard]] stall_watch& stall() { return stall_; }
    [[nodiscard]] const stall_watch& stall() const { return stall_; }

private:
    dead_letter_queue queue_;
    dead_letter_log told_;
    stall_watch stall_;
    std::uint64_t count_ = 0;
};

}  // namespace walrelay::relay
