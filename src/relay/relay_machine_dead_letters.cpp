// The relay machine's rows that are set aside.

#include "relay/relay_machine.hpp"
#include "relay/relay_words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace walrelay::relay {

void relay_machine::keep_dead(const std::vector<position>& letters) {
    if (!options_.dead_letters) {
        return;
    }
    std::vector<commit_position> ours;
    for (const auto& letter : letters) {
        if (server_.line.shares(letter)) {
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
    if (auto batch = letters_.next_batch()) {
        letter_stall_.begin(now.monotonic);
        actions_.emplace_back(store_dead_letters{postgres_.epoch(), std::move(batch)});
    }
}

void relay_machine::dead_letters_stored(std::uint64_t epoch, instant now) {
    if (epoch != postgres_.epoch() || !letters_.is_storing()) {
        return;
    }
    const auto stored = letters_.stored();
    if (const auto took = letter_stall_.end(now.monotonic)) {
        log(log_severity::info, "dead letters are stored again, after " + seconds_text(*took));
    }
    std::vector<commit_position> places;
    for (const auto& letter : *stored) {
        places.push_back(letter.where.at);
        if (auto line = letters_told_.stored(letter, now.monotonic)) {
            log(log_severity::warning, std::move(*line));
        }
    }
    dead_letter_count_ += stored->size();
    watch_.dead_letters_stored(*stored, intake_);
    std::ranges::sort(places);
    // The tail can have been read meanwhile, and be further: another relay was here before.
    lane_->settle_waiting(places);
    store_next_letters(now);
    account_for_stored(now);
}

void relay_machine::dead_letters_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch == postgres_.epoch() && letters_.is_storing()) {
        lose_postgres(why, now);
    }
}

void relay_machine::sum_letters_up() {
    if (auto line = letters_told_.summary(); !line.empty()) {
        log(log_severity::warning, std::move(line));
    }
}

}  // namespace walrelay::relay
