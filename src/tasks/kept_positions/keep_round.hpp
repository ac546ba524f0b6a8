// Looks after the kept positions of a slot for as long as this relay holds it: moves the trail
// along, drops what has expired or must give way. On a connection of its own; what it cannot do now
// it does later, and nothing here ever stops the relaying.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/kept_position.hpp"
#include "core/last_look.hpp"
#include "postgres/session/connection.hpp"
#include "relay/keep/keep_plan.hpp"
#include "tasks/kept_positions/keep_words.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

/// Whom what is seen and done is told, on the loop.
struct keep_watch {
    /// watched_facts::change_sign of the server now; empty is not known.
    std::function<std::string()> sign = [] { return std::string(); };
    /// Nothing where the server had no answer.
    std::function<void(std::optional<kept_positions>)> saw = [](std::optional<kept_positions>) {};
    std::function<void(kept_kind, giving_way)> dropped = [](kept_kind, giving_way) {};
    /// The trail, for lack of room.
    std::function<void(giving_way)> moved_on = [](giving_way) {};
};

class keep_round : public std::enable_shared_from_this<keep_round> {
public:
    /// The settings and the watch must outlive it. `system_identifier` is that of the server,
    /// `holder` the process there that sends to this relay.
    keep_round(boost::asio::io_context& io, const config::settings& settings,
               const keep_watch& watch, std::uint64_t system_identifier, int holder);

    /// Until it is closed.
    [[nodiscard]] boost::asio::awaitable<void> run();
    void close();

private:
    using steady = std::chrono::steady_clock;
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    outcome<> look();
    outcome<> open();
    outcome<> carry_out(const relay::keep_plan& plan, const kept_positions& found);
    outcome<> drop(const relay::kept_drop& one);
    outcome<> make_mark(lsn at);
    /// Those that the trail has left.
    outcome<> forget_marks(lsn before);
    outcome<> make_trail();
    outcome<> move_trail(const relay::trail_move& move, const kept_position& trail);
    outcome<> let_fail_over(const std::vector<std::string>& slots);
    /// Nothing is wrong with the connection where only the step was refused.
    result<void> bear(const result<void>& step, const std::string& what);
    void tell(const error& why);
    void tell(const relay::kept_drop& one) const;
    void tell(const relay::trail_move& move, const kept_position& trail);
    void tell(relay::trail_trouble trouble);
    /// A trouble that goes on is told once, and again when it has changed.
    [[nodiscard]] bool is_news(const std::string& about, const std::string& text);
    void warn_of_trail(const std::string& why);
    void is_well(const std::string& about) { told_.erase(about); }
    [[nodiscard]] std::string trail_slot() const;
    [[nodiscard]] steady::duration rest_after_moving();

    boost::asio::io_context& io_;
    const config::settings& settings_;
    const keep_watch& watch_;
    std::string system_;
    int holder_;
    relay::keep_rules rules_;
    kept_sight sight_ = kept_sight::unknown;
    /// That there were none: what is kept also changes with time.
    last_look none_kept_;
    std::optional<kept_positions> none_ = {};
    std::optional<postgres::connection> sql_;
    boost::asio::steady_timer timer_;
    std::vector<relay::trail_mark> marks_;
    std::map<std::string, std::string> told_;
    std::optional<steady::time_point> early_told_at_;
    std::uint64_t early_moves_ = 0;  // and not told yet
    steady::duration moved_for_{};   // by time, in the last look
    int failures_ = 0;               // looks in a row
    bool closed_ = false;
};

}  // namespace walrelay::tasks
