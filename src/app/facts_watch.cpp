#include "app/facts_watch.hpp"

#include "app/clock.hpp"
#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "log/log.hpp"
#include "postgres/catalog/watched_facts.hpp"
#include "servers/translate.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

/// The outboxes, and the table of requests, which pgoutput must send as well.
std::vector<table_name> watched_tables_of(const config::settings& settings) {
    auto tables = servers::published_tables_of(settings);
    tables.push_back(control_table());
    return tables;
}

}  // namespace

facts_watch::facts_watch(const config::settings& settings)
    : names_{.publication = settings.postgres.publication,
             .slot = settings.postgres.slot,
             .tables = watched_tables_of(settings),
             .needs_updates = published_operations(settings.outbox) != "insert"} {}

boost::asio::awaitable<result<watched_facts>> facts_watch::read(postgres::connection& sql) const {
    postgres::watched_objects all{names_.tables, names_.publication, names_.slot};
    auto known = known_.value_or(watched_facts{});
    co_return co_await postgres::read_watched_facts(sql, std::move(all), std::move(known));
}

error facts_watch::explain(const watched_facts& now, error refusal) const {
    if (refusal.code != errc::postgres_unsuitable || !known_) {
        return refusal;
    }
    auto change = relay::judge_change(names_, *known_, now);
    const bool costs_rows = change.consequence && change.consequence->code == errc::gap_found;
    return costs_rows ? std::move(*change.consequence) : std::move(refusal);
}

void facts_watch::begin(watched_facts seen, output_plugin plugin, std::uint64_t system_identifier) {
    const bool is_another = plugin != names_.plugin || system_identifier != system_identifier_;
    names_.plugin = plugin;
    sign_.clear();
    if (!known_ || is_another) {
        known_ = std::move(seen);
        system_identifier_ = system_identifier;
    }
}

boost::asio::awaitable<facts_watch::sight> facts_watch::look(postgres::connection& sql) {
    constexpr std::chrono::milliseconds at_once{100};
    if (!known_) {
        co_return sight{};
    }
    const auto asked_at = own_now().monotonic;
    auto now = co_await read(sql);
    sign_ = now ? now->change_sign : std::string();
    if (!now) {
        if (now.error().code != errc::postgres_lost && !std::exchange(told_of_failure_, true)) {
            log<"facts_not_read">(to_string(now.error()) +
                                      "; a change of publication or tables is not noticed "
                                      "meanwhile",
                                  with<"error">(now.error().code));
        }
        co_return sight{};
    }
    told_of_failure_ = false;
    sight seen;
    if (own_now().monotonic - asked_at < at_once) {
        seen.slot = std::move(now->slot);
    }
    auto change = relay::judge_change(names_, *known_, *now);
    known_ = std::move(*now);
    for (auto& remark : change.remarks) {
        log<"facts_changed">(std::move(remark), with<"slot">(names_.slot));
    }
    seen.consequence = std::move(change.consequence);
    co_return seen;
}

}  // namespace walrelay::app
