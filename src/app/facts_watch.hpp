// Looks again at what the relay's decisions rest on, for as long as the process lives: also what
// changes between two connections is seen.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/watched_facts.hpp"
#include "postgres/session/connection.hpp"
#include "relay/machine/watched_change.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::app {

class facts_watch {
public:
    explicit facts_watch(const config::settings& settings);

    /// What is there now.
    [[nodiscard]] boost::asio::awaitable<result<watched_facts>> read(
        postgres::connection& sql) const;

    /// Why a start is refused: what has changed since the last connection, where that costs rows,
    /// before what is found at any start.
    [[nodiscard]] error explain(const watched_facts& now, error refusal) const;

    /// A connection was judged with these facts, and streams. What an earlier one knew of the same
    /// database is kept, to be compared with what is there now.
    void begin(watched_facts seen, output_plugin plugin, std::uint64_t system_identifier);

    struct sight {
        /// For which the stream must end.
        std::optional<error> consequence = {};
        /// What the slot takes, and nothing in it where there is no such slot; nothing at all where
        /// it is to be asked apart, as this answer failed, or came too late to tell the time.
        std::optional<std::optional<slot_usage>> slot = {};
    };
    /// Asks once. What has changed and ends nothing is logged.
    [[nodiscard]] boost::asio::awaitable<sight> look(postgres::connection& sql);

    /// watched_facts::change_sign of the last look; empty where that had no answer, or none was
    /// made over this connection.
    [[nodiscard]] const std::string& sign() const { return sign_; }

private:
    relay::watched_names names_;
    std::optional<watched_facts> known_;
    std::uint64_t system_identifier_ = 0;
    bool told_of_failure_ = false;
    std::string sign_;
};

}  // namespace walrelay::app
