// An outbox table of the usual shape, and rows for it that tell where they belong.
#pragma once

#include <cstdint>
#include <string>

namespace walrelay::test {

/// CREATE TABLE of the reference shape, with its indexes. `table` as SQL writes it.
[[nodiscard]] std::string create_outbox_events(const std::string& table = "outbox_events");

/// The id of the row with that number: a uuid that ends with its decimal digits.
[[nodiscard]] std::string event_id(std::uint64_t number);

/// INSERT of the rows with the numbers `first` to `last`, in this order and as one statement. The
/// number is also the row's version and `n` in its event_data; the aggregate is `aggregate`.
[[nodiscard]] std::string insert_events(std::uint64_t first, std::uint64_t last,
                                        const std::string& aggregate = "order-1",
                                        const std::string& table = "outbox_events");

/// INSERT of one row whose number is an SQL expression.
[[nodiscard]] std::string insert_event_of(const std::string& number, const std::string& table);

[[nodiscard]] inline std::string insert_event(std::uint64_t number,
                                              const std::string& aggregate = "order-1",
                                              const std::string& table = "outbox_events") {
    return insert_events(number, number, aggregate, table);
}

}  // namespace walrelay::test
