#include "sim/server_frames.hpp"

#include "relay/intake/control_proof.hpp"
#include "relay/intake/row_json.hpp"
#include "sim/violation.hpp"
#include "unit/relay/frame_builder.hpp"

namespace walrelay::sim {
namespace {

using test::bytes_builder;

constexpr std::uint32_t first_oid = 16384;

std::uint32_t oid_of(table which) {
    return first_oid + static_cast<std::uint32_t>(which);
}

/// publish_via_partition_root.
table root_of(table which) {
    return which == table::new_partition ? table::outbox : which;
}

/// Microseconds since 2000-01-01.
std::uint64_t postgres_time(wall_time when) {
    constexpr std::chrono::sys_days epoch{std::chrono::year(2000) / 1 / 1};
    return static_cast<std::uint64_t>((when - epoch).count());
}

std::string pgoutput_begin(const transaction& of) {
    return bytes_builder{}
        .u8('B')
        .number(of.commit.value, 8)
        .number(postgres_time(of.committed_at), 8)
        .number(of.xid, 4)
        .take();
}

std::string pgoutput_commit(const transaction& of) {
    return bytes_builder{}
        .u8('C')
        .u8('\0')
        .number(of.commit.value, 8)
        .number(of.end.value, 8)
        .number(postgres_time(of.committed_at), 8)
        .take();
}

const std::vector<std::string> control_columns{"kind",     "slot",          "replay",
                                               "position", "source_schema", "source_table",
                                               "event",    "transaction",   "proof"};

std::vector<std::string> columns_of(const inserted_row& row) {
    if (row.replay) {
        return control_columns;
    }
    return {"id", row.has_other_columns ? "sort" : "kind",
            row.has_other_columns ? "note" : "payload"};
}

/// As many as control_columns; of every relay.
std::vector<std::optional<std::string>> control_values(const transaction& of,
                                                       const inserted_row& row) {
    constexpr type_oid text = 25;
    const relation about{"public", "outbox", {{"id", text}, {"kind", text}, {"payload", text}}, 0};
    const std::vector<field> fields{row.id, row.kind, row.payload};
    const auto xid = std::to_string(of.xid);
    return {"replay",
            std::nullopt,
            std::to_string(row.replay->number),
            row.replay->position,
            about.schema,
            about.name,
            relay::row_as_json({&about, fields}),
            xid,
            relay::control_proof(control_secret, xid)};
}

std::vector<std::string> pgoutput_frames(const transaction& of, plugin_session& session) {
    std::vector<std::string> frames;
    const lsn first = of.rows.empty() ? of.commit : of.rows.front().at;
    frames.push_back(test::xlog_data(first, pgoutput_begin(of)));
    for (const auto& row : of.rows) {
        const auto sent_as = root_of(row.into);
        if (session.described.insert(sent_as).second) {
            const auto name = name_of(sent_as);
            frames.push_back(
                test::relation_frame(oid_of(sent_as), name.schema, name.name, columns_of(row)));
        }
        bytes_builder change;
        change.u8(row.again ? 'U' : 'I').number(oid_of(sent_as), 4).u8('N');
        if (row.replay) {
            test::add_tuple(change, control_values(of, row));
        } else {
            const std::string payload(row.leaves_payload ? test::unchanged_value : row.payload);
            test::add_tuple(change, {row.id, row.kind, payload});
        }
        frames.push_back(test::xlog_data(row.at, change.take()));
    }
    frames.push_back(test::xlog_data(of.end, pgoutput_commit(of)));
    return frames;
}

std::string quoted(const std::string& text) {
    std::string json = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') {
            json += '\\';
        }
        json += each;
    }
    return json + "\"";
}

std::string wal2json_frame(const char* action, const transaction& of) {
    return std::string(R"({"action":")") + action +
           R"(","timestamp":"2024-10-04 00:00:00.000001+00")" + R"(,"lsn":")" +
           to_string(of.commit) + R"(","nextlsn":")" + to_string(of.end) + "\"}";
}

std::string wal2json_column(const std::string& name, const std::string& value) {
    return std::string(R"({"name":")") + name + R"(","typeoid":25,"value":)" + quoted(value) + "}";
}

std::string wal2json_control_row(const transaction& of, const inserted_row& row) {
    const auto values = control_values(of, row);
    std::string columns;
    for (std::size_t index = 0; index < values.size(); ++index) {
        columns += columns.empty() ? "" : ",";
        columns += values[index] ? wal2json_column(control_columns[index], *values[index])
                                 : R"({"name":")" + control_columns[index] +
                                       R"(","typeoid":25,"value":null})";
    }
    return R"({"action":"I","schema":"walrelay","table":"control","columns":[)" + columns + "]}";
}

std::string wal2json_row(const transaction& of, const inserted_row& row) {
    if (row.replay) {
        return wal2json_control_row(of, row);
    }
    const auto name = name_of(row.into);
    const auto names = columns_of(row);
    const auto id = wal2json_column("id", row.id);
    std::string json = R"({"action":")";
    json += row.again ? 'U' : 'I';
    json += R"(","schema":)" + quoted(name.schema) + R"(,"table":)" + quoted(name.name);
    json += R"(,"columns":[)" + id + "," + wal2json_column(names[1], row.kind);
    json += row.leaves_payload ? "" : "," + wal2json_column(names[2], row.payload);
    json += row.again ? R"(],"identity":[)" + id : "";
    return json + "]}";
}

std::vector<std::string> wal2json_frames(const transaction& of) {
    std::vector<std::string> frames;
    const lsn first = of.rows.empty() ? of.commit : of.rows.front().at;
    frames.push_back(test::xlog_data(first, wal2json_frame("B", of)));
    for (const auto& row : of.rows) {
        frames.push_back(test::xlog_data(row.at, wal2json_row(of, row)));
    }
    frames.push_back(test::xlog_data(of.end, wal2json_frame("C", of)));
    return frames;
}

std::uint64_t number_at(const std::string& bytes, std::size_t offset) {
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < sizeof value; ++index) {
        value = (value << 8U) | static_cast<unsigned char>(bytes.at(offset + index));
    }
    return value;
}

}  // namespace

std::vector<std::string> frames_of(const transaction& committed, plugin_session& session) {
    if (committed.rows.empty() && !session.sends_empty_transactions) {
        return {};
    }
    return session.plugin == output_plugin::pgoutput ? pgoutput_frames(committed, session)
                                                     : wal2json_frames(committed);
}

std::string keepalive_of(lsn sent, bool reply_requested) {
    return test::keepalive_frame(sent, reply_requested);
}

reported read_status(const std::string& update) {
    constexpr std::size_t status_bytes = 34;
    constexpr std::size_t written_offset = 1;
    constexpr std::size_t flushed_offset = 9;
    if (update.size() != status_bytes || update.front() != 'r') {
        throw violation("protocol", "a status update that PostgreSQL would not take");
    }
    return {lsn{number_at(update, written_offset)}, lsn{number_at(update, flushed_offset)},
            update.back() != '\0'};
}

}  // namespace walrelay::sim
