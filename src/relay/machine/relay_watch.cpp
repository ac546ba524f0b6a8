#include "relay/machine/relay_watch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace walrelay::relay {
namespace {

std::optional<publish_trouble> trouble_of(outcome_class kind) {
    switch (kind) {
        case outcome_class::stored:
        case outcome_class::duplicate:
            return std::nullopt;
        case outcome_class::transient:
            return publish_trouble::transient;
        case outcome_class::doubt:
            return publish_trouble::doubt;
        case outcome_class::refused:
            return publish_trouble::refused;
        case outcome_class::unsuitable:
            return publish_trouble::unsuitable;
    }
    return std::nullopt;
}

template <class Array, class Index>
void count_in(Array& counts, Index index) {
    ++counts[static_cast<std::size_t>(index)];
}

}  // namespace

void relay_watch::reply(const lane& lane, publish_token token, const publish_outcome& outcome,
                        instant now) {
    const auto sent = lane.sent(token);
    if (sent.content == nullptr) {
        return;
    }
    if (outcome.kind == outcome_class::stored) {
        stored(sent, outcome.sequence, now);
    } else {
        not_stored(outcome.kind);
    }
}

void relay_watch::stored(const lane::sent_message& sent, std::uint64_t sequence, instant now) {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    counts_.publish_to_ack.add(duration_cast<microseconds>(now.monotonic - sent.at));
    counts_.last_stored = now.wall;
    counts_.last_commit = sent.content->committed_at;
    counts_.stored_body_bytes += sent.content->body.size();
    count_in(counts_.stored_by_cause, sent.content->cause);
    if (!is_of_a_snapshot(sent.content->where.at)) {
        const auto took = now.wall - sent.content->committed_at;
        counts_.commit_to_ack.add(took);
        note_slow(*sent.content, took, now);
    }
    if (observer_ != nullptr) {
        const auto since = duration_cast<microseconds>(now.monotonic - sent.at);
        observer_->acked({*sent.content, now.wall - since, now.wall, sequence});
    }
}

relay_counts relay_watch::counts_with(std::uint64_t stored) const {
    auto counts = counts_;
    counts.messages_stored += stored;
    auto& live = counts.stored_by_cause[static_cast<std::size_t>(message_cause::live)];
    live = 0;
    const auto others = std::accumulate(counts.stored_by_cause.begin(),
                                        counts.stored_by_cause.end(), std::uint64_t{0});
    // A message whose ack was lost is found in the stream, and counted with the live ones.
    live = counts.messages_stored - std::min(counts.messages_stored, others);
    return counts;
}

void relay_watch::reading_is_paused(bool paused, instant now) {
    if (paused_since_) {
        counts_.reading_paused +=
            std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - *paused_since_);
        paused_since_.reset();
    }
    if (paused) {
        paused_since_ = now.monotonic;
        stands_since_ = stands_since_.value_or(now.monotonic);
    } else {
        stands_since_.reset();
    }
}

void relay_watch::not_stored(outcome_class kind) {
    if (const auto trouble = trouble_of(kind)) {
        count_in(counts_.publish_failures, *trouble);
    } else {
        ++counts_.skipped_duplicate_id;
    }
}

void relay_watch::note_slow(const message& stored, std::chrono::microseconds took, instant now) {
    if (now.monotonic - slowest_since_ >= half_a_minute) {
        std::swap(slowest_, slowest_before_);
        if (now.monotonic - slowest_since_ >= 2 * half_a_minute) {
            slowest_before_.id.clear();
        }
        slowest_.id.clear();
        slowest_since_ = now.monotonic;
    }
    if (!slowest_.id.empty() && took <= slowest_.took) {
        return;
    }
    slowest_.took = std::max(took, std::chrono::microseconds(0));
    slowest_.stored_at = now.wall;
    slowest_.where = stored.where;
    slowest_.id = stored.id;
    slowest_.subject = stored.subject;
    slowest_.trace.clear();
    for (std::size_t index = 0; index < stored.header_count(); ++index) {
        if (stored.header_at(index).name == "traceparent") {
            slowest_.trace = stored.header_at(index).value;
        }
    }
}

std::optional<slow_message> relay_watch::slowest(monotonic_time now) const {
    const auto since = now - slowest_since_;
    const auto* found = since < 2 * half_a_minute && !slowest_.id.empty() ? &slowest_ : nullptr;
    const bool is_before_known = since < half_a_minute && !slowest_before_.id.empty();
    if (is_before_known && (found == nullptr || slowest_before_.took > found->took)) {
        found = &slowest_before_;
    }
    return found == nullptr ? std::nullopt : std::optional(*found);
}

void relay_watch::dead_letters_stored(const dead_letters& letters, const intake& tables) {
    for (const auto& letter : letters) {
        for (std::size_t table = 0; table < counts_.tables.size(); ++table) {
            if (tables.table_at(table) == letter.source) {
                const bool is_refused = letter.error_code != 0 || letter.attempts > 0;
                count_in(counts_.tables[table].dead_letters,
                         is_refused ? letter_reason::broker : letter_reason::row);
            }
        }
    }
}

void relay_watch::broker_lost(const error& why) {
    count_in(counts_.broker_losses, reason_of(why));
    broker_trouble_ = why;
}

void relay_watch::postgres_lost(const error& why) {
    count_in(counts_.postgres_losses, reason_of(why));
    postgres_trouble_ = why;
}

}  // namespace walrelay::relay
