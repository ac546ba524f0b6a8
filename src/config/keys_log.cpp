// The keys of [log].
#include "config/key_makers.hpp"
#include "config/sections.hpp"

namespace walrelay::config {

std::vector<key> log_keys() {
    return {
        choice_key<log_level>(
            {"log", "level", "--log-level", "The least weighty lines that are written."},
            [](const destination& to) -> log_level& { return to.all.log.level; },
            {{"trace", log_level::trace},
             {"debug", log_level::debug},
             {"info", log_level::info},
             {"warn", log_level::warn},
             {"error", log_level::error}}),
        choice_key<log_format>(
            {"log", "format", "--log-format",
             "Lines for people (`\"text\"`) or one JSON object a line (`\"json\"`)."},
            [](const destination& to) -> log_format& { return to.all.log.format; },
            {{"text", log_format::text}, {"json", log_format::json}}),
    };
}

}  // namespace walrelay::config
