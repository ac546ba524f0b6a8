// What the tests must know of each system beside its schema.sql and walrelay.toml: how its old
// poller and its operators spoke to the table. Knows neither walrelay nor servers.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace walrelay::test {

struct system_facts {
    /// The folder in examples/.
    std::string example;
    std::string table;
    std::string business_table;
    /// Rows of the outbox, and of the business table, that one run of writer.sql adds.
    int rows_per_write = 1;
    int business_rows_per_write = 1;
    /// SQL over a row: its Nats-Msg-Id, and its state in a word.
    std::string message_id;
    std::string state;
    /// The state once the relay has published the row, and once the row is a dead letter.
    std::string published;
    std::string dead;
    /// True of a row, as SQL, once what the relay notes of its publishing, or of its death, is
    /// there.
    std::string published_noted = "true";
    std::string dead_noted = "true";
    /// SET list with which the old poller marked a row that it had published.
    std::string poller_mark;
    /// SET list that leaves a row as a poller does that is stopped half-way.
    std::string half_way;
    /// INSERT of a row that can never be a message; returns its message id.
    std::string poison;
    /// SET list that makes a fit row of it.
    std::string cure;
    /// SET list with which operators ask for a row to be published again.
    std::string replay;
};

[[nodiscard]] const system_facts& facts_of(std::string_view example);

}  // namespace walrelay::test
