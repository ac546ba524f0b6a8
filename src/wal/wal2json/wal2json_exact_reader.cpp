#include "wal/wal2json/wal2json_exact_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>

namespace walrelay::wal {
namespace {

/// Memory for rows up to this size is kept, memory for larger ones is given back after the row.
constexpr std::size_t kept_bytes = std::size_t{1024} * 1024;
constexpr std::size_t least_bytes = 4096;

bool take_text(wal2json_cursor& object, std::optional<wal2json_text>& member) {
    wal2json_text read{{}, object.offset_bytes()};
    const bool taken = object.take_string(read.text);
    member = read;
    return taken;
}

bool take_action(wal2json_cursor& object, std::optional<wal2json_text>& member) {
    return object.take(R"({"action":)") && take_text(object, member) &&
           (member->text == "B" || member->text == "C");
}

/// Where there is one, as the option include-xids makes it.
bool take_xid(wal2json_cursor& object, std::optional<transaction_id>& xid) {
    xid.reset();
    return !object.take(R"(,"xid":)") || object.take_number(xid.emplace());
}

const wal2json_table* find_table(wal2json_cursor row, wal2json_relations& tables) {
    std::string_view schema;
    std::string_view name;
    const bool named = row.take(R"(,"schema":)") && row.take_string(schema) &&
                       row.take(R"(,"table":)") && row.take_string(name);
    return named ? tables.find(schema, name) : nullptr;
}

}  // namespace

const relation* wal2json_exact_reader::read_row(std::string_view json, wal2json_relations& tables) {
    auto row = start(json);
    std::string_view unused;
    std::optional<transaction_id> same_as_of_begin;
    if (!row.take(R"({"action":"I")") || !take_xid(row, same_as_of_begin) ||
        !row.take(R"(,"timestamp":)") || !row.take_string(unused) || !row.take(R"(,"lsn":)") ||
        !row.take_string(unused)) {
        return nullptr;
    }
    const auto* const table = take_row(row, tables);
    return table != nullptr && simdjson::validate_utf8(json) ? &table->description : nullptr;
}

/// Rows come in runs of one table.
const wal2json_table* wal2json_exact_reader::take_row(const wal2json_cursor& row,
                                                      wal2json_relations& tables) {
    const auto* const last = tables.last();
    if (last != nullptr && last->text.take(row, fields_)) {
        return last;
    }
    const auto* const table = find_table(row, tables);
    const bool other = table != nullptr && table != last;
    return other && table->text.take(row, fields_) ? table : nullptr;
}

std::span<const field> wal2json_exact_reader::fields_apart(std::string_view json) {
    const auto is_inside = [json](const field& each) {
        return each && std::less_equal<>()(json.data(), each->data()) &&
               std::less<>()(each->data(), json.data() + json.size());
    };
    std::size_t bytes = 0;
    for (const auto& each : fields_) {
        bytes += is_inside(each) ? each->size() : 0;
    }
    numbers_.clear();
    numbers_.reserve(bytes);
    for (auto& each : fields_) {
        if (is_inside(each)) {
            const auto begins = numbers_.size();
            numbers_ += *each;
            each = std::string_view(numbers_).substr(begins);
        }
    }
    return fields_;
}

const wal2json_object* wal2json_exact_reader::read_edge(std::string_view json) {
    auto object = start(json);
    const bool whole = take_action(object, edge_.action) && take_xid(object, edge_.xid) &&
                       object.take(R"(,"timestamp":)") && take_text(object, edge_.timestamp) &&
                       object.take(R"(,"lsn":)") && take_text(object, edge_.commit) &&
                       object.take(R"(,"nextlsn":)") && take_text(object, edge_.end) &&
                       object.take("}") && object.at_end();
    return whole && simdjson::validate_utf8(json) ? &edge_ : nullptr;
}

wal2json_cursor wal2json_exact_reader::start(std::string_view json) {
    const auto wanted =
        json.size() > kept_bytes ? json.size() : std::bit_ceil(std::max(json.size(), least_bytes));
    if (room_bytes_ < wanted || (room_bytes_ > kept_bytes && wanted <= kept_bytes)) {
        room_.reset();
        room_ = std::make_unique_for_overwrite<char[]>(wanted);
        room_bytes_ = wanted;
    }
    return {json, room_.get()};
}

}  // namespace walrelay::wal
