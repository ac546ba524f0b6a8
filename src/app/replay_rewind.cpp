#include "app/replay_rewind.hpp"

#include "app/exit_code.hpp"
#include "app/replay_to_stream.hpp"
#include "app/rewound_stream.hpp"
#include "core/figures.hpp"
#include "core/kept_position.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "postgres/catalog/publication_age.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/catalog/slot_rewind.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/kept_slots.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

/// How long the previous position is kept.
constexpr std::chrono::milliseconds undo_lasts = 24h * 7;

error not_kept(std::string what) {
    return {errc::position_not_kept, std::move(what), "walrelay bookmark list shows what is kept"};
}

/// Where the slot is to go.
result<kept_position> place_of(const kept_positions& there, const std::string& text,
                               const std::string& slot) {
    constexpr std::string_view bookmark = "bookmark:";
    if (text != "trail" && !text.starts_with(bookmark)) {
        return error{errc::configuration_invalid, "a slot cannot be put back to " + one_line(text),
                     "give --rewind bookmark:NAME, or --rewind trail"};
    }
    const auto* const found =
        text == "trail" ? find_trail(there) : find_bookmark(there, text.substr(bookmark.size()));
    if (found == nullptr) {
        return not_kept("there is no " + one_line(text));
    }
    if (auto whole = require_as_kept(*found); !whole) {
        return whole.error();
    }
    if (!there.source) {
        return error{errc::postgres_unsuitable, fmt::format("there is no slot {}", slot),
                     "set postgres.slot to the relay's slot"};
    }
    if (*found->confirmed > there.source->confirmed) {
        return error{
            errc::configuration_invalid,
            fmt::format("slot {0} is at LSN {1}, and {2} at LSN {3}: {2} is not before the slot",
                        slot, to_string(there.source->confirmed), one_line(text),
                        to_string(*found->confirmed)),
            "give an earlier bookmark; walrelay bookmark list shows them"};
    }
    if (there.slots_free < 2) {
        return error{errc::postgres_unsuitable,
                     fmt::format("a rewind needs two free replication slots, and there are {}",
                                 there.slots_free),
                     "drop a bookmark, or raise max_replication_slots and restart PostgreSQL"};
    }
    return *found;
}

error would_leave_out(const std::string& slot, const std::string& kept_slot,
                      const std::vector<std::string>& young) {
    return {errc::postgres_unsuitable,
            fmt::format("wal2json has read slot {}, and slot {} may still have rows from before "
                        "these were in the publication: {}; pgoutput, which is to go on, would "
                        "leave out such rows; nothing was changed",
                        slot, kept_slot, fmt::join(young, ", ")),
            "set postgres.plugin = \"wal2json\", and run the same command again: it makes the slot "
            "with that plugin; when the relay has caught up, walrelay init --switch-plugin changes "
            "it back; or give a later bookmark"};
}

/// With the plugin that goes on, from where the kept slot stands. What pgoutput alone has read and
/// left out was never in the stream.
awaitable<result<void>> require_all_sent(postgres::connection& sql,
                                         const config::settings& settings,
                                         const kept_source& source, const kept_position& place) {
    const std::string_view wal2json = to_string(output_plugin::wal2json);
    const auto goes_on = settings.postgres.plugin ? to_string(*settings.postgres.plugin)
                                                  : std::string_view(source.plugin);
    const bool was_wal2json = place.plugin == wal2json || source.plugin == wal2json;
    if (goes_on == wal2json || !was_wal2json || place.confirmed == source.confirmed) {
        co_return result<void>{};
    }
    const auto young =
        co_await postgres::younger_than_slot(sql, place.slot, settings.postgres.publication);
    if (!young) {
        co_return young.error();
    }
    co_return young->empty() ? result<void>{}
                             : would_leave_out(settings.postgres.slot, place.slot, *young);
}

std::string undo_name() {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("undo-{:%Y%m%d-%H%M%S}", fmt::gmtime(now));
}

awaitable<std::string> words_of_stream(servers::executors on, const config::settings& settings) {
    const auto seen = co_await servers::glance_at_stream(on.blocking, settings);
    const auto& name = settings.nats.stream;
    if (!seen) {
        co_return name + " cannot be read at the moment: " + seen.error().what;
    }
    if (!*seen) {
        co_return name +
            " does not exist: it is created, and the relay publishes all rows from that LSN on";
    }
    const auto& usage = (*seen)->usage;
    co_return fmt::format(
        "{} has {}, the last one with sequence {}: rows that it already has are skipped", name,
        counted(usage.messages, "message"), usage.last_sequence);
}

awaitable<int> show_plan(servers::executors on, const config::settings& settings,
                         const kept_positions& there, const kept_position& place) {
    const auto bytes = there.source->confirmed.value - place.confirmed->value;
    const auto stream = co_await words_of_stream(std::move(on), settings);
    fmt::print("rewind of slot {} to slot {}\n", settings.postgres.slot, place.slot);
    fmt::print("  slot    goes back from LSN {} to LSN {}: {} of WAL are read again\n",
               to_string(there.source->confirmed), to_string(*place.confirmed),
               show_bytes(static_cast<double>(bytes)));
    fmt::print("  stream  {}\n", stream);
    fmt::print("  undo    the current position is kept as a bookmark for 7 days\n");
    fmt::print(
        "nothing has been done yet; stop the relay and all its standbys, then run the same command "
        "with --execute\n");
    co_return exit_done;
}

