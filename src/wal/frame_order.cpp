#include "wal/frame_order.hpp"

#include "wal/frame_error.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace walrelay::wal {
namespace {

error out_of_place(lsn start, const std::string& why) {
    return frame_error(errc::frame_malformed, {"XLogData", "start of the WAL data", 1},
                       "is " + to_string(start) + ", " + why);
}

}  // namespace

result<void> frame_order::take(lsn start, const change& decoded) {
    if (const auto* const begun = std::get_if<transaction_begin>(&decoded)) {
        return begin(start, *begun);
    }
    if (const auto* const ended = std::get_if<transaction_commit>(&decoded)) {
        if (auto checked = commit(start, *ended); !checked) {
            return checked;
        }
        sent_ = std::max(sent_, ended->end);
        return {};
    }
    return std::holds_alternative<nothing_to_relay>(decoded) ? result<void>{} : change_at(start);
}

result<void> frame_order::begin(lsn start, const transaction_begin& begun) {
    if (begun.commit < sent_) {
        return out_of_place(start, "and begins a transaction that commits at " +
                                       to_string(begun.commit) + ", although all before " +
                                       to_string(sent_) + " was sent");
    }
    commit_ = begun.commit;
    change_ = {};
    return {};
}

result<void> frame_order::change_at(lsn start) {
    if (start == lsn{} || start < change_) {
        return out_of_place(start, "before the change in front of it, at " + to_string(change_));
    }
    if (start > commit_) {
        return out_of_place(start, "after the commit of its transaction, at " + to_string(commit_));
    }
    change_ = start;
    return {};
}

result<void> frame_order::commit(lsn start, const transaction_commit& ended) const {
    if (start != ended.end) {
        return out_of_place(
            start, "not where the transaction ends that it commits, at " + to_string(ended.end));
    }
    return {};
}

void frame_order::alive(lsn end) {
    sent_ = std::max(sent_, end);
}

}  // namespace walrelay::wal
