#include "audit/bucket_store.hpp"

#include "core/assert.hpp"

namespace walrelay::audit {

std::uint64_t hash_of(std::string_view id) {
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    return std::hash<std::string_view>{}(id);
}

bucket_store::bucket_store(spill_file& file, store_shape shape)
    : file_(&file), shape_(shape), buckets_(std::size_t{1} << shape.bucket_bits) {
    WALRELAY_ASSERT(shape.skipped_bits + shape.bucket_bits < hash_bits);
}

result<void> bucket_store::add(const record& one) {
    const auto place = (hash_of(one.id) >> shape_.skipped_bits) & (buckets_.size() - 1);
    auto& into = buckets_[place];
    append_to(into.unwritten, one);
    if (into.unwritten.size() >= shape_.chunk_bytes) {
        return write(into);
    }
    return {};
}

result<void> bucket_store::write(contents& full) {
    const auto where = file_->append(full.unwritten);
    if (!where) {
        return where.error();
    }
    full.written.push_back(*where);
    full.unwritten.clear();
    return {};
}

result<void> bucket_store::finish() {
    for (auto& each : buckets_) {
        if (!each.unwritten.empty()) {
            if (auto written = write(each); !written) {
                return written;
            }
        }
        std::string().swap(each.unwritten);
    }
    return {};
}

std::uint64_t bucket_store::size_bytes(std::size_t bucket) const {
    std::uint64_t total = 0;
    for (const auto& each : buckets_[bucket].written) {
        total += each.size_bytes;
    }
    return total;
}

result<void> bucket_store::for_each(std::size_t bucket,
                                    const std::function<result<void>(const record&)>& visit) const {
    std::string bytes;
    for (const auto& each : buckets_[bucket].written) {
        if (auto read = file_->read(each, bytes); !read) {
            return read;
        }
        std::string_view rest = bytes;
        while (!rest.empty()) {
            const auto one = take_record(rest);
            if (!one) {
                return error{errc::temporary_file,
                             "the temporary file of the comparison holds something else than was "
                             "written to it",
                             "run walrelay verify again, with TMPDIR on another disk"};
            }
            if (auto visited = visit(*one); !visited) {
                return visited;
            }
        }
    }
    return {};
}

}  // namespace walrelay::audit
