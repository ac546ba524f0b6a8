#include "sim/slot_server.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::sim {

slot_server::slot_server(world& where, const profile& how, database& source, checker& watch)
    : world_(where),
      profile_(how),
      source_(source),
      checker_(watch),
      exists_(!how.backfills),
      plugin_(how.plugin),
      confirmed_(source.wal_end()),
      on_disk_(confirmed_),
      copied_(confirmed_),
      began_(confirmed_) {}

sim_time slot_server::latency() {
    return world_.random().between(sim_time(20), profile_.postgres_latency);
}

// Connecting.

void slot_server::connect(replication_events events,
                          std::function<void(result<session_handle>)> answer) {
    world_.after(2 * latency(), [this, events = std::move(events), answer = std::move(answer)] {
        answer(begin(events));
    });
}

result<session_handle> slot_server::begin(replication_events events) {
    if (!source_.is_up() || world_.strikes(profile_.rate(hazard::postgres_refuses))) {
        return error{errc::postgres_unavailable, "PostgreSQL cannot be reached"};
    }
    if (session_) {
        return error{errc::slot_in_use, "the slot is active"};
    }
    if (!exists_) {
        // Dropped since it was looked at; the next look finds that out.
        return error{errc::postgres_lost, "the slot does not exist"};
    }
    session_ = session_handle(new replication_session(*this, std::move(events)));
    auto& begun = *session_;
    begun.plugin_ = {plugin_, profile_.sends_empty_transactions, {}};
    begun.sent_ = confirmed_;
    begun.began_at_ = confirmed_;
    begun.line_ = source_.line();
    begun.wal_end_ = source_.wal_end();
    begun.incarnation_ = source_.incarnation();
    begun.last_reply_ = world_.now();
    const auto& all = source_.committed();
    const auto first = std::lower_bound(
        all.begin(), all.end(), confirmed_,
        [](const transaction& each, lsn position) { return each.commit < position; });
    begun.next_transaction_ = static_cast<std::size_t>(first - all.begin());
    world_.say("slot: streams from ", to_string(confirmed_));
    checker_.on_slot_streams(confirmed_);
    world_.after(latency(), [this, session = session_] { pump(session); });
    watch_time(session_);
    return session_;
}

// Temporary slots.

void slot_server::connect_snapshot(bool replace, std::function<void(const error&)> on_lost,
                                   std::function<void(result<snapshot_handle>)> answer) {
    world_.after(3 * latency(),
                 [this, replace, on_lost = std::move(on_lost), answer = std::move(answer)] {
                     answer(begin_snapshot(replace, on_lost));
                 });
}

result<snapshot_handle> slot_server::begin_snapshot(bool replace,
                                                    std::function<void(const error&)> on_lost) {
    if (!source_.is_up() || world_.strikes(profile_.rate(hazard::postgres_refuses))) {
        return error{errc::postgres_unavailable, "PostgreSQL cannot be reached"};
    }
    if (snapshot_ || session_ || (exists_ && !replace)) {
        return error{errc::slot_in_use, "another relay is at it"};
    }
    checker_.on_slot_dropped();
    exists_ = false;
    source_.log_running_transactions();
    snapshot_ = std::make_shared<snapshot_session>();
    snapshot_->consistent_point = source_.wal_end();
    snapshot_->on_lost = std::move(on_lost);
    world_.say("slot: a temporary one begins at ", to_string(snapshot_->consistent_point));
    return snapshot_;
}

result<void> slot_server::adopt(const snapshot_session& from) {
    if (!source_.is_up() || !from.server_there) {
        return error{errc::postgres_lost, "the connection is gone"};
    }
    if (exists_) {
        return error{errc::slot_in_use, "another relay has made the slot"};
    }
    checker_.on_confirmed(from.consistent_point, "by a new slot");
    exists_ = true;
    confirmed_ = from.consistent_point;
    began_ = confirmed_;
    goes_on_ = true;
    on_disk_ = confirmed_;
    world_.say("slot: made, begins at ", to_string(confirmed_));
    return {};
}

void slot_server::close(const snapshot_handle& session) {
    session->client_there = false;
    auto until = latency();
    if (world_.strikes(profile_.rate(hazard::slot_lingers))) {
        until = std::chrono::seconds(20);
    }
    world_.after(until, [this, session] {
        session->server_there = false;
        if (snapshot_ == session) {
            snapshot_.reset();
        }
    });
}

void slot_server::end_snapshot() {
    if (const auto ending = std::exchange(snapshot_, nullptr)) {
        ending->server_there = false;
        world_.after(latency(), [ending] {
            if (ending->client_there) {
                ending->on_lost({errc::postgres_lost, "the connection ended"});
            }
        });
    }
}

