// See witness.hpp.
#include "soak/witness.hpp"

#include "soak/steady_writers.hpp"

namespace walrelay::soak {

void call_witness(chaos::arena& where) {
    where.session().execute(
        "SELECT pg_create_logical_replication_slot('soak_witness', 'test_decoding')");
}

expectation ask_witness(chaos::arena& where) {
    // An UPDATE that publishes a row again is one of a writer: the relay sets no status to this.
    const auto rows = where.session().query(R"sql(
SELECT substring(data FROM '^table public\.(outbox_[a-z]+)'),
       substring(data FROM ' id\[uuid\]:''([0-9a-f-]{36})'''),
       data LIKE '%: UPDATE:%',
       data LIKE '% aggregate_id[%]:''poison''%'
  FROM pg_logical_slot_peek_changes('soak_witness', NULL, NULL)
 WHERE data LIKE 'table public.outbox\_%: INSERT:%'
    OR data ~ '^table public.outbox_tasks: UPDATE:.* new-tuple: .* status\[[a-z ]+\]:''pending'''
)sql");
    expectation result;
    for (const auto& row : rows) {
        const auto& id = row[1].value();
        if (row[3] == "t") {
            result.dead.insert(row[0].value() + " " + id);
        } else {
            result.keys.push_back(id + (row[2] == "t" ? published_again : ""));
        }
    }
    return result;
}

std::multiset<std::string> dead_letters(chaos::arena& where) {
    std::multiset<std::string> result;
    const auto rows = where.session().query(
        "SELECT substring(source_table FROM '^outbox_[a-z]+'), message_id"
        " FROM walrelay.dead_letter");
    for (const auto& row : rows) {
        result.insert(row[0].value_or("?") + " " + row[1].value_or("?"));
    }
    return result;
}

}  // namespace walrelay::soak
