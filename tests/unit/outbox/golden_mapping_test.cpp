// The golden captures of all types through decoder and mapper: what a column of each type is as a
// body, in the event, in a header, in the subject and in the message id, the same with both plugins
// and from a query.
#include "outbox/message_id_reader.hpp"
#include "outbox/table_mapper.hpp"
#include "unit/outbox/sample_row.hpp"
#include "unit/wal/captures.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

/// Those of the captures.
const outbox::domain_types domains = {
    {16392, type::jsonb}, {16395, type::boolean}, {16397, type::bytea}};

struct captured_row {
    relation table;
    std::vector<std::optional<std::string>> values;

    [[nodiscard]] std::vector<field> fields() const { return {values.begin(), values.end()}; }
};

/// The rows of every_type.
std::vector<captured_row> rows_of(const testing::capture& which) {
    const auto decoder = wal::make_decoder(which.plugin);
    std::vector<captured_row> rows;
    for (const auto& payload : testing::payloads_of(which)) {
        const auto decoded = decoder->decode(payload).value();
        const auto* const row = std::get_if<row_insert>(&decoded);
        if (row != nullptr && row->table->name == "every_type") {
            rows.push_back({*row->table, {row->fields.begin(), row->fields.end()}});
        }
    }
    return rows;
}

/// With this column wherever a column can be.
outbox_table table_with(const std::string& column) {
    auto table = usual_table();
    table.table = {"public", "every_type"};
    table.columns = {};
    table.columns.payload = column;
    table.subject = "all.{" + column + "}.end";
    table.message_id = "{" + column + "}";
    table.headers = {{"Value", "{" + column + "}"}};
    return table;
}

std::string bracketed(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        constexpr const char* digits = "0123456789abcdef";
        if (value < ' ' || value > '~' || byte == '\\') {
            text += {'\\', 'x', digits[value >> 4U], digits[value & 15U]};
        } else {
            text += byte;
        }
    }
    return "[" + text + "]";
}

/// Empty, or why nothing became of the row.
std::string map_into(const outbox_table& table, const captured_row& row, message& sent) {
    auto mapper = outbox::table_mapper::make(table).value();
    mapper.set_domains(domains);
    const auto fields = row.fields();
    const auto mapped = mapper.map({&row.table, fields}, sent);
    return mapped ? std::string() : mapped.error().what;
}

/// One line for the value: body, member of the event, header, subject, message id.
std::string line_of(const captured_row& row, const std::string& column) {
    auto table = table_with(column);
    table.body = body_format::payload;
    auto sent = fresh_message();
    if (const auto refused = map_into(table, row, sent); !refused.empty()) {
        return refused;
    }
    table.body = body_format::event;
    auto event = fresh_message();
    EXPECT_EQ(map_into(table, row, event), "");
    return "body " + bracketed(sent.body) + " event " + bracketed(event.body) + " header " +
           bracketed(header_of(sent, "Value").value_or("")) + " subject " +
           bracketed(sent.subject) + " id " + bracketed(sent.id);
}

using lines = std::map<std::string, std::string>;

/// Of every value that is not NULL, by row and column.
lines lines_of(const testing::capture& which) {
    lines found;
    for (const auto& row : rows_of(which)) {
        for (std::size_t index = 0; index < row.values.size(); ++index) {
            const auto& name = row.table.columns[index].name;
            if (row.values[index]) {
                found[row.values[0]->substr(34) + " " + name] = line_of(row, name);
            }
        }
    }
    return found;
}

std::string text_of(const lines& all) {
    std::string text;
    for (const auto& [place, line] : all) {
        text += place + ": " + line + "\n";
    }
    return text;
}

TEST(GoldenMapping, IsWhatItWas) {
    const auto file = testing::capture_path("messages", ".expected");
    const auto text = text_of(lines_of({"pgoutput", output_plugin::pgoutput}));
    if (std::getenv("WALRELAY_WRITE_EXPECTED") != nullptr) {
        std::ofstream(file) << text;
    }
    EXPECT_EQ(text, testing::read_file(file));
}

TEST(GoldenMapping, IsTheSameWithBothPlugins) {
    auto of_pgoutput = lines_of({"pgoutput", output_plugin::pgoutput});
    // What wal2json has no words for.
    for (const auto* const lost : {"09 num", "09 f4", "09 f8"}) {
        EXPECT_EQ(of_pgoutput.erase(lost), 1U);
    }
    EXPECT_EQ(text_of(of_pgoutput), text_of(lines_of({"wal2json", output_plugin::wal2json})));
}

/// As a query gives the value.
std::string queried(const captured_row& row, std::size_t column) {
    const auto type = row.table.columns[column].type;
    const auto& text = *row.values[column];
    return type == type::bytea ? "\\x" + text : text;
}

TEST(GoldenMapping, HasTheIdsThatAQueryGives) {
    for (const auto& row : rows_of({"pgoutput", output_plugin::pgoutput})) {
        for (std::size_t index = 0; index < row.values.size(); ++index) {
            const auto table = table_with(row.table.columns[index].name);
            auto sent = fresh_message();
            if (!row.values[index] || !map_into(table, row, sent).empty()) {
                continue;
            }
            const auto value = queried(row, index);
            std::string id;
            auto reader =
                outbox::message_id_reader::make(table, row.table.columns, domains).value();
            ASSERT_TRUE(reader.read(std::vector<field>{value}, id));
            EXPECT_EQ(id, sent.id) << row.table.columns[index].name;
        }
    }
}

}  // namespace
}  // namespace walrelay::test
