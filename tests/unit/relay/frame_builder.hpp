// Replication frames as a server sends them, for scripts: pgoutput inside XLogData, and keepalives.
#pragma once

#include "core/lsn.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::test {

class bytes_builder {
public:
    bytes_builder& u8(char value) {
        bytes_ += value;
        return *this;
    }
    bytes_builder& number(std::uint64_t value, unsigned count) {
        for (unsigned index = count; index > 0; --index) {
            bytes_ += static_cast<char>((value >> (8U * (index - 1))) & 0xFFU);
        }
        return *this;
    }
    bytes_builder& text(std::string_view value) {
        bytes_.append(value);
        bytes_ += '\0';
        return *this;
    }
    bytes_builder& raw(std::string_view value) {
        bytes_.append(value);
        return *this;
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// `sent_at` in microseconds of PostgreSQL's time.
inline std::string xlog_data(lsn at, std::string_view payload, std::uint64_t sent_at = 0) {
    return bytes_builder{}
        .u8('w')
        .number(at.value, 8)
        .number(at.value, 8)
        .number(sent_at, 8)
        .raw(payload)
        .take();
}

inline std::string keepalive_frame(lsn end, bool reply_requested = false) {
    return bytes_builder{}
        .u8('k')
        .number(end.value, 8)
        .number(0, 8)
        .u8(reply_requested ? '\1' : '\0')
        .take();
}

/// Of a transaction that committed at 0 of PostgreSQL's time.
inline std::string begin_frame(lsn commit, std::uint64_t sent_at = 0) {
    return xlog_data(
        commit, bytes_builder{}.u8('B').number(commit.value, 8).number(0, 8).number(1, 4).take(),
        sent_at);
}

inline std::string commit_frame(lsn commit, lsn end) {
    return xlog_data(end, bytes_builder{}
                              .u8('C')
                              .u8('\0')
                              .number(commit.value, 8)
                              .number(end.value, 8)
                              .number(0, 8)
                              .take());
}

/// A table whose columns are all of type text.
inline std::string relation_frame(std::uint32_t oid, std::string_view schema, std::string_view name,
                                  const std::vector<std::string>& columns) {
    constexpr std::uint32_t text_oid = 25;
    bytes_builder built;
    built.u8('R').number(oid, 4).text(schema).text(name).u8('d').number(columns.size(), 2);
    for (const auto& column : columns) {
        built.u8('\0').text(column).number(text_oid, 4).number(0xFFFFFFFFU, 4);
    }
    return xlog_data(lsn{}, built.take());
}

/// Where the rows of a script lie if it does not say: all in one WAL record.
inline constexpr lsn some_row{1};

/// `u` in a tuple: the value was left where it is stored.
inline constexpr std::string_view unchanged_value = "\1unchanged";

inline void add_tuple(bytes_builder& built, const std::vector<std::optional<std::string>>& values) {
    built.number(values.size(), 2);
    for (const auto& value : values) {
        if (!value) {
            built.u8('n');
        } else if (*value == unchanged_value) {
            built.u8('u');
        } else {
            built.u8('t').number(value->size(), 4).raw(*value);
        }
    }
}

/// `before` is the whole old row (REPLICA IDENTITY FULL), empty where it is not sent.
inline std::string update_frame(std::uint32_t oid,
                                const std::vector<std::optional<std::string>>& before,
                                const std::vector<std::optional<std::string>>& values) {
    bytes_builder built;
    built.u8('U').number(oid, 4);
    if (!before.empty()) {
        built.u8('O');
        add_tuple(built, before);
    }
    built.u8('N');
    add_tuple(built, values);
    return xlog_data(some_row, built.take());
}

inline std::string message_frame(std::string_view prefix, std::string_view content) {
    return xlog_data(some_row, bytes_builder{}
                                   .u8('M')
                                   .u8('\1')
                                   .number(0, 8)
                                   .text(prefix)
                                   .number(content.size(), 4)
                                   .raw(content)
                                   .take());
}

inline std::string insert_frame(std::uint32_t oid,
                                const std::vector<std::optional<std::string>>& values,
                                lsn at = some_row) {
    bytes_builder built;
    built.u8('I').number(oid, 4).u8('N').number(values.size(), 2);
    for (const auto& value : values) {
        if (value) {
            built.u8('t').number(value->size(), 4).raw(*value);
        } else {
            built.u8('n');
        }
    }
    return xlog_data(at, built.take());
}

}  // namespace walrelay::test
