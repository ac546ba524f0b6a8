#include "relay/driver/connection_memory.hpp"

namespace walrelay::relay {

void connection_memory::stream_seen(const stream_facts& stream) {
    stream_was_there_ = true;
    if (!earlier_run_) {
        earlier_run_ = preflight::earlier_run_of(stream);
    }
    description_ = stream.description;
    if (!stream.recent.empty()) {
        last_stored_ = stream.recent.back().stored_at;
    }
}

void connection_memory::slot_streams() {
    earlier_run_ = preflight::earlier_run{"this relay has streamed from it"};
}

void connection_memory::slot_adopted() {
    earlier_run_ = preflight::earlier_run{"this relay has published the rows before it"};
}

known_before connection_memory::of_database(bool gap, newest_rows_wanted newest_rows) const {
    return {earlier_run_, gap, description_, last_stored_, newest_rows};
}

}  // namespace walrelay::relay
