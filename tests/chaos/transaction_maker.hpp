// Random transactions on the outbox table: several inserts, savepoints that are rolled back or
// released, now and then a rollback of everything. Pure text: it has no connection.
#pragma once

#include "chaos/dice.hpp"

#include <cstdint>
#include <string>

namespace walrelay::chaos {

struct transaction_text {
    /// Sent on its own first, so that transactions of several writers overlap.
    std::string beginning;
    /// The rest, with COMMIT or ROLLBACK at its end.
    std::string ending{};
    /// That are there once it has run.
    std::uint64_t rows = 0;
};

class transaction_maker {
public:
    /// Rows are numbered from `first` upwards; no number is used twice.
    transaction_maker(std::string aggregate, std::uint64_t first, std::uint64_t seed);

    [[nodiscard]] transaction_text next();

private:
    [[nodiscard]] std::string insert(std::uint64_t rows);
    [[nodiscard]] std::string row();
    [[nodiscard]] std::string note();
    std::uint64_t part(std::string& text);

    std::string aggregate_;
    std::uint64_t next_;
    dice random_;
};

/// INSERT of one row, of an event type of its own.
[[nodiscard]] std::string insert_marker(std::uint64_t number, const std::string& event_type);

}  // namespace walrelay::chaos
