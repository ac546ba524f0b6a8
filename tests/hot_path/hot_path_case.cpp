#include "hot_path/hot_path_case.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace walrelay::test {
namespace {

template <class Value, std::size_t Count>
Value named(const std::array<std::pair<std::string_view, Value>, Count>& known,
            const std::string& word) {
    for (const auto& [name, value] : known) {
        if (name == word) {
            return value;
        }
    }
    throw std::invalid_argument("\"" + word + "\" means nothing here");
}

constexpr std::array<std::pair<std::string_view, output_plugin>, 2> plugins = {{
    {"pgoutput", output_plugin::pgoutput},
    {"wal2json", output_plugin::wal2json},
}};
constexpr std::array<std::pair<std::string_view, body_format>, 4> bodies = {{
    {"event", body_format::event},
    {"payload", body_format::payload},
    {"cloudevents", body_format::cloudevents},
    {"protobuf", body_format::protobuf},
}};
constexpr std::array<std::pair<std::string_view, bool>, 2> lanes = {{
    {"fenced", true},
    {"parallel", false},
}};

}  // namespace

hot_path_case parse_case(std::span<const std::string> words) {
    constexpr std::size_t all = 5;
    if (words.size() != all) {
        throw std::invalid_argument(
            "plugin, body, lane, row bytes and rows of a transaction are needed");
    }
    const auto plugin = named(plugins, words[0]);
    return {{plugin, std::stoul(words[3]), std::stoul(words[4])},
            {plugin, named(bodies, words[1]), named(lanes, words[2])}};
}

}  // namespace walrelay::test
