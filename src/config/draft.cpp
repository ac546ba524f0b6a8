// Settings while they are put together.
#include "config/draft.hpp"

#include "core/assert.hpp"

namespace walrelay::config {

void draft::take(const key& row, const value& found, std::size_t entry) {
    WALRELAY_ASSERT(row.section != "outbox" || entry < all_.outbox.size());
    outbox_table nowhere;
    outbox_table& table = row.section == "outbox" ? all_.outbox[entry] : nowhere;
    origin& from = origins_[{row.full_name(), entry}];
    from.where = found.where;
    row.takes.store(found, {all_, table},
                    [&](const value& of, const std::string& member, const complaint& wrong) {
                        const auto below = member.empty() ? "" : '.' + printable(member);
                        add({of.where, row.full_name() + below, wrong.what, wrong.remedy});
                        from.spoilt = true;
                    });
    if (table.is_tableless()) {
        table.table = message_source(table.message_prefix);
    }
}

void draft::take_secrets(std::string password, std::string token) {
    all_.nats.password = std::move(password);
    all_.nats.token = std::move(token);
}

std::size_t draft::add_entry(const std::string& where) {
    all_.outbox.emplace_back();
    entries_.push_back(where);
    return entries_.size() - 1;
}

void draft::add_spoilt(problem found) {
    origins_[{found.key, 0}] = {found.where, true};
    add(std::move(found));
}

const draft::origin* draft::origin_of(std::string_view full_name, std::size_t entry) const {
    const auto found = origins_.find({std::string(full_name), entry});
    return found == origins_.end() ? nullptr : &found->second;
}

bool draft::is_set(std::string_view full_name, std::size_t entry) const {
    const origin* from = origin_of(full_name, entry);
    return from != nullptr && !from->spoilt;
}

bool draft::is_spoilt(std::string_view full_name, std::size_t entry) const {
    const origin* from = origin_of(full_name, entry);
    return from != nullptr && from->spoilt;
}

std::string draft::where(std::string_view full_name, std::size_t entry) const {
    const origin* from = origin_of(full_name, entry);
    return from == nullptr ? file_name_ : from->where;
}

const std::string& draft::where_of_entry(std::size_t entry) const {
    WALRELAY_ASSERT(entry < entries_.size());
    return entries_[entry];
}

}  // namespace walrelay::config
