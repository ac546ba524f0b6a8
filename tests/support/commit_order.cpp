// See commit_order.hpp.
#include "support/commit_order.hpp"

#include <stdexcept>

namespace walrelay::test {

commit_order::commit_order(const postgres_server& server, const std::string& database)
    : conninfo_(server.conninfo(database)), slot_("order_of_" + database) {
    postgres_session(conninfo_).execute("SELECT pg_create_logical_replication_slot(" +
                                        as_literal(slot_) + ", 'test_decoding')");
}

commit_order::~commit_order() {
    try {
        postgres_session(conninfo_).execute("SELECT pg_drop_replication_slot(" + as_literal(slot_) +
                                            ")");
    } catch (const std::runtime_error&) {
        // The test has taken the server away: the slot goes with it.
    }
}

std::vector<std::string> commit_order::ids() {
    std::vector<std::string> ids;
    const auto rows = postgres_session(conninfo_).query(
        R"(SELECT substring(data FROM 'id\[uuid\]:''([0-9a-f-]{36})''')
           FROM pg_logical_slot_peek_changes($1, NULL, NULL)
           WHERE data LIKE 'table public.outbox_events: INSERT:%')",
        {slot_});
    for (const auto& row : rows) {
        ids.push_back(row.front().value());
    }
    return ids;
}

}  // namespace walrelay::test
