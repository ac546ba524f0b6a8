// The relay machine's steps of the checkpoint, and the witness; the rules are those of
// relay/checkpoint.

#include "relay/machine/relay_machine.hpp"

#include <utility>

namespace walrelay::relay {

std::optional<position> relay_machine::stream_ends_with() const {
    if (!options_.lane.sole_writer) {
        return std::nullopt;
    }
    if (const auto& claim = lane_->claim()) {
        return claim->where;
    }
    return lane_->belief() == tail_belief::exact ? lane_->known_tail() : std::nullopt;
}

void relay_machine::believe(instant now) {
    if (!postgres_.is_up() || !lane_->is_open() || backfilling_.is_open() || is_closing() ||
        lane_->belief() == tail_belief::undecided) {
        return;
    }
    take_step(checkpoint_.judge(stream_ends_with(), now.monotonic), now);
}

void relay_machine::take_step(checkpoint::step step, instant now) {
    using kind = checkpoint::step::kind;
    if (step.line) {
        log(std::move(*step.line));
    }
    switch (step.what) {
        case kind::none:
            write_witness(now);
            if (startup_check_.is_open()) {
                slot_has_come_to(startup_check_.place(), now);
            }
            return;
        case kind::read_message:
            actions_.emplace_back(read_message{broker_.epoch(), step.sequence});
            return;
        case kind::read_tail:
            read_tail_again();
            return;
        case kind::ask_tables_again:
            startup_check_.expect();
            lose_postgres(*step.why, now);
            return;
        case kind::look_again:
            lose_broker(*step.why, now, outlook::in_doubt);
            return;
        case kind::gap:
            confirm_.held().forget_held(std::nullopt);
            slot_has_gap(*step.why, now);
            return;
        case kind::halt:
            halt(*step.why, now);
            return;
    }
}

void relay_machine::witnessed_message_read(const result<asked_message>& found, instant now) {
    if (!found) {
        lose_broker(
            {errc::broker_lost,
             "stream " + options_.stream + " does not show the message that walrelay.witness names",
             "", to_string(found.error())},
            now, outlook::in_doubt);
        return;
    }
    checkpoint_.message_read(*found);
    believe(now);
    account_for_stored(now);
}

void relay_machine::write_witness(instant now) {
    if (!checkpoint_.keeper().may_write() || !keeps_witness()) {
        return;
    }
    const bool at_once = life_.is_draining();
    if (auto what = checkpoint_.keeper().take_to_write(now.monotonic, at_once)) {
        actions_.emplace_back(store_witness{postgres_.epoch(), std::move(*what)});
    }
}

void relay_machine::witness_stored(std::uint64_t epoch,
                                   const result<std::optional<std::uint64_t>>& version,
                                   instant now) {
    if (epoch != postgres_.epoch() || !postgres_.is_up() || is_closing()) {
        return;
    }
    auto& keeper = checkpoint_.keeper();
    if (version && !*version) {
        lose_postgres(
            {errc::postgres_lost, "walrelay.witness was changed by another relay of slot " +
                                      options_.slot + "; it is read again"},
            now);
        return;
    }
    const bool was_corrected = keeper.is_replacing();
    if (version) {
        keeper.written(**version, now.monotonic);
    } else if (version.error().code == errc::postgres_unsuitable) {
        log<"witness_not_kept">(to_string(version.error()) +
                                    "; the slot is told all the same, and what the stream or the "
                                    "slot loses while no relay runs may go unnoticed",
                                with<"slot">(options_.slot), with<"error">(version.error().code));
        keeper.cannot_be_written();
    } else {
        keeper.failed(now.monotonic);
        log<"witness_delayed">(to_string(version.error()) +
                                   "; walrelay.witness is written again in a second, and the slot "
                                   "waits for that; nothing is lost",
                               with<"slot">(options_.slot), with<"error">(version.error().code));
        return;
    }
    if (was_corrected && !backfilling_.is_open()) {
        believe(now);
    }
    account_for_stored(now);
}

}  // namespace walrelay::relay
