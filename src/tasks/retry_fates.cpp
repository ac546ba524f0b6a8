#include "tasks/retry_fates.hpp"

#include "core/occasion.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "servers/stream_search.hpp"
#include "tasks/own_positions.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;
using postgres::queued_retry;

constexpr std::chrono::seconds patience_with_letters{5};

/// The last messages of the retries that are looked for, by occasion: those that walrelay can have
/// published. Anybody may give a message such an id.
class retry_messages {
public:
    explicit retry_messages(own_positions own) : own_(std::move(own)) {}

    void add(const nats::scanned_message& one) {
        if (one.id.find(";retry-") == std::string_view::npos || !own_.has(one.position)) {
            return;
        }
        // Each of its forms: a message that came of a retry may have been published again.
        for_each_row_id(one.id, [&](std::string_view each) {
            const auto mark = each.rfind(occasion_mark);
            if (mark != std::string_view::npos) {
                last_[std::string(each.substr(mark + 1))] = one.sequence;
            }
        });
    }

    /// Whether one was stored after the retry was asked for, as far as the stream is still the one
    /// that it was.
    [[nodiscard]] bool has(const queued_retry& retry, const servers::searched_part& part) const {
        const auto found = last_.find(postgres::occasion_of(retry));
        const bool is_another =
            part.last_sequence < retry.after_sequence || part.created > retry.asked_at;
        return found != last_.end() && (is_another || found->second > retry.after_sequence);
    }

private:
    own_positions own_;
    std::unordered_map<std::string, std::uint64_t> last_;
};

struct sorted_retries {
    std::vector<queued_retry> stored;
    std::vector<queued_retry> failed;
    std::vector<queued_retry> lost;
    std::uint64_t unknown = 0;
};

awaitable<result<sorted_retries>> sort_retries(servers::executors on,
                                               const config::settings& settings,
                                               const std::vector<queued_retry>& queued) {
    auto own = co_await own_positions::learn(on, settings);
    retry_messages messages(std::move(own));
    servers::search_from from{queued.front().after_sequence, queued.front().asked_at};
    for (const auto& each : queued) {
        from.after = std::min(from.after, each.after_sequence);
        from.seen = std::min(*from.seen, each.asked_at);
    }
    const std::function<void(const nats::scanned_message&)> visit =
        [&messages](const nats::scanned_message& one) { messages.add(one); };
    const auto part = co_await servers::search_stream(std::move(on), settings, from, visit);
    if (!part) {
        co_return part.error();
    }
    sorted_retries sorted;
    for (const auto& each : queued) {
        if (messages.has(each, *part)) {
            sorted.stored.push_back(each);
        } else if (each.failed) {
            sorted.failed.push_back(each);
        } else if (each.lost) {
            continue;
        } else if (part->removed == 0) {
            sorted.lost.push_back(each);
        } else {
            ++sorted.unknown;
        }
    }
    co_return sorted;
}

/// `into` has those that were lost before.
void count(const sorted_retries& sorted, retry_outcomes& into) {
    into.unknown = sorted.unknown;
    into.stored = sorted.stored.size();
    into.newly_lost = sorted.lost.size();
    for (const auto& each : sorted.stored) {
        std::erase(into.lost, each.letter);
    }
    for (const auto& each : sorted.lost) {
        into.lost.push_back(each.letter);
    }
    std::ranges::sort(into.lost);
}

/// What cannot be noted is looked for again the next time.
awaitable<void> settle(postgres::connection& sql, sorted_retries sorted) {
    using postgres::retry_fate;
    (void)co_await postgres::settle_retries(sql, std::move(sorted.stored), retry_fate::stored);
    (void)co_await postgres::settle_retries(sql, std::move(sorted.failed), retry_fate::dead_letter);
    (void)co_await postgres::settle_retries(sql, std::move(sorted.lost), retry_fate::lost);
}

/// Once more: what the relay has made dead letters of meanwhile. One that was queued meanwhile is
/// none of these.
awaitable<result<std::vector<queued_retry>>> queued_still(postgres::connection& sql,
                                                          const std::string& slot,
                                                          const std::vector<queued_retry>& before) {
    auto queued = co_await postgres::queued_retries(sql, slot, however_old);
    if (!queued) {
        co_return queued.error();
    }
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const auto& each : before) {
        seen.emplace(each.letter, each.count);
    }
    std::erase_if(*queued, [&](const queued_retry& each) {
        return !seen.contains({each.letter, each.count});
    });
    co_return queued;
}

}  // namespace

awaitable<result<retry_outcomes>> look_at_retries(servers::executors on,
                                                  const config::settings& settings,
                                                  postgres::connection& sql,
                                                  std::chrono::seconds not_older) {
    retry_outcomes outcomes;
    const auto there = co_await has_table(sql, postgres::own_table::dead_letter);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return outcomes;
    }
    const auto& slot = settings.postgres.slot;
    auto known = co_await postgres::lost_retries(sql, slot);
    if (!known) {
        co_return known.error();
    }
    outcomes.lost = std::move(*known);
    const auto before = co_await postgres::queued_retries(sql, slot, not_older);
    if (!before) {
        co_return before.error();
    }
    if (before->empty()) {
        co_return outcomes;
    }
    const auto read = co_await servers::slot_has_read_all(on, sql, slot, patience_with_letters);
    if (!read) {
        co_return read.error();
    }
    if (!*read) {
        outcomes.unknown =
            static_cast<std::uint64_t>(std::ranges::count(*before, false, &queued_retry::lost));
        co_return outcomes;
    }
    const auto queued = co_await queued_still(sql, slot, *before);
    if (!queued) {
        co_return queued.error();
    }
    if (queued->empty()) {
        co_return outcomes;
    }
    auto sorted = co_await sort_retries(on, settings, *queued);
    if (!sorted) {
        co_return sorted.error();
    }
    count(*sorted, outcomes);
    outcomes.read = *queued;
    co_await settle(sql, std::move(*sorted));
    co_return outcomes;
}

}  // namespace walrelay::tasks
