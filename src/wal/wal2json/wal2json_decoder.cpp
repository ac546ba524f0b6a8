#include "wal/wal2json/wal2json_decoder.hpp"

#include "wal/frame_error.hpp"
#include "wal/postgres_time.hpp"
#include "wal/wal2json/wal2json_shortened.hpp"

#include <algorithm>
#include <string>

namespace walrelay::wal {
namespace {

constexpr std::size_t large_bytes = std::size_t{1} << 20U;

place place_of(const std::optional<wal2json_text>& member, std::string_view name) {
    return {"wal2json object", name, member ? member->offset_bytes : 0};
}

error missing(std::string_view name, std::string_view option) {
    return frame_error(errc::frame_malformed, place_of({}, name),
                       "is missing (option " + std::string{option} + ")");
}

result<lsn> read_lsn(const std::optional<wal2json_text>& member, std::string_view name) {
    if (!member) {
        return missing(name, "include-lsn");
    }
    const auto position = parse_lsn(member->text);
    if (!position) {
        return frame_error(errc::frame_malformed, place_of(member, name), "is no LSN");
    }
    return *position;
}

result<wall_time> read_time(const std::optional<wal2json_text>& member) {
    if (!member) {
        return missing("timestamp", "include-timestamp");
    }
    const auto time = parse_timestamp(member->text);
    if (!time) {
        return frame_error(errc::frame_malformed, place_of(member, "timestamp"),
                           "is no ISO time in UTC",
                           "let nothing override timezone = UTC in walrelay's session");
    }
    return *time;
}

}  // namespace

result<change> wal2json_decoder::decode(std::string_view payload) {
    // The parser copies what it reads, and so does the exact reader all but numbers.
    is_apart_ = payload.size() > large_bytes;
    too_large_bytes_ = excess_of(payload);
    if (too_large_bytes_ > 0) {
        shortened_ = shortened(payload, kept_value_bytes);
        return decode_any(shortened_);
    }
    if (transaction_.is_open()) {
        const auto* table = exact_.read_row(payload, relations_);
        if (table == nullptr && payload.size() > large_bytes) {
            describe_table_of(payload);
            table = exact_.read_row(payload, relations_);
        }
        if (table == nullptr && payload.size() > large_bytes) {
            exact_.let_go();
        }
        if (table != nullptr) {
            return change{
                row_insert{table, is_apart_ ? exact_.fields_apart(payload) : exact_.fields()}};
        }
    }
    if (const auto* const edge = exact_.read_edge(payload)) {
        return decode_object(*edge);
    }
    return decode_any(payload);
}

void wal2json_decoder::let_go() {
    exact_.let_go();
    parser_.let_go();
}

/// The parser takes three times the size of what it reads, so that a large row is left to the exact
/// reader: all that this one lacks is a description of the table.
void wal2json_decoder::describe_table_of(std::string_view payload) {
    if (payload.starts_with(R"({"action":"I")")) {
        static_cast<void>(decode_any(shortened(payload, kept_value_bytes)));
    }
}

result<change> wal2json_decoder::decode_any(std::string_view payload) {
    if (payload.starts_with(R"({"action":"M")") && !simdjson::validate_utf8(payload)) {
        mark_other_bytes(payload);
        payload = marked_;
    }
    parser_.want_updates(wants_any_update() ? &wants_update() : nullptr);
    const auto parsed = parser_.parse(payload);
    if (!parsed) {
        return parsed.error();
    }
    return decode_object(**parsed);
}

result<change> wal2json_decoder::decode_object(const wal2json_object& object) {
    if (!object.action) {
        return missing("action", "format-version 2");
    }
    if (object.action->text == "I") {
        return insert(object);
    }
    if (object.action->text == "B") {
        return begin(object);
    }
    if (object.action->text == "C") {
        return commit(object);
    }
    if (object.action->text == "M") {
        return message(object);
    }
    if (object.action->text == "U") {
        return update(object);
    }
    return skip(object);
}

void wal2json_decoder::mark_other_bytes(std::string_view payload) {
    constexpr const char* digits = "0123456789abcdef";
    marked_.clear();
    for (const char each : payload) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte < 0x80U) {
            marked_ += each;
        } else {
            marked_ += "\\u0001";
            marked_ += digits[byte >> 4U];
            marked_ += digits[byte & 15U];
        }
    }
}

