#include "sim/broker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace walrelay::sim {
namespace {

using std::chrono::milliseconds;

/// Refusals that pass by themselves, as the servers word them.
std::string some_refusal(randomness& random) {
    switch (random.below(9)) {
        case 0:
            return error_reply(503, 10077, "maximum messages exceeded");
        case 1:
            return error_reply(503, 10023, "insufficient resources");
        case 2:
            return error_reply(429, 10167, "too many requests");
        case 3:
            return error_reply(503, 10008, "JetStream system temporarily unavailable");
        case 4:
            return error_reply(503, 0, "raft: not leader");
        case 5:
            return error_reply(500, 10047, "insufficient storage resources available");
        case 6:
            return error_reply(500, 65432, "an error that nobody has heard of");
        case 7:
            return "not even JSON";
        default:
            return R"({"stream":"S"})";
    }
}

}  // namespace

broker::broker(world& where, const profile& how, checker& watch)
    : world_(where),
      profile_(how),
      checker_(watch),
      stream_(where, how, watch),
      forger_dice_(how.forged_acks_seed) {}

sim_time broker::latency() {
    return world_.random().between(sim_time(50), profile_.broker_latency);
}

// Connecting.

void broker::connect(broker_events events, std::uint64_t look_back, std::uint64_t asks_for,
                     std::function<void(result<broker_session>)> answer) {
    world_.after(2 * latency(), [this, look_back, asks_for, events = std::move(events),
                                 answer = std::move(answer)] {
        if (!up_ || !has_leader_ || world_.strikes(profile_.rate(hazard::broker_refuses))) {
            answer(error{errc::broker_unavailable, "the broker cannot be reached"});
            return;
        }
        broker_session session{connection_handle(new broker_connection(*this, events)), {}};
        connections_.push_back(session.connection);
        look(std::move(session), look_back, asks_for, answer);
    });
}

void broker::look(broker_session session, std::uint64_t look_back, std::uint64_t asks_for,
                  std::function<void(result<broker_session>)> answer) {
    auto& seen = session.facts.stream.emplace();
    session.facts.max_payload_bytes = max_payload_bytes_;
    seen.description = description_;
    seen.created = created_;
    seen.last_sequence = stream_.last_sequence();
    if (is_cluster(profile_.stream) && world_.strikes(profile_.rate(hazard::tail_stale))) {
        const auto behind = std::min<std::uint64_t>(seen.last_sequence, 9);
        seen.last_sequence -= world_.random().below(behind + 1);
    }
    seen.replicas = is_cluster(profile_.stream) ? 3 : 1;
    seen.first_sequence = stream_.first_sequence();
    seen.message_count = seen.last_sequence - std::min(seen.first_sequence - 1, seen.last_sequence);
    if (const auto* const first = stream_.message(seen.first_sequence)) {
        seen.first_stored = world::to_wall(first->stored_at);
    }
    // The messages are read a moment after the stream's state.
    world_.after(latency(), [this, session = std::move(session), look_back, asks_for,
                             answer = std::move(answer)]() mutable {
        read_tail(*session.facts.stream, look_back);
        read_asked(*session.facts.stream, asks_for);
        world_.after(latency(), [session, answer] {
            if (session.connection->server_there_) {
                answer(session);
            } else {
                answer(error{errc::broker_unavailable, "the connection ended"});
            }
        });
    });
}

void broker::read_asked(stream_facts& seen, std::uint64_t sequence) const {
    if (sequence == 0) {
        return;
    }
    auto& asked = seen.asked.emplace();
    asked.sequence = sequence;
    if (const auto* const message = stream_.message(sequence)) {
        asked.where = parse_position(message->position);
        asked.id = message->id;
    }
}

void broker::read_tail(stream_facts& seen, std::uint64_t look_back) const {
    // As nats/stream_reader and nats/look_back do it.
    constexpr std::uint64_t behind_a_stranger = 1024;
    const auto* const last = stream_.message(seen.last_sequence);
    if (last == nullptr) {
        return;
    }
    look_back = parse_position(last->position) ? look_back : std::max(look_back, behind_a_stranger);
    look_back = std::min(look_back, profile_.look_back);
    seen.last_message_there = true;
    seen.looked_back = look_back > 0;
    seen.placed_is_whole = look_back > 0;
    const auto until = seen.last_sequence;
    const auto count = std::min(std::max<std::uint64_t>(look_back, 1), until);
    const auto from = std::max(until - count + 1, stream_.first_sequence());
    for (auto sequence = from; sequence <= until; ++sequence) {
        see(seen, *stream_.message(sequence));
    }
}

