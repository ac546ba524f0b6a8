// Any bytes are survived by the reader of replication frames.
#include "wal/replication_frame.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto frame = walrelay::wal::parse_frame(bytes);
    if (!frame) {
        return frame.error().what.empty() ? std::abort(), 1 : 0;
    }
    if (const auto* const read = std::get_if<walrelay::wal::xlog_data>(&*frame)) {
        constexpr std::size_t header_bytes = 25;
        if (read->payload != bytes.substr(header_bytes)) {
            std::abort();
        }
    }
    return 0;
}
