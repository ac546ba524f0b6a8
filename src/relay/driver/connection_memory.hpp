// What a relay knows from one connection to the next. Pure.
#pragma once

#include "core/facts.hpp"
#include "relay/driver/surroundings.hpp"
#include "relay/machine/postgres_session.hpp"
#include "relay/machine/stream_owner.hpp"

#include <optional>
#include <string>
#include <utility>

namespace walrelay::relay {

class connection_memory {
public:
    void stream_seen(const stream_facts& stream);
    /// Its description has been changed to this.
    void stream_described(std::string description) { description_ = std::move(description); }
    /// Rows of this owner go into the stream.
    void database_seen(stream_owner owner) { owner_ = std::move(owner); }
    void slot_streams();
    void slot_adopted();

    [[nodiscard]] known_of_stream of_stream() const { return {stream_was_there_, owner_}; }
    [[nodiscard]] known_before of_database(bool gap, newest_rows_wanted newest_rows) const;
    [[nodiscard]] const std::string& description() const { return description_; }

private:
    std::optional<preflight::earlier_run> earlier_run_;
    bool stream_was_there_ = false;
    std::string description_;
    std::optional<wall_time> last_stored_;
    std::optional<stream_owner> owner_;
};

}  // namespace walrelay::relay
