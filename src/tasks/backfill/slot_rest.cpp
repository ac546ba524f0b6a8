#include "tasks/backfill/slot_rest.hpp"

#include "core/progress.hpp"
#include "core/sql_text.hpp"
#include "servers/postgres_access.hpp"
#include "tasks/replay/kept_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

namespace walrelay::tasks {

using boost::asio::awaitable;

namespace {

constexpr const char* how_to_keep_both =
    "walrelay resume --give-up, then walrelay run: it goes on with what the slot holds; then "
    "walrelay dead-letter list --given-up names the rows that the stream lacks, and walrelay "
    "replay "
    "--ids publishes them from the tables";

error cannot_be_read(const std::string& slot, const error& why) {
    return {errc::gap_found,
            "healing would give slot " + slot +
                " up, and what it still holds could not be compared with the tables: " + why.what +
                (why.server_said.empty() ? "" : " (server: " + why.server_said + ")") +
                "; nothing was changed",
            (why.remedy.empty() ? "" : why.remedy + ", then walrelay resume --heal; or, ") +
                std::string("where what it holds may be lost: SELECT pg_drop_replication_slot(") +
                quote_literal(slot) + "); then walrelay resume --heal"};
}

}  // namespace

bool slot_rest::can_be_read(const postgres_facts& facts) {
    const bool is_decodable = !facts.publication || !facts.publication->younger_than_slot;
    return facts.slot && facts.slot->wal_status != "lost" && facts.slot->confirmed && is_decodable;
}

slot_rest::slot_rest() {
    std::random_device random;
    std::uniform_int_distribution<std::uint64_t> numbers;
    secret_ = fmt::format("{:016x}{:016x}", numbers(random), numbers(random));
}

std::uint64_t slot_rest::key_of(std::string_view id) {
    keyed_.assign(secret_).append(id);
    return std::hash<std::string_view>()(keyed_);
}

void slot_rest::add(std::string_view id, bool too_large) {
    const auto key = key_of(id);
    keys_.push_back(key);
    if (too_large) {
        large_keys_.push_back(key);
    }
}

void slot_rest::finish() {
    std::ranges::sort(large_keys_);
    std::ranges::sort(keys_);
    const auto repeated = std::ranges::unique(keys_);
    keys_.erase(repeated.begin(), repeated.end());
    found_.assign(keys_.size(), false);
    left_ = keys_.size();
}

void slot_rest::found(std::string_view id) {
    if (left_ > 0) {
        found_key(key_of(id));
    }
}

void slot_rest::has_letter(std::string_view id) {
    if (left_ == 0) {
        return;
    }
    if (const auto key = key_of(id); !std::ranges::binary_search(large_keys_, key)) {
        found_key(key);
    }
}

void slot_rest::found_key(std::uint64_t key) {
    const auto place = std::ranges::lower_bound(keys_, key);
    if (place == keys_.end() || *place != key) {
        return;
    }
    const auto index = static_cast<std::size_t>(place - keys_.begin());
    left_ -= found_[index] ? 0U : 1U;
    found_[index] = true;
}

awaitable<result<std::shared_ptr<slot_rest>>> slot_rest::read(servers::executors on,
                                                              const config::settings& settings,
                                                              const postgres_facts& facts,
                                                              lsn until) {
    auto rest = std::make_shared<slot_rest>();
    if (until <= facts.slot->confirmed.value_or(lsn{})) {
        co_return rest;
    }
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return sql.error();
    }
    postgres::kept_replay whole;
    whole.slot = settings.postgres.slot;
    whole.kept_slot = settings.postgres.slot;
    whole.until = until;
    auto past = co_await kept_stream::open(on, settings, *sql, std::move(whole),
                                           relay::replayed_as::message);
    result<void> read;
    if (past) {
        read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
            if (row.content != nullptr && !row.content->id.empty()) {
                rest->add(row.content->id, row.row.too_large_bytes > 0);
            } else if (row.table) {
                // What is set aside without an id is nowhere else, as far as can be told.
                ++rest->without_id_;
            }
        });
    } else {
        read = past.error();
    }
    if (!read) {
        const auto then = advice_for(read.error().code);
        const bool is_for_now = then == advice::retry || then == advice::reconnect ||
                                read.error().code == errc::slot_in_use;
        co_return is_for_now ? read.error() : cannot_be_read(settings.postgres.slot, read.error());
    }
    rest->finish();
    co_return rest;
}

error holds_the_last_copy(const std::string& slot, const slot_rest& rest) {
    std::string rows;
    if (rest.left() > 0) {
        rows = counted(rest.left(), "row") + " that " + (rest.left() == 1 ? "is" : "are") +
               " in no table any more and not in the stream";
    }
    if (rest.without_id() > 0) {
        rows += (rows.empty() ? "" : " and ") + counted(rest.without_id(), "row") +
                " without a message id, of which it cannot be told where else " +
                (rest.without_id() == 1 ? "it is" : "they are");
    }
    return {errc::gap_found,
            "healing would give slot " + slot + " up, which still holds " + rows +
                "; nothing was changed",
            how_to_keep_both};
}

error heals_no_messages(const std::string& slot) {
    return {errc::gap_found,
            "slot " + slot +
                " brings logical messages (outbox.message_prefix), which are in no table, so that "
                "healing would lose what it still holds; nothing was changed",
            "walrelay resume --give-up, then walrelay run: it goes on with what the slot holds"};
}

}  // namespace walrelay::tasks
