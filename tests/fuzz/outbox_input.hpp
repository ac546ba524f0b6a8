// A fuzz input as a row of an outbox table and the configuration of that table. The first byte
// chooses the configuration, the next two which columns are NULL; what follows are the values,
// parted by a backslash and any other byte.
#pragma once

#include "core/change.hpp"
#include "core/outbox_table.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace walrelay::fuzz {

class outbox_input {
public:
    explicit outbox_input(FuzzedDataProvider& input) {
        input.ConsumeData(&choice_, sizeof choice_);
        std::array<std::uint8_t, 2> null{};
        input.ConsumeData(null.data(), null.size());
        configure();
        const unsigned is_null = null[0] + 256U * null[1];
        for (std::size_t index = 0; index < rows_of_.columns.size(); ++index) {
            values_.push_back(input.ConsumeRandomLengthString());
            fields_.push_back((is_null >> index) % 2 == 0 ? field(values_.back()) : std::nullopt);
        }
    }

    [[nodiscard]] const outbox_table& table() const { return table_; }
    [[nodiscard]] row_insert row() const { return {&rows_of_, fields_}; }
    [[nodiscard]] bool has_sequence() const { return (choice_ & 0x80U) != 0; }

private:
    void configure() {
        constexpr std::array bodies{body_format::event, body_format::payload,
                                    body_format::cloudevents, body_format::protobuf};
        constexpr std::array subjects{"events.{a}.{b}", "{a}", "{a|b}.x.{aggregate_id}", "x.{b}-y"};
        constexpr std::array<type_oid, 4> payload_types{25, 3802, 17, 16};
        table_.table = {"public", "Nats-Events"};
        table_.body = bodies[choice_ % bodies.size()];
        table_.subject = subjects[(choice_ >> 2U) % subjects.size()];
        table_.message_id = "{id}";
        table_.headers = {{"X-A", "{a}"}, {"X-Both", "Na{a}{b|a}"}, {"ce-Subject", "{event_type}"}};
        const auto payload_type = payload_types[(choice_ >> 4U) % payload_types.size()];
        rows_of_ = {"public",
                    "Nats-Events",
                    {{"id", 25},
                     {"a", 25},
                     {"b", 25},
                     {"aggregate_type", 25},
                     {"aggregate_id", 25},
                     {"event_type", 25},
                     {"payload", payload_type},
                     {"metadata", 3802},
                     {"version", 20},
                     {"created_at", 1184}},
                    choice_ + std::uint64_t{1}};
        if ((choice_ & 0x40U) != 0) {
            rows_of_.columns.push_back({"traceparent", 25});
        }
    }

    std::uint8_t choice_ = 0;
    outbox_table table_;
    relation rows_of_;
    std::deque<std::string> values_;  // a deque keeps its elements where they are
    std::vector<field> fields_;
};

}  // namespace walrelay::fuzz