void broker::see(stream_facts& seen, const stored_message& message) {
    const auto ours = parse_position(message.position);
    seen.final_position = ours;
    seen.final_id = message.id;
    if (!ours) {
        seen.shared = true;
        return;
    }
    seen.placed.push_back({message.sequence, *ours, message.id});
    seen.recent.push_back({message.id, world::to_wall(message.stored_at), message.sequence, ours});
    const bool comparable = seen.last_position && seen.last_position->origin == ours->origin;
    if (!comparable || seen.last_position->at < ours->at) {
        seen.last_position = ours;
    }
    if (!seen.shared) {
        seen.safe_position = ours;
        seen.safe_id = message.id;
        seen.safe_sequence = message.sequence;
    }
}

void broker::read_message(std::uint64_t sequence,
                          std::function<void(result<asked_message>)> answer) {
    static constexpr sim_time patience = std::chrono::seconds(5);
    world_.after(latency(), [this, sequence, answer = std::move(answer)]() mutable {
        if (!up_ || broken_ || world_.strikes(profile_.rate(hazard::mark_fails))) {
            world_.after(patience, [answer = std::move(answer)] {
                answer(error{errc::broker_unavailable, "nobody answers"});
            });
            return;
        }
        stream_facts seen;
        read_asked(seen, sequence);
        world_.after(latency(),
                     [answer = std::move(answer), found = *seen.asked] { answer(found); });
    });
}

void broker::describe(std::string description, std::function<void(result<std::uint64_t>)> answer) {
    // Asked for rarely, and so to fail more often than what is asked for all the time.
    constexpr std::uint64_t emphasis = 5;
    static constexpr sim_time patience = std::chrono::seconds(5);
    const auto rate = emphasis * profile_.rate(hazard::mark_fails);
    world_.after(latency(), [this, rate, description = std::move(description),
                             answer = std::move(answer)]() mutable {
        const bool arrives = up_ && !broken_ && !world_.strikes(rate);
        if (arrives) {
            world_.say("the stream is marked: ", description);
            description_ = std::move(description);
        }
        const bool is_heard = arrives && !world_.strikes(rate);
        const auto heard = is_heard  ? result<std::uint64_t>(stream_.last_sequence())
                           : broken_ ? error{errc::broker_lost, "the stream cannot be changed"}
                                     : error{errc::broker_unavailable, "no answer"};
        world_.after(is_heard ? latency() : patience,
                     [answer = std::move(answer), heard] { answer(heard); });
    });
}

// Publishing.

bool broker::is_kept_away(broker_connection& from, const published& what) {
    if (world_.is_calm() || profile_.forged_acks_per_million == 0 || !what.expected_last_sequence) {
        return false;
    }
    constexpr std::uint64_t million = 1'000'000;
    from.is_forged_ =
        from.is_forged_ || forger_dice_.below(million) < profile_.forged_acks_per_million;
    return from.is_forged_;
}

void broker::arrived(const connection_handle& from, std::uint64_t index, const published& what) {
    if (up_ && is_kept_away(*from, what)) {
        reply(from, index,
              R"({"stream":"S", "seq":)" + std::to_string(*what.expected_last_sequence + 1) + "}");
        return;
    }
    if (!up_ || world_.strikes(profile_.rate(hazard::publish_dropped))) {
        return;
    }
    if (what.body.size() > max_payload_bytes_) {
        end(from, {errc::broker_lost, "maximum payload violation"});
    } else if (what.body.ends_with(database::refused_mark)) {
        reply(from, index, error_reply(400, 10054, "message size exceeds maximum allowed"));
    } else if (broken_) {
        reply(from, index, error_reply(400, 10109, "invalid operation on sealed stream"));
    } else if (!has_leader_) {
        if (world_.random().chance(300)) {
            end(from, {errc::broker_unavailable, "nobody serves the subject of a publish"});
        }
    } else if (const auto trouble = passing_trouble()) {
        reply(from, index, *trouble);
    } else if (is_cluster(profile_.stream)) {
        propose(from, index, what);
    } else {
        reply(from, index, stream_.apply(what));
    }
}

std::optional<std::string> broker::passing_trouble() {
    if (!world_.strikes(profile_.rate(hazard::publish_rejected))) {
        return std::nullopt;
    }
    return some_refusal(world_.random());
}

