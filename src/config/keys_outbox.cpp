// The keys of [[outbox]].
#include "config/identifier.hpp"
#include "config/key_makers.hpp"
#include "config/outbox_tables.hpp"
#include "config/sections.hpp"

namespace walrelay::config {
namespace {

key table_key() {
    const key_description about{
        "outbox", "table", "--table",
        "The table, written as in SQL: the schema is `public` if none is named, parts without "
        "double quotes are folded to lower case (`'\"Odd Schema\".\"My Table\"'` keeps both). "
        "Each entry has either this or `message_prefix`, and no two have the same."};
    const place<table_name> at = [](const destination& to) -> table_name& {
        return to.table.table;
    };
    const auto read = [](const value& found) -> read_result<table_name> {
        const auto text = read_text(found);
        if (!text) {
            return text.error();
        }
        return read_table_name(*text);
    };
    return {about, value_kind::text, {}, storing(about, at, read), [](const destination&) {
                return "";
            }};
}

key message_prefix_key() {
    auto row = text_key(
        {"outbox", "message_prefix", "",
         "In place of `table`: rows are the JSON objects that writers emit with "
         "`pg_logical_emit_message(true, '<message_prefix>', '{\"id\": ...}')`; there is no table. "
         "The keys are the columns."},
        [](const destination& to) -> std::string& { return to.table.message_prefix; },
        check_message_prefix);
    row.store = [store = row.store](const value& found, const destination& to) {
        auto problems = store(found, to);
        if (to.table.is_tableless()) {
            to.table.table = message_source(to.table.message_prefix);
        }
        return problems;
    };
    return row;
}

key columns_key() {
    const key_description about{
        "outbox", "columns", "",
        "Which column plays which role; names are taken as they are, case included. The roles are "
        "`id`, `aggregate_type`, `aggregate_id`, `event_type`, `payload`, `metadata`, `version` "
        "and "
        "`created_at`. A role that is not named here is played by the column of its own name where "
        "the table has it; `payload` by `event_data`, else by `payload`."};
    return {about,
            value_kind::table,
            {},
            [=](const value& found, const destination& to) {
                return store_columns(about, found, to.table.columns);
            },
            [](const destination&) { return ""; }};
}

key headers_key() {
    const key_description about{
        "outbox", "headers", "",
        "Headers of each message beside those of walrelay: name and template of the value. A "
        "header is left out where a column of it is NULL, or its value empty. Names that begin "
        "with `Nats-` or `Walrelay-` are reserved."};
    return {about,
            value_kind::table,
            {},
            [=](const value& found, const destination& to) {
                return store_headers(about, found, to.table.headers);
            },
            [](const destination&) { return ""; }};
}

std::vector<key> message_keys() {
    return {
        text_key(
            {"outbox", "subject", "--subject",
             "Template of the subject. `{name}` is a role or a column, `{name|other}` the first "
             "that is not NULL. Each value is one token, encoded where NATS needs it; only the "
             "dots of a placeholder that ends the template stay, so that one may give several "
             "tokens."},
            [](const destination& to) -> std::string& { return to.table.subject; }),
        text_key({"outbox", "message_id", "--message-id",
                  "Template of `Nats-Msg-Id`. It must differ between all rows of all tables that "
                  "share a stream. `{idempotency_key|id}` takes the id where there is no key."},
                 [](const destination& to) -> std::string& { return to.table.message_id; }),
        choice_key<body_format>(
            {"outbox", "body", "--body",
             "What a message carries: a JSON envelope (`\"event\"`), the bytes of the payload "
             "column "
             "alone (`\"payload\"`), CloudEvents 1.0 in binary mode (`\"cloudevents\"`) or "
             "`proto/walrelay/v1/event.proto` (`\"protobuf\"`)."},
            [](const destination& to) -> body_format& { return to.table.body; },
            {{"event", body_format::event},
             {"payload", body_format::payload},
             {"cloudevents", body_format::cloudevents},
             {"protobuf", body_format::protobuf}}),
    };
}

}  // namespace

std::vector<key> outbox_keys() {
    std::vector<key> all{table_key(), message_prefix_key(), columns_key()};
    for (key& row : message_keys()) {
        all.push_back(std::move(row));
    }
    all.push_back(headers_key());
    for (key& row : outbox_row_keys()) {
        all.push_back(std::move(row));
    }
    return all;
}

}  // namespace walrelay::config
