// See busy_service.hpp.
#include "systems/busy_service.hpp"

namespace walrelay::test {

busy_service::busy_service(const system_bench& bench)
    : sql_(bench.example_file("writer.sql")), session_(bench.session()), thread_([this] {
          while (!stopping_) {
              session_.execute(sql_);
          }
      }) {}

void busy_service::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

slow_standby::slow_standby(const system_bench& bench) : session_(bench.session()) {
    session_.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    session_.execute("SELECT pg_reload_conf()");
}

bool slow_standby::someone_waits() {
    return eventually(patience, [this] {
        return session_.value_of(
                   "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                   " AND backend_type = 'client backend' AND datname = current_database())") == "t";
    });
}

void slow_standby::arrive() {
    session_.execute("ALTER SYSTEM RESET synchronous_standby_names");
    session_.execute("SELECT pg_reload_conf()");
}

}  // namespace walrelay::test
