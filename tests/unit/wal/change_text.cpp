#include "unit/wal/change_text.hpp"

#include <cstdint>
#include <cstdio>
#include <ctime>

namespace walrelay::testing {
namespace {

std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char each : bytes) {
        const auto code = static_cast<unsigned char>(each);
        if (code < 0x20 || code == 0x7f) {
            char buffer[sizeof "\\x00"];
            std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned>(code));
            text += buffer;
        } else {
            text += each == '\\' || each == '"' ? std::string{'\\', each} : std::string{each};
        }
    }
    return text;
}

/// FNV-1a: that two long values are the same need not survive an attack.
std::uint64_t hash(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char each : bytes) {
        value = (value ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    }
    return value;
}

std::string to_text(const field& value) {
    constexpr std::size_t most_bytes = 200;
    constexpr std::size_t shown_bytes = 32;
    if (!value) {
        return "null";
    }
    if (value->size() <= most_bytes) {
        return '"' + escaped(*value) + '"';
    }
    return '"' + escaped(value->substr(0, shown_bytes)) + "\"...(" + std::to_string(value->size()) +
           " bytes, hash " + std::to_string(hash(*value)) + ")";
}

std::string to_text(wall_time time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const auto micros = static_cast<int>((time - seconds).count());
    const std::time_t since_1970 = seconds.time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&since_1970, &parts);
    char text[64];
    const auto length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%06d", micros);
    return text;
}

struct describer {
    std::string operator()(const nothing_to_relay& /*none*/) const { return "nothing to relay"; }
    std::string operator()(const logical_message& said) const {
        return "message " + escaped(said.prefix) + ": " + to_text(field(said.content));
    }
    std::string operator()(const transaction_begin& begin) const {
        return "begin " + to_string(begin.commit) + " at " + to_text(begin.committed_at);
    }
    std::string operator()(const transaction_commit& commit) const {
        return "commit " + to_string(commit.commit) + " end " + to_string(commit.end);
    }
    std::string operator()(const row_update& row) const {
        std::string text = "update " + escaped(row.table->schema) + "." + escaped(row.table->name);
        for (std::size_t index = 0; index < row.fields.size(); ++index) {
            const bool missing = !row.missing.empty() && row.missing[index] != 0;
            text += ' ' + escaped(row.table->columns.at(index).name) + '=' +
                    (row.before[index] ? to_text(row.before[index]) + "->" : "") +
                    (missing ? "missing" : to_text(row.fields[index]));
        }
        return text;
    }
    std::string operator()(const row_insert& row) const {
        std::string text = "insert " + escaped(row.table->schema) + "." + escaped(row.table->name);
        for (std::size_t index = 0; index < row.fields.size(); ++index) {
            const auto& each = row.table->columns.at(index);
            text += ' ' + escaped(each.name) + ':' + std::to_string(each.type) + '=' +
                    to_text(row.fields[index]);
        }
        return text;
    }
};

}  // namespace

std::string to_text(const change& decoded) {
    return std::visit(describer{}, decoded);
}

}  // namespace walrelay::testing
