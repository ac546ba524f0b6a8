// The golden captures of the tests, decoded as walrelay decodes them.
#pragma once

#include "core/facts.hpp"
#include "unit/wal/capture_file.hpp"
#include "unit/wal/change_text.hpp"
#include "wal/decoder.hpp"
#include "wal/replication_frame.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace walrelay::testing {

struct capture {
    const char* name;
    output_plugin plugin;
};

/// Those without `everything` were taken with the options that walrelay uses, the others with all
/// that the plugin can send.
inline constexpr capture captures[] = {
    {"pgoutput", output_plugin::pgoutput},
    {"pgoutput_everything", output_plugin::pgoutput},
    {"wal2json", output_plugin::wal2json},
    {"wal2json_everything", output_plugin::wal2json},
};

inline std::filesystem::path capture_path(const std::string& name, const char* ending) {
    return std::filesystem::path{WALRELAY_SOURCE_DIR} / "tests/data/postgresql-15" /
           (name + ending);
}

/// What the plugin wrote: the payloads of the XLogData frames.
inline std::vector<std::string> payloads_of(const std::vector<std::string>& messages) {
    std::vector<std::string> payloads;
    for (const auto& message : messages) {
        const auto frame = wal::parse_frame(message);
        if (const auto* const data = std::get_if<wal::xlog_data>(&frame.value())) {
            payloads.emplace_back(data->payload);
        }
    }
    return payloads;
}

inline std::vector<std::string> payloads_of(const capture& which) {
    return payloads_of(split_capture(read_file(capture_path(which.name, ".frames"))));
}

/// One line for each change; throws on a frame that cannot be decoded.
inline std::vector<std::string> lines_of(const std::vector<std::string>& payloads,
                                         output_plugin plugin) {
    const auto decoder = wal::make_decoder(plugin);
    std::vector<std::string> lines;
    for (const auto& payload : payloads) {
        lines.push_back(to_text(decoder->decode(payload).value()));
    }
    return lines;
}

}  // namespace walrelay::testing
