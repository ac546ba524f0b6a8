#include "postgres/slot_switch.hpp"

#include "core/sql_text.hpp"
#include "postgres/server_error.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr std::string_view object_in_use = "55006";
constexpr std::string_view undefined_object = "42704";

/// NAMEDATALEN - 1.
constexpr std::size_t name_max = 63;
constexpr std::string_view suffix = "_switch";

server_context context_of(const connection& with, const slot_switch& wanted) {
    return {.action = server_action::create_slot,
            .role = with.role(),
            .database = with.database(),
            .slot = wanted.slot,
            .plugin = wanted.to,
            .publication = wanted.publication,
            .version_number = with.version_number()};
}

error is_missing(const std::string& slot) {
    return {
        errc::postgres_unsuitable,
        fmt::format("there is no slot {} in this database whose plugin could be changed", slot),
        "set postgres.slot to the slot's name, and dbname in postgres.conninfo to its database"};
}

error is_in_use(const std::string& slot) {
    return {errc::slot_in_use, fmt::format("a relay streams from slot {}", slot),
            "stop walrelay run, and every standby of it, and try again; nothing was changed"};
}

error is_older_than(const slot_switch& wanted) {
    return {
        errc::postgres_unsuitable,
        fmt::format("slot {} still has transactions from before publication {} was made, which "
                    "pgoutput cannot decode; nothing was changed",
                    wanted.slot, wanted.publication),
        "where walrelay run still gets on, let it run until it has caught up, and try again; "
        "where a row stops it, walrelay verify names what the stream lacks, and a new slot with "
        "on_slot_loss = \"heal\" under [delivery] publishes that from the tables"};
}

class switching {
public:
    switching(connection& sql, slot_switch wanted)
        : sql_(sql), wanted_(std::move(wanted)), waiting_(waiting_slot_name(wanted_.slot)) {}

    awaitable<result<void>> run();

private:
    /// Nothing if there is no such slot in this database.
    awaitable<result<std::optional<std::string>>> plugin_of(std::string slot);
    awaitable<result<void>> copy(std::string from, std::string to);
    awaitable<result<void>> drop(std::string slot);
    awaitable<result<void>> try_decoding();
    awaitable<result<void>> set_waiting_aside();
    awaitable<result<void>> do_it(std::string sql, std::vector<std::string> parameters);

    connection& sql_;
    slot_switch wanted_;
    std::string waiting_;
};

awaitable<result<std::optional<std::string>>> switching::plugin_of(std::string slot) {
    std::vector<std::string> which{std::move(slot)};
    const auto found = co_await sql_.query(
        "SELECT plugin FROM pg_replication_slots WHERE slot_name = $1 AND slot_type = 'logical' "
        "AND database = current_database()",
        std::move(which));
    if (!found) {
        co_return found.error();
    }
    co_return found->empty() ? std::nullopt : std::optional(std::string(found->text(0, 0)));
}

awaitable<result<void>> switching::do_it(std::string sql, std::vector<std::string> parameters) {
    const auto done = co_await sql_.ask(std::move(sql), std::move(parameters));
    if (done.has_error()) {
        const bool in_use = done.error().sqlstate == object_in_use;
        co_return in_use ? is_in_use(wanted_.slot)
                         : explain(done.error(), context_of(sql_, wanted_));
    }
    co_return result<void>{};
}

awaitable<result<void>> switching::copy(std::string from, std::string to) {
    std::vector<std::string> names{std::move(from), std::move(to), to_string(wanted_.to)};
    co_return co_await do_it("SELECT pg_copy_logical_replication_slot($1, $2, false, $3)",
                             std::move(names));
}

awaitable<result<void>> switching::drop(std::string slot) {
    std::vector<std::string> which{std::move(slot)};
    co_return co_await do_it("SELECT pg_drop_replication_slot($1)", std::move(which));
}

/// The first change is decoded, which finds a publication that is too young.
awaitable<result<void>> switching::try_decoding() {
    if (wanted_.to != output_plugin::pgoutput) {
        co_return result<void>{};
    }
    std::vector<std::string> parameters{waiting_, wanted_.publication};
    const auto tried = co_await sql_.ask(
        "SELECT count(*) FROM pg_logical_slot_peek_binary_changes($1, NULL, 1, 'proto_version', "
        "'1', 'publication_names', $2)",
        std::move(parameters));
    if (!tried.has_error()) {
        co_return result<void>{};
    }
    const bool is_young = tried.error().sqlstate == undefined_object;
    co_return is_young ? is_older_than(wanted_) : explain(tried.error(), context_of(sql_, wanted_));
}

/// A copy that decodes, under the other name.
awaitable<result<void>> switching::set_waiting_aside() {
    if (auto copied = co_await copy(wanted_.slot, waiting_); !copied) {
        co_return copied;
    }
    auto done = co_await try_decoding();
    if (done) {
        done = co_await drop(wanted_.slot);
    }
    if (!done) {
        static_cast<void>(co_await drop(waiting_));
    }
    co_return done;
}

awaitable<result<void>> switching::run() {
    const auto plugin = co_await plugin_of(wanted_.slot);
    const auto waits = co_await plugin_of(waiting_);
    if (!plugin || !waits) {
        co_return plugin ? waits.error() : plugin.error();
    }
    if (*plugin == to_string(wanted_.to)) {
        if (!*waits) {
            co_return result<void>{};
        }
        co_return co_await drop(waiting_);  // the last try ended before this
    }
    if (!*plugin && !*waits) {
        co_return is_missing(wanted_.slot);
    }
    if (*plugin) {
        if (*waits) {
            if (auto dropped = co_await drop(waiting_); !dropped) {
                co_return dropped;
            }
        }
        if (auto aside = co_await set_waiting_aside(); !aside) {
            co_return aside;
        }
    }
    if (auto copied = co_await copy(waiting_, wanted_.slot); !copied) {
        co_return copied;
    }
    co_return co_await drop(waiting_);
}

}  // namespace

std::string waiting_slot_name(const std::string& slot) {
    return slot.substr(0, name_max - suffix.size()).append(suffix);
}

awaitable<result<void>> switch_plugin(connection& sql, slot_switch wanted) {
    switching all(sql, std::move(wanted));
    co_return co_await all.run();
}

}  // namespace walrelay::postgres
