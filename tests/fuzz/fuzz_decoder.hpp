// Feeds a decoder a sequence of payloads. An input is a row of them, each with its length in front
// (Int32), as split_captures writes them.
#pragma once

#include "wal/byte_reader.hpp"
#include "wal/decoder.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace walrelay::fuzz {

/// Reads every byte that a change points at.
inline std::size_t sum_of_bytes(std::string_view view) {
    std::size_t sum = 0;
    for (const char each : view) {
        sum += static_cast<unsigned char>(each);
    }
    return sum;
}

inline void inspect(const relation* table, std::span<const field> fields) {
    if (table == nullptr || table->revision == 0 || fields.size() != table->columns.size()) {
        std::abort();
    }
    volatile std::size_t sum = sum_of_bytes(table->schema) + sum_of_bytes(table->name);
    for (const auto& each : fields) {
        sum = sum + (each ? sum_of_bytes(*each) : 0);
    }
}

/// Ends the process if a change breaks what decoders promise.
inline void inspect(const change& decoded) {
    if (const auto* const row = std::get_if<row_insert>(&decoded)) {
        inspect(row->table, row->fields);
    } else if (const auto* const changed = std::get_if<row_update>(&decoded)) {
        inspect(changed->table, changed->fields);
        inspect(changed->table, changed->before);
        if (!changed->missing.empty() && changed->missing.size() != changed->fields.size()) {
            std::abort();
        }
    }
}

/// Every error names its place.
inline void inspect(const error& failure) {
    if (failure.what.empty() || failure.remedy.empty()) {
        std::abort();
    }
}

inline std::unique_ptr<wal::decoder> make_decoder(output_plugin plugin) {
    auto decoder = wal::make_decoder(plugin);
    decoder->want_updates([](std::string_view, std::string_view) { return true; });
    return decoder;
}

/// Calls `compare` with each payload and what became of it.
template <class Compare>
int run(std::string_view input, output_plugin plugin, Compare compare) {
    const auto decoder = make_decoder(plugin);
    wal::byte_reader in{input, "fuzz input"};
    std::uint32_t length = 0;
    std::string_view view;
    while (in.read(length, "length") && in.read_bytes(view, length, "payload")) {
        // A copy of just the right size, so that one byte too many is seen.
        const std::string payload{view};
        const auto decoded = decoder->decode(payload);
        compare(payload, decoded);
        if (!decoded) {
            inspect(decoded.error());
            break;
        }
        inspect(*decoded);
    }
    return 0;
}

inline int run(std::string_view input, output_plugin plugin) {
    return run(input, plugin, [](std::string_view, const result<change>&) {});
}

}  // namespace walrelay::fuzz
