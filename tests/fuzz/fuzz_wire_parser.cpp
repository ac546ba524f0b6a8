// Any bytes of a server are survived, and what they say does not depend on how they arrive.
#include "nats/session/wire_parser.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using walrelay::nats::wire_verb;

/// Takes operations until one is not whole; how many they were, and in `unread` what is left.
std::size_t count_operations(std::string_view& unread, wire_verb& last) {
    for (std::size_t count = 0;; ++count) {
        const auto before = unread.size();
        const auto found = walrelay::nats::take_operation(unread);
        static_cast<void>(walrelay::nats::status_of(found));
        last = found.verb;
        if (last == wire_verb::incomplete || last == wire_verb::malformed) {
            return before == unread.size() ? count : (std::abort(), 0);
        }
        if (unread.size() >= before) {
            std::abort();
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    auto at_once = bytes;
    wire_verb end{};
    const auto whole = count_operations(at_once, end);
    // A copy of just the right size, so that one byte too many is seen.
    std::string arrived(bytes.substr(0, size / 2));
    std::string_view unread = arrived;
    wire_verb middle{};
    auto in_pieces = count_operations(unread, middle);
    if (middle == wire_verb::incomplete) {
        arrived = std::string(unread) + std::string(bytes.substr(size / 2));
        unread = arrived;
        in_pieces += count_operations(unread, middle);
        if (in_pieces != whole || middle != end) {
            std::abort();
        }
    }
    return 0;
}
