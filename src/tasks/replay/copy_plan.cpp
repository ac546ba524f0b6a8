#include "tasks/replay/copy_plan.hpp"

#include "tasks/replay/kept_stream.hpp"
#include "tasks/replay/stream_target.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

/// Divides the rows of a range into those that a stream has, those that it was not given, and those
/// that are to come.
class rows_of_range {
public:
    rows_of_range(const target_sight& target, std::string to_subject, copy_plan& made)
        : target_(target), to_subject_(std::move(to_subject)), made_(made) {}

    void add(const relay::replayed_row& row);
    /// Once all are added. Errors: those of joins_replayed.
    [[nodiscard]] result<void> complete(const std::string& stream);

private:
    const target_sight& target_;
    std::string to_subject_;
    copy_plan& made_;
    /// All messages of the stream are of this range, and none of it is gone.
    [[nodiscard]] bool is_counted() const;

    std::optional<position> first_;
    /// The first that the stream has or takes.
    std::optional<position> begins_;
    /// The last that does not come any more.
    std::optional<position> last_before_;
    std::uint64_t rows_before_ = 0;
};

void rows_of_range::add(const relay::replayed_row& row) {
    const auto& there = target_.before;
    first_ = first_.value_or(row.where);
    const bool comes = !there || row.where.at > there->last.at;
    made_.rows_left += comes ? 1U : 0U;
    if (!comes) {
        ++rows_before_;
        last_before_ = row.where;
    }
    const bool is_there = there && (row.where.at == there->last.at ||
                                    (there->first && row.where.at == there->first->at));
    if (is_there || (comes && begins_)) {
        begins_ = begins_.value_or(row.where);
        return;
    }
    const auto why = why_left_out(row, target_.limits, to_subject_);
    if (!why) {
        begins_ = begins_.value_or(row.where);
    } else if (!comes) {
        made_.left_out_there.add(row.where, *why);
    }
}

bool rows_of_range::is_counted() const {
    const auto& there = target_.before;
    return there && there->messages && there->first && first_ && last_before_ &&
           first_->at <= there->first->at && last_before_->at == there->last.at;
}

result<void> rows_of_range::complete(const std::string& stream) {
    const auto& there = target_.before;
    if (!there) {
        return {};
    }
    if (begins_) {
        if (auto joins = relay::joins_replayed(stream, *begins_, *there); !joins) {
            return joins;
        }
    }
    // What its limits are today says what it was not given then only where nothing can be counted,
    // and those that it has refused are known by their number alone.
    auto& left_out = made_.left_out_there;
    if (is_counted()) {
        left_out.count = rows_before_ - std::min(*there->messages, rows_before_);
        left_out.named.resize(std::min<std::uint64_t>(left_out.named.size(), left_out.count));
    }
    made_.rows_there = rows_before_ - left_out.count;
    return {};
}

}  // namespace

awaitable<result<copy_plan>> plan_copy(servers::executors on, const config::settings& settings,
                                       postgres::connection& sql, postgres::kept_replay of,
                                       std::string stream, tell_progress tell) {
    copy_plan made;
    if (of.until <= of.from.commit) {
        co_return made;
    }
    auto past = co_await kept_stream::open(on, settings, sql, of, relay::replayed_as::message);
    if (!past) {
        co_return past.error();
    }
    const auto target = target_of(settings, of, stream, (*past)->line(), (*past)->database());
    if (!target) {
        co_return target.error();
    }
    auto there = co_await look_at_target(on, *target, (*past)->line());
    if (!there) {
        co_return there.error();
    }
    made.there = there->before;
    auto& plan = made.plan;
    plan.published_later = (*past)->published_later();
    rows_of_range rows(*there, of.to_subject, made);
    const auto read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
        plan.add(row);
        rows.add(row);
        tell({plan.all.rows});
    });
    if (!read) {
        co_return read.error();
    }
    const auto joins = rows.complete(stream);
    if (!joins) {
        co_return joins.error();
    }
    co_return made;
}

}  // namespace walrelay::tasks
