// Finds the connection that a late callback of nats.c is about.
//
// The library calls back from threads of its own, also after a connection is gone. A number instead
// of a pointer as the closure makes that harmless: what is gone is not found.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace walrelay::nats {

template <class Watched>
class watchers {
public:
    static watchers& instance() {
        static watchers only;
        return only;
    }

    /// The closure for nats.c.
    void* add(const std::shared_ptr<Watched>& watched) {
        const std::scoped_lock lock(mutex_);
        entries_[++last_] = watched;
        return reinterpret_cast<void*>(last_);
    }

    [[nodiscard]] std::shared_ptr<Watched> find(void* closure) {
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(closure));
        return found == entries_.end() ? nullptr : found->second.lock();
    }

    void remove(void* closure) {
        const std::scoped_lock lock(mutex_);
        entries_.erase(reinterpret_cast<std::uintptr_t>(closure));
    }

private:
    std::mutex mutex_;
    std::unordered_map<std::uintptr_t, std::weak_ptr<Watched>> entries_;
    std::uintptr_t last_ = 0;
};

}  // namespace walrelay::nats
