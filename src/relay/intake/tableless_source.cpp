#include "relay/intake/tableless_source.hpp"

#include <utility>

namespace walrelay::relay {

tableless_source::tableless_source(event_placer& events) : events_(events) {
    const auto& mappers = events.mappers();
    for (std::size_t index = 0; index < mappers.size(); ++index) {
        const auto& mapper = mappers[index];
        if (!mapper.message_prefix().empty()) {
            message_rows rows(mapper.table(), mapper.named_columns());
            by_prefix_.emplace(mapper.message_prefix(), tableless{index, std::move(rows)});
        }
    }
}

result<void> tableless_source::take(const logical_message& said, const reading& now) {
    const auto ours = by_prefix_.find(said.prefix);
    if (ours == by_prefix_.end()) {
        return {};
    }
    auto& from = ours->second;
    if (said.too_large_bytes > 0) {
        const auto here = now.in.place();
        return set_aside(from, said, events_.row_too_large("", here, said.too_large_bytes), now);
    }
    const auto row = from.rows.read(said.content);
    return row ? events_.place(now, {from.table, *row}) : set_aside(from, said, row.error(), now);
}

result<void> tableless_source::set_aside(tableless& from, const logical_message& said,
                                         const error& why, const reading& now) {
    const message& unfilled = events_.vacancy_for(now.in.place(), now);
    if (events_.needs_no_letter(unfilled, now)) {
        return {};
    }
    const outbox_event known{from.table, from.rows.unreadable(said.content)};
    const auto reason = events_.with_doubt(why, unfilled, now.into);
    return said.too_large_bytes > 0
               ? events_.set_aside_without_content(known, unfilled, reason, now.done)
               : events_.set_aside(known, unfilled, reason, now.done);
}

}  // namespace walrelay::relay
