#include "harness/message_like.hpp"

#include "harness/backlog.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace walrelay::bench {
namespace {

/// A row's id, or what is made of it, with the digits of another row.
std::string ending_in(std::string id, std::uint64_t row) {
    const auto digits = row_digits(row);
    id.replace(id.size() - digits.size(), digits.size(), digits);
    return id;
}

constexpr const char* id_header = "Nats-Msg-Id";
constexpr const char* sequence_header = "Nats-Expected-Last-Sequence";

}  // namespace

/// Of a batch: its name, how often it is acked at most, what a message that was lost does, the
/// message's number in it, and what the message does.
void line_template::append_reply(std::string& to, std::uint64_t row) const {
    if (batch_ == 0) {
        to.append(std::to_string(replies_ == 0 ? row : row % replies_));
        return;
    }
    const auto place = row % batch_;
    const char* const does = place + 1 == batch_ ? "2" : place == 0 ? "0" : "1";
    fmt::format_to(std::back_inserter(to), "{}.{}.fail.{}.{}.$FI", row / batch_, batch_, place + 1,
                   does);
}

void line_template::append(std::string& to, std::uint64_t row, std::uint64_t last_sequence) const {
    const auto digits_of_row = row_digits(row);
    const auto digits_of_sequence = std::to_string(last_sequence);
    constexpr std::string_view line_end = "\r\n";
    const auto digits = [&](const piece& each) -> std::string_view {
        return each.then == number::row             ? digits_of_row
               : each.then == number::last_sequence ? digits_of_sequence
                                                    : std::string_view();
    };
    std::size_t header_bytes = 0;
    for (const auto& each : headers_) {
        header_bytes += each.text.size() + digits(each).size();
    }
    append_reply(to.append(beginning_), row);
    to.append(" ");
    to.append(std::to_string(header_bytes)).append(" ");
    to.append(std::to_string(header_bytes + body_.size())).append(line_end);
    for (const auto& each : headers_) {
        to.append(each.text).append(digits(each));
    }
    to.append(body_).append(line_end);
}

message_like::message_like(const test::stored_message& sample)
    : subject_(sample.subject),
      body_(sample.body),
      headers_(sample.headers.begin(), sample.headers.end()) {}

message_like::message_like(const std::filesystem::path& file) {
    std::ifstream in(file);
    const auto content = nlohmann::json::parse(in);
    subject_ = content.at("subject");
    body_ = content.at("body");
    headers_ = content.at("headers");
}

void message_like::save(const std::filesystem::path& file) const {
    std::ofstream out(file);
    out << nlohmann::json{{"subject", subject_}, {"body", body_}, {"headers", headers_}};
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

test::message_handle message_like::make(const std::string& reply, std::uint64_t row,
                                        std::uint64_t last_sequence) const {
    natsMsg* raw = nullptr;
    test::require(natsMsg_Create(&raw, subject_.c_str(), reply.c_str(), body_.data(),
                                 static_cast<int>(body_.size())),
                  subject_);
    test::message_handle message(raw);
    for (const auto& [name, value] : headers_) {
        if (name == sequence_header) {
            natsMsgHeader_Set(raw, name.c_str(), std::to_string(last_sequence).c_str());
        } else if (name == id_header) {
            natsMsgHeader_Set(raw, name.c_str(), ending_in(value, row).c_str());
        } else {
            natsMsgHeader_Set(raw, name.c_str(), value.c_str());
        }
    }
    return message;
}

line_template message_like::as_lines(const publish_form& how) const {
    using number = line_template::number;
    line_template lines;
    lines.beginning_ = "HPUB " + subject_ + " " + how.inbox;
    lines.replies_ = how.replies;
    lines.batch_ = how.batch;
    lines.body_ = body_;
    std::string text = "NATS/1.0\r\n";
    for (const auto& [name, value] : headers_) {
        if (std::find(how.without.begin(), how.without.end(), name) != how.without.end()) {
            continue;
        }
        text += name + (how.blank_after_name ? ": " : ":");
        if (name == sequence_header) {
            lines.headers_.push_back({std::move(text), number::last_sequence});
        } else if (name == id_header) {
            text += value.substr(0, value.size() - row_digits(0).size());
            lines.headers_.push_back({std::move(text), number::row});
        } else {
            text += value;
            lines.headers_.push_back({std::move(text), number::none});
        }
        text = "\r\n";
    }
    lines.headers_.push_back({text + "\r\n", number::none});
    return lines;
}

}  // namespace walrelay::bench
