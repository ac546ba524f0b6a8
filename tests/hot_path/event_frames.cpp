#include "hot_path/event_frames.hpp"

#include "unit/relay/frame_builder.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::test {
namespace {

constexpr std::uint32_t table_oid = 16384;
constexpr std::size_t frame_head_bytes = 25;
constexpr const char* written_at = "2026-01-31 12:34:56.789012+00";
// 2026-01-31, in microseconds since 2000.
constexpr std::uint64_t committed_at = 823'178'096'789'012;

struct typed_column {
    std::string_view name;
    type_oid type;
};

constexpr type_oid int8_oid = 20;
constexpr type_oid varchar_oid = 1043;
constexpr type_oid timestamptz_oid = 1184;
constexpr type_oid jsonb_oid = 3802;

constexpr std::array<typed_column, 8> columns = {{
    {"id", int8_oid},
    {"aggregate_type", varchar_oid},
    {"aggregate_id", varchar_oid},
    {"event_type", varchar_oid},
    {"event_data", jsonb_oid},
    {"metadata", jsonb_oid},
    {"version", int8_oid},
    {"created_at", timestamptz_oid},
}};

/// One for each column; `metadata` is NULL.
using row_texts = std::array<std::optional<std::string>, columns.size()>;

/// A flat object of short members, so many quotes for wal2json to escape.
std::string payload_of_bytes(std::size_t bytes) {
    std::string json = "{";
    for (int member = 0; json.size() + 40 < bytes; ++member) {
        json += "\"field_" + std::to_string(member) + "\": \"a value of it\", ";
    }
    json += "\"last\": \"";
    json.append(bytes - std::min(bytes, json.size() + 2), 'x');
    return json + "\"}";
}

/// All ids have the same number of digits.
row_texts make_row(std::uint64_t id, const std::string& payload) {
    constexpr std::uint64_t aggregates = 1000;
    return {std::to_string(id),
            "order",
            std::to_string(aggregates + id % aggregates),
            "order.placed",
            payload,
            std::nullopt,
            "1",
            written_at};
}

std::size_t bytes_of(const row_texts& row) {
    std::size_t bytes = 0;
    for (const auto& text : row) {
        bytes += text ? text->size() : 0;
    }
    return bytes;
}

std::string relation_message() {
    bytes_builder built;
    built.u8('R').number(table_oid, 4).text(event_table().schema).text(event_table().name);
    built.u8('d').number(columns.size(), 2);
    for (const auto& column : columns) {
        built.u8('\0').text(column.name).number(column.type, 4).number(0xFFFFFFFFU, 4);
    }
    return built.take();
}

std::string pgoutput_row(const row_texts& row) {
    bytes_builder built;
    built.u8('I').number(table_oid, 4).u8('N').number(row.size(), 2);
    for (const auto& text : row) {
        if (text) {
            built.u8('t').number(text->size(), 4).raw(*text);
        } else {
            built.u8('n');
        }
    }
    return built.take();
}

std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') {
            json += '\\';
        }
        json += each;
    }
    return json + '"';
}

std::string wal2json_row(const row_texts& row, lsn commit) {
    std::string json = std::string(R"({"action":"I","timestamp":")") + written_at + R"(","lsn":")" +
                       to_string(commit) + R"(","schema":")" + event_table().schema +
                       R"(","table":")" + event_table().name + R"(","columns":[)";
    for (std::size_t index = 0; index < row.size(); ++index) {
        const auto& column = columns[index];
        json += index == 0 ? "" : ",";
        json += "{\"name\":" + quoted(column.name) + ",\"typeoid\":" + std::to_string(column.type) +
                ",\"value\":";
        if (!row[index]) {
            json += "null";
        } else {
            json += column.type == int8_oid ? *row[index] : quoted(*row[index]);
        }
        json += '}';
    }
    return json + "]}";
}

std::string wal2json_edge(const char* action, lsn commit, lsn end) {
    return std::string(R"({"action":")") + action + R"(","timestamp":")" + written_at +
           R"(","lsn":")" + to_string(commit) + R"(","nextlsn":")" + to_string(end) + "\"}";
}

std::string pgoutput_begin(lsn commit) {
    return bytes_builder{}
        .u8('B')
        .number(commit.value, 8)
        .number(committed_at, 8)
        .number(777, 4)
        .take();
}

std::string pgoutput_commit(lsn commit, lsn end) {
    return bytes_builder{}
        .u8('C')
        .u8('\0')
        .number(commit.value, 8)
        .number(end.value, 8)
        .number(committed_at, 8)
        .take();
}

}  // namespace

const table_name& event_table() {
    static const table_name table{"public", "outbox_events"};
    return table;
}

std::string_view payload_of(const std::string& frame) {
    return std::string_view(frame).substr(frame_head_bytes);
}

event_frames::event_frames(event_shape shape) : shape_(shape) {
    const auto others = bytes_of(make_row(next_id_, ""));
    payload_ = payload_of_bytes(shape.row_bytes - std::min(shape.row_bytes, others));
}

std::string event_frames::description() const {
    return xlog_data(lsn{lsn_}, relation_message());
}

std::string event_frames::begin() const {
    const lsn commit{lsn_};
    return xlog_data(commit, is_pgoutput()
                                 ? pgoutput_begin(commit)
                                 : wal2json_edge("B", commit, lsn{lsn_ + transaction_bytes / 2}));
}

std::string event_frames::commit() const {
    const lsn commit{lsn_};
    const lsn end{lsn_ + transaction_bytes / 2};
    return xlog_data(
        end, is_pgoutput() ? pgoutput_commit(commit, end) : wal2json_edge("C", commit, end));
}

std::string event_frames::row() {
    const auto texts = make_row(next_id_++, payload_);
    return xlog_data(lsn{lsn_},
                     is_pgoutput() ? pgoutput_row(texts) : wal2json_row(texts, lsn{lsn_}));
}

std::vector<std::string> event_frames::next(std::size_t rows) {
    std::vector<std::string> frames;
    while (rows > 0) {
        const auto here = std::min(rows, shape_.rows_per_transaction);
        lsn_ += transaction_bytes;
        frames.push_back(begin());
        if (is_pgoutput() && !std::exchange(described_, true)) {
            frames.push_back(description());
        }
        for (std::size_t count = 0; count < here; ++count) {
            frames.push_back(row());
        }
        frames.push_back(commit());
        rows -= here;
    }
    return frames;
}

}  // namespace walrelay::test
