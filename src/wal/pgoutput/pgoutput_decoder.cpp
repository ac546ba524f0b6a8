#include "wal/pgoutput/pgoutput_decoder.hpp"

#include "core/bytea_text.hpp"
#include "core/type_oid.hpp"
#include "wal/pgoutput/pgoutput_skipped.hpp"

#include <string>
#include <utility>

namespace walrelay::wal {
namespace {

/// Reads the rest of one column's value. `type` decides how its text is made out; a longer text
/// than `most` bytes is left out.
result<field> read_value(byte_reader& in, std::uint8_t kind, type_oid type, std::size_t most) {
    switch (kind) {
        case 't':
            break;
        case 'n':
            return field{};
        case 'u':
            return frame_error(errc::frame_unexpected, in.last_place(),
                               "says that a stored value is unchanged, which it cannot be here");
        case 'b':
            return frame_error(errc::frame_unexpected, in.last_place(),
                               "announces a binary value, which walrelay does not ask for",
                               "let no proxy change the options of START_REPLICATION; walrelay "
                               "needs binary 'off'");
        default:
            return in.malformed("is none of n, u, t, b");
    }
    std::uint32_t length = 0;
    std::string_view text;
    if (!in.read(length, "length of value") || !in.read_bytes(text, length, "value")) {
        return in.failure();
    }
    if (type != oid::bytea) {
        return text.size() > most ? field{} : field{text};
    }
    if (!text.starts_with(bytea_mark)) {
        return frame_error(errc::frame_malformed, in.last_place(),
                           "is a bytea that does not begin with \\x",
                           "let nothing override bytea_output = hex in walrelay's session");
    }
    text = digits_of_bytea(text);
    return text.size() > most ? field{} : field{text};
}

result<column> read_column(byte_reader& in) {
    std::uint8_t flags = 0;
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t modifier = 0;
    if (!in.read(flags, "column flags")) {
        return in.failure();
    }
    if (flags > 1) {
        return in.malformed("is neither 0 nor 1");
    }
    if (!in.read_string(name, "column name") || !in.read(type, "type oid") ||
        !in.read(modifier, "type modifier")) {
        return in.failure();
    }
    return column{std::string{name}, type};
}

/// Reads everything between the oid and the columns of a Relation message.
result<relation> read_relation_head(byte_reader& in) {
    std::string_view schema;
    std::string_view name;
    std::uint8_t identity = 0;
    if (!in.read_string(schema, "namespace") || !in.read_string(name, "name") ||
        !in.read(identity, "replica identity")) {
        return in.failure();
    }
    if (identity != 'd' && identity != 'n' && identity != 'f' && identity != 'i') {
        return in.malformed("is none of d, n, f, i");
    }
    relation described;
    described.schema = schema.empty() ? "pg_catalog" : schema;
    described.name = name;
    return described;
}

result<relation> read_relation(byte_reader& in) {
    auto described = read_relation_head(in);
    if (!described) {
        return described;
    }
    std::uint16_t count = 0;
    if (!in.read(count, "number of columns")) {
        return in.failure();
    }
    for (; count > 0; --count) {
        auto next = read_column(in);
        if (!next) {
            return std::move(next).error();
        }
        described->columns.push_back(std::move(*next));
    }
    if (!in.read_end()) {
        return in.failure();
    }
    return described;
}

/// Reads how many columns a tuple has, which must be as many as the table has.
result<void> read_count(byte_reader& in, const relation& table) {
    std::uint16_t count = 0;
    if (!in.read(count, "number of columns")) {
        return in.failure();
    }
    if (count != table.columns.size()) {
        return in.malformed("is " + std::to_string(count) + ", but " + table.schema + "." +
                            table.name + " has " + std::to_string(table.columns.size()));
    }
    return {};
}

bool same_description(const relation& one, const relation& other) {
    return one.schema == other.schema && one.name == other.name && one.columns == other.columns;
}

}  // namespace

result<change> pgoutput_decoder::decode(std::string_view payload) {
    byte_reader in{payload, "pgoutput message"};
    too_large_bytes_ = excess_of(payload);
    std::uint8_t type = 0;
    if (!in.read(type, "type")) {
        return in.failure();
    }
    switch (type) {
        case 'I':
            return insert(in);
        case 'B':
            return begin(in);
        case 'C':
            return commit(in);
        case 'R':
            return describe(in);
        case 'M':
            return message(in);
        case 'U':
            return wants_any_update() ? update(in) : skip(type, in);
        default:
            return skip(type, in);
    }
}

result<change> pgoutput_decoder::begin(byte_reader& in) {
    const auto type_place = in.last_place();
    in.name("pgoutput Begin message");
    transaction_begin started;
    auto& xid = started.xid.emplace();
    if (!in.read(started.commit, "commit LSN") || !in.read(started.committed_at, "commit time") ||
        !in.read(xid, "xid") || !in.read_end()) {
        return in.failure();
    }
    if (const auto allowed = transaction_.begin(started.commit, type_place); !allowed) {
        return allowed.error();
    }
    return change{started};
}

result<change> pgoutput_decoder::commit(byte_reader& in) {
    const auto type_place = in.last_place();
    in.name("pgoutput Commit message");
    std::uint8_t flags = 0;
    transaction_commit finished;
    wall_time committed_at;
    if (!in.read(flags, "flags")) {
        return in.failure();
    }
    if (flags != 0) {
        return in.malformed("is not 0");
    }
    if (!in.read(finished.commit, "commit LSN") || !in.read(finished.end, "end LSN") ||
        !in.read(committed_at, "commit time") || !in.read_end()) {
        return in.failure();
    }
    if (const auto allowed = transaction_.commit(finished, type_place); !allowed) {
        return allowed.error();
    }
    return change{finished};
}

result<change> pgoutput_decoder::describe(byte_reader& in) {
    in.name("pgoutput Relation message");
    std::uint32_t oid = 0;
    if (!in.read(oid, "relation oid")) {
        return in.failure();
    }
    auto described = read_relation(in);
    if (!described) {
        return std::move(described).error();
    }
    remember(oid, std::move(*described));
    return change{nothing_to_relay{}};
}

void pgoutput_decoder::remember(std::uint32_t oid, relation&& described) {
    auto& known = relations_[oid];
    if (known.revision != 0 && same_description(known, described)) {
        return;
    }
    known = std::move(described);
    known.revision = ++last_revision_;
    known.oid = oid;
}

result<const relation*> pgoutput_decoder::read_table(byte_reader& in) const {
    std::uint32_t oid = 0;
    if (!in.read(oid, "relation oid")) {
        return in.failure();
    }
    const auto table = relations_.find(oid);
    if (table == relations_.end()) {
        return in.malformed("is " + std::to_string(oid) + ", which no Relation message described");
    }
    return &table->second;
}

result<change> pgoutput_decoder::insert(byte_reader& in) {
    if (const auto allowed = transaction_.require_open(in.last_place()); !allowed) {
        return allowed.error();
    }
    in.name("pgoutput Insert message");
    const auto table = read_table(in);
    if (!table) {
        return table.error();
    }
    std::uint8_t kind = 0;
    if (!in.read(kind, "kind of tuple")) {
        return in.failure();
    }
    if (kind != 'N') {
        return in.malformed("is not N");
    }
    if (const auto row = read_tuple(in, **table, fields_); !row) {
        return row.error();
    }
    if (!in.read_end()) {
        return in.failure();
    }
    return change{row_insert{*table, fields_, too_large_bytes_}};
}

result<change> pgoutput_decoder::update(byte_reader& in) {
    if (const auto allowed = transaction_.require_open(in.last_place()); !allowed) {
        return allowed.error();
    }
    auto ahead = in;
    ahead.name("pgoutput Update message");
    const auto table = read_table(ahead);
    if (!table) {
        return table.error();
    }
    if (!wants_update()((*table)->schema, (*table)->name)) {
        return skip('U', in);
    }
    std::uint8_t kind = 0;
    if (!ahead.read(kind, "kind of tuple")) {
        return ahead.failure();
    }
    before_.assign((*table)->columns.size(), field{});
    const bool before_is_whole = kind == 'O';
    if (kind == 'K' || kind == 'O') {
        if (const auto old_row = read_tuple(ahead, **table, before_); !old_row) {
            return old_row.error();
        }
        if (!ahead.read(kind, "kind of tuple")) {
            return ahead.failure();
        }
    }
    if (kind != 'N') {
        return ahead.malformed("is not N");
    }
    if (const auto row = read_new_tuple(ahead, **table); !row) {
        return row.error();
    }
    return change{
        row_update{*table, fields_, before_, missing_, too_large_bytes_, before_is_whole}};
}

result<void> pgoutput_decoder::read_tuple(byte_reader& in, const relation& table,
                                          std::vector<field>& into) {
    if (const auto counted = read_count(in, table); !counted) {
        return counted;
    }
    into.clear();
    for (const auto& each : table.columns) {
        std::uint8_t kind = 0;
        if (!in.read(kind, "kind of value")) {
            return in.failure();
        }
        auto value = read_value(in, kind, each.type, longest_value());
        if (!value) {
            return std::move(value).error();
        }
        into.push_back(*value);
    }
    return {};
}

/// A value that is not sent again is the one of the old row, if that one is there.
result<void> pgoutput_decoder::read_new_tuple(byte_reader& in, const relation& table) {
    if (const auto counted = read_count(in, table); !counted) {
        return counted;
    }
    fields_.clear();
    missing_.assign(table.columns.size(), 0);
    bool whole = true;
    for (std::size_t index = 0; index < table.columns.size(); ++index) {
        std::uint8_t kind = 0;
        if (!in.read(kind, "kind of value")) {
            return in.failure();
        }
        if (kind == 'u') {
            fields_.push_back(before_[index]);
            missing_[index] = before_[index] ? 0 : 1;
            whole = whole && before_[index];
            continue;
        }
        auto value = read_value(in, kind, table.columns[index].type, longest_value());
        if (!value) {
            return std::move(value).error();
        }
        fields_.push_back(*value);
    }
    if (whole) {
        missing_.clear();
    }
    return in.read_end() ? result<void>{} : in.failure();
}

result<change> pgoutput_decoder::message(byte_reader& in) {
    const auto type_place = in.last_place();
    in.name("pgoutput Message message");
    std::uint8_t flags = 0;
    lsn where;
    logical_message said;
    std::uint32_t length = 0;
    if (!in.read(flags, "flags")) {
        return in.failure();
    }
    if (flags > 1) {
        return in.malformed("is neither 0 nor 1");
    }
    if (!in.read(where, "LSN") || !in.read_string(said.prefix, "prefix") ||
        !in.read(length, "length of content") || !in.read_bytes(said.content, length, "content") ||
        !in.read_end()) {
        return in.failure();
    }
    if (flags == 0) {
        return change{nothing_to_relay{}};
    }
    if (const auto allowed = transaction_.require_open(type_place); !allowed) {
        return allowed.error();
    }
    said.too_large_bytes = too_large_bytes_;
    said.content = too_large_bytes_ > 0 ? std::string_view{} : said.content;
    return change{said};
}

result<change> pgoutput_decoder::skip(std::uint8_t type, byte_reader& in) {
    if (needs_transaction(type)) {
        if (const auto allowed = transaction_.require_open(in.last_place()); !allowed) {
            return allowed.error();
        }
    }
    if (const auto read = read_skipped(type, in); !read) {
        return read.error();
    }
    if (!in.read_end()) {
        return in.failure();
    }
    return change{nothing_to_relay{}};
}

}  // namespace walrelay::wal
