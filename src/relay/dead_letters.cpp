#include "relay/dead_letters.hpp"

#include "outbox/json_value.hpp"

#include <string>

namespace walrelay::relay {
namespace {

void append_column(std::string& json, const column& about, const field& value) {
    json += R"({"name":)";
    outbox::append_json_string(json, about.name);
    json += R"(,"type":)";
    json += std::to_string(about.type);
    json += R"(,"value":)";
    if (value) {
        outbox::append_json_string(json, *value);
    } else {
        json += "null";
    }
    json += '}';
}

std::string row_as_json(const row_insert& row) {
    std::string json = "[";
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        if (index > 0) {
            json += ',';
        }
        append_column(json, row.table->columns[index], row.fields[index]);
    }
    json += ']';
    return json;
}

}  // namespace

dead_letter make_dead_letter(const table_name& source, const row_insert& row,
                             const message& content, const condemnation& reason) {
    dead_letter letter;
    letter.source = source;
    letter.where = content.where;
    letter.committed_at = content.committed_at;
    letter.message_id = content.id;
    letter.subject = content.subject;
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        letter.headers.push_back(content.header_at(index));
    }
    letter.event = row_as_json(row);
    // The remedy is one for a relay that stops there.
    letter.reason = to_string(error{reason.why.code, reason.why.what, "", reason.why.server_said});
    letter.error_code = reason.error_code;
    letter.attempts = reason.attempts;
    return letter;
}

std::string describe(const dead_letter& letter) {
    const auto what = "a row of table " + to_string(letter.source) + " at position " +
                      to_string(letter.where) +
                      " is set aside in walrelay.dead_letter: " + letter.reason;
    if (letter.event.empty()) {
        return what +
               ". The letter does not hold its content, and cannot be retried: where the row is "
               "still in its table, insert it again, under another id, once the cause is removed";
    }
    return what +
           ". Nothing is lost: `walrelay dead-letter list` shows it, and `walrelay dead-letter "
           "retry` publishes it once the cause is mended";
}

}  // namespace walrelay::relay
