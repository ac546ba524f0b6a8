// Whatever carries rows from the outbox into the stream, as a measurement sees it: it is started,
// it may have a process, it is stopped.
#pragma once

#include "harness/bed.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::bench {

class running_contender {
public:
    virtual ~running_contender() = default;
    /// Nothing where it lives in this process.
    [[nodiscard]] virtual std::optional<pid_t> pid() const = 0;
    /// What it said, for people who look for the cause of a failure.
    [[nodiscard]] virtual std::string log() const = 0;
    /// Throws std::runtime_error if it does not end in order.
    virtual void stop() = 0;
};

struct contender {
    std::string name;
    /// The plugin of the slot that it reads from.
    std::string plugin;
    /// Returns once it is at work. The bed must have been made ready for the plugin, and prepared.
    std::function<std::unique_ptr<running_contender>(bed&)> start;
    /// Makes what it needs besides, which is not to be measured. `bed::start_over` undoes it.
    std::function<void(bed&)> prepare = [](bed&) {};
    /// Makes what must be older than the slot. It stays.
    std::function<void(bed&)> prepare_before_slot = [](bed&) {};
};

[[nodiscard]] contender relay_contender(const std::string& plugin);
/// Nobody at all, and no slot.
[[nodiscard]] contender no_contender();
/// The decoder alone: pg_recvlogical, which drops what it reads.
[[nodiscard]] contender decoder_contender(const std::string& plugin);

}  // namespace walrelay::bench
