// See postgres_server.hpp.
#include "support/postgres_server.hpp"

#include "support/eventually.hpp"
#include "support/postgres_template.hpp"

#include <chrono>
#include <fstream>
#include <stdexcept>

namespace walrelay::test {

postgres_server::postgres_server(const postgres_options& options)
    : postgres_instance("postgres", options.binaries) {
    copy_postgres_template(data(), binaries());
    configure(options.settings);
    start();
}

void postgres_server::become_standby(const std::string& without_slot) {
    stop(postgres_stop::fast);
    if (!without_slot.empty()) {
        std::filesystem::remove_all(data() / "pg_replslot" / without_slot);
    }
    std::ofstream(data() / "standby.signal").close();
    start();
}

void postgres_server::promote() {
    run_program("pg_ctl", {"promote", "--pgdata=" + data().string(), "--wait"});
    if (!eventually(std::chrono::seconds(60),
                    [this] { return session().value_of("SELECT pg_is_in_recovery()") == "f"; })) {
        throw std::runtime_error("the server does not leave recovery; its log:\n" + log());
    }
}

}  // namespace walrelay::test
