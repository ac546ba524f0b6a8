#include "relay/machine/startup_check.hpp"

#include "core/progress.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <limits>

namespace walrelay::relay {
namespace {

std::string some_of(const std::vector<roll_row>& rows) {
    constexpr std::size_t named = 5;
    std::string text;
    for (std::size_t index = 0; index < std::min(named, rows.size()); ++index) {
        text += (index == 0 ? "" : ", ") + rows[index].id;
    }
    return text + (rows.size() > named ? ", ..." : "");
}

}  // namespace

lsn may_lack_before(const stream_facts& stream, std::uint64_t looked_at) {
    const auto shown =
        std::max<std::uint64_t>(stream.placed.size(), stream.looked_back ? looked_at : 0);
    constexpr lsn every_row{std::numeric_limits<std::uint64_t>::max()};
    if (stream.max_messages_per_subject > 0) {
        return every_row;  // a newer one of the same subject removes it
    }
    if (stream.removed_count() == 0 || stream.message_count > shown) {
        return {};
    }
    lsn oldest = every_row;
    for (const auto& each : stream.placed) {
        oldest = std::min(oldest, each.where.at.commit);
    }
    return oldest;
}

std::optional<wall_time> begins_at(const stream_facts& stream) {
    if (stream.removed_count() == 0) {
        return std::nullopt;
    }
    constexpr wall_time not_told(wall_time::max().time_since_epoch() / 2);
    return stream.message_count == 0 ? not_told : stream.first_stored.value_or(not_told);
}

void startup_check::stream_has(const std::vector<recent_message>& recent,
                               const std::vector<std::uint64_t>& other_rules, const lineage& line) {
    roll_.stream_has(recent, other_rules, line);
    if (doubt_ == doubt::to_look_again) {
        doubt_ = doubt::looked_again;
    }
}

void startup_check::stream_forgot() {
    if (is_open() || !looked_for_.empty()) {
        forget();
    }
}

void startup_check::begin(const roll& asked, bool goes_on_without) {
    goes_on_without_ = goes_on_without;
    stays_due_ = is_hearing() && is_due_;
    place_ = {};
    exact_after_ = asked.is_exact ? std::optional(asked.later_than) : std::nullopt;
    roll_.begin(asked);
}

bool startup_check::hear() {
    if (is_open() || !looked_for_.empty()) {
        return false;
    }
    roll_.hear();
    return true;
}

void startup_check::forget() {
    roll_.start_over();
    is_due_ = true;
    stays_due_ = false;
    exact_after_.reset();
    looked_for_.clear();
    doubt_ = doubt::none;
}

std::optional<log_entry> startup_check::slot_has_come_to(lsn where) {
    auto rows = roll_.slot_has_come_to(where);
    if (rows.empty()) {
        return std::nullopt;
    }
    looked_for_ = std::move(rows);
    return log_entry::of<"startup_check_started">(
        "startup check: looking for " + counted(looked_for_.size(), "row") +
            " of the newest in the outbox tables (message ids " + some_of(looked_for_) +
            ") in all of stream " + stream_ +
            " and in the dead letters, as its last messages do not show them",
        with<"rows">(looked_for_.size()), with<"stream">(stream_));
}

startup_check::verdict startup_check::answered(const result<std::vector<roll_row>>& missing) {
    if (missing && !missing->empty() && !goes_on_without_ && doubt_ != doubt::looked_again) {
        looked_for_ = *missing;
        doubt_ = doubt::to_look_again;
        return verdict::doubted;
    }
    looked_for_.clear();
    doubt_ = doubt::none;
    if (!missing) {
        return verdict::not_known;
    }
    if (missing->empty()) {
        return verdict::all_there;
    }
    return goes_on_without_ ? verdict::left_out : verdict::gap;
}

log_entry startup_check::describe(verdict what,
                                  const result<std::vector<roll_row>>& missing) const {
    switch (what) {
        case verdict::not_known:
            return log_entry::of<"startup_check_unanswered">(
                to_string(missing.error()) +
                    "; so it is not known whether they are missing; fix: walrelay verify lists "
                    "missing rows",
                with<"error">(missing.error().code));
        case verdict::left_out:
            return log_entry::of<"rows_left_out">(
                "startup check: going on without " + counted(missing->size(), "row") +
                    " that neither stream " + stream_ +
                    " nor the dead letters have, as an operator decided (message ids " +
                    some_of(*missing) + "; all of them: walrelay dead-letter list --given-up)",
                with<"rows">(missing->size()), with<"stream">(stream_));
        case verdict::all_there:
        case verdict::doubted:
        case verdict::gap:
            break;
    }
    return log_entry::of<"startup_check_passed">("startup check: all of them are there");
}

error startup_check::gap(const std::vector<roll_row>& missing) const {
    return {errc::gap_found,
            counted(missing.size(), "row") + " of the newest in the outbox tables " +
                (missing.size() == 1 ? "is" : "are") + " neither in stream " + stream_ +
                " nor in the dead letters, and slot " + slot_ +
                " does not bring them (message ids " + some_of(missing) +
                "). Either the slot moved past them (advanced, or dropped and made again), or the "
                "stream lost their messages (deleted, purged, max_age, max_msgs), or PostgreSQL "
                "did not send them (publication, row filter); there may be more of them",
            how_to_close_a_gap};
}

}  // namespace walrelay::relay