void slot_server::drop() {
    if (!exists_ || !source_.is_up()) {
        return;
    }
    if (session_) {
        end(session_, "terminating connection due to administrator command");
    }
    world_.say("slot: dropped");
    checker_.on_slot_dropped();
    exists_ = false;
}

void slot_server::advance(bool under_a_relay) {
    if (!exists_ || !source_.is_up() || session_ || snapshot_) {
        return;
    }
    const auto ahead = source_.wal_end().value - confirmed_.value;
    confirmed_.value += world_.random().chance(500) ? ahead : world_.random().below(ahead + 1);
    world_.say("slot: advanced by somebody, to ", to_string(confirmed_));
    checker_.on_slot_advanced(confirmed_, under_a_relay);
}

// Sending.

void slot_server::on_wal() {
    if (session_) {
        world_.after(sim_time(10), [this, session = session_] { pump(session); });
    }
}

bool slot_server::prepare_transaction(replication_session& session) {
    while (session.frames_.empty() && session.next_transaction_ < source_.committed().size()) {
        const auto& next = source_.committed()[session.next_transaction_];
        auto frames = frames_of(next, session.plugin_);
        session.frames_.assign(std::make_move_iterator(frames.begin()),
                               std::make_move_iterator(frames.end()));
        if (frames.empty()) {
            ++session.next_transaction_;
            session.sent_ = next.end;
        }
    }
    return !session.frames_.empty();
}

void slot_server::pump(const session_handle& session) {
    auto& to = *session;
    if (!to.server_there_) {
        return;
    }
    while (prepare_transaction(to)) {
        to.blocked_ = to.travelling_ + to.arrived_.size() >= profile_.socket_frames;
        if (to.blocked_) {
            return;
        }
        if (world_.strikes(profile_.rate(hazard::frame_cuts_connection))) {
            end(session, "the connection was reset");
            return;
        }
        put(session, std::move(to.frames_.front()));
        to.frames_.pop_front();
        if (to.frames_.empty()) {
            to.sent_ = source_.committed()[to.next_transaction_].end;
            ++to.next_transaction_;
        }
    }
    to.sent_ = source_.wal_end();
    if (to.client_.flushed < to.sent_ && to.client_.written < to.sent_ && !to.ping_out_) {
        keepalive(session, false);
    }
}

void slot_server::put(const session_handle& session, std::string frame) {
    session->next_arrival_ = std::max(session->next_arrival_, world_.now() + latency());
    ++session->travelling_;
    world_.at(session->next_arrival_, [session, frame = std::move(frame)] {
        --session->travelling_;
        if (session->client_there_) {
            session->arrived_.push_back(frame);
            session->events_.on_readable();
        }
    });
}

void slot_server::keepalive(const session_handle& session, bool reply_requested) {
    session->ping_out_ = session->ping_out_ || reply_requested;
    put(session, keepalive_of(session->sent_, reply_requested));
}

void slot_server::watch_time(const session_handle& session) {
    if (profile_.sender_timeout == sim_time(0)) {
        return;
    }
    const auto half = profile_.sender_timeout / 2;
    world_.after(half / 4, [this, session, half] {
        if (!session->server_there_) {
            return;
        }
        const auto silent = world_.now() - session->last_reply_;
        if (silent >= profile_.sender_timeout) {
            end(session, "terminating walsender process due to replication timeout");
            return;
        }
        if (silent >= half && !session->ping_out_) {
            keepalive(session, true);
        }
        watch_time(session);
    });
}

// Hearing.

void slot_server::status_arrived(const session_handle& session, const std::string& update) {
    if (!session->server_there_) {
        return;
    }
    session->client_ = read_status(update);
    session->last_reply_ = world_.now();
    session->ping_out_ = false;
    if (session->client_.reply_requested) {
        keepalive(session, false);
    }
    if (session->client_.flushed > confirmed_) {
        checker_.on_confirmed(session->client_.flushed, "by the slot");
        confirmed_ = session->client_.flushed;
        world_.say("slot: confirmed ", to_string(confirmed_));
    }
    pump(session);
}

void slot_server::client_gone(const session_handle& session, bool in_order) {
    auto until = latency();
    if (!in_order && world_.strikes(profile_.rate(hazard::slot_lingers))) {
        // The server finds out by its own timeout, or when the system's keepalive says so.
        until = profile_.sender_timeout > sim_time(0) ? profile_.sender_timeout
                                                      : std::chrono::seconds(20);
    }
    world_.at(std::max(session->next_status_, world_.now() + until), [this, session] {
        session->server_there_ = false;
        if (session_ == session) {
            session_.reset();
        }
    });
}

