#include "wal/wal2json/wal2json_object.hpp"

#include "wal/json_text.hpp"
#include "wal/wal2json/wal2json_columns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace walrelay::wal {
namespace {

/// Memory for rows up to this size is kept, memory for larger ones is given back after the row.
constexpr std::size_t kept_capacity_bytes = std::size_t{1024} * 1024;
constexpr std::size_t least_capacity_bytes = 4096;

json_text describe(std::string_view json) {
    return {json, "wal2json object"};
}

std::optional<wal2json_text>* find_text(wal2json_object& object, std::string_view key) {
    if (key == "action") {
        return &object.action;
    }
    if (key == "schema") {
        return &object.schema;
    }
    if (key == "table") {
        return &object.table;
    }
    if (key == "timestamp") {
        return &object.timestamp;
    }
    if (key == "lsn") {
        return &object.commit;
    }
    if (key == "nextlsn") {
        return &object.end;
    }
    if (key == "prefix") {
        return &object.prefix;
    }
    return key == "content" ? &object.content : nullptr;
}

result<void> read_text(simdjson::ondemand::value& value, const json_text& json,
                       std::string_view key, std::optional<wal2json_text>& member) {
    const auto token = raw_token(value);
    const auto offset = json.offset_of(token.data());
    if (member) {
        return json.malformed("stands twice in one object", key, offset);
    }
    if (token == "null") {
        return {};
    }
    wal2json_text read{{}, offset};
    if (const auto code = value.get_string().get(read.text)) {
        return json.failure(code, key, offset);
    }
    member = read;
    return {};
}

result<void> read_flag(simdjson::ondemand::value& value, const json_text& json,
                       std::string_view key, std::optional<bool>& member) {
    const auto offset = json.offset_of(raw_token(value).data());
    if (member) {
        return json.malformed("stands twice in one object", key, offset);
    }
    bool read = false;
    if (const auto code = value.get_bool().get(read)) {
        return json.failure(code, key, offset);
    }
    member = read;
    return {};
}

result<void> read_xid(simdjson::ondemand::value& value, const json_text& json,
                      std::optional<transaction_id>& member) {
    const auto token = raw_token(value);
    const auto offset = json.offset_of(token.data());
    if (member) {
        return json.malformed("stands twice in one object", "xid", offset);
    }
    if (token == "null") {
        return {};
    }
    std::uint64_t read = 0;
    if (const auto code = value.get_uint64().get(read)) {
        return json.failure(code, "xid", offset);
    }
    if (read > std::numeric_limits<transaction_id>::max()) {
        return json.malformed("is no transaction id", "xid", offset);
    }
    member = static_cast<transaction_id>(read);
    return {};
}

}  // namespace

void wal2json_object::clear() {
    action.reset();
    schema.reset();
    table.reset();
    timestamp.reset();
    commit.reset();
    end.reset();
    xid.reset();
    prefix.reset();
    content.reset();
    transactional.reset();
    has_columns = false;
    columns.clear();
    fields.clear();
    old_columns.clear();
    old_fields.clear();
}

wal2json_parser::wal2json_parser() {
    reserve(least_capacity_bytes);
}

result<const wal2json_object*> wal2json_parser::parse(std::string_view json) {
    object_.clear();
    const auto text = load(json);
    simdjson::ondemand::document document;
    const auto code =
        parser_.iterate(text.data(), text.size(), capacity_bytes_ + simdjson::SIMDJSON_PADDING)
            .get(document);
    if (code) {
        return describe(text).failure(code, "object", 0);
    }
    if (const auto read = read_members(document, text); !read) {
        return read.error();
    }
    return &object_;
}

std::string_view wal2json_parser::load(std::string_view json) {
    const auto wanted = json.size() > kept_capacity_bytes
                            ? json.size()
                            : std::bit_ceil(std::max(json.size(), least_capacity_bytes));
    if (capacity_bytes_ < wanted ||
        (capacity_bytes_ > kept_capacity_bytes && wanted <= kept_capacity_bytes)) {
        reserve(wanted);
    }
    std::memcpy(padded_.get(), json.data(), json.size());
    std::memset(padded_.get() + json.size(), 0, simdjson::SIMDJSON_PADDING);
    return {padded_.get(), json.size()};
}

void wal2json_parser::reserve(std::size_t json_bytes) {
    parser_ = simdjson::ondemand::parser{};
    padded_.reset();
    padded_ = std::make_unique_for_overwrite<char[]>(json_bytes + simdjson::SIMDJSON_PADDING);
    capacity_bytes_ = json_bytes;
    // Where this fails, iterate tries again and has the error.
    [[maybe_unused]] const auto outcome = parser_.allocate(json_bytes);
}

result<void> wal2json_parser::read_members(simdjson::ondemand::document& document,
                                           std::string_view text) {
    const auto json = describe(text);
    simdjson::ondemand::object members;
    if (const auto code = document.get_object().get(members)) {
        return json.failure(code, "object", json.offset_at(document));
    }
    for (auto item : members) {
        simdjson::ondemand::field member;
        if (const auto code = std::move(item).get(member)) {
            return json.failure(code, "object", json.offset_at(document));
        }
        if (const auto read = read_member(member, text); !read) {
            return read;
        }
    }
    if (const auto offset = json.offset_at(document); offset != text.size()) {
        return json.malformed("is followed by something", "object", offset);
    }
    return {};
}

result<void> wal2json_parser::read_member(simdjson::ondemand::field& member,
                                          std::string_view text) {
    const auto json = describe(text);
    auto& value = member.value();
    const auto offset = json.offset_of(member.key().raw());
    std::string_view key;
    if (const auto code = member.unescaped_key().get(key)) {
        return json.failure(code, "object", offset);
    }
    if (auto* const known = find_text(object_, key)) {
        return read_text(value, json, key, *known);
    }
    if (key == "transactional") {
        return read_flag(value, json, key, object_.transactional);
    }
    if (key == "xid") {
        return read_xid(value, json, object_.xid);
    }
    if (key == "identity" && object_.action && object_.action->text == "U" && wants_row()) {
        return read_columns(value, json, {object_.old_columns, object_.old_fields});
    }
    if (key != "columns" || !wants_row()) {
        return {};
    }
    if (object_.has_columns) {
        return json.malformed("stands twice in one object", key, offset);
    }
    object_.has_columns = true;
    return read_columns(value, json, {object_.columns, object_.fields});
}

/// Where the members that tell come later, the row is read to be safe.
bool wal2json_parser::wants_row() const {
    if (!object_.action || object_.action->text == "I") {
        return true;
    }
    if (object_.action->text != "U" || wants_update_ == nullptr) {
        return false;
    }
    return !object_.schema || !object_.table ||
           (*wants_update_)(object_.schema->text, object_.table->text);
}

}  // namespace walrelay::wal
