// The relay machine's events of write-backs: rows whose status is written into their table once
// they are published.

#include "core/assert.hpp"
#include "core/joined.hpp"
#include "core/progress.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <utility>

namespace walrelay::relay {

void relay_machine::write_back_what_is_stored(instant now) {
    if (!postgres_.is_up() || is_closing()) {
        return;
    }
    if (auto batch = write_backs_.next(stored_up_to(), now.monotonic)) {
        actions_.emplace_back(write_back{postgres_.epoch(), std::move(*batch)});
    }
}

void relay_machine::written_back(std::uint64_t epoch, instant now) {
    if (epoch != postgres_.epoch() || !write_backs_.is_under_way()) {
        return;
    }
    watch_.written_back(write_backs_.table(), write_backs_.rows().in_flight_count());
    if (const auto took = write_backs_.written(now.monotonic)) {
        log<"write_back_resumed">(
            "rows of table " + to_string(intake_.table_at(write_backs_.table())) +
                " are written back again, after " + seconds_text(*took),
            with<"table">(intake_.table_at(write_backs_.table())), with<"seconds">(*took));
    }
    account_for_stored(now);
    watch_.reading_is_paused(is_reading_paused(), now);
}

void relay_machine::write_back_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != postgres_.epoch() || !write_backs_.is_under_way()) {
        return;
    }
    const auto delay = write_backs_.failed(now.monotonic);
    // The role was let in for the stream.
    if (operator_needed(why) && why.code != errc::postgres_refused) {
        halt(why, now);
        return;
    }
    log<"write_back_failed">(clause_of(to_string(why)) + "; " +
                                 counted(write_backs_.rows().size(), "published row") +
                                 " to be written back, trying again in " + seconds_text(delay) +
                                 ", nothing is lost: the slot does not advance past them",
                             with<"error">(why.code), with<"rows">(write_backs_.rows().size()),
                             with<"retry_seconds">(delay));
}

void relay_machine::ask_for_blockers(instant now) {
    const auto ask = [&](stall_watch& watch, waiting_write what) {
        if (const auto due = watch.deadline(); due && *due <= now.monotonic) {
            watch.ask();
            actions_.emplace_back(find_blocker{postgres_.epoch(), what});
        }
    };
    ask(write_backs_.stall(), waiting_write::statuses);
    ask(letters_.stall(), waiting_write::letters);
}

std::string relay_machine::stalled_text(waiting_write what) const {
    if (what == waiting_write::letters) {
        return "dead letters are not stored: the slot waits for them, and later rows do in the "
               "window";
    }
    return counted(write_backs_.rows().size_of(write_backs_.table()), "row") + " of table " +
           to_string(intake_.table_at(write_backs_.table())) +
           " not written back: what was published of them is in the stream, and the slot waits "
           "for them";
}

void relay_machine::blocker_found(std::uint64_t epoch, waiting_write what,
                                  const result<std::string>& who, instant now) {
    auto& watch = what == waiting_write::statuses ? write_backs_.stall() : letters_.stall();
    if (epoch != postgres_.epoch() || !watch.is_asked()) {
        return;
    }
    const auto lasted = watch.tell(now.monotonic);
    log<"write_stalled">(
        "no answer from PostgreSQL to a write for " + seconds_text(lasted) + ", " +
            stalled_text(what) + "; " +
            (who ? *who : "what the write waits for is not known: " + to_string(who.error())),
        with<"seconds">(lasted));
}

}  // namespace walrelay::relay
