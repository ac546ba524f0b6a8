#include "relay/lane/kept_row.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace walrelay::relay {
namespace {

constexpr auto null_length = std::numeric_limits<std::uint16_t>::max();
static_assert(kept_row::bytes_max < null_length);

}  // namespace

void kept_row::keep(std::size_t table, const std::shared_ptr<const relation>& about,
                    const row_insert& row) {
    about_.reset();
    if (row.too_large_bytes > 0) {
        return;
    }
    lengths_.resize(row.fields.size());
    std::size_t bytes = 0;
    auto* length = lengths_.data();
    for (const auto& each : row.fields) {
        const auto size = each ? each->size() : 0;
        bytes += size;
        *length++ = each ? static_cast<std::uint16_t>(std::min(size, bytes_max)) : null_length;
    }
    if (bytes > bytes_max) {
        return;
    }
    if (capacity_ < bytes) {
        bytes_ = std::make_unique_for_overwrite<char[]>(bytes);
        capacity_ = bytes;
    }
    auto* to = bytes_.get();
    for (const auto& each : row.fields) {
        if (each) {
            to = std::copy(each->begin(), each->end(), to);
        }
    }
    table_ = table;
    about_ = about;
}

void kept_row::clear(std::size_t kept_bytes) {
    about_.reset();
    if (capacity_ > kept_bytes) {
        bytes_.reset();
        capacity_ = 0;
    }
}

std::vector<field> kept_row::fields() const {
    const std::string_view bytes(bytes_.get(), capacity_);
    std::vector<field> all;
    std::size_t at = 0;
    for (const auto length : lengths_) {
        all.push_back(length == null_length ? field{} : field{bytes.substr(at, length)});
        at += length == null_length ? std::size_t{0} : length;
    }
    return all;
}

}  // namespace walrelay::relay
