#include "relay/machine/known_database.hpp"

#include "relay/machine/tail_trust.hpp"

#include <utility>

namespace walrelay::relay {

known_database::succession known_database::begin_history(const lineage& line) {
    const auto branch = line.end_of(server_.line.origin.timeline);
    const bool descends = branch && line.origin.system_identifier == history_.system_identifier;
    if (!descends) {
        began_at_.reset();
    }
    return {std::exchange(history_, line.origin), descends ? branch : std::nullopt};
}

void known_database::connected(const server_identity& server, const std::string& name,
                               lsn slot_confirmed) {
    if (accepts_history_) {
        accepted_ = server.line;
    }
    server_ = server;
    name_ = name;
    slot_confirmed_ = slot_confirmed;
}

bool known_database::accepts(const lineage& line) const {
    const bool goes_on =
        !accepted_ || (accepted_->origin.system_identifier == line.origin.system_identifier &&
                       !refuse_successor(*accepted_, line));
    return accepts_history_ && goes_on;
}

}  // namespace walrelay::relay
