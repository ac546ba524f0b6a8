// Messages that the stream has acked while one before them was not, and that have left the window
// since. Pure.
//
// Where others write as well, nothing in the stream tells the slot's next reading of these rows
// that they are there, once the stream's duplicate window is over.
#pragma once

#include "core/message.hpp"
#include "core/position.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace walrelay::relay {

class ack_memory {
public:
    /// Of more than `limit` messages the last are not kept.
    explicit ack_memory(std::size_t limit) : limit_(limit) {}

    void keep(const message& acked);
    /// By position and id.
    [[nodiscard]] bool has(const message& content) const;
    /// All up to here is known to be stored without this memory.
    void forget_up_to(commit_position where);
    void clear() { acked_.clear(); }
    [[nodiscard]] bool empty() const { return acked_.empty(); }

private:
    struct known {
        history origin;
        std::string id;
    };

    std::size_t limit_;
    std::map<commit_position, known> acked_;
};

}  // namespace walrelay::relay
