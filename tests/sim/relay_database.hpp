// A relay's side of PostgreSQL, with the models in place of postgres/ and tasks/.
#pragma once

#include "sim/relay_broker.hpp"
#include "sim/relay_life.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::sim {

class relay_database final : public relay::database_side {
public:
    /// `broker` is told which history the published rows belong to.
    relay_database(relay_life& life, relay_broker& broker)
        : life_(life), around_(life.around()), broker_(broker) {}

    [[nodiscard]] bool has_streamed() const { return has_streamed_; }
    /// The process is gone.
    void die();

    void connect(const relay::connect_postgres& wanted, relay::known_before known) override;
    void close() override;
    void finish() override;
    void send(const relay::send_status& status) override;
    void resume_reading() override;
    void adopt_slot(const relay::adopt_slot& wanted) override;
    void store_witness(relay::store_witness wanted) override;
    void store_dead_letters(relay::store_dead_letters wanted) override;
    void look_for_rows(relay::look_for_rows wanted) override;
    void leave_out(relay::leave_out wanted) override;
    void write_back(relay::write_back wanted) override;
    void fetch_row(relay::fetch_row wanted) override;
    void look_at_table(relay::look_at_table wanted) override;
    void find_blocker(const relay::find_blocker& wanted) override;
    void ask_replayed(const relay::ask_replayed& /*wanted*/) override {}
    void store_halt(relay::store_halt wanted) override;

private:
    /// A row of the snapshot as the index of the database's event, and whether the stream had it
    /// when it was looked at.
    struct old_row {
        std::size_t event;
        bool published;
    };
    struct backfilling {
        std::uint64_t epoch = 0;
        snapshot_handle slot = {};
        std::vector<old_row> rows = {};
        std::size_t next = 0;
        bool ready = false;
    };
    /// What one read of the socket holds of the frames.
    class some_frames;
    class some_rows;

    /// The server names the process that holds the slot: whether it is this relay's own is known.
    template <class Handle>
    [[nodiscard]] result<Handle> as_told(const result<Handle>& answer) const {
        const bool is_own = !answer && answer.error().code == errc::slot_in_use &&
                            around_.slot.is_held_by(earlier_);
        if (!is_own) {
            return answer;
        }
        return error{errc::slot_not_released, "the slot is still held for the last connection"};
    }
    void connect_slot(std::uint64_t epoch);
    void slot_answered(std::uint64_t epoch, const result<session_handle>& answer,
                       relay::relay_driver& driver);
    [[nodiscard]] relay::postgres_session describe(const session_handle& session);
    [[nodiscard]] std::optional<relay::roll> newest_rows(const session_handle& of);
    [[nodiscard]] wall_time stream_begins() const;
    /// Again and again, as long as this session lasts.
    void call_new_rows(std::uint64_t epoch, const session_handle& over);
    [[nodiscard]] relay::roll rows_since(lsn heard_from) const;
    [[nodiscard]] std::vector<position> letters_to_come() const;
    void read_frames();
    [[nodiscard]] static bool store(const relay_surroundings& around,
                                    const relay::dead_letters& letters, std::uint64_t server);
    [[nodiscard]] bool reaches(std::uint64_t server) const;
    // Rows before the slot's; in relay_backfill.cpp.
    void connect_snapshot(std::uint64_t epoch, bool replace);
    void snapshot_answered(std::uint64_t epoch, const result<snapshot_handle>& answer,
                           relay::relay_driver& driver);
    void find_rows(lsn before, std::size_t seen);
    void feed_rows();
    void close_snapshot();

    relay_life& life_;
    const relay_surroundings& around_;
    relay_broker& broker_;
    relay::known_before known_;
    session_handle session_;
    /// Made while the process stood still, and not seen by it yet.
    session_handle offered_;
    /// The last one that this process had.
    session_handle earlier_;
    std::optional<backfilling> backfill_;
    /// The incarnation of the server that is connected.
    std::uint64_t server_ = 0;
    /// Rows that are committed from here on are heard.
    lsn heard_from_ = {};
    bool finishing_ = false;
    bool has_streamed_ = false;
};

}  // namespace walrelay::sim
