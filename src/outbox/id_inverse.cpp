#include "outbox/id_inverse.hpp"

#include "core/ascii.hpp"
#include "core/bytea_text.hpp"
#include "core/occasion.hpp"
#include "core/type_oid.hpp"
#include "outbox/header_value.hpp"
#include "outbox/resolved_columns.hpp"
#include "outbox/table_plan.hpp"
#include "outbox/type_kind.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace walrelay::outbox {
namespace {

/// As PostgreSQL prints one.
bool is_uuid(std::string_view text) {
    constexpr std::size_t length = 36;
    if (text.size() != length) {
        return false;
    }
    for (std::size_t index = 0; index < length; ++index) {
        const bool dash = index == 8 || index == 13 || index == 18 || index == 23;
        if (dash ? text[index] != '-' : !is_lower_hex(text[index])) {
            return false;
        }
    }
    return true;
}

template <class Integer>
bool is_integer(std::string_view text) {
    Integer value{};
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    // "007" is a number, but no id of one.
    return read.ec == std::errc() && read.ptr == end && std::to_string(value) == text;
}

bool fits(std::string_view text, value_form form) {
    switch (form) {
        case value_form::uuid:
            return is_uuid(text);
        case value_form::int2:
            return is_integer<std::int16_t>(text);
        case value_form::int4:
            return is_integer<std::int32_t>(text);
        case value_form::int8:
            return is_integer<std::int64_t>(text);
        case value_form::bytea:
            return text.size() % 2 == 0 && consists_of(text, is_lower_hex);
        case value_form::any:
            break;
    }
    return true;
}

value_form form_of(type_oid type, const domain_types& domains) {
    switch (base_of(type, domains)) {
        case oid::bytea:
            return value_form::bytea;
        case oid::int8:
            return value_form::int8;
        case oid::int2:
            return value_form::int2;
        case oid::int4:
            return value_form::int4;
        case oid::uuid:
            return value_form::uuid;
        default:
            return value_form::any;
    }
}

/// Whether it could be the encoding of another text, see header_value.hpp.
bool may_be_encoded(std::string_view id) {
    for (auto at = id.find('%'); at != std::string_view::npos; at = id.find('%', at + 1)) {
        if (at + 2 < id.size() && is_upper_hex(id[at + 1]) && is_upper_hex(id[at + 2])) {
            return true;
        }
    }
    return false;
}

std::string encoded(std::string_view text) {
    std::string value;
    append_message_id(value, text);
    return value;
}

bool stays_as_it_is(std::string_view text) {
    return encoded(text) == text;
}

/// Each `%XY` is the byte again.
std::string decoded(std::string_view text) {
    constexpr std::size_t length = 3;
    constexpr int hexadecimal = 16;
    std::string bytes;
    while (!text.empty()) {
        const bool is_byte = text.size() >= length && text[0] == '%' && is_upper_hex(text[1]) &&
                             is_upper_hex(text[2]);
        if (!is_byte) {
            bytes += text.front();
            text.remove_prefix(1);
            continue;
        }
        unsigned char byte = 0;
        std::from_chars(text.data() + 1, text.data() + length, byte, hexadecimal);
        bytes += static_cast<char>(byte);
        text.remove_prefix(length);
    }
    return bytes;
}

error not_to_be_turned_round(const table_plan& plan) {
    return {errc::configuration_invalid,
            "rows of table " + to_string(plan.table) +
                " cannot be found by their message ids: message_id \"" + plan.message_id.text() +
                "\" is more than text and one column",
            "write message_id as text and one column, such as \"{id}\" or \"orders-{id}\", or take "
            "delete_after out and delete old rows yourself"};
}

}  // namespace

row_reference row_of_message(std::string_view message_id) {
    const auto row = without_last_occasion(message_id);
    if (row && occasion_of(last_occasion(message_id)) != occasion_kind::replay) {
        return {*row, true};
    }
    return {message_id};
}

