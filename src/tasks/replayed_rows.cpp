#include "tasks/replayed_rows.hpp"

#include "outbox/timestamp.hpp"
#include "servers/stream_search.hpp"
#include "tasks/own_positions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

constexpr std::chrono::seconds patience{5};

std::uint64_t lost_of(std::uint64_t written, const replayed_rows& found) {
    const auto accounted = found.count() + found.unnamed_letters() + found.removed();
    return written - std::min(written, accounted);
}

}  // namespace

replayed_rows::replayed_rows(std::int64_t number)
    : occasion_(";replay-" + std::to_string(number)) {}

void replayed_rows::add_message(std::string_view message_id) {
    for (auto found = message_id.find(occasion_); found != std::string_view::npos;
         found = message_id.find(occasion_, found + 1)) {
        const auto rest = message_id.substr(found + occasion_.size());
        if (rest.empty() || rest.front() == ';') {
            ids_.emplace(message_id.substr(0, found));
            return;
        }
        if (rest.front() != '-') {
            continue;
        }
        const auto text = rest.substr(1, rest.find(';') - 1);
        if (const auto where = parse_position(std::string(text))) {
            positions_.push_back(where->at);
            return;
        }
    }
}

void replayed_rows::add_letter(const postgres::replayed_letter& letter) {
    if (!letter.message_id.empty()) {
        const auto before = positions_.size() + ids_.size();
        add_message(letter.message_id);
        named_letters_ += positions_.size() + ids_.size() - before;
    } else if (!letter.event.empty()) {
        events_.insert(letter.event);
    } else {
        ++without_event_;
    }
}

void replayed_rows::end_reading() {
    std::ranges::sort(positions_);
    const auto twice = std::ranges::unique(positions_);
    positions_.erase(twice.begin(), twice.end());
}

bool replayed_rows::has(const position& row) const {
    return std::ranges::binary_search(positions_, row.at);
}

bool replayed_rows::has_id(std::string_view message_id) const {
    return ids_.contains(std::string(message_id));
}

bool replayed_rows::take_event(const std::string& event) {
    const auto found = events_.find(event);
    if (found == events_.end()) {
        return false;
    }
    events_.erase(found);
    return true;
}

awaitable<result<replayed_rows>> find_replayed_rows(servers::executors on,
                                                    const config::settings& settings,
                                                    postgres::connection& sql,
                                                    const postgres::kept_replay& of) {
    replayed_rows found(of.number);
    const auto letters = co_await postgres::letters_of_replay(sql, of.slot, of.number);
    if (!letters) {
        co_return letters.error();
    }
    const auto own = co_await own_positions::learn(on, settings);
    const std::function<void(const nats::scanned_message&)> visit =
        [&](const nats::scanned_message& one) {
            if (own.has(one.position)) {
                found.add_message(one.id);
            }
        };
    const servers::search_from from{of.stream_sequence.value_or(0),
                                    outbox::parse_timestamp(of.started_at)};
    const auto part = co_await servers::search_stream(std::move(on), settings, from, visit);
    if (!part) {
        co_return part.error();
    }
    for (const auto& each : *letters) {
        found.add_letter(each);
    }
    found.set_removed(part->removed);
    found.end_reading();
    co_return std::move(found);
}

awaitable<result<std::vector<open_replay>>> look_at_open_replays(servers::executors on,
                                                                 const config::settings& settings,
                                                                 postgres::connection& sql) {
    std::vector<open_replay> open;
    const auto all = co_await postgres::list_replays(sql, settings.postgres.slot);
    if (!all) {
        co_return all.error();
    }
    for (const auto& each : *all) {
        if (each.state != postgres::replay_state::running || each.rows_written == 0) {
            continue;
        }
        open_replay one{each.number, each.rows_written};
        const auto read =
            co_await servers::slot_has_read_all(on, sql, settings.postgres.slot, patience);
        if (!read) {
            co_return read.error();
        }
        if (*read) {
            const auto found = co_await find_replayed_rows(on, settings, sql, each);
            if (found) {
                one.stored = found->count();
                one.lost = lost_of(each.rows_written, *found);
            }
        }
        open.push_back(one);
    }
    co_return open;
}

}  // namespace walrelay::tasks
