#include "app/awaited_row.hpp"

#include <utility>

namespace walrelay::app {

result<void> awaited_row::looked(std::optional<wall_time> oldest) {
    const auto before = std::exchange(before_, oldest);
    if (!oldest || oldest != before) {
        return {};
    }
    return error{errc::postgres_unavailable,
                 "rows of the look before have not come yet (PostgreSQL decodes a large "
                 "transaction, the relay waits for something, or nothing comes over the "
                 "replication connection: pg_stat_replication shows it)"};
}

}  // namespace walrelay::app
