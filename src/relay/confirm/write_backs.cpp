#include "relay/confirm/write_backs.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

/// The last position before this one, whether there is an event or not.
commit_position before(commit_position where) {
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
    if (where.index > 0) {
        return {where.commit, where.row, where.index - 1};
    }
    if (where.row.value > 0) {
        return {where.commit, lsn{where.row.value - 1}, greatest};
    }
    return {lsn{where.commit.value - 1}, lsn{greatest}, greatest};
}

}  // namespace

void write_backs::await(awaited_row row) {
    WALRELAY_ASSERT(wanted_);
    read_ = row.where;
    if (settled_ && row.where <= *settled_) {
        return;
    }
    if (queues_.size() <= row.table) {
        queues_.resize(row.table + 1);
    }
    auto& queue = queues_[row.table];
    WALRELAY_ASSERT(queue.empty() || queue.back().where < row.where);
    queue.push_back(std::move(row));
    ++size_;
}

void write_backs::leave(commit_position where) {
    for (auto& queue : queues_) {
        size_ -= std::erase_if(queue, [&](const awaited_row& row) { return row.where == where; });
    }
}

const std::deque<awaited_row>* write_backs::oldest() const {
    const std::deque<awaited_row>* first = nullptr;
    for (const auto& queue : queues_) {
        if (!queue.empty() && (first == nullptr || queue.front().where < first->front().where)) {
            first = &queue;
        }
    }
    return first;
}

std::optional<commit_position> write_backs::settled(std::optional<commit_position> stored) {
    if (!wanted_ || !stored || !read_) {
        return wanted_ ? std::nullopt : stored;
    }
    auto furthest = std::min(*stored, *read_);
    if (const auto* const queue = oldest()) {
        furthest = std::min(furthest, before(queue->front().where));
    }
    settled_ = settled_ ? std::max(*settled_, furthest) : furthest;
    return furthest;
}

std::optional<write_back_batch> write_backs::next_batch(std::optional<commit_position> stored) {
    const auto* const queue = oldest();
    if (in_flight() || !stored || queue == nullptr || queue->front().where > *stored) {
        return std::nullopt;
    }
    write_back_batch batch{queue->front().table, queue->front().retried, {}};
    for (const auto& row : *queue) {
        if (batch.rows.size() == batch_rows || row.where > *stored ||
            row.retried != batch.retried) {
            break;
        }
        batch.rows.push_back(row);
    }
    in_flight_ = {batch.table, batch.rows.size()};
    return batch;
}

void write_backs::written() {
    WALRELAY_ASSERT(in_flight());
    auto& queue = queues_[in_flight_.table];
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(in_flight_.rows));
    size_ -= in_flight_.rows;
    in_flight_ = {};
}

void write_backs::forget() {
    queues_.clear();
    size_ = 0;
    in_flight_ = {};
    read_.reset();
}

}  // namespace walrelay::relay