void slot_server::end(session_handle session, const char* why) {
    session->server_there_ = false;
    if (session_ == session) {
        session_.reset();
    }
    world_.say("slot: session ends, ", why);
    // What is on its way may be lost with the connection.
    const auto heard = world_.now() + latency();
    const auto when = world_.random().chance(500) ? heard : std::max(session->next_arrival_, heard);
    world_.at(when, [session, why] {
        if (session->client_there_) {
            session->events_.on_lost(
                {errc::postgres_lost, "the replication connection ended", "", why});
        }
    });
}

// Faults.

void slot_server::cut() {
    end_snapshot();
    if (session_) {
        end(session_, "the connection was cut");
    }
}

void slot_server::crash() {
    cut();
    confirmed_ = on_disk_;
    checker_.on_slot_set_back(confirmed_);
    world_.say("slot: PostgreSQL crashed; the slot is back at ", to_string(confirmed_));
}

void slot_server::checkpoint() {
    on_disk_ = confirmed_;
}

void slot_server::change_plugin() {
    if (!source_.is_up() || !exists_) {
        return;
    }
    cut();
    plugin_ =
        plugin_ == output_plugin::pgoutput ? output_plugin::wal2json : output_plugin::pgoutput;
    world_.say("slot: is made again with the other plugin");
}

void slot_server::copy() {
    copied_ = confirmed_;
}

void slot_server::promote() {
    cut();
    const auto at = source_.promote(copied_, checker_);
    confirmed_ = copied_;
    on_disk_ = copied_;
    checker_.on_slot_set_back(confirmed_);
    std::erase_if(disks_, [&](const disk& each) { return each.wal_end > at; });
    world_.say("slot: that of the standby is at ", to_string(confirmed_));
}

lsn slot_server::least() const {
    auto least = std::min({confirmed_, on_disk_, copied_});
    for (const auto& each : disks_) {
        least = std::min(least, each.slot);
    }
    return least;
}

void slot_server::copy_disk() {
    disks_.push_back({on_disk_, source_.wal_end(), source_.line()});
}

void slot_server::restore(bool promoted) {
    if (disks_.empty()) {
        return;
    }
    cut();
    const auto recent = std::min<std::uint64_t>(disks_.size(), 4);
    const disk from = disks_[disks_.size() - world_.random().between(1, recent)];
    source_.restore(from.line, from.wal_end, checker_);
    confirmed_ = from.slot;
    on_disk_ = from.slot;
    copied_ = from.slot;
    std::erase_if(disks_, [&](const disk& each) { return each.wal_end > from.wal_end; });
    world_.say("slot: that of the copy is at ", to_string(confirmed_));
    if (promoted) {
        promote();
    }
}

// The client's side.

replication_session::replication_session(slot_server& server, replication_events events)
    : server_(server), events_(std::move(events)) {}

std::string replication_session::take_frame() {
    std::string frame = std::move(arrived_.front());
    arrived_.pop_front();
    if (const auto self = server_.handle_of(*this); self && blocked_) {
        server_.world_.after(sim_time(10), [self] { self->server_.pump(self); });
    }
    return frame;
}

session_handle slot_server::handle_of(const replication_session& session) const {
    return session_.get() == &session ? session_ : nullptr;
}

void replication_session::send_status(const std::string& update) {
    const auto flushed = read_status(update).flushed;
    checker::on_reported(told_, flushed);
    told_ = std::max(told_, flushed);
    const auto self = server_.handle_of(*this);
    // The tail of a backfill says nothing of the rows of a slot that was dropped before it, and a
    // server that was left nothing of the rows of the next; a relay that has not noticed tells
    // nobody. Where the slot stood when the session began is no news, also after a crash of the
    // server has set the slot back.
    const bool is_heard =
        self || (!server_.profile_.backfills && incarnation_ == server_.source_.incarnation());
    if (is_heard && flushed > began_at_) {
        server_.checker_.on_confirmed(flushed, "by the relay");
    }
    if (!self) {
        return;
    }
    next_status_ = std::max(next_status_, server_.world_.now() + server_.latency());
    server_.world_.at(next_status_, [self, update] { self->server_.status_arrived(self, update); });
}

void replication_session::close() {
    client_there_ = false;
    arrived_.clear();
    if (const auto self = server_.handle_of(*this)) {
        server_.client_gone(self, closing_in_order_);
    }
}

}  // namespace walrelay::sim
