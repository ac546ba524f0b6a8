// Events that are inserted rows: of the outbox tables, and of walrelay.control, through which
// walrelay speaks to its relays. Pure.
#pragma once

#include "relay/intake/control_source.hpp"
#include "relay/intake/event_placer.hpp"
#include "relay/intake/table_doubts.hpp"

namespace walrelay::relay {

class insert_source {
public:
    /// All of these must outlive this.
    insert_source(event_placer& events, table_doubts& tables, const intake_options& options)
        : events_(events), tables_(tables), options_(options), control_(events, tables, options) {}

    result<void> take(const row_insert& row, const reading& now);

private:
    [[nodiscard]] bool can_be_moved(std::size_t table) const;

    event_placer& events_;
    table_doubts& tables_;
    const intake_options& options_;
    control_source control_;
};

}  // namespace walrelay::relay
