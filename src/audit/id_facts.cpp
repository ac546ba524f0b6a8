#include "audit/id_facts.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace walrelay::audit {
namespace {

constexpr unsigned split_bits = 4;

void add_copy(id_facts& to, const record& one) {
    if (to.copies() == 0) {
        to.first_message = one;
    }
    to.last_message = one;
    auto& count = one.kind == record_kind::message    ? to.messages
                  : one.kind == record_kind::stranger ? to.strangers
                                                      : to.earlier;
    ++count;
}

id_facts::table_share& share_of(id_facts& of, std::uint32_t table) {
    const auto found = std::ranges::find(of.shares, table, &id_facts::table_share::table);
    return found == of.shares.end() ? of.shares.emplace_back(table) : *found;
}

void add_row(id_facts& to, const record& one) {
    if (to.rows == 1) {
        ++share_of(to, to.last_row.group).rows;
    }
    if (to.rows > 0) {
        ++share_of(to, one.group).rows;
    }
    ++to.rows;
    to.last_row = one;
}

std::uint64_t rows_of(const id_facts& facts, const id_facts::table_share& share) {
    return facts.rows == 1 ? (facts.last_row.group == share.table ? 1 : 0) : share.rows;
}

void add(id_facts& to, record one) {
    one.id = {};
    switch (one.kind) {
        case record_kind::row:
            add_row(to, one);
            break;
        case record_kind::message:
        case record_kind::stranger:
        case record_kind::earlier:
            add_copy(to, one);
            break;
        case record_kind::republication:
            ++to.republications;
            break;
        case record_kind::dead_letter:
            ++to.dead_letters;
            ++share_of(to, one.group).dead_letters;
            break;
        case record_kind::awaited:
            ++to.awaited;
            break;
    }
}

using facts_by_id = std::unordered_map<std::string, id_facts>;

/// Of ids that have several.
result<void> visit_rows(const bucket_store& store, std::size_t bucket, facts_by_id& found,
                        const row_visitor& visit) {
    const auto repeats = [](const auto& one) { return one.second.rows > 1; };
    if (!visit || std::ranges::none_of(found, repeats)) {
        return {};
    }
    std::string id;
    return store.for_each(bucket, [&](const record& one) -> result<void> {
        if (one.kind != record_kind::row) {
            return {};
        }
        id.assign(one.id);
        auto& facts = found.at(id);
        return facts.rows > 1 ? visit(one, facts) : result<void>{};
    });
}

result<void> visit_bucket(const bucket_store& store, std::size_t bucket, const id_visitor& visit,
                          const row_visitor& visit_row) {
    facts_by_id found;
    std::string id;
    auto gathered = store.for_each(bucket, [&](const record& one) -> result<void> {
        id.assign(one.id);
        add(found[id], one);
        return {};
    });
    if (!gathered) {
        return gathered;
    }
    for (auto& [name, facts] : found) {
        if (auto visited = visit(name, facts); !visited) {
            return visited;
        }
    }
    return visit_rows(store, bucket, found, visit_row);
}

result<void> visit_parts(const bucket_store& store, std::size_t bucket, spill_file& file,
                         std::uint64_t bucket_bytes, const id_visitor& visit,
                         const row_visitor& visit_row) {
    auto shape = store.shape();
    shape.skipped_bits += shape.bucket_bits;
    shape.bucket_bits = split_bits;
    bucket_store parts(file, shape);
    if (auto split = store.for_each(bucket, [&parts](const record& one) { return parts.add(one); });
        !split) {
        return split;
    }
    if (auto written = parts.finish(); !written) {
        return written;
    }
    return for_each_id(parts, file, bucket_bytes, visit, visit_row);
}

}  // namespace

std::uint64_t id_facts::lettered_rows() const {
    std::uint64_t count = 0;
    for (const auto& each : shares) {
        count += each.table == any_table ? each.dead_letters
                                         : std::min(rows_of(*this, each), each.dead_letters);
    }
    return std::min(rows, count);
}

row_holder id_facts::next_holder(std::uint32_t table) {
    auto& share = share_of(*this, table);
    const auto of_table = rows_of(*this, share);
    const auto lettered = std::min(of_table, share.dead_letters);
    ++answered;
    if (share.answered++ >= of_table - lettered) {
        return row_holder::dead_letter;
    }
    const auto of_any = [this] {
        const auto found = std::ranges::find(shares, any_table, &table_share::table);
        return found == shares.end() ? 0 : found->dead_letters;
    }();
    const auto letters_end = all_copies() + of_any;
    if (given == letters_end + awaited) {
        return row_holder::nothing;
    }
    ++given;
    return given <= all_copies()  ? row_holder::message
           : given <= letters_end ? row_holder::dead_letter
                                  : row_holder::slot;
}

// Calls itself once for each 4 bits of the hash that are left, so at most 16 deep.
// NOLINTNEXTLINE(misc-no-recursion)
result<void> for_each_id(const bucket_store& store, spill_file& file, std::uint64_t bucket_bytes,
                         const id_visitor& visit, const row_visitor& visit_row) {
    const auto& shape = store.shape();
    // One id in a thousand copies is not to be split any more; gathered, it takes no room.
    const bool can_split = shape.skipped_bits + shape.bucket_bits + split_bits < hash_bits;
    for (std::size_t bucket = 0; bucket < store.bucket_count(); ++bucket) {
        const bool large = store.size_bytes(bucket) > bucket_bytes;
        auto visited = large && can_split
                           ? visit_parts(store, bucket, file, bucket_bytes, visit, visit_row)
                           : visit_bucket(store, bucket, visit, visit_row);
        if (!visited) {
            return visited;
        }
    }
    return {};
}

}  // namespace walrelay::audit