result<change> wal2json_decoder::begin(const wal2json_object& object) {
    const auto position = read_lsn(object.commit, "lsn");
    if (!position) {
        return position.error();
    }
    const auto committed_at = read_time(object.timestamp);
    if (!committed_at) {
        return committed_at.error();
    }
    const auto allowed = transaction_.begin(*position, place_of(object.action, "action"));
    if (!allowed) {
        return allowed.error();
    }
    return change{transaction_begin{*position, *committed_at, object.xid}};
}

result<change> wal2json_decoder::commit(const wal2json_object& object) {
    const auto position = read_lsn(object.commit, "lsn");
    if (!position) {
        return position.error();
    }
    const auto end = read_lsn(object.end, "nextlsn");
    if (!end) {
        return end.error();
    }
    const transaction_commit finished{*position, *end};
    const auto allowed = transaction_.commit(finished, place_of(object.action, "action"));
    if (!allowed) {
        return allowed.error();
    }
    return change{finished};
}

result<void> wal2json_decoder::require_row(const wal2json_object& object) const {
    auto allowed = transaction_.require_open(place_of(object.action, "action"));
    if (!allowed) {
        return allowed;
    }
    if (!object.schema) {
        return missing("schema", "include-schemas");
    }
    if (!object.table) {
        return missing("table", "format-version 2");
    }
    if (!object.has_columns) {
        return missing("columns", "format-version 2");
    }
    return {};
}

result<change> wal2json_decoder::insert(const wal2json_object& object) {
    if (const auto whole = require_row(object); !whole) {
        return whole.error();
    }
    auto& table = relations_.describe(object.schema->text, object.table->text, object.columns);
    if (table.text.revision() != table.description.revision) {
        table.text = wal2json_row_template{table.description};
    }
    return change{row_insert{&table.description, object.fields, too_large_bytes_}};
}

result<change> wal2json_decoder::update(const wal2json_object& object) {
    if (!wants_any_update() || !object.has_columns) {
        return skip(object);
    }
    if (const auto whole = require_row(object); !whole) {
        return whole.error();
    }
    merge_rows(object);
    const auto& table = updated_.describe(object.schema->text, object.table->text, columns_);
    // Of REPLICA IDENTITY FULL it has every column, else those of the key.
    const bool before_is_whole = object.old_columns.size() == columns_.size();
    return change{
        row_update{&table.description, fields_, before_, {}, too_large_bytes_, before_is_whole}};
}

/// A column that only the old row has was left alone, so its value is the old one.
void wal2json_decoder::merge_rows(const wal2json_object& object) {
    columns_ = object.columns;
    fields_ = object.fields;
    before_.assign(columns_.size(), field{});
    for (std::size_t old = 0; old < object.old_columns.size(); ++old) {
        const auto& column = object.old_columns[old];
        const auto same = std::ranges::find(object.columns, column.name, &wal2json_column::name);
        if (same != object.columns.end()) {
            before_[static_cast<std::size_t>(same - object.columns.begin())] =
                object.old_fields[old];
        } else {
            columns_.push_back(column);
            fields_.push_back(object.old_fields[old]);
            before_.push_back(object.old_fields[old]);
        }
    }
}

result<change> wal2json_decoder::message(const wal2json_object& object) {
    if (!object.transactional) {
        return missing("transactional", "format-version 2");
    }
    if (!*object.transactional) {
        return change{nothing_to_relay{}};
    }
    if (!object.prefix && too_large_bytes_ > 0) {
        return change{nothing_to_relay{}};  // longer than any that is asked for
    }
    if (!object.prefix) {
        return missing("prefix", "format-version 2");
    }
    if (!object.content && too_large_bytes_ == 0) {
        return missing("content", "format-version 2");
    }
    const auto allowed = transaction_.require_open(place_of(object.action, "action"));
    if (!allowed) {
        return allowed.error();
    }
    const auto content = too_large_bytes_ > 0 ? std::string_view{} : object.content->text;
    return change{logical_message{object.prefix->text, content, too_large_bytes_}};
}

result<change> wal2json_decoder::skip(const wal2json_object& object) {
    const auto action = object.action->text;
    const auto where = place_of(object.action, "action");
    if (action != "U" && action != "D" && action != "T") {
        return frame_error(errc::frame_malformed, where, "is none of B, C, I, U, D, T, M");
    }
    if (const auto allowed = transaction_.require_open(where); !allowed) {
        return allowed.error();
    }
    return change{nothing_to_relay{}};
}

}  // namespace walrelay::wal
