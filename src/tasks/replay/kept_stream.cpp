#include "tasks/replay/kept_stream.hpp"

#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/publication_age.hpp"
#include "postgres/catalog/replay_slot.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "wal/replication_frame.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

/// The session of a replay that was killed ends when its server notices.
constexpr auto patience_for_another = 5s;
constexpr auto look_again_after = 200ms;

awaitable<void> pause(boost::asio::any_io_executor on, std::chrono::milliseconds time) {
    boost::asio::steady_timer timer(on, time);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

std::string unknown_prefix() {
    std::random_device random;
    return std::to_string(random()) + std::to_string(random());
}

/// The row that was written last, by now.
awaitable<result<std::optional<position>>> place_of(postgres::connection& sql,
                                                    const postgres::kept_replay& of) {
    if (of.number == 0) {
        co_return of.at;
    }
    const auto now = co_await postgres::find_replay(sql, of.slot, of.number);
    if (!now) {
        co_return now.error();
    }
    co_return *now ? (*now)->at : of.at;
}

relay::replay_range range_of(const postgres::kept_replay& of) {
    relay::replay_range range{of.from, of.until, of.last, of.since, of.before};
    if (of.at) {
        // The next one: no two rows have one position.
        range.from = {of.at->at.commit, of.at->at.row, of.at->at.index + 1};
    }
    return range;
}

relay::replay_choice choice_of(const postgres::kept_replay& of, const config::settings& settings) {
    relay::replay_choice choice{{}, of.subject, of.aggregates};
    for (std::size_t index = 0; index < settings.outbox.size(); ++index) {
        if (std::ranges::find(of.tables, settings.outbox[index].table) != of.tables.end()) {
            choice.tables.push_back(index);
        }
    }
    return choice;
}

bool is_wal2json(const std::string& plugin) {
    return plugin == to_string(output_plugin::wal2json);
}

/// The relay's slot can have changed its plugin since the position was kept. pgoutput leaves out
/// what was written while a table was not in the publication; wal2json never does.
awaitable<result<output_plugin>> plugin_for(postgres::connection& sql, const postgres_facts& facts,
                                            std::string kept_slot) {
    if (facts.slot && is_wal2json(facts.slot->plugin)) {
        co_return output_plugin::wal2json;
    }
    const auto kept = co_await postgres::find_slot(sql, std::move(kept_slot));
    if (!kept) {
        co_return kept.error();
    }
    co_return *kept&& is_wal2json((*kept)->plugin) ? output_plugin::wal2json
                                                   : output_plugin::pgoutput;
}

/// wal2json knows no publication, and the relay's own slot sends what it sends.
awaitable<result<std::vector<std::string>>> published_later_than(postgres::connection& sql,
                                                                 const config::settings& settings,
                                                                 output_plugin plugin,
                                                                 std::string kept_slot) {
    if (plugin == output_plugin::wal2json || kept_slot == settings.postgres.slot) {
        co_return std::vector<std::string>{};
    }
    co_return co_await postgres::younger_than_slot(sql, std::move(kept_slot),
                                                   settings.postgres.publication);
}

/// Of all tables: one that was renamed since has another name in the WAL than it has today.
postgres::start_options options_of(const config::settings& settings, output_plugin plugin,
                                   lsn from) {
    postgres::start_options options;
    options.slot = postgres::replay_slot_name(settings.postgres.slot);
    options.plugin = plugin;
    options.publication = settings.postgres.publication;
    options.message_prefixes = servers::message_prefixes_of(settings);
    options.nonce = unknown_prefix();
    options.from = from;
    return options;
}

/// Of a range that begins with a time: the trail moves on by time as well, and still has it.
awaitable<result<bool>> covers_its_time(postgres::connection& sql,
                                        const postgres::kept_replay& of) {
    if (!of.since || of.at) {
        co_return false;
    }
    const auto kept = co_await postgres::read_kept_positions(sql, of.slot);
    if (!kept) {
        co_return kept.error();
    }
    const auto* const trail = find_trail(*kept);
    co_return trail != nullptr && trail->slot == of.kept_slot &&
        trail->covers_from&& * trail->covers_from <= *of.since;
}

/// PostgreSQL begins at a slot's own place without a word where it is asked for an earlier one, and
/// a kept slot can have been moved, or made again, since the range was chosen. It is the copy that
/// is asked: nobody moves that. A range from 0 on is what the slot has.
awaitable<result<void>> reaches_back(postgres::connection& sql, const postgres::kept_replay& of,
                                     lsn begins) {
    if (begins == lsn{}) {
        co_return result<void>{};
    }
    auto name = postgres::replay_slot_name(of.slot);
    const auto copy = co_await postgres::find_slot(sql, std::move(name));
    if (!copy) {
        co_return copy.error();
    }
    const auto place = *copy ? parse_lsn((*copy)->confirmed) : std::nullopt;
    if (place && *place <= begins) {
        co_return result<void>{};
    }
    const auto covers = co_await covers_its_time(sql, of);
    if (!covers || *covers) {
        co_return covers ? result<void>{} : covers.error();
    }
    const auto number = std::to_string(of.number);
    co_return error{
        errc::position_not_kept,
        "slot " + of.kept_slot +
            (place ? " stands at LSN " + to_string(*place) : " is at no place that can be read") +
            ", and the replay begins at LSN " + to_string(begins) +
            ": it was moved or made again since, and the rows between are in its WAL no more; "
            "nothing was published now",
        std::string("walrelay bookmark list shows what is kept; begin there") +
            (of.number == 0 ? "" : ", after walrelay replay cancel " + number)};
}

}  // namespace

