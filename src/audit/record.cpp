#include "audit/record.hpp"

namespace walrelay::audit {
namespace {

constexpr unsigned payload_bits = 7;
constexpr std::uint64_t payload_mask = 0x7f;
constexpr std::uint64_t more_follows = 0x80;
constexpr unsigned number_bits = 64;

void append_number(std::string& bytes, std::uint64_t number) {
    while (number > payload_mask) {
        bytes += static_cast<char>((number & payload_mask) | more_follows);
        number >>= payload_bits;
    }
    bytes += static_cast<char>(number);
}

bool take_number(std::string_view& bytes, std::uint64_t& number) {
    number = 0;
    for (unsigned shift = 0; shift < number_bits && !bytes.empty(); shift += payload_bits) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        number |= (byte & payload_mask) << shift;
        if ((byte & more_follows) == 0) {
            return true;
        }
    }
    return false;
}

bool has_position(record_kind kind) {
    return kind == record_kind::message || kind == record_kind::republication;
}

}  // namespace

void append_to(std::string& bytes, const record& one) {
    bytes += static_cast<char>(one.kind);
    append_number(bytes, one.number);
    append_number(bytes, one.group);
    if (has_position(one.kind)) {
        append_number(bytes, one.at.commit.value);
        append_number(bytes, one.at.row.value);
        append_number(bytes, one.at.index);
    }
    append_number(bytes, one.id.size());
    bytes += one.id;
}

std::optional<record> take_record(std::string_view& bytes) {
    if (bytes.empty() || bytes.front() > static_cast<char>(record_kind::awaited)) {
        return std::nullopt;
    }
    record one;
    one.kind = static_cast<record_kind>(bytes.front());
    bytes.remove_prefix(1);
    std::uint64_t group = 0;
    std::uint64_t length = 0;
    bool whole = take_number(bytes, one.number) && take_number(bytes, group);
    if (has_position(one.kind)) {
        whole = whole && take_number(bytes, one.at.commit.value) &&
                take_number(bytes, one.at.row.value) && take_number(bytes, one.at.index);
    }
    whole = whole && take_number(bytes, length) && length <= bytes.size();
    if (!whole) {
        return std::nullopt;
    }
    one.group = static_cast<std::uint32_t>(group);
    one.id = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return one;
}

}  // namespace walrelay::audit
