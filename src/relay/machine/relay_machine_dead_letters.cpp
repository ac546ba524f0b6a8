// The relay machine's rows that are set aside.

#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <utility>
#include <vector>

namespace walrelay::relay {

void relay_machine::keep_dead(const std::vector<position>& letters) {
    if (!options_.dead_letters) {
        return;
    }
    std::vector<commit_position> ours;
    for (const auto& letter : letters) {
        if (known_.shares(letter)) {
            ours.push_back(letter.at);
        }
    }
    intake_.keep_dead(std::move(ours));
}

void relay_machine::set_aside(dead_letter letter, instant now) {
    lane_->admit_waiting(letter.where);
    letters_.add(std::move(letter));
    store_next_letters(now);
}

void relay_machine::store_next_letters(instant now) {
    if (auto batch = letters_.next(now.monotonic)) {
        actions_.emplace_back(store_dead_letters{postgres_.epoch(), std::move(batch)});
    }
}

void relay_machine::dead_letters_stored(std::uint64_t epoch, instant now) {
    if (epoch != postgres_.epoch() || !letters_.is_under_way()) {
        return;
    }
    auto done = letters_.stored(now.monotonic);
    if (done.stalled_for) {
        log<"dead_letters_resumed">(
            "dead letters are stored again, after " + seconds_text(*done.stalled_for),
            with<"seconds">(*done.stalled_for));
    }
    for (auto& line : done.lines) {
        log(std::move(line));
    }
    watch_.dead_letters_stored(*done.letters, intake_);
    // The tail can have been read meanwhile, and be further: another relay was here before.
    lane_->settle_waiting(done.places);
    store_next_letters(now);
    account_for_stored(now);
    watch_.reading_is_paused(is_reading_paused(), now);
}

void relay_machine::dead_letters_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch == postgres_.epoch() && letters_.is_under_way()) {
        lose_postgres(why, now);
    }
}

void relay_machine::sum_letters_up() {
    if (auto line = letters_.summary()) {
        log(std::move(*line));
    }
}

}  // namespace walrelay::relay
