// Whether the stream is believed to end where a look shows it to end, although more is known to be
// stored: what the window has seen acked, or what the witness names. Pure; a part of the
// checkpoint.
#pragma once

#include "core/instant.hpp"
#include "relay/checkpoint/tail_doubt.hpp"

#include <cstdint>
#include <optional>

namespace walrelay::relay {

/// Where a look shows the stream to end. `version` is that of the witness that was known then; 0
/// without the slot.
struct seen_end {
    std::uint64_t version = 0;
    wall_time created = {};  // the stream
    std::uint64_t last_sequence = 0;

    friend bool operator==(const seen_end&, const seen_end&) = default;
};

class end_doubt {
public:
    enum class missing {
        nothing,
        of_one_server,
        /// Which can lag behind the others.
        of_a_cluster,
    };

    /// A look that misses something: whether it is looked at again before anything is made of it.
    /// What was believed once is not doubted again as long as the stream ends there.
    [[nodiscard]] bool doubts(const seen_end& at, missing by_window, missing by_witness,
                              monotonic_time now) {
        if ((by_window == missing::nothing && by_witness == missing::nothing) || believed_ == at) {
            return false;
        }
        // Either of them has seen it end there for long enough.
        bool is_doubted = true;
        if (by_window != missing::nothing) {
            is_doubted = of_window_.doubts(by_window == missing::of_a_cluster, now);
        }
        if (by_witness != missing::nothing) {
            is_doubted = of_witness_.doubts(by_witness == missing::of_a_cluster, now) && is_doubted;
        }
        if (!is_doubted) {
            believed_ = at;
        }
        return is_doubted;
    }

    void has_all_of_window() { of_window_.settled(); }
    void has_all_of_witness() {
        of_witness_.settled();
        believed_.reset();
    }
    /// It ends there now, as a look or an ack says.
    void ends_at(std::uint64_t last_sequence) {
        if (believed_ && believed_->last_sequence != last_sequence) {
            believed_.reset();
        }
    }

private:
    tail_doubt of_window_;
    tail_doubt of_witness_;
    std::optional<seen_end> believed_;
};

}  // namespace walrelay::relay