void broker::propose(const connection_handle& from, std::uint64_t index, const published& what) {
    if (const auto answer = stream_.check_at_leader(what)) {
        reply(from, index, *answer);
        return;
    }
    stream_.proposed(what);
    proposals_.push_back({what, from, index, term_});
    next_apply_ = std::max(next_apply_, world_.now() + 2 * latency());
    world_.at(next_apply_, [this] { apply_next(); });
}

void broker::apply_next() {
    if (proposals_.empty() || !has_leader_) {
        return;
    }
    const auto next = std::move(proposals_.front());
    proposals_.pop_front();
    const auto answer = stream_.apply(next.what);
    // A new leader applies what the old one proposed, but answers nobody.
    if (next.from && next.term == term_) {
        reply(next.from, next.index, answer);
    }
}

// Replying.

void broker::reply(const connection_handle& to, std::uint64_t index, const std::string& body) {
    if (!to || world_.strikes(profile_.rate(hazard::reply_lost))) {
        return;
    }
    to->next_reply_ = std::max(to->next_reply_, world_.now() + latency());
    auto when = to->next_reply_;
    if (world_.strikes(profile_.rate(hazard::reply_late))) {
        when += world_.random().between(sim_time(1), milliseconds(2000));
    }
    const auto put = [&](sim_time at) {
        world_.at(at, [this, to, index, body] { deliver(to, index, body); });
    };
    put(when);
    if (world_.strikes(profile_.rate(hazard::reply_doubled))) {
        put(when + world_.random().between(sim_time(1), milliseconds(500)));
    }
}

void broker::deliver(const connection_handle& to, std::uint64_t index, const std::string& body) {
    if (to->client_there_) {
        note_ack(*to, index, relay::parse_publish_reply(body, "S"));
    }
    if (to->client_there_ || world_.strikes(profile_.rate(hazard::reply_of_old_epoch))) {
        to->events_.on_reply(index, body);
    }
}

void broker::answer_stream_info(const connection_handle& to) {
    if (!to->server_there_) {
        return;
    }
    auto last = stream_.last_sequence();
    if (is_cluster(profile_.stream) && world_.strikes(profile_.rate(hazard::tail_stale))) {
        last -= world_.random().below(std::min<std::uint64_t>(last, 9) + 1);
    }
    const auto body = has_leader_ ? R"({"state":{"last_seq":)" + std::to_string(last) + "}}"
                                  : error_reply(503, 10008, "temporarily unavailable");
    if (world_.strikes(profile_.rate(hazard::reply_lost))) {
        return;
    }
    to->next_reply_ = std::max(to->next_reply_, world_.now() + latency());
    world_.at(to->next_reply_, [to, body] {
        if (to->client_there_) {
            to->events_.on_stream_info(body);
        }
    });
}

void broker::note_ack(broker_connection& to, std::uint64_t index,
                      const relay::publish_outcome& outcome) {
    if (outcome.kind != relay::outcome_class::stored) {
        return;
    }
    const auto sent = to.acked_before_.find(index);
    if (sent != to.acked_before_.end() && outcome.sequence <= sent->second) {
        checker_.on_loss_shown();
    }
    to.acked_ = std::max(to.acked_, outcome.sequence);
}

void broker::end(const connection_handle& connection, error why) {
    connection->server_there_ = false;
    std::erase(connections_, connection);
    world_.after(latency(), [connection, why = std::move(why)] {
        if (connection->client_there_) {
            connection->events_.on_lost(why);
        }
    });
}

// Faults.

void broker::cut() {
    if (connections_.empty()) {
        return;
    }
    const auto which = connections_[world_.random().below(connections_.size())];
    world_.say("broker: a connection is cut");
    which->arriving_ = world_.random().below(which->sent_ + 1);
    end(which, {errc::broker_lost, "the connection was cut"});
}

std::size_t broker::young_messages() {
    const auto& all = stream_.messages();
    std::size_t young = 0;
    while (young < all.size() &&
           world_.now() - all[all.size() - 1 - young].stored_at < profile_.forgets) {
        ++young;
    }
    return world_.random().below(young + 1);
}

void broker::lose_power() {
    crash(young_messages());
}

void broker::lose_messages() {
    const auto lost = young_messages();
    world_.say("broker: the new leader lacks ", lost, " messages");
    proposals_.clear();
    ++term_;
    stream_.roll_back(lost);
}

void broker::crash(std::size_t lost_messages) {
    world_.say("broker: crashes and loses ", lost_messages, " messages");
    go_down();
    stream_.restart(lost_messages);
    come_up(world_.random().between(milliseconds(50), milliseconds(5000)));
}

