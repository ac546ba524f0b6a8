#include "harness/message_like.hpp"

#include "harness/backlog.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace walrelay::bench {
namespace {

/// A row's id, or what is made of it, with the digits of another row.
std::string ending_in(std::string id, std::uint64_t row) {
    const auto digits = row_digits(row);
    id.replace(id.size() - digits.size(), digits.size(), digits);
    return id;
}

}  // namespace

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
        if (name == "Nats-Expected-Last-Sequence") {
            natsMsgHeader_Set(raw, name.c_str(), std::to_string(last_sequence).c_str());
        } else if (name == "Nats-Msg-Id") {
            natsMsgHeader_Set(raw, name.c_str(), ending_in(value, row).c_str());
        } else {
            natsMsgHeader_Set(raw, name.c_str(), value.c_str());
        }
    }
    return message;
}

}  // namespace walrelay::bench
