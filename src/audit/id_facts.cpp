#include "audit/id_facts.hpp"

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

void add(id_facts& to, record one) {
    one.id = {};
    switch (one.kind) {
        case record_kind::row:
            ++to.rows;
            to.last_row = one;
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
            break;
        case record_kind::awaited:
            ++to.awaited;
            break;
    }
}

result<void> visit_bucket(const bucket_store& store, std::size_t bucket, const id_visitor& visit) {
    std::unordered_map<std::string, id_facts> found;
    std::string id;
    auto gathered = store.for_each(bucket, [&](const record& one) -> result<void> {
        id.assign(one.id);
        add(found[id], one);
        return {};
    });
    if (!gathered) {
        return gathered;
    }
    for (const auto& [name, facts] : found) {
        if (auto visited = visit(name, facts); !visited) {
            return visited;
        }
    }
    return {};
}

result<void> visit_parts(const bucket_store& store, std::size_t bucket, spill_file& file,
                         std::uint64_t bucket_bytes, const id_visitor& visit) {
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
    return for_each_id(parts, file, bucket_bytes, visit);
}

}  // namespace

// Calls itself once for each 4 bits of the hash that are left, so at most 16 deep.
// NOLINTNEXTLINE(misc-no-recursion)
result<void> for_each_id(const bucket_store& store, spill_file& file, std::uint64_t bucket_bytes,
                         const id_visitor& visit) {
    const auto& shape = store.shape();
    // One id in a thousand copies is not to be split any more; gathered, it takes no room.
    const bool can_split = shape.skipped_bits + shape.bucket_bits + split_bits < hash_bits;
    for (std::size_t bucket = 0; bucket < store.bucket_count(); ++bucket) {
        const bool large = store.size_bytes(bucket) > bucket_bytes;
        auto visited = large && can_split ? visit_parts(store, bucket, file, bucket_bytes, visit)
                                          : visit_bucket(store, bucket, visit);
        if (!visited) {
            return visited;
        }
    }
    return {};
}

}  // namespace walrelay::audit
