// The rows of a table that are to be published again as they are now: found by their ids, made into
// what walrelay.control takes.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "outbox/id_inverse.hpp"
#include "outbox/table_mapper.hpp"
#include "postgres/tables/replay_rows.hpp"
#include "relay/intake/republish.hpp"
#include "relay/replay/replay_plan.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::tasks {

class table_rows {
public:
    /// `table` must be one of the configuration that is a table. Errors: those of inspect;
    /// configuration_invalid where it has no column for the id.
    [[nodiscard]] static boost::asio::awaitable<result<std::unique_ptr<table_rows>>> open(
        const config::settings& settings, postgres::connection& sql, table_name table);

    [[nodiscard]] const postgres::replay_table& shape() const { return shape_; }
    /// SQL conditions, each of which at most the row with this message id meets, or with this id.
    [[nodiscard]] std::vector<std::string> conditions_of(std::string_view id) const;
    /// Calls `visit` for each row of these ids that there is.
    [[nodiscard]] boost::asio::awaitable<result<void>> read(
        postgres::connection& sql, std::vector<std::string> ids,
        std::function<void(relay::replayed_row&&)> visit);

    table_rows(std::size_t index, outbox::table_mapper mapper, postgres::replay_table shape,
               std::uint64_t max_row_bytes);

private:
    void give(const postgres::row_set& rows, std::size_t row,
              const std::function<void(relay::replayed_row&&)>& visit);

    std::size_t index_;
    outbox::table_mapper mapper_;
    postgres::replay_table shape_;
    std::uint64_t max_row_bytes_;
    /// Nothing where the template of message ids cannot be turned round.
    std::optional<outbox::id_inverse> inverse_;
    std::uint64_t revision_ = 0;
    message content_;
};

}  // namespace walrelay::tasks
