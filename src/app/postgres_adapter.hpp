// PostgreSQL's side of a relay, over postgres/ and tasks/: obeys the driver and reports to it.
#pragma once

#include "app/facts_watch.hpp"
#include "app/postgres_side.hpp"
#include "app/row_caller.hpp"
#include "app/self_check.hpp"
#include "app/status_board.hpp"
#include "config/settings.hpp"
#include "core/lineage.hpp"
#include "relay/driver/relay_driver.hpp"
#include "servers/halt_gate.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/cleanup/cleanup.hpp"
#include "tasks/kept_positions/position_keeper.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>

namespace walrelay::app {

class postgres_adapter final : public relay::database_side {
public:
    postgres_adapter(servers::executors on, const config::settings& settings,
                     relay::relay_driver& driver, tasks::cleanup& beside,
                     tasks::position_keeper& keeper);

    /// Before the relay starts: what the slot and the dead letters take is asked and shown there.
    void be_watched_by(status_board& board) { board_ = &board; }
    /// See halt_gate.
    void go_on_whatever_was_halted() { gate_.go_on_whatever_was_halted(); }
    /// Whether the halt is in walrelay.halt, where it belongs there.
    [[nodiscard]] bool halt_is_kept() const { return halt_is_kept_; }
    /// Of the server that is connected; unknown without one.
    [[nodiscard]] lineage line() const;
    /// watched_facts::change_sign of the server now; empty where it is not known.
    [[nodiscard]] const std::string& change_sign() const { return facts_.sign(); }
    /// Where its WAL ended when it was connected; 0 without one.
    [[nodiscard]] lsn wal_end() const;

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
    void ask_replayed(const relay::ask_replayed& wanted) override;
    void store_halt(relay::store_halt wanted) override;

private:
    struct link;
    using link_handle = std::shared_ptr<link>;
    using work = boost::asio::awaitable<void>;

    void spawn(work what) const;
    /// The connection of this epoch; null where that is gone.
    [[nodiscard]] link_handle link_of(std::uint64_t epoch) const;
    void lose(const link& over, const error& why);

    work make_connection(std::uint64_t epoch, relay::known_before known);
    work read_stream(link_handle over);
    work read_rows(link_handle over);
    work watch_sentinel(link_handle over);
    work end_in_order(link_handle over);
    work adopt(link_handle over);
    work keep_witness(link_handle over, relay::store_witness wanted);
    work set_aside(link_handle over, relay::store_dead_letters wanted);
    work write(link_handle over, relay::write_back wanted);
    work fetch(link_handle over, relay::fetch_row wanted);
    work look(link_handle over, relay::look_at_table wanted);
    work ask_for_blocker(link_handle over, relay::find_blocker wanted);
    work ask_for_place(link_handle over);
    work search(relay::look_for_rows wanted);
    work keep_left_out(relay::leave_out wanted);
    work keep_halt(relay::store_halt wanted);
    work poll_facts(link_handle over);
    work check_itself(link_handle over);
    work call_rows(link_handle over);
    /// For those who watch a standby, every few seconds.
    work look_at_holder();
    boost::asio::awaitable<bool> can_ask(link_handle over);
    boost::asio::awaitable<bool> look_at_facts(link_handle over);

    servers::executors on_;
    const config::settings& settings_;
    relay::relay_driver& driver_;
    tasks::cleanup& cleanup_;
    tasks::position_keeper& keeper_;
    servers::halt_gate gate_;
    facts_watch facts_;
    self_check self_check_;
    row_caller row_caller_;
    link_handle link_;
    status_board* board_ = nullptr;  // where somebody watches
    /// The server's process that streamed to this relay last; 0 if there was none.
    int walsender_ = 0;
    monotonic_time holder_due_ = {};
    bool halt_is_kept_ = false;
};

}  // namespace walrelay::app
