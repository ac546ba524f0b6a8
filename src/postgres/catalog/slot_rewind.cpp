#include "postgres/catalog/slot_rewind.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

error rewind_is_under_way(const std::string& slot) {
    return {errc::slot_in_use, fmt::format("another session is rewinding slot {}", slot),
            "let it end, then try again"};
}

error no_such_slot(const std::string& slot) {
    return {errc::postgres_unsuitable, fmt::format("this database has no slot {}", slot),
            "set postgres.slot to the slot's name, and dbname in postgres.conninfo to its "
            "database; walrelay bookmark list shows what can be rewound to"};
}

awaitable<result<void>> lock_rewind(connection& sql, std::string slot) {
    const auto locked = co_await lock_slot_changes(sql, slot);
    if (!locked) {
        co_return locked.error();
    }
    co_return *locked ? result<void>{} : rewind_is_under_way(slot);
}

/// Before anything is dropped that says so. Whether it is to fail over, `waits` tells.
awaitable<result<void>> end_waiting(connection& sql, std::string slot, const found_slot& waits,
                                    const failover_setter& let_fail_over) {
    const auto waiting = rewinding_slot_name(slot);
    if (waits.failover) {
        const auto set = co_await let_fail_over(std::move(slot));
        if (!set) {
            co_return set.error();
        }
    }
    co_return co_await drop_slot(sql, waiting);
}

/// The copy takes the slot's place, which is free.
awaitable<result<void>> take_its_place(connection& sql, std::string slot, const found_slot& waits,
                                       const failover_setter& let_fail_over) {
    const auto copied = co_await copy_slot(sql, rewinding_slot_name(slot), slot, waits.plugin);
    if (!copied) {
        co_return copied.error();
    }
    co_return co_await end_waiting(sql, std::move(slot), waits, let_fail_over);
}

/// What waits until the slot is dropped.
awaitable<result<void>> make_waiting(connection& sql, std::string kept_slot, std::string waiting,
                                     const found_slot& wanted,
                                     const failover_setter& let_fail_over) {
    const auto copied = co_await copy_slot(sql, std::move(kept_slot), waiting, wanted.plugin);
    if (!copied || !wanted.failover) {
        co_return copied;
    }
    const auto set = co_await let_fail_over(waiting);
    if (!set) {
        static_cast<void>(co_await drop_slot(sql, std::move(waiting)));
    }
    co_return set;
}

}  // namespace

std::string rewinding_slot_name(const std::string& slot) {
    return slot_name_with(slot, "_rewind");
}

awaitable<result<void>> rewind_slot(connection& sql, std::string slot, std::string kept_slot,
                                    std::optional<output_plugin> plugin,
                                    failover_setter let_fail_over) {
    if (auto locked = co_await lock_rewind(sql, slot); !locked) {
        co_return locked;
    }
    const auto waiting = rewinding_slot_name(slot);
    auto there = co_await find_slot(sql, slot);
    if (!there || !*there) {
        co_return there ? no_such_slot(slot) : there.error();
    }
    if (plugin) {
        (*there)->plugin = to_string(*plugin);
    }
    auto done = co_await make_waiting(sql, std::move(kept_slot), waiting, **there, let_fail_over);
    if (!done) {
        co_return done;
    }
    done = co_await drop_slot(sql, slot);
    if (!done) {
        static_cast<void>(co_await drop_slot(sql, waiting));
        co_return done;
    }
    co_return co_await take_its_place(sql, std::move(slot), **there, let_fail_over);
}

awaitable<result<bool>> rewind_waits(connection& sql, std::string slot) {
    const auto waits = co_await find_slot(sql, rewinding_slot_name(slot));
    if (!waits || !*waits || (*waits)->is_lost()) {
        co_return waits ? result<bool>(false) : waits.error();
    }
    const auto readable = co_await sql.query(
        "SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE "
        "n.nspname = 'walrelay' AND c.relname = 'bookmark' AND has_schema_privilege(n.oid, "
        "'USAGE') AND has_table_privilege(c.oid, 'SELECT')");
    if (!readable || readable->empty()) {
        co_return readable ? result<bool>(false) : readable.error();
    }
    std::vector<std::string> which{std::move(slot)};
    const auto undo = co_await sql.query(
        "SELECT FROM walrelay.bookmark WHERE slot = $1 AND starts_with(name, 'undo-')",
        std::move(which));
    co_return undo ? result<bool>(!undo->empty()) : undo.error();
}

awaitable<result<std::optional<rewind_end>>> end_rewind(connection& sql, std::string slot,
                                                        failover_setter let_fail_over) {
    const auto is_ours = co_await rewind_waits(sql, slot);
    if (!is_ours || !*is_ours) {
        co_return is_ours ? result<std::optional<rewind_end>>(std::optional<rewind_end>{})
                          : is_ours.error();
    }
    const auto waiting = rewinding_slot_name(slot);
    if (auto locked = co_await lock_rewind(sql, slot); !locked) {
        co_return locked.error();
    }
    // It can have ended while the lock was waited for.
    const auto waits = co_await find_slot(sql, waiting);
    const auto there = co_await find_slot(sql, slot);
    if (!waits || !there) {
        co_return waits ? there.error() : waits.error();
    }
    if (!*waits) {
        co_return std::optional<rewind_end>{};
    }
    const bool is_in_place = *there && (*there)->confirmed == (*waits)->confirmed;
    result<void> done;
    if (!*there) {
        done = co_await take_its_place(sql, std::move(slot), **waits, let_fail_over);
    } else if (is_in_place) {
        done = co_await end_waiting(sql, std::move(slot), **waits, let_fail_over);
    } else {
        done = co_await drop_slot(sql, waiting);
    }
    if (!done) {
        co_return done.error();
    }
    co_return std::optional(*there && !is_in_place ? rewind_end::given_up : rewind_end::finished);
}

}  // namespace walrelay::postgres
