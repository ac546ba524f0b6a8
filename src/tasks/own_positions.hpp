// Whether a message that the stream shows can be walrelay's own, by its Walrelay-Position alone:
// anybody who may publish on the stream's subjects can give a message any id.
#pragma once

#include "audit/provenance.hpp"
#include "config/settings.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::tasks {

class own_positions {
public:
    /// Asks the server for its history. Where the role may not replicate, or the server does not
    /// answer, every text that is a position counts.
    [[nodiscard]] static boost::asio::awaitable<own_positions> learn(
        servers::executors on, const config::settings& settings);

    [[nodiscard]] bool has(std::string_view position) const;

private:
    explicit own_positions(std::optional<audit::known_history> known) : known_(std::move(known)) {}

    std::optional<audit::known_history> known_;
};

}  // namespace walrelay::tasks
