#include "postgres/catalog/slot_switch.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/publication_age.hpp"
#include "postgres/catalog/slot_acts.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr std::string_view switch_suffix = "_switch";

error is_missing(const std::string& slot) {
    return {
        errc::postgres_unsuitable,
        fmt::format("there is no slot {} in this database whose plugin could be changed", slot),
        "set postgres.slot to the slot's name, and dbname in postgres.conninfo to its database"};
}

error is_at_it(const std::string& slot) {
    return {errc::slot_in_use,
            fmt::format("another process is changing the plugin of slot {}", slot),
            "let it end, then try again"};
}

error is_older_than(const slot_switch& wanted) {
    return {errc::postgres_unsuitable,
            fmt::format("slot {} may still have transactions from before publication {} had all "
                        "tables, which pgoutput would leave out; nothing was changed",
                        wanted.slot, wanted.publication),
            "where walrelay run still gets on, let it run until it has caught up, wait for a "
            "minute, and try again; where a row stops it, walrelay verify names what the stream "
            "lacks, and a new slot with on_slot_loss = \"heal\" under [delivery] publishes those "
            "rows that are still in the tables"};
}

error are_both_there(const slot_switch& wanted, const found_slot& slot, const found_slot& waits) {
    const auto waiting = waiting_slot_name(wanted.slot);
    return {
        errc::postgres_unsuitable,
        fmt::format("slot {} stands at LSN {} and slot {}, which a change of the plugin made "
                    "or somebody else, at LSN {}: walrelay cannot tell which of them has what "
                    "is still to be relayed; nothing was changed",
                    wanted.slot, slot.confirmed, waiting, waits.confirmed),
        fmt::format("walrelay run goes on with slot {0}, and walrelay verify then tells whether "
                    "the stream lacks a row; where it lacks none, and walrelay made {1}, which "
                    "keeps WAL: {2} destroys that copy, then try again",
                    wanted.slot, waiting, drop_slot_sql(waiting))};
}

class switching {
public:
    switching(connection& sql, slot_switch wanted)
        : sql_(sql), wanted_(std::move(wanted)), waiting_(waiting_slot_name(wanted_.slot)) {}

    awaitable<result<void>> run();

private:
    awaitable<result<void>> lock();
    awaitable<result<void>> require_old_publication();
    awaitable<result<void>> begin();
    awaitable<result<void>> finish(std::string plugin);

    connection& sql_;
    slot_switch wanted_;
    std::string waiting_;
};

/// Two at once would each drop the copy of the other. Held until the session ends.
awaitable<result<void>> switching::lock() {
    const auto locked = co_await lock_slot_changes(sql_, wanted_.slot);
    if (!locked) {
        co_return locked.error();
    }
    co_return *locked ? result<void>{} : is_at_it(wanted_.slot);
}

awaitable<result<void>> switching::require_old_publication() {
    if (wanted_.to != output_plugin::pgoutput) {
        co_return result<void>{};
    }
    const auto young = co_await younger_than_slot(sql_, wanted_.slot, wanted_.publication);
    if (!young) {
        co_return young.error();
    }
    co_return young->empty() ? result<void>{} : is_older_than(wanted_);
}

/// The copy waits, and the slot is gone.
awaitable<result<void>> switching::begin() {
    auto done = co_await require_old_publication();
    if (!done) {
        co_return done;
    }
    done = co_await copy_slot(sql_, wanted_.slot, waiting_, to_string(wanted_.to));
    if (!done) {
        co_return done;
    }
    done = co_await drop_slot(sql_, wanted_.slot);
    if (done) {
        co_return done;
    }
    const auto there = co_await find_slot(sql_, wanted_.slot);
    if (there && *there) {
        static_cast<void>(co_await drop_slot(sql_, waiting_));
    }
    co_return done;
}

awaitable<result<void>> switching::finish(std::string plugin) {
    auto done = co_await copy_slot(sql_, waiting_, wanted_.slot, std::move(plugin));
    if (done) {
        done = co_await drop_slot(sql_, waiting_);
    }
    co_return done;
}

awaitable<result<void>> switching::run() {
    if (auto locked = co_await lock(); !locked) {
        co_return locked;
    }
    const auto slot = co_await find_slot(sql_, wanted_.slot);
    if (!slot) {
        co_return slot.error();
    }
    const auto waits = co_await find_slot(sql_, waiting_);
    if (!waits) {
        co_return waits.error();
    }
    if (!*slot && (!*waits || (*waits)->is_lost())) {
        co_return is_missing(wanted_.slot);
    }
    if (!*slot) {
        co_return co_await finish((*waits)->plugin);
    }
    if (*waits) {
        if ((*waits)->confirmed != (*slot)->confirmed) {
            co_return are_both_there(wanted_, **slot, **waits);
        }
        if (auto dropped = co_await drop_slot(sql_, waiting_); !dropped) {
            co_return dropped;
        }
    }
    if ((*slot)->plugin == to_string(wanted_.to)) {
        co_return result<void>{};
    }
    if (auto begun = co_await begin(); !begun) {
        co_return begun;
    }
    co_return co_await finish(to_string(wanted_.to));
}

}  // namespace

std::string waiting_slot_name(const std::string& slot) {
    return slot_name_with(slot, switch_suffix);
}

awaitable<result<void>> switch_plugin(connection& sql, slot_switch wanted) {
    switching all(sql, std::move(wanted));
    co_return co_await all.run();
}

}  // namespace walrelay::postgres
