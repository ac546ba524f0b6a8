// What a value is, in words.
#include "config/value.hpp"

namespace walrelay::config {
namespace {

struct type_words {
    std::string_view operator()(const plain_text&) const { return "a text"; }
    std::string_view operator()(const std::string&) const { return "a string"; }
    std::string_view operator()(bool) const { return "a boolean"; }
    std::string_view operator()(std::int64_t) const { return "an integer"; }
    std::string_view operator()(const foreign& of) const { return of.type; }
    std::string_view operator()(const value_list&) const { return "a list"; }
    std::string_view operator()(const value_table&) const { return "a table"; }
};

}  // namespace

std::string_view type_name(const value& of) {
    return std::visit(type_words{}, of.data);
}

const std::string* text_of(const value& of) {
    if (const auto* plain = std::get_if<plain_text>(&of.data)) {
        return &plain->text;
    }
    return std::get_if<std::string>(&of.data);
}

}  // namespace walrelay::config
