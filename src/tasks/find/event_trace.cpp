#include "tasks/find/event_trace.hpp"

#include "outbox/id_inverse.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::tasks {

std::string_view first_id_of(std::string_view message_id) {
    const auto row = outbox::row_of_message(message_id);
    const auto replayed = row.again ? std::string_view::npos : message_id.rfind(";replay-");
    return replayed == std::string_view::npos ? row.id : message_id.substr(0, replayed);
}

std::string traced_message::occasion() const {
    const auto first = first_id_of(id);
    return first.size() < id.size() ? id.substr(first.size() + 1) : std::string();
}

namespace {

/// It can have a message that was not looked at, or that is gone.
bool may_have_a_message(const event_trace& trace, const surroundings& around) {
    const auto is_new = [](const traced_row& row) { return row.is_after_witness == true; };
    return around.looked_at_a_part() ||
           (around.gone_messages > 0 && !std::ranges::all_of(trace.rows, is_new));
}

bool has_letter(const event_trace& trace, std::string_view state) {
    return std::ranges::find(trace.letters, state, &traced_letter::state) != trace.letters.end();
}

/// A row whose letter was never retried, or in vain: a message of this id is of another row.
bool has_untried_letter(const event_trace& trace) {
    return std::ranges::any_of(trace.letters, [](const traced_letter& each) {
        return each.is_of_the_first && (each.state == "open" || each.state == "lost");
    });
}

/// Where no message is. A letter whose retry was stored tells nothing of a message that is gone
/// since.
std::optional<verdict> judge_letters(const event_trace& trace) {
    const auto is_open = [](const traced_letter& each) {
        return each.state != "given up" && each.state != "dropped" && each.state != "retried";
    };
    if (std::ranges::any_of(trace.letters, is_open)) {
        return verdict::set_aside;
    }
    if (has_letter(trace, "given up")) {
        return verdict::given_up;
    }
    return has_letter(trace, "dropped") ? std::optional(verdict::dropped) : std::nullopt;
}

}  // namespace

verdict judge(const event_trace& trace, const surroundings& around) {
    const auto counts = [](const traced_message& each) { return !each.of_left_branch; };
    const auto all = std::ranges::count_if(trace.messages, counts);
    const auto first = std::ranges::count_if(trace.messages, [&](const traced_message& each) {
        return counts(each) && each.occasion().empty();
    });
    if (first > 1) {
        return verdict::twice;
    }
    if (has_untried_letter(trace)) {
        return verdict::set_aside;
    }
    if (all > 0) {
        return all == 1 ? verdict::once : verdict::again;
    }
    if (const auto of_letters = judge_letters(trace)) {
        return *of_letters;
    }
    if (trace.rows.empty() || may_have_a_message(trace, around)) {
        return verdict::unknown;
    }
    if (around.halted) {
        return verdict::halted;
    }
    const auto is_late = [](const traced_row& row) { return row.is_of_the_slot == false; };
    const bool has_slot = around.slot_exists || around.slot_waits;
    if (!has_slot || std::ranges::all_of(trace.rows, is_late)) {
        return verdict::not_sent;
    }
    // What was committed is flushed, or will be: a row that can be seen ends before that.
    if (around.wal_end == lsn{} || around.confirmed < around.wal_end) {
        return verdict::awaited;
    }
    // A row that was only changed since looks new, too.
    return around.gone_messages > 0 ? verdict::unknown : verdict::missing;
}

bool is_told_by_letter(const event_trace& trace) {
    return std::ranges::any_of(trace.letters, [](const traced_letter& each) {
        return each.is_of_the_first && each.state == "open";
    });
}

std::optional<wall_time> time_in_id(std::string_view id) {
    constexpr std::size_t uuid_size = 36;
    constexpr std::size_t first_dash = 8;
    constexpr std::size_t second_dash = 13;
    constexpr std::size_t version_at = 14;
    constexpr int hexadecimal = 16;
    if (id.size() != uuid_size || id[first_dash] != '-' || id[second_dash] != '-' ||
        id[version_at] != '7') {
        return std::nullopt;
    }
    const auto digits = std::string(id.substr(0, first_dash))
                            .append(id.substr(first_dash + 1, second_dash - first_dash - 1));
    std::int64_t milliseconds = 0;
    const auto* const end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, milliseconds, hexadecimal).ptr != end) {
        return std::nullopt;
    }
    return wall_time(std::chrono::milliseconds(milliseconds));
}

bool is_settled(verdict what) {
    return what == verdict::once || what == verdict::again || what == verdict::set_aside ||
           what == verdict::dropped;
}

}  // namespace walrelay::tasks