/// Before anything is made: an error where a relay streams from the slot.
awaitable<result<void>> require_unused(postgres::connection& sql, std::string slot) {
    const auto found = co_await postgres::find_slot(sql, slot);
    if (!found) {
        co_return found.error();
    }
    co_return *found && (*found)->active
        ? error{errc::slot_in_use, "slot " + slot + " is in use; nothing was done",
                "stop walrelay run, and every standby of it, then try again"}
        : result<void>{};
}

/// The current position, as a bookmark.
awaitable<result<void>> keep_undo(postgres::connection& sql, const config::settings& settings,
                                  std::string name, std::string of) {
    auto outboxes = servers::published_tables_of(settings);
    const auto tables = co_await postgres::make_kept_tables(sql, std::move(outboxes));
    if (!tables) {
        co_return tables.error();
    }
    postgres::kept_slot_wish wanted{settings.postgres.slot,
                                    bookmark_slot_name(settings.postgres.slot, name), name,
                                    "before the rewind to " + of, undo_lasts};
    const auto made = co_await postgres::make_kept_slot(sql, std::move(wanted));
    co_return made ? result<void>{} : made.error();
}

/// The slot stands where it is to be.
awaitable<int> end_with_stream(servers::executors on, postgres::connection& sql,
                               const config::settings& settings) {
    const auto begun = co_await begin_with_what_is_there(std::move(on), sql, settings);
    if (!begun) {
        auto why = begun.error();
        why.what = "the slot was put back, but that stream " + settings.nats.stream +
                   " begins anew where it has lost messages is not kept: " + why.what;
        if (why.code != errc::gap_found) {
            why.remedy = "the same command again, before the relay starts";
        }
        co_return refuse(why);
    }
    fmt::print("now start the relay: walrelay run (if it has halted, walrelay resume first)\n");
    co_return exit_done;
}

awaitable<int> execute(servers::executors on, postgres::connection& sql,
                       const config::settings& settings, const kept_positions& there,
                       kept_position place) {
    const auto unused = co_await require_unused(sql, settings.postgres.slot);
    if (!unused) {
        co_return refuse(unused.error());
    }
    if (place.confirmed == there.source->confirmed) {
        fmt::print("slot {} stands at LSN {} already\n", settings.postgres.slot,
                   to_string(*place.confirmed));
        co_return co_await end_with_stream(std::move(on), sql, settings);
    }
    const auto undo = undo_name();
    const auto kept = co_await keep_undo(sql, settings, undo, place.slot);
    if (!kept) {
        co_return refuse(kept.error());
    }
    const auto& slot = settings.postgres.slot;
    auto let_fail_over = servers::failover_setter_for(on.loop, settings);
    const auto done = co_await postgres::rewind_slot(
        sql, slot, place.slot, settings.postgres.plugin, std::move(let_fail_over));
    if (!done) {
        fmt::print(
            stderr,
            "the previous position of slot {} is kept as bookmark {}; if the rewind broke off "
            "half-way, walrelay run finishes it\n",
            slot, undo);
        co_return refuse(done.error());
    }
    fmt::print("slot {} is now at LSN {}; its previous position is kept as bookmark {}\n", slot,
               to_string(*place.confirmed), undo);
    co_return co_await end_with_stream(std::move(on), sql, settings);
}

}  // namespace

awaitable<int> replay_rewind(servers::executors on, postgres::connection& sql,
                             const config::settings& settings, tasks::replay_request request) {
    if (request.execute) {
        auto let_fail_over = servers::failover_setter_for(on.loop, settings);
        const auto ended =
            co_await postgres::end_rewind(sql, settings.postgres.slot, std::move(let_fail_over));
        if (!ended) {
            co_return refuse(ended.error());
        }
        if (*ended == postgres::rewind_end::finished) {
            fmt::print("an interrupted rewind of slot {} was finished\n", settings.postgres.slot);
            co_return co_await end_with_stream(std::move(on), sql, settings);
        }
    }
    const auto there = co_await postgres::read_kept_positions(sql, settings.postgres.slot);
    if (!there) {
        co_return refuse(there.error());
    }
    const auto place = place_of(*there, request.rewind, settings.postgres.slot);
    if (!place) {
        co_return refuse(place.error());
    }
    const auto all = co_await require_all_sent(sql, settings, *there->source, *place);
    if (!all) {
        co_return refuse(all.error());
    }
    if (request.execute) {
        co_return co_await execute(std::move(on), sql, settings, *there, *place);
    }
    co_return co_await show_plan(std::move(on), settings, *there, *place);
}

}  // namespace walrelay::app
