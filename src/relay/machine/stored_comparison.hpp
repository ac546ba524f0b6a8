// The rows that the slot sends are compared with the stream, one by one: how far that is. Pure.
//
//     begun, the mark must say so first -> the stream is read -> rows are compared -> over
#pragma once

#include "relay/lane/stored_rows.hpp"

#include <string>
#include <utility>

namespace walrelay::relay {

class stored_comparison {
public:
    /// `why` is for the log.
    void begin(stored_rows_request wanted, std::string why) {
        wanted_ = std::move(wanted);
        why_ = std::move(why);
        stage_ = stage::marking;
    }
    [[nodiscard]] bool is_open() const { return stage_ != stage::none; }
    /// Before any row is compared.
    [[nodiscard]] bool is_reading_back() const { return waits_for_mark() || is_reading(); }
    [[nodiscard]] bool waits_for_mark() const { return stage_ == stage::marking; }
    [[nodiscard]] bool is_reading() const { return stage_ == stage::reading; }
    [[nodiscard]] bool is_comparing() const { return stage_ == stage::comparing; }

    void mark_is_written() { stage_ = stage::reading; }
    void stream_is_read() { stage_ = stage::comparing; }
    /// Over, or given up. Returns whether there was one.
    bool end() { return std::exchange(stage_, stage::none) != stage::none; }

    [[nodiscard]] const stored_rows_request& wanted() const { return wanted_; }
    [[nodiscard]] const std::string& why() const { return why_; }

private:
    enum class stage { none, marking, reading, comparing };

    stage stage_ = stage::none;
    stored_rows_request wanted_;
    std::string why_;
};

}  // namespace walrelay::relay
