// Records, sorted into buckets by a hash of their id, so that equal ids meet in one bucket and only
// one bucket at a time has to be in memory. Within a bucket they stay in the order of their coming.
#pragma once

#include "audit/record.hpp"
#include "audit/spill_file.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::audit {

struct store_shape {
    /// The number of buckets is two to the power of this.
    unsigned bucket_bits = 0;
    /// Bits of the hash that stores before this one have used up.
    unsigned skipped_bits = 0;
    /// What a bucket gathers in memory before it is written.
    std::size_t chunk_bytes = 16UL * 1024;
};

inline constexpr unsigned hash_bits = 64;

[[nodiscard]] std::uint64_t hash_of(std::string_view id);

class bucket_store {
public:
    /// The file must outlive the store.
    bucket_store(spill_file& file, store_shape shape);

    /// Errors: temporary_file, as for all here.
    [[nodiscard]] result<void> add(const record& one);
    /// Writes what is left and frees the buffers. Nothing may be added afterwards.
    [[nodiscard]] result<void> finish();

    [[nodiscard]] const store_shape& shape() const { return shape_; }
    [[nodiscard]] std::size_t bucket_count() const { return buckets_.size(); }
    /// On the disk.
    [[nodiscard]] std::uint64_t size_bytes(std::size_t bucket) const;
    /// Calls `visit` with each record until it fails.
    [[nodiscard]] result<void> for_each(
        std::size_t bucket, const std::function<result<void>(const record&)>& visit) const;

private:
    struct contents {
        std::string unwritten;
        std::vector<extent> written;
    };
    [[nodiscard]] result<void> write(contents& full);

    spill_file* file_;
    store_shape shape_;
    std::vector<contents> buckets_;
};

}  // namespace walrelay::audit
