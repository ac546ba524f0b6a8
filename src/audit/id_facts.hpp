// What a bucket's records say of each id, gathered from all of them.
#pragma once

#include "audit/bucket_store.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace walrelay::audit {

struct id_facts {
    std::uint64_t rows = 0;
    record last_row = {};
    std::uint64_t messages = 0;
    std::uint64_t strangers = 0;
    std::uint64_t earlier = 0;
    /// Of these three kinds.
    record first_message = {};
    record last_message = {};
    std::uint64_t republications = 0;
    std::uint64_t dead_letters = 0;
    std::uint64_t awaited = 0;

    /// All that have the row's id: it is in the stream, whoever sent it.
    [[nodiscard]] std::uint64_t copies() const { return messages + strangers + earlier; }
};

/// The id is empty in each record of `facts`.
using id_visitor = std::function<result<void>(std::string_view id, const id_facts& facts)>;

/// Calls `visit` with every id of the store once, until it fails. A bucket of more than
/// `bucket_bytes` is split by further bits of the hash first, by way of `file`. Errors:
/// temporary_file and those of `visit`.
[[nodiscard]] result<void> for_each_id(const bucket_store& store, spill_file& file,
                                       std::uint64_t bucket_bytes, const id_visitor& visit);

}  // namespace walrelay::audit
