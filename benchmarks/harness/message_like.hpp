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

class message_like {
public:
    explicit message_like(const test::stored_message& sample);
    /// What `save` has written. Throws std::runtime_error.
    explicit message_like(const std::filesystem::path& file);
    void save(const std::filesystem::path& file) const;

    [[nodiscard]] std::size_t body_bytes() const { return body_.size(); }

    /// As if it were that row's, and chained behind the message before it as the relay chains its
    /// own, where the relay does.
    [[nodiscard]] test::message_handle make(const std::string& reply, std::uint64_t row,
                                            std::uint64_t last_sequence) const;

private:
    std::string subject_;
    std::string body_;
    std::vector<std::pair<std::string, std::string>> headers_;
};

}  // namespace walrelay::bench
