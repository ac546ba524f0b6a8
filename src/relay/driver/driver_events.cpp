// What the surroundings report to the driver becomes an event of the machine, with the time.

#include "relay/driver/relay_driver.hpp"

#include <utility>

namespace walrelay::relay {

// The broker's side.

void relay_driver::broker_connected(std::uint64_t epoch, const broker_facts& facts) {
    if (facts.stream) {
        memory_.stream_seen(*facts.stream);
    }
    machine_.broker_connected(epoch, facts, now());
    settle();
}

void relay_driver::broker_failed(std::uint64_t epoch, const error& why) {
    replies_came_at_.reset();
    machine_.broker_failed(epoch, why, now());
    settle();
}

void relay_driver::leader_moved(std::uint64_t epoch, const std::string& server) {
    machine_.leader_moved(epoch, server);
    settle();
}

void relay_driver::reply_arrived(publish_token token, const publish_outcome& outcome) {
    if (!replies_came_at_) {
        replies_came_at_ = now();
    }
    machine_.reply_arrived(token, outcome, *replies_came_at_);
}

void relay_driver::replies_ended() {
    replies_came_at_.reset();
    settle();
}

void relay_driver::stream_answered(std::uint64_t epoch,
                                   const result<std::uint64_t>& last_sequence) {
    machine_.stream_answered(epoch, last_sequence, now());
    settle();
}

void relay_driver::message_read(std::uint64_t epoch, const result<asked_message>& found) {
    machine_.message_read(epoch, found, now());
    settle();
}

void relay_driver::stream_marked(std::string description,
                                 std::optional<std::uint64_t> last_sequence) {
    memory_.stream_described(std::move(description));
    machine_.stream_marked(last_sequence, now());
    settle();
}

void relay_driver::stream_not_marked(const error& why) {
    machine_.stream_marked(why, now());
    settle();
}

void relay_driver::stored_read(std::uint64_t epoch,
                               const result<std::shared_ptr<const stored_rows>>& rows) {
    machine_.stored_read(epoch, rows, now());
    settle();
}

// PostgreSQL's side.

void relay_driver::postgres_connected(std::uint64_t epoch, postgres_session session,
                                      std::optional<stream_owner> owner) {
    if (owner) {
        memory_.database_seen(std::move(*owner));
    }
    if (!session.rows_first) {
        memory_.slot_streams();
    }
    machine_.postgres_connected(epoch, std::move(session), now());
    settle();
}

void relay_driver::postgres_failed(std::uint64_t epoch, const error& why) {
    machine_.postgres_failed(epoch, why, now());
    settle();
}

void relay_driver::postgres_finished() {
    machine_.postgres_finished();
    settle();
}

void relay_driver::slot_adopted(std::uint64_t epoch) {
    memory_.slot_adopted();
    machine_.slot_adopted(epoch, now());
    settle();
}

result<relay_driver::reading> relay_driver::read_frames(frame_source& from) {
    const auto arrived = now();
    bool dry = false;
    while (!dry && machine_.wants_frames()) {
        while (!dry && machine_.wants_frames()) {
            const auto frame = from.next_frame();
            if (!frame) {
                return frame.error();
            }
            dry = !*frame;
            if (!dry) {
                machine_.frame_arrived(**frame, arrived, &from);
                if ((*frame)->size() >= large_frame_bytes) {
                    from.let_go();
                }
            }
        }
        if (dry && from.has_part_of_frame()) {
            machine_.frame_arrives();
        }
        settle();
    }
    return machine_.wants_frames() ? reading::dry : reading::unwanted;
}

relay_driver::reading relay_driver::read_rows(row_source& from) {
    bool dry = false;
    while (!dry && machine_.wants_rows()) {
        while (!dry && machine_.wants_rows()) {
            const auto row = from.next_row();
            dry = !row;
            if (row) {
                machine_.row_arrived(row->table, row->content, row->published, now());
            }
        }
        settle();
    }
    return dry ? reading::dry : reading::unwanted;
}

void relay_driver::rows_ended() {
    machine_.rows_ended(now());
    settle();
}

void relay_driver::witness_stored(std::uint64_t epoch,
                                  const result<std::optional<std::uint64_t>>& version) {
    machine_.witness_stored(epoch, version, now());
    settle();
}

void relay_driver::dead_letters_stored(std::uint64_t epoch, const result<void>& done) {
    if (done) {
        machine_.dead_letters_stored(epoch, now());
    } else {
        machine_.dead_letters_failed(epoch, done.error(), now());
    }
    settle();
}

bool relay_driver::hear_new_rows(std::uint64_t epoch) {
    return machine_.hear_new_rows(epoch);
}

std::optional<wall_time> relay_driver::oldest_awaited_row() const {
    return machine_.oldest_awaited_row();
}

std::optional<std::size_t> relay_driver::new_rows_heard() const {
    return machine_.new_rows_heard();
}

void relay_driver::new_rows_called(std::uint64_t epoch, const roll& asked) {
    machine_.new_rows_called(epoch, asked, now());
    settle();
}

void relay_driver::rows_looked_for(std::uint64_t epoch,
                                   const result<std::vector<roll_row>>& missing) {
    machine_.rows_looked_for(epoch, missing, now());
    settle();
}

void relay_driver::rows_left_out(const result<void>& kept) {
    machine_.rows_left_out(kept);
    settle();
}

void relay_driver::written_back(std::uint64_t epoch, const result<void>& done) {
    if (done) {
        machine_.written_back(epoch, now());
    } else {
        machine_.write_back_failed(epoch, done.error(), now());
    }
    settle();
}

void relay_driver::row_fetched(std::uint64_t epoch, result<std::optional<table_row>> row) {
    if (row) {
        machine_.row_fetched(epoch, std::move(*row), now());
    } else {
        machine_.row_not_fetched(epoch, row.error(), now());
    }
    settle();
}

void relay_driver::table_looked_at(std::uint64_t epoch, const result<table_sight>& seen) {
    machine_.table_looked_at(epoch, seen, now());
    settle();
}

void relay_driver::blocker_found(std::uint64_t epoch, waiting_write what,
                                 const result<std::string>& who) {
    machine_.blocker_found(epoch, what, who, now());
    settle();
}

void relay_driver::replayed(std::uint64_t epoch, const result<replay_place>& place) {
    machine_.replayed(epoch, place, now());
    settle();
}

void relay_driver::halt_stored() {
    machine_.halt_stored(now());
    settle();
}

}  // namespace walrelay::relay
