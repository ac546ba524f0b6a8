// See mail_order.hpp.
#include "consumer/mail_order.hpp"

#include <simdjson.h>

#include <algorithm>

namespace memo {
namespace {

/// Blanks and control characters would break the dialogue with the mail server.
bool is_address(std::string_view text) {
    const bool fit = std::all_of(text.begin(), text.end(), [](char letter) {
        return static_cast<unsigned char>(letter) > ' ' && letter != '<' && letter != '>';
    });
    return fit && text.find('@') != std::string_view::npos;
}

bool is_uuid(std::string_view text) {
    constexpr std::string_view pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::equal(
        text.begin(), text.end(), pattern.begin(), pattern.end(), [](char letter, char wanted) {
            const bool digit = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
            return wanted == 'x' ? digit : letter == wanted;
        });
}

/// False if the value is not there or is no string.
bool take(simdjson::simdjson_result<simdjson::dom::element> value, std::string& target) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
        return false;
    }
    target = text;
    return true;
}

std::string read_body(const std::string& body, mail_order& order) {
    simdjson::dom::parser parser;
    simdjson::dom::element event;
    if (parser.parse(body).get(event) != simdjson::SUCCESS) {
        return "the body is no JSON";
    }
    std::string row_id;
    if (!take(event["id"], row_id) || !is_uuid(row_id)) {
        return "the body has no uuid 'id'";
    }
    order.row_id = row_id;
    const auto payload = event["event_data"];
    if (!take(payload["subject"], order.subject) || !take(payload["body"], order.text)) {
        return "event_data has no texts 'subject' and 'body'";
    }
    return {};
}

}  // namespace

mail_order read_order(const incoming& message) {
    mail_order order{.message_id = message.message_id,
                     .row_id = {},
                     .recipient = message.recipient,
                     .subject = {},
                     .text = {},
                     .defect = {}};
    order.defect = read_body(message.body, order);
    if (order.defect.empty() && !is_address(order.recipient)) {
        order.defect = "the recipient is no mail address";
    }
    return order;
}

}  // namespace memo
