// Updates that publish their row again (outbox.republish). Pure.
//
// Knows the row of which the WAL lacks large values, while they are fetched from its table.
#pragma once

#include "relay/intake/event_placer.hpp"
#include "relay/intake/republish.hpp"
#include "relay/intake/table_doubts.hpp"
#include "wal/decoder.hpp"

#include <optional>
#include <string_view>

namespace walrelay::relay {

class update_source {
public:
    /// All of these must outlive this.
    update_source(event_placer& events, table_doubts& tables, const intake_options& options)
        : events_(events), tables_(tables), options_(options) {}

    /// A connection begins: what was to be fetched is read again.
    void begin() { unfinished_.reset(); }
    /// Asks the decoder for updates of the tables that want them.
    void watch(wal::decoder& decoder) const;
    result<void> take(const row_update& row, const reading& now);
    /// The row for which `frame_read::incomplete` asked; nothing where it is no longer in its
    /// table.
    result<void> complete(std::optional<table_row> fetched, std::uint64_t revision,
                          const reading& now);

private:
    [[nodiscard]] bool is_whole(std::size_t table, const row_update& row) const;
    result<void> set_incomplete_aside(const outbox_event& event, const reading& now);

    event_placer& events_;
    table_doubts& tables_;
    const intake_options& options_;
    std::optional<unfinished_row> unfinished_;
};

}  // namespace walrelay::relay
