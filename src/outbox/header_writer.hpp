// Puts headers into a message in their order, each value fit for the wire; none that is empty. A
// header that the configuration sets takes the place of a built-in one of the same name.
#pragma once

#include "core/message.hpp"
#include "outbox/json_member.hpp"
#include "outbox/row_view.hpp"
#include "outbox/trace_context.hpp"

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Where values are put together; kept from row to row for its memory.
struct header_scratch {
    std::string rendered;
    std::string encoded;
    json_member_reader members = {};
    /// What the positions of one transaction begin with, and of which.
    std::string transaction = {};
    position transaction_of = {};
};

/// Lives as long as one row is mapped.
class header_writer {
public:
    header_writer(const row_view& view, message& out, header_scratch& scratch)
        : view_(view), out_(out), scratch_(scratch) {}

    void add_position();
    void add_content_type(std::string_view media_type);
    void add_tombstone();
    void add_trace(trace_context_reader& reader);
    /// The attributes of CloudEvents 1.0 in binary mode (NATS protocol binding for CloudEvents).
    /// `id` is the message's id before it was made fit for a header.
    void add_cloudevents(std::string_view id, std::string_view media_type);
    void add_configured();

private:
    /// nats.c before 3.11 takes the line after an empty value for the value (_processKeyValue in
    /// msg.c), and with the last header of a message reads none of them.
    void add_unless_empty(std::string_view name, std::string_view value);
    void add_built_in(std::string_view name, std::string_view value);
    void add_text(std::string_view name, const field& value);
    void add_attribute(std::string_view name, std::string_view value);
    void add_time();
    [[nodiscard]] field value_of(const std::optional<used_column>& used) const;

    const row_view& view_;
    message& out_;
    header_scratch& scratch_;
};

}  // namespace walrelay::outbox
