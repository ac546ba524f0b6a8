#include "outbox/json_member.hpp"

#include <utility>

namespace walrelay::outbox {
namespace {

using simdjson::ondemand::json_type;

std::string_view without_blanks_after(std::string_view token) {
    constexpr std::string_view blanks = " \t\r\n";
    return token.substr(0, token.find_last_not_of(blanks) + 1);
}

/// False if the JSON is broken here. `found` is left without text by null.
bool read_value(simdjson::ondemand::value value, std::string& found, bool& is_null) {
    json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) {
        return false;
    }
    is_null = type == json_type::null;
    std::string_view text;
    auto failure = simdjson::SUCCESS;
    if (type == json_type::string) {
        failure = value.get_string().get(text);
    } else if (type == json_type::object || type == json_type::array) {
        failure = simdjson::to_json_string(value).get(text);
    } else {
        text = without_blanks_after(value.raw_json_token());
    }
    found.assign(text);
    return failure == simdjson::SUCCESS;
}

}  // namespace

field json_member_reader::read(std::string_view json, std::string_view key) {
    padded_.assign(json);
    padded_.append(simdjson::SIMDJSON_PADDING, '\0');
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (parser_.iterate(padded_.data(), json.size(), padded_.size()).get(document) !=
            simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    bool is_there = false;
    for (auto each : object) {
        simdjson::ondemand::field member;
        std::string_view name;
        if (std::move(each).get(member) != simdjson::SUCCESS ||
            member.unescaped_key().get(name) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        if (name == key) {
            bool is_null = false;
            if (!read_value(member.value(), found_, is_null)) {
                return std::nullopt;
            }
            is_there = !is_null;
        }
    }
    return is_there ? field(found_) : std::nullopt;
}

}  // namespace walrelay::outbox
