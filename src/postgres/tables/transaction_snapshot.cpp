#include "postgres/tables/transaction_snapshot.hpp"

#include <algorithm>
#include <charconv>

namespace walrelay::postgres {
namespace {

/// Takes a number and the character after it off the text; `after` 0 stands for its end.
bool take_number(std::string_view& text, char after, std::uint64_t& number) {
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{}) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.empty()) {
        return after == '\0';
    }
    const bool is_followed = text.front() == after;
    text.remove_prefix(1);
    return is_followed;
}

}  // namespace

std::optional<transaction_snapshot> transaction_snapshot::parse(std::string_view text) {
    transaction_snapshot read;
    if (!take_number(text, ':', read.oldest_running_) ||
        !take_number(text, ':', read.first_not_seen_)) {
        return std::nullopt;
    }
    for (bool is_last = text.empty(); !is_last;) {
        is_last = text.find(',') == std::string_view::npos;
        if (!take_number(text, is_last ? '\0' : ',', read.running_.emplace_back())) {
            return std::nullopt;
        }
    }
    return read;
}

bool transaction_snapshot::shows(transaction_id xid) const {
    const auto ahead = xid - static_cast<transaction_id>(first_not_seen_);
    const auto distance = static_cast<std::int64_t>(static_cast<std::int32_t>(ahead));
    if (distance >= 0) {
        return false;
    }
    const auto whole = first_not_seen_ + static_cast<std::uint64_t>(distance);
    return whole < oldest_running_ ||
           (whole < first_not_seen_ && std::ranges::find(running_, whole) == running_.end());
}

}  // namespace walrelay::postgres