result<id_inverse> id_inverse::make(const outbox_table& table, const std::vector<column>& columns,
                                    const domain_types& domains) {
    const auto plan = make_plan(table);
    if (!plan) {
        return plan.error();
    }
    const auto resolved = resolve(*plan, columns, domains);
    if (!resolved.problems.empty()) {
        return error{errc::row_unmappable, resolved.problems.front(),
                     "change the table or its configuration"};
    }
    const auto& parts = plan->message_id.parts();
    const auto with_names = std::count_if(parts.begin(), parts.end(),
                                          [](const auto& each) { return !each.names.empty(); });
    if (with_names != 1) {
        return not_to_be_turned_round(*plan);
    }
    id_inverse made;
    made.prefix_ = parts.front().literal;
    made.suffix_ = parts.size() > 1 ? parts.back().literal : "";
    if (!stays_as_it_is(made.prefix_ + 'x' + made.suffix_)) {
        return not_to_be_turned_round(*plan);
    }
    for (const auto index : resolved.message_id) {
        made.alternatives_.push_back({columns[index].name, form_of(columns[index].type, domains)});
    }
    return made;
}

std::optional<std::string_view> id_inverse::between(std::string_view id) const {
    const bool framed = id.size() > prefix_.size() + suffix_.size() && id.starts_with(prefix_) &&
                        id.ends_with(suffix_);
    return framed ? std::optional(
                        id.substr(prefix_.size(), id.size() - prefix_.size() - suffix_.size()))
                  : std::nullopt;
}

std::optional<std::string_view> id_inverse::text_in(std::string_view id) const {
    return may_be_encoded(id) || !stays_as_it_is(id) ? std::nullopt : between(id);
}

std::optional<id_inverse::encoded_value> id_inverse::encoded_value_of(std::string_view id,
                                                                      std::size_t which) const {
    const bool is_alone = alternatives_.size() == 1 && !only_uuids_;
    const auto whole = decoded(id);
    const auto text = between(whole);
    const auto as_it_is = between(id);
    if (!is_alone || alternatives_.at(which).form != value_form::any || whole == id ||
        encoded(whole) != id || !text || !as_it_is) {
        return std::nullopt;
    }
    return encoded_value{std::string(*text), std::string(*as_it_is)};
}

bool id_inverse::is_of_another_type(std::string_view id) const {
    const auto text = text_in(id);
    return text && std::none_of(alternatives_.begin(), alternatives_.end(),
                                [&](const auto& each) { return fits(*text, each.form); });
}

std::optional<std::string> id_inverse::value_of(std::string_view id, std::size_t which) const {
    const auto framed = text_in(id);
    if (!framed) {
        return std::nullopt;
    }
    const auto text = *framed;
    const auto form = alternatives_.at(which).form;
    const auto could_be_in = std::count_if(alternatives_.begin(), alternatives_.end(),
                                           [&](const auto& each) { return fits(text, each.form); });
    const bool anybodys = only_uuids_ || could_be_in > 1;
    if (!fits(text, form) || (anybodys && !is_uuid(text))) {
        return std::nullopt;
    }
    return form == value_form::bytea ? std::string(bytea_mark).append(text) : std::string(text);
}

/// Whether a value, followed by the rest of an id, can be taken for this text and what follows it.
bool id_inverse::may_begin_with(std::string_view text) const {
    return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const alternative& each) {
        const auto possible = [&](char c) {
            switch (each.form) {
                case value_form::any:
                    return true;
                case value_form::uuid:
                    return is_lower_hex(c) || c == '-';
                case value_form::bytea:
                    return is_lower_hex(c);
                default:
                    return is_digit(c) || c == '-';
            }
        };
        return std::all_of(text.begin(), text.end(), possible);
    });
}

bool id_inverse::may_share_ids(const id_inverse& other) const {
    const bool mine_is_shorter = prefix_.size() <= other.prefix_.size();
    const auto& shorter = mine_is_shorter ? *this : other;
    const auto& longer = mine_is_shorter ? other : *this;
    // The value of the shorter one has to look like what the other has in front of its own; where
    // it ends within that, its suffix is what follows, so that only an empty one is judged.
    const bool prefixes =
        longer.prefix_.starts_with(shorter.prefix_) &&
        (!shorter.suffix_.empty() ||
         shorter.may_begin_with(std::string_view(longer.prefix_).substr(shorter.prefix_.size())));
    const bool suffixes = suffix_.ends_with(other.suffix_) || other.suffix_.ends_with(suffix_);
    return prefixes && suffixes;
}

}  // namespace walrelay::outbox
