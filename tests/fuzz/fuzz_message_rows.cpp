// Any content of a logical message is a row or is kept as it is: each column stands there once,
// the needed ones always, and a value alone is read as it was among the others.
#include "core/json_string.hpp"
#include "fuzz/require.hpp"
#include "outbox/bytea.hpp"
#include "relay/intake/message_rows.hpp"

#include <set>
#include <string>
#include <vector>

namespace {

using namespace walrelay;
using fuzz::require;

constexpr type_oid text_type = 25;

relay::message_rows make_rows() {
    return {message_source("outbox"), {"id", "needed"}};
}

/// `value` as the only member of an object.
void check_alone(const column& about, std::string_view value) {
    auto rows = make_rows();
    const auto json = about.type == 16          ? std::string(value == "t" ? "true" : "false")
                      : about.type == text_type ? json_string(value)
                                                : std::string(value);
    const auto alone = rows.read("{\"only\":" + json + "}");
    require(alone.has_value(), "a value that was read is JSON");
    require(alone->table->columns[0].type == about.type, "it has the same type");
    require(alone->fields[0] == value, "it has the same text");
}

void check_row(const row_insert& row) {
    const auto& columns = row.table->columns;
    require(row.fields.size() == columns.size(), "each column has a field");
    std::set<std::string> names;
    for (std::size_t index = 0; index < columns.size(); ++index) {
        names.insert(columns[index].name);
        if (row.fields[index]) {
            check_alone(columns[index], *row.fields[index]);
        }
    }
    require(names.size() == columns.size(), "no column is there twice");
    require(names.contains("id") && names.contains("needed"), "what is needed is there");
}

void check_unreadable(const row_insert& row, std::string_view content) {
    require(row.fields.size() >= 1 && row.fields[0].has_value(), "the content is kept");
    std::string bytes(*row.fields[0]);
    if (row.table->columns[0].type != text_type) {
        bytes.clear();
        require(outbox::append_bytes(bytes, *row.fields[0]), "a bytea is hexadecimal");
    }
    require(bytes == content, "the content is kept byte for byte");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto content = fuzz::as_text(data, size);
    auto rows = make_rows();
    if (const auto row = rows.read(content)) {
        check_row(*row);
    } else {
        require(row.error().code == errc::row_unmappable, "one kind of error");
    }
    check_unreadable(rows.unreadable(content), content);
    return 0;
}
