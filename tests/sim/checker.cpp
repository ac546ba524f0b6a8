#include "sim/checker.hpp"

#include "core/position.hpp"
#include "sim/violation.hpp"

#include <algorithm>

namespace walrelay::sim {
namespace {

std::string name(const stored_message& taken) {
    return "sequence " + std::to_string(taken.sequence) + ", id " + taken.id + ", position " +
           taken.position;
}

std::string name(const outbox_event& event) {
    return event.id + " at " + to_string(event.where.commit) + "." +
           std::to_string(event.where.ordinal);
}

}  // namespace

std::size_t checker::index_of(const stored_message& taken) const {
    const auto where = parse_position(taken.position);
    if (!where || where->origin != database::origin) {
        throw violation("no phantom", "no position of this database: " + name(taken));
    }
    const auto& all = source_.events();
    const auto found = std::lower_bound(
        all.begin(), all.end(), where->at,
        [](const outbox_event& event, const commit_position& at) { return event.where < at; });
    if (found == all.end() || found->where != where->at) {
        throw violation("no phantom", "the stream has what was never committed: " + name(taken));
    }
    return static_cast<std::size_t>(found - all.begin());
}

void checker::on_stored(const stored_message& taken) {
    const auto index = index_of(taken);
    const auto& event = source_.events()[index];
    if (taken.id != event.id || taken.subject != event.subject || taken.body != event.body) {
        throw violation("content", "a message differs from its row: " + name(taken));
    }
    if (last_ != none && index <= last_) {
        throw violation(index == last_ ? "no duplicate" : "order, no duplicate",
                        name(taken) + " is stored behind " + name(source_.events()[last_]));
    }
    if (index != first_missing()) {
        throw violation("order", name(taken) + " overtakes " + missing_text());
    }
    last_ = index;
}

void checker::on_stream_lost(const std::vector<stored_message>& left) {
    auto last = none;
    for (const auto& each : left) {
        if (!each.position.empty()) {
            last = index_of(each);
        }
    }
    for (auto index = last + 1; index != last_ + 1; ++index) {
        lost_.push_back(index);
    }
    last_ = last;
}

void checker::on_confirmed(lsn flushed, const char* where) const {
    // The server skips what commits before the position that it starts from.
    const auto missing = first_missing();
    if (missing < source_.events().size() && source_.events()[missing].where.commit < flushed) {
        throw violation("the slot keeps what the stream does not have",
                        to_string(flushed) + " is confirmed (" + where + ") while " +
                            missing_text() + " is not in the stream");
    }
}

void checker::on_reported(lsn before, lsn flushed) {
    if (flushed < before) {
        throw violation("confirmed never goes back",
                        to_string(flushed) + " is reported behind " + to_string(before));
    }
}

std::string checker::missing_text() const {
    const auto missing = first_missing();
    return missing < source_.events().size() ? name(source_.events()[missing]) : "nothing";
}

}  // namespace walrelay::sim
