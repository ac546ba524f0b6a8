#include "relay/intake/message_rows.hpp"

#include "core/bytea_text.hpp"
#include "core/first_revision.hpp"
#include "core/type_oid.hpp"
#include "relay/intake/json_check.hpp"
#include "wal/json_text.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace walrelay::relay {
namespace {

using simdjson::ondemand::json_type;

constexpr std::size_t kept_shapes = 256;
constexpr std::size_t kept_memory_bytes = std::size_t{1024} * 1024;
/// As many as a table can have columns.
constexpr std::size_t keys_max = 1600;

error unreadable_because(const table_name& source, std::string_view why) {
    return {errc::row_unmappable,
            "a logical message with prefix " + source.name + " " + std::string(why),
            "let its writer emit one JSON object for each event, such as "
            "jsonb_build_object('id', ...)::text"};
}

std::string hexadecimal(std::string_view bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

}  // namespace

class message_rows::reader {
public:
    reader(table_name source, std::vector<std::string> needed);

    result<row_insert> read(std::string_view content);
    row_insert unreadable(std::string_view content);

private:
    void clear();
    result<void> take_members(std::string_view content);
    result<void> take_member(simdjson::ondemand::field& member);
    void add(std::string_view name, type_oid type, field value);
    void add_needed();
    [[nodiscard]] bool has(std::string_view name) const;
    /// The description of the columns as they are now; the same again for the same columns.
    const relation& describe();

    table_name source_;
    std::vector<std::string> needed_;
    simdjson::ondemand::parser parser_;
    std::string padded_;
    /// Of content that could not be read.
    std::string made_;
    std::vector<column> columns_;
    std::vector<field> fields_;
    std::map<std::string, relation, std::less<>> known_;
    std::size_t known_bytes_ = 0;
    std::string shape_;
    std::uint64_t next_revision_ = first_revision::of_messages;
};

message_rows::reader::reader(table_name source, std::vector<std::string> needed)
    : source_(std::move(source)), needed_(std::move(needed)) {}

void message_rows::reader::clear() {
    columns_.clear();
    fields_.clear();
}

result<row_insert> message_rows::reader::read(std::string_view content) {
    clear();
    if (const auto taken = take_members(content); !taken) {
        return taken.error();
    }
    add_needed();
    return row_insert{&describe(), fields_};
}

row_insert message_rows::reader::unreadable(std::string_view content) {
    clear();
    const bool is_text =
        simdjson::validate_utf8(content) && content.find('\0') == std::string_view::npos;
    made_ = is_text ? std::string(content) : hexadecimal(content);
    add("content", is_text ? oid::text : oid::bytea, std::string_view(made_));
    return {&describe(), fields_};
}

result<void> message_rows::reader::take_members(std::string_view content) {
    if (padded_.capacity() > kept_memory_bytes) {
        padded_ = {};
    }
    padded_.assign(content);
    padded_.append(simdjson::SIMDJSON_PADDING, '\0');
    simdjson::ondemand::document document;
    simdjson::ondemand::object members;
    if (parser_.iterate(padded_.data(), content.size(), padded_.size()).get(document) ||
        document.get_object().get(members)) {
        return unreadable_because(source_, "is no JSON object");
    }
    for (auto item : members) {
        simdjson::ondemand::field member;
        if (std::move(item).get(member)) {
            return unreadable_because(source_, "is broken JSON");
        }
        if (const auto taken = take_member(member); !taken) {
            return taken;
        }
    }
    const wal::json_text whole{{padded_.data(), content.size()}, "logical message"};
    if (whole.offset_at(document) != content.size()) {
        return unreadable_because(source_, "is more than one JSON object");
    }
    return {};
}

result<void> message_rows::reader::take_member(simdjson::ondemand::field& member) {
    std::string_view name;
    if (member.unescaped_key().get(name)) {
        return unreadable_because(source_, "has a key that cannot be read");
    }
    if (columns_.size() == keys_max) {
        return unreadable_because(source_, "has more than " + std::to_string(keys_max) + " keys");
    }
    if (has(name)) {
        return unreadable_because(source_, "has the key \"" + std::string(name) + "\" twice");
    }
    const auto found = take_json(member.value());
    if (!found) {
        return unreadable_because(
            source_, "has no readable value for the key \"" + std::string(name) + "\"");
    }
    switch (found->type) {
        case json_type::null:
            add(name, oid::text, std::nullopt);
            break;
        case json_type::boolean:
            add(name, oid::boolean, found->text.substr(0, 1));
            break;
        case json_type::number:
            add(name, oid::numeric, found->text);
            break;
        case json_type::string:
            add(name, oid::text, found->text);
            break;
        case json_type::array:
        case json_type::object:
            add(name, oid::jsonb, found->text);
            break;
    }
    return {};
}

void message_rows::reader::add(std::string_view name, type_oid type, field value) {
    columns_.push_back({std::string(name), type});
    fields_.push_back(value);
}

void message_rows::reader::add_needed() {
    for (const auto& name : needed_) {
        if (!has(name)) {
            add(name, oid::text, std::nullopt);
        }
    }
}

bool message_rows::reader::has(std::string_view name) const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [name](const column& each) { return each.name == name; });
}

const relation& message_rows::reader::describe() {
    shape_.clear();
    for (const auto& each : columns_) {
        // The length first: a name can hold anything.
        shape_ += std::to_string(each.name.size()) + ':' + each.name + std::to_string(each.type);
    }
    auto found = known_.find(shape_);
    if (found == known_.end()) {
        if (known_.size() >= kept_shapes || known_bytes_ >= kept_memory_bytes) {
            known_.clear();
            known_bytes_ = 0;
        }
        known_bytes_ += shape_.size();
        relation made{source_.schema, source_.name, columns_, next_revision_++};
        found = known_.emplace(shape_, std::move(made)).first;
    }
    return found->second;
}

message_rows::message_rows(table_name source, std::vector<std::string> needed)
    : reader_(std::make_unique<reader>(std::move(source), std::move(needed))) {}
message_rows::message_rows(message_rows&&) noexcept = default;
message_rows& message_rows::operator=(message_rows&&) noexcept = default;
message_rows::~message_rows() = default;

result<row_insert> message_rows::read(std::string_view content) {
    return reader_->read(content);
}

row_insert message_rows::unreadable(std::string_view content) {
    return reader_->unreadable(content);
}

}  // namespace walrelay::relay
