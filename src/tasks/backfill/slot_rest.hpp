// What a slot still holds when its rows are to be read from the tables: healing gives the slot up,
// so that a row which is in no table any more would be lost with it.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::tasks {

class slot_rest {
public:
    /// Whether the slot is there, and PostgreSQL can decode it.
    [[nodiscard]] static bool can_be_read(const postgres_facts& facts);

    /// Reads the slot up to `until`. Errors: of the server, for the moment; gap_found where it
    /// cannot be read.
    [[nodiscard]] static boost::asio::awaitable<result<std::shared_ptr<slot_rest>>> read(
        servers::executors on, const config::settings& settings, const postgres_facts& facts,
        lsn until);

    /// A table or the stream has the row of this message id. From one thread at a time.
    void found(std::string_view id);
    /// A dead letter has it: without its content, where the row is above delivery.max_row_bytes.
    void has_letter(std::string_view id);
    /// How many rows were found nowhere.
    [[nodiscard]] std::uint64_t left() const { return left_; }
    /// How many have no id to be found by: too large a message, or a row whose columns make none.
    [[nodiscard]] std::uint64_t without_id() const { return without_id_; }

    slot_rest();

private:
    [[nodiscard]] std::uint64_t key_of(std::string_view id);
    void add(std::string_view id, bool too_large);
    void found_key(std::uint64_t key);
    void finish();

    /// Nobody who writes rows can choose two ids of one key.
    std::string secret_;
    std::string keyed_;
    std::vector<std::uint64_t> keys_;  // ascending
    /// Those of rows that a dead letter does not hold, ascending.
    std::vector<std::uint64_t> large_keys_;
    std::vector<bool> found_;
    std::uint64_t left_ = 0;
    std::uint64_t without_id_ = 0;
};

/// Why the slot is not given up for the tables.
[[nodiscard]] error holds_the_last_copy(const std::string& slot, const slot_rest& rest);
/// The same of messages that are in no table at all.
[[nodiscard]] error heals_no_messages(const std::string& slot);

}  // namespace walrelay::tasks