awaitable<result<postgres::connection>> hold_replay_slot(servers::executors on,
                                                         const config::settings& settings,
                                                         std::string kept_slot,
                                                         output_plugin plugin) {
    for (auto waited = 0ms;; waited += look_again_after) {
        auto replication = co_await servers::open_replication(on.loop, settings);
        if (!replication) {
            co_return replication.error();
        }
        const auto copied = co_await postgres::copy_to_replay_slot(*replication, kept_slot,
                                                                   settings.postgres.slot, plugin);
        if (copied) {
            co_return std::move(*replication);
        }
        if (copied.error().code != errc::slot_in_use || waited >= patience_for_another) {
            co_return copied.error();
        }
        replication->close();
        co_await pause(on.loop, look_again_after);
    }
}

kept_stream::kept_stream(postgres::replication_stream stream, relay::replay_reader reader,
                         const postgres_facts& facts, lineage line,
                         std::vector<std::string> published_later)
    : stream_(std::move(stream)),
      reader_(std::move(reader)),
      line_(std::move(line)),
      published_later_(std::move(published_later)),
      database_(facts.database),
      reports_each_(facts.sender_timeout > 0ms
                        ? std::min<std::chrono::milliseconds>(5s, facts.sender_timeout / 3)
                        : 5s),
      reported_at_(std::chrono::steady_clock::now()) {}

awaitable<result<std::unique_ptr<kept_stream>>> kept_stream::open(servers::executors on,
                                                                  const config::settings& settings,
                                                                  postgres::connection& sql,
                                                                  postgres::kept_replay of,
                                                                  relay::replayed_as as) {
    auto request = servers::inspection_of(settings);
    request.write_backs.clear();
    const auto facts = co_await postgres::inspect(sql, std::move(request));
    if (!facts) {
        co_return facts.error();
    }
    auto mappers = servers::mappers_of(settings);
    if (!mappers) {
        co_return mappers.error();
    }
    const auto chosen = co_await plugin_for(sql, *facts, of.kept_slot);
    if (!chosen) {
        co_return chosen.error();
    }
    const auto plugin = *chosen;
    auto later = co_await published_later_than(sql, settings, plugin, of.kept_slot);
    if (!later) {
        co_return later.error();
    }
    auto replication = co_await hold_replay_slot(on, settings, of.kept_slot, plugin);
    if (!replication) {
        co_return replication.error();
    }
    const auto at = co_await place_of(sql, of);
    if (!at) {
        co_return at.error();
    }
    of.at = *at;
    auto server = co_await postgres::identify(*replication);
    if (!server) {
        co_return server.error();
    }
    auto range = range_of(of);
    const auto reaches = co_await reaches_back(sql, of, range.from.commit);
    if (!reaches) {
        co_return reaches.error();
    }
    auto options = options_of(settings, plugin, range.from.commit);
    auto stream =
        co_await postgres::replication_stream::start(std::move(*replication), std::move(options));
    if (!stream) {
        co_return stream.error();
    }
    relay::replay_source source{plugin, server->line, servers::relay_options_of(settings).duties,
                                settings.delivery.max_row_bytes.bytes, as};
    relay::replay_reader reader(std::move(*mappers), relay::table_catalog(settings.outbox, *facts),
                                std::move(source), std::move(range), choice_of(of, settings));
    co_return std::make_unique<kept_stream>(std::move(*stream), std::move(reader), *facts,
                                            std::move(server->line), std::move(*later));
}

awaitable<result<relay::replay_read>> kept_stream::next() {
    for (;;) {
        const auto frame = stream_.next_frame();
        if (!frame) {
            co_return frame.error();
        }
        if (!*frame) {
            const auto more = co_await stream_.wait_readable();
            if (!more) {
                co_return more.error();
            }
            continue;
        }
        auto read = reader_.read(**frame);
        if (!read) {
            co_return read.error();
        }
        received_ = std::max(received_, read->received);
        const bool asks = read->alive && read->alive->reply_requested;
        if (auto alive = asks ? report() : stay_alive(); !alive) {
            co_return alive.error();
        }
        if (read->row || read->committed || read->ended) {
            co_return std::move(*read);
        }
    }
}

result<void> kept_stream::stay_alive() {
    const bool is_due = std::chrono::steady_clock::now() - reported_at_ >= reports_each_;
    return is_due ? report() : result<void>{};
}

/// Nothing is confirmed: the copy goes with its session.
result<void> kept_stream::report() {
    reported_at_ = std::chrono::steady_clock::now();
    return stream_.send(wal::encode({received_, {}, {}, {}}));
}

awaitable<result<void>> read_to_the_end(kept_stream& past,
                                        std::function<void(const relay::replayed_row&)> take) {
    for (;;) {
        const auto read = co_await past.next();
        if (!read) {
            co_return read.error();
        }
        if (read->row) {
            take(*read->row);
        }
        if (read->ended) {
            co_return result<void>{};
        }
    }
}

}  // namespace walrelay::tasks
