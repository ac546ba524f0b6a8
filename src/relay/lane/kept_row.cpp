#include "relay/lane/kept_row.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace walrelay::relay {
namespace {

constexpr auto null_length = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void kept_row::keep(std::size_t table, const std::shared_ptr<const relation>& about,
                    const row_insert& row) {
    WALRELAY_ASSERT(row.fields.size() == about->columns.size());
    about_.reset();
    if (row.too_large_bytes > 0) {
        return;
    }
    const auto head_bytes = row.fields.size() * sizeof(std::uint32_t);
    std::size_t bytes = 0;
    for (const auto& each : row.fields) {
        bytes += each ? each->size() : 0;
    }
    if (bytes > bytes_max) {
        return;
    }
    if (capacity_ < head_bytes + bytes) {
        capacity_ = head_bytes + bytes;
        bytes_ = std::make_unique_for_overwrite<char[]>(capacity_);
    }
    auto* length_at = bytes_.get();
    auto* to = length_at + head_bytes;
    for (const auto& each : row.fields) {
        const auto length = each ? static_cast<std::uint32_t>(each->size()) : null_length;
        std::memcpy(length_at, &length, sizeof(length));
        length_at += sizeof(length);
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
    const auto count = about_->columns.size();
    std::vector<field> all;
    std::size_t at = count * sizeof(std::uint32_t);
    for (std::size_t index = 0; index < count; ++index) {
        std::uint32_t length = 0;
        std::memcpy(&length, bytes.data() + index * sizeof(length), sizeof(length));
        all.push_back(length == null_length ? field{} : field{bytes.substr(at, length)});
        at += length == null_length ? 0 : length;
    }
    return all;
}

}  // namespace walrelay::relay
