#include "tasks/cleanup/cleanup.hpp"

#include "core/rethrow.hpp"
#include "log/log.hpp"
#include "postgres/catalog/partitions.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/cleanup/partition_cleanup.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

/// "0s" is the business of the write-backs.
bool is_cleaned(const outbox_table& table) {
    return table.delete_after.value_or(std::chrono::milliseconds(0)).count() > 0;
}

/// One for each table that has one; those that may be taken for another's are told to be careful.
std::vector<std::optional<outbox::id_inverse>> inverses_of(const config::settings& settings,
                                                           const postgres::snapshot_facts& facts) {
    std::vector<std::optional<outbox::id_inverse>> inverses;
    for (std::size_t index = 0; index < settings.outbox.size(); ++index) {
        auto made = outbox::id_inverse::make(settings.outbox[index], facts.tables[index].columns,
                                             facts.domains);
        inverses.emplace_back(made ? std::optional(std::move(*made)) : std::nullopt);
    }
    return inverses;
}

/// The inverse of one table that takes no other table's ids for its own. What cannot be turned
/// round can be anything.
std::optional<outbox::id_inverse> careful(const std::vector<std::optional<outbox::id_inverse>>& all,
                                          std::size_t index) {
    auto own = all[index];
    for (std::size_t other = 0; own && other < all.size(); ++other) {
        if (other != index && (!all[other] || own->may_share_ids(*all[other]))) {
            own->believe_only_uuids();
        }
    }
    return own;
}

}  // namespace

/// From start() to pause().
struct cleanup::round {
    explicit round(asio::io_context& io) : timer(io) {}

    asio::steady_timer timer;
    std::vector<std::shared_ptr<row_cleanup>> tables;
    std::vector<std::shared_ptr<partition_cleanup>> partitioned;
    bool closed = false;

    void close() {
        closed = true;
        timer.cancel();
        for (const auto& each : tables) {
            each->close();
        }
        for (const auto& each : partitioned) {
            each->close();
        }
    }
};

cleanup::cleanup(asio::io_context& io, const config::settings& settings, history_source known)
    : io_(io), settings_(settings), known_(std::move(known)), own_counts_(settings.outbox.size()) {
    const auto threads = std::count_if(settings.outbox.begin(), settings.outbox.end(), is_cleaned);
    if (threads > 0) {
        blocking_.emplace(static_cast<std::size_t>(threads));
    }
}

cleanup::~cleanup() {
    end();
    if (blocking_) {
        blocking_->join();
    }
}

void cleanup::start() {
    if (!blocking_ || ended_ || round_) {
        return;
    }
    round_ = std::make_shared<round>(io_);
    asio::co_spawn(io_, run(round_), rethrow{});
}

void cleanup::pause() {
    if (const auto ending = std::exchange(round_, nullptr)) {
        ending->close();
    }
}

void cleanup::end() {
    ended_ = true;
    pause();
}

awaitable<void> cleanup::run(std::shared_ptr<round> of) {
    constexpr std::chrono::seconds wait{10};
    while (!of->closed) {
        const auto begun = co_await begin(of);
        if (begun || of->closed) {
            co_return;
        }
        for (std::size_t index = 0; index < settings_.outbox.size(); ++index) {
            if (is_cleaned(settings_.outbox[index])) {
                (*counts_)[index].failed(begun.error());
            }
        }
        log<"cleanup_not_begun">("clean-up cannot begin: " + to_string(begun.error()),
                                 with<"error">(begun.error().code));
        of->timer.expires_after(wait);
        co_await of->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

awaitable<result<void>> cleanup::begin(std::shared_ptr<round> of) {
    auto sql = co_await servers::open_sql(io_.get_executor(), settings_);
    if (!sql) {
        co_return sql.error();
    }
    auto names = servers::table_names_of(settings_);
    const auto facts = co_await postgres::begin_snapshot(*sql, std::move(names));
    if (!facts) {
        co_return facts.error();
    }
    const auto inverses = inverses_of(settings_, *facts);
    for (std::size_t index = 0; index < inverses.size(); ++index) {
        if (!is_cleaned(settings_.outbox[index])) {
            continue;
        }
        auto table = settings_.outbox[index].table;
        const auto partitions = co_await postgres::look_at_partitions(*sql, std::move(table), {});
        if (!partitions) {
            co_return partitions.error();
        }
        begin_table(*of, index, careful(inverses, index), *partitions);
    }
    co_return result<void>{};
}

void cleanup::begin_table(round& of, std::size_t index, std::optional<outbox::id_inverse> inverse,
                          const postgres::partition_facts& about) {
    if (of.closed) {
        return;
    }
    const servers::executors on{io_.get_executor(), blocking_->get_executor()};
    auto& counts = (*counts_)[index];
    if (about.by_time) {
        of.partitioned.push_back(std::make_shared<partition_cleanup>(
            on, settings_, index, about.table, std::move(inverse), known_, counts));
        asio::co_spawn(io_, of.partitioned.back()->run(), rethrow{});
    } else if (inverse) {
        of.tables.push_back(std::make_shared<row_cleanup>(on, settings_, index, about.table,
                                                          std::move(*inverse), known_, counts));
        asio::co_spawn(io_, of.tables.back()->run(), rethrow{});
    } else {
        const auto& table = settings_.outbox[index];
        log<"cleanup_impossible">(
            "rows of " + to_string(table.table) +
                " are not deleted: they cannot be found by their message ids \"" +
                table.message_id + "\", which must be text and one column for delete_after",
            with<"table">(table.table));
    }
}

}  // namespace walrelay::tasks
