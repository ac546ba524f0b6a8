// What systemd is told of this process: the protocol of sd_notify(3), which is one datagram for
// each note. Says nothing where nobody asked for it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::app {

class service_notes {
public:
    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    service_notes();
    service_notes(const service_notes&) = delete;
    service_notes& operator=(const service_notes&) = delete;
    service_notes(service_notes&&) = delete;
    service_notes& operator=(service_notes&&) = delete;
    ~service_notes();

    [[nodiscard]] bool are_wanted() const { return descriptor_ >= 0; }
    /// How often `is_alive` is to be said; nothing where nobody waits for it.
    [[nodiscard]] const std::optional<std::chrono::microseconds>& alive_every() const {
        return alive_every_;
    }

    void ready() { say("READY=1"); }
    void stopping() { say("STOPPING=1"); }
    void is_alive() { say("WATCHDOG=1"); }
    /// Said again only where it has changed, as one short line.
    void status(std::string_view text);

private:
    void say(std::string_view note) const;

    int descriptor_ = -1;
    std::optional<std::chrono::microseconds> alive_every_;
    std::string last_status_;
};

}  // namespace walrelay::app
