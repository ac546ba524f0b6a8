// A message as the relay made it, and copies of it with the same lengths: what a publisher that
// is measured against the relay sends.
#pragma once

#include "support/nats_handles.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::bench {

/// How such messages are published, where that is not as walrelay does it.
struct publish_form {
    /// The reply subject is this and a number.
    std::string inbox;
    /// So many numbers in turn; 0: each publish has its own.
    std::uint64_t replies = 0;
    /// Names of headers that are left out.
    std::vector<std::string> without = {};
    /// "Name: value", or else "Name:value".
    bool blank_after_name = true;
    /// So many messages are a fast batch, which the last of them commits (nats-server 2.14 and
    /// newer, a stream with allow_batched; NATS ADR-50); 0: each is a publish of its own.
    std::uint64_t batch = 0;
};

/// Such messages as the line that publishes them, ready but for what differs from row to row.
class line_template {
public:
    /// Appends HPUB and the message, as `message_like::make` would have it published.
    void append(std::string& to, std::uint64_t row, std::uint64_t last_sequence) const;

private:
    friend class message_like;

    enum class number { none, row, last_sequence };
    /// A part of the header block that is the same each time, and the number behind it.
    struct piece {
        std::string text;
        number then = number::none;
    };

    void append_reply(std::string& to, std::uint64_t row) const;

    std::string beginning_;
    std::uint64_t replies_ = 0;
    std::uint64_t batch_ = 0;
    std::vector<piece> headers_;
    std::string body_;
};

class message_like {
public:
    explicit message_like(const test::stored_message& sample);
    /// What `save` has written. Throws std::runtime_error.
    explicit message_like(const std::filesystem::path& file);
    void save(const std::filesystem::path& file) const;

    [[nodiscard]] const std::string& subject() const { return subject_; }
    [[nodiscard]] std::size_t body_bytes() const { return body_.size(); }

    /// As if it were that row's, and chained behind the message before it as the relay chains its
    /// own, where the relay does.
    [[nodiscard]] test::message_handle make(const std::string& reply, std::uint64_t row,
                                            std::uint64_t last_sequence) const;
    [[nodiscard]] line_template as_lines(const publish_form& how) const;

private:
    std::string subject_;
    std::string body_;
    std::vector<std::pair<std::string, std::string>> headers_;
};

}  // namespace walrelay::bench
