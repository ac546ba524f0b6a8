// Whether a relay may take its slot: reads walrelay.halt, keeps a halt, removes one that is over.
//
// Lives as long as its driver, and remembers what it has said and what was healed meanwhile.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/halt_store.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace walrelay::servers {

enum class passage {
    /// Nothing is halted.
    open,
    /// An operator has fixed the cause, without having looked: all rows are to be compared first,
    /// and then the gate is asked again (`was_compared`).
    compares,
    /// An operator has fixed the cause; what is missing is looked for once more.
    looks,
    /// An operator has decided to go on without what is missing.
    gives_up,
    /// What is missing is published from the tables first: on_slot_loss = "heal", or an operator
    /// has asked for it.
    heals,
};

class halt_gate {
public:
    explicit halt_gate(const config::settings& settings) : settings_(settings) {}

    /// The operator starts this relay to go on whatever has been halted (--skip-startup-check).
    void go_on_whatever_was_halted() { skips_ = true; }

    /// Asked before the slot is taken, and again once it is: another relay may have halted in
    /// between. errc::halted where an operator must resume. A table that cannot be read lets pass,
    /// with a warning for the first time.
    [[nodiscard]] boost::asio::awaitable<result<passage>> ask(postgres::connection& sql);

    /// No row is missing: keeps that for the halt that is to be passed.
    [[nodiscard]] boost::asio::awaitable<result<void>> was_compared(postgres::connection& sql);

    /// What was missing is in the stream; the halt goes with the next `streams`.
    void healed() { healed_ = true; }
    /// An operator has asked for it, and the relay does not stream yet: another one that heals at
    /// the same time may have taken the slot away.
    [[nodiscard]] bool is_asked_to_heal() const { return asked_to_heal_; }

    /// The relay streams, and has been told what it goes on without: removes the halt that it has
    /// passed, if there was one. An error where rows were given up and the halt stays: that
    /// decision is for one gap, and each later start would pass another one with it.
    [[nodiscard]] boost::asio::awaitable<result<void>> streams(postgres::connection& sql);

private:
    [[nodiscard]] result<passage> judge(const postgres::kept_halt& halt);
    passage pass(passage how, const std::string& was, const std::string& why);
    passage heal(const std::string& was, const std::string& why);
    void has_passed();
    void warn(const error& why, const std::string& consequence);

    const config::settings& settings_;
    bool skips_ = false;
    bool healed_ = false;
    bool asked_to_heal_ = false;
    bool gives_up_ = false;
    /// Which halt is being passed, and which was the last (kept_halt::which); empty for none.
    std::string passing_;
    std::string passed_;
    bool warned_ = false;
    bool said_ = false;
};

/// The halt in the words of an error, errc::halted.
[[nodiscard]] error error_of(const std::string& slot, const postgres::kept_halt& halt);

/// Keeps the halt over a connection of its own. Takes no longer than a few seconds; logs a warning
/// where it could not be kept. Returns whether it was.
[[nodiscard]] boost::asio::awaitable<bool> keep_halt(boost::asio::any_io_executor executor,
                                                     const config::settings& settings,
                                                     std::string reason, std::string fix);

}  // namespace walrelay::servers
