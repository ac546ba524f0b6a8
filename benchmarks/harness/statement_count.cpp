#include "harness/statement_count.hpp"

namespace walrelay::bench {

void count_statements(const bed& on) {
    on.postgres.session().execute("CREATE EXTENSION pg_stat_statements");
}

std::optional<double> statements_so_far(const bed& on) {
    // In the writers' role, so that this itself does not count.
    test::postgres_session session(on.writer_conninfo());
    if (session.query("SELECT FROM pg_extension WHERE extname = 'pg_stat_statements'").empty()) {
        return std::nullopt;
    }
    return std::stod(
        session.value_of("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s "
                         "JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname <> current_user"));
}

}  // namespace walrelay::bench