void broker::harm(store_loss how, lsn slot) {
    world_.say("broker: keeps ", how.kept, " messages, has ", how.strangers, " of somebody else",
               how.made_again ? ", and the stream was made again" : "");
    go_down();
    stream_.harm(how.kept, how.strangers, slot);
    if (how.made_again) {
        created_ = world::to_wall(world_.now());
        description_.clear();
    }
    // What was on its way is gone by then.
    come_up(2 * profile_.broker_latency + milliseconds(50));
}

void broker::go_down() {
    up_ = false;
    proposals_.clear();
    for (const auto& each : std::vector(connections_)) {
        each->arriving_ = 0;
        end(each, {errc::broker_lost, "the broker is gone"});
    }
}

void broker::come_up(sim_time after) {
    world_.after(after, [this] { up_ = true; });
}

void broker::change_leader() {
    world_.say("broker: the leader is gone, ", proposals_.size(), " proposals are open");
    has_leader_ = false;
    ++term_;
    // What a majority had is kept; what only the old leader had is lost.
    const auto kept = world_.random().below(proposals_.size() + 1);
    proposals_.resize(kept);
    world_.after(world_.random().between(milliseconds(10), milliseconds(3000)), [this] {
        has_leader_ = true;
        while (!proposals_.empty()) {
            apply_next();
        }
        stream_.change_leader();
    });
}

void broker::stranger_writes() {
    write_as_stranger(
        {"", "events.stranger", std::to_string(++strangers_), "", std::nullopt, true});
}

void broker::forger_writes(const position& where) {
    const auto number = std::to_string(++strangers_);
    world_.say("broker: somebody forges a message of position ", to_string(where));
    write_as_stranger(
        {"forged-" + number, "events.forged", number, to_string(where), std::nullopt, true});
}

void broker::write_as_stranger(const published& what) {
    if (!up_ || !has_leader_) {
        return;
    }
    if (is_cluster(profile_.stream)) {
        propose(nullptr, 0, what);
    } else {
        stream_.apply(what);
    }
}

void broker::trim(std::uint64_t before) {
    if (up_ && has_leader_) {
        stream_.trim(before);
    }
}

void broker::change_limit() {
    const bool is_low = max_payload_bytes_ == database::lower_max_payload_bytes;
    max_payload_bytes_ = is_low ? database::max_payload_bytes : database::lower_max_payload_bytes;
    world_.say("broker: max_payload is ", max_payload_bytes_);
}

// The client's side.

broker_connection::broker_connection(broker& server, broker_events events)
    : server_(server), events_(std::move(events)) {}

connection_handle broker::handle_of(const broker_connection& connection) const {
    const auto found =
        std::find_if(connections_.begin(), connections_.end(),
                     [&](const connection_handle& each) { return each.get() == &connection; });
    return found == connections_.end() ? nullptr : *found;
}

bool broker_connection::publish(std::uint64_t index, published what) {
    auto& world = server_.world_;
    if (world.strikes(server_.profile_.rate(hazard::publish_unsendable))) {
        return false;
    }
    const auto self = server_.handle_of(*this);
    if (!self) {
        return true;
    }
    acked_before_[index] = acked_;
    next_arrival_ = std::max(next_arrival_, world.now() + server_.latency());
    world.at(next_arrival_, [self, index, number = sent_++, what = std::move(what)] {
        if (self->arriving_ && number >= *self->arriving_) {
            return;
        }
        self->server_.world_.after(self->late_by_, [self, index, what] {
            if (self->late_by_ > sim_time(0)) {
                self->server_.checker_.on_straggler(what.id);
            }
            self->server_.arrived(self, index, what);
        });
    });
    return true;
}

void broker_connection::ask_stream() {
    const auto self = server_.handle_of(*this);
    if (!self) {
        return;
    }
    auto& world = server_.world_;
    next_arrival_ = std::max(next_arrival_, world.now() + server_.latency());
    world.at(next_arrival_, [self, number = sent_++] {
        if (!self->arriving_ || number < *self->arriving_) {
            self->server_.answer_stream_info(self);
        }
    });
}

void broker_connection::close() {
    client_there_ = false;
    if (const auto self = server_.handle_of(*this)) {
        auto& world = server_.world_;
        arriving_ = world.is_calm() ? sent_ : world.random().below(sent_ + 1);
        const bool is_late = !world.is_calm() && world.random().chance(200);
        if (is_late && server_.profile_.has_stragglers) {
            late_by_ = world.random().between(sim_time(1), milliseconds(1000));
        }
        server_there_ = false;
        std::erase(server_.connections_, self);
    }
}

}  // namespace walrelay::sim
