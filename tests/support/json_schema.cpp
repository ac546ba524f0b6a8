// See json_schema.hpp.
#include "support/json_schema.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace walrelay::test {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

class judge {
public:
    explicit judge(element schema) : root_(schema) {}

    std::vector<std::string> of(element value) {
        found_.clear();
        look(value, root_, "");
        return found_;
    }

private:
    static constexpr std::array<std::string_view, 14> known{
        "$schema", "title", "description", "$defs",   "$ref",       "anyOf",    "type",
        "enum",    "const", "pattern",     "minimum", "properties", "required", "items"};

    static std::string text_of(element value) {
        std::ostringstream text;
        text << value;
        return text.str();
    }

    static bool is_of(element value, std::string_view type) {
        switch (value.type()) {
            case element_type::ARRAY:
                return type == "array";
            case element_type::OBJECT:
                return type == "object";
            case element_type::INT64:
            case element_type::UINT64:
                return type == "integer" || type == "number";
            case element_type::DOUBLE:
                return type == "number";
            case element_type::STRING:
                return type == "string";
            case element_type::BOOL:
                return type == "boolean";
            case element_type::NULL_VALUE:
                return type == "null";
        }
        return false;
    }

    static bool is_one_of(element value, element types) {
        if (types.is_string()) {
            return is_of(value, std::string_view(types));
        }
        return std::ranges::any_of(types.get_array().value(), [&](element each) {
            return is_of(value, std::string_view(each));
        });
    }

    void say(const std::string& where, const std::string& what) {
        found_.push_back((where.empty() ? "/" : where) + ": " + what);
    }

    /// The first keyword that this judge does not know would be one that is not kept.
    static void expect_known(object schema) {
        for (const auto [name, rule] : schema) {
            if (std::ranges::find(known, name) == known.end() && name != "additionalProperties") {
                throw std::runtime_error("unknown keyword in a schema: " + std::string(name));
            }
        }
    }

    [[nodiscard]] element resolve(element schema) const {
        element reference;
        if (schema["$ref"].get(reference) != simdjson::SUCCESS) {
            return schema;
        }
        const std::string pointer{std::string_view(reference)};
        return root_.at_pointer(pointer.substr(1)).value();
    }

    void look(element value, element given, const std::string& where) {
        const auto schema = resolve(given);
        expect_known(schema.get_object().value());
        element rule;
        if (schema["anyOf"].get(rule) == simdjson::SUCCESS && !fits_any(value, rule, where)) {
            say(where, "is none of what it may be: " + closest_);
        }
        if (schema["type"].get(rule) == simdjson::SUCCESS && !is_one_of(value, rule)) {
            say(where, text_of(value) + " is no " + text_of(rule));
            return;
        }
        look_at_scalar(value, schema, where);
        if (value.is_object()) {
            look_at_members(value.get_object().value(), schema, where);
        }
        if (value.is_array() && schema["items"].get(rule) == simdjson::SUCCESS) {
            std::size_t index = 0;
            for (const auto each : value.get_array().value()) {
                look(each, rule, where + "/" + std::to_string(index++));
            }
        }
    }

    bool fits_any(element value, element choices, const std::string& where) {
        auto before = std::move(found_);
        std::vector<std::string> fewest;
        bool fits = false;
        for (const auto choice : choices.get_array().value()) {
            found_.clear();
            look(value, choice, where);
            fits = fits || found_.empty();
            if (fewest.empty() || found_.size() < fewest.size()) {
                fewest = found_;
            }
        }
        found_ = std::move(before);
        closest_ = fewest.empty() ? "" : fewest.front();
        return fits;
    }

    void look_at_scalar(element value, element schema, const std::string& where) {
        element rule;
        if (schema["const"].get(rule) == simdjson::SUCCESS && text_of(value) != text_of(rule)) {
            say(where, text_of(value) + " is not " + text_of(rule));
        }
        if (schema["enum"].get(rule) == simdjson::SUCCESS &&
            std::ranges::none_of(rule.get_array().value(),
                                 [&](element each) { return text_of(each) == text_of(value); })) {
            say(where, text_of(value) + " is none of " + text_of(rule));
        }
        if (value.is_string() && schema["pattern"].get(rule) == simdjson::SUCCESS &&
            !std::regex_search(std::string(std::string_view(value)),
                               std::regex(std::string(std::string_view(rule))))) {
            say(where, text_of(value) + " does not match " + text_of(rule));
        }
        if (value.is_number() && schema["minimum"].get(rule) == simdjson::SUCCESS &&
            value.get_double().value() < rule.get_double().value()) {
            say(where, text_of(value) + " is less than " + text_of(rule));
        }
    }

    void look_at_members(object members, element schema, const std::string& where) {
        element rule;
        if (schema["required"].get(rule) == simdjson::SUCCESS) {
            for (const auto name : rule.get_array().value()) {
                if (members[std::string_view(name)].error() != simdjson::SUCCESS) {
                    say(where, "lacks " + text_of(name));
                }
            }
        }
        for (const auto [name, value] : members) {
            const auto place = where + "/" + std::string(name);
            if (schema["properties"][name].get(rule) == simdjson::SUCCESS) {
                look(value, rule, place);
            } else if (schema["additionalProperties"].get(rule) == simdjson::SUCCESS) {
                if (rule.is_object()) {
                    look(value, rule, place);
                } else if (!bool(rule)) {
                    say(place, "is not in the schema");
                }
            }
        }
    }

    element root_;
    std::vector<std::string> found_;
    std::string closest_;
};

}  // namespace

std::vector<std::string> violations(std::string_view json, std::string_view schema) {
    simdjson::dom::parser for_schema;
    simdjson::dom::parser for_json;
    element rules;
    element value;
    if (for_schema.parse(schema.data(), schema.size()).get(rules) != simdjson::SUCCESS) {
        throw std::runtime_error("the schema is no JSON");
    }
    if (for_json.parse(json.data(), json.size()).get(value) != simdjson::SUCCESS) {
        return {"/: this is no JSON: " + std::string(json)};
    }
    return judge(rules).of(value);
}

std::vector<std::string> violations_of(const std::string& name, std::string_view json) {
    std::ostringstream text;
    text << std::ifstream(std::string(WALRELAY_SCHEMA_FOLDER "/") + name + ".schema.json").rdbuf();
    return violations(json, text.str());
}

}  // namespace walrelay::test
