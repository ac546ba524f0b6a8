#include "outbox/header_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace walrelay::outbox {
namespace {

bool is_below_blank(char byte) {
    return static_cast<unsigned char>(byte) < ' ';
}

/// Eight bytes at a time: it is asked for every byte that is sent in front of a body.
bool has_control(std::string_view text) {
    constexpr std::uint64_t each = 0x0101010101010101;
    constexpr std::uint64_t highest = each << 7U;
    while (text.size() >= sizeof each) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data(), sizeof bytes);
        // A byte below a blank borrows from its highest bit, where it has none itself.
        if (((bytes - each * ' ') & ~bytes & highest) != 0) {
            return true;
        }
        text.remove_prefix(sizeof bytes);
    }
    return std::any_of(text.begin(), text.end(), is_below_blank);
}

}  // namespace

result<void> check_lines(const message& content) {
    bool broken = has_control(content.id) || has_control(content.subject);
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        const auto& each = content.header_at(index);
        broken = broken || has_control(each.name) || has_control(each.value);
    }
    if (broken) {
        return error{errc::row_unmappable,
                     "the subject, the message id or a header of the row at position " +
                         to_string(content.where) + " has a control character",
                     "report this as a defect of walrelay"};
    }
    return {};
}

}  // namespace walrelay::outbox
