#include "core/message.hpp"

namespace walrelay {
namespace {

void empty(std::string& text, std::size_t kept_bytes) {
    text.clear();
    if (text.capacity() > kept_bytes) {
        text.shrink_to_fit();
    }
}

}  // namespace

const char* to_string(message_cause of) {
    switch (of) {
        case message_cause::snapshot:
            return "snapshot";
        case message_cause::republish:
            return "republish";
        case message_cause::retry:
            return "retry";
        case message_cause::replay:
            return "replay";
        case message_cause::live:
            break;
    }
    return "live";
}

void message::clear(std::size_t kept_bytes) {
    where = {};
    cause = message_cause::live;
    committed_at = {};
    xid.reset();
    empty(aggregate, kept_bytes);
    empty(id, kept_bytes);
    empty(subject, kept_bytes);
    empty(body, kept_bytes);
    for (auto& each : headers_) {
        empty(each.name, kept_bytes);
        empty(each.value, kept_bytes);
    }
    header_count_ = 0;
}

void message::add_header(std::string_view name, std::string_view value) {
    if (header_count_ == headers_.size()) {
        headers_.emplace_back();
    }
    headers_[header_count_].name.assign(name);
    headers_[header_count_].value.assign(value);
    ++header_count_;
}

std::size_t message::size_bytes() const {
    constexpr std::size_t header_punctuation_bytes = 4;  // ": " and CR LF
    std::size_t total = id.size() + subject.size() + body.size();
    for (std::size_t index = 0; index < header_count_; ++index) {
        total += headers_[index].name.size() + headers_[index].value.size();
        total += header_punctuation_bytes;
    }
    return total;
}

}  // namespace walrelay
