#include "support/pgbouncer.hpp"

#include "support/eventually.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace walrelay::test {

pgbouncer::pgbouncer(std::uint16_t server_port, const std::string& mode, int size) {
    const auto file = folder_.path() / "pgbouncer.ini";
    std::ofstream(file) << "[databases]\n* = host=127.0.0.1 port=" << server_port
                        << " user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = "
                        << port_ << "\nauth_type = any\npool_mode = " << mode
                        << "\ndefault_pool_size = " << size
                        << "\nunix_socket_dir =\nquery_wait_timeout = 2\n";
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    // It does not run as root.
    const auto someone = geteuid() == 0 ? std::optional(find_account("nobody")) : std::nullopt;
    process_.emplace(command{.program = "pgbouncer",
                             .arguments = {file.string()},
                             .run_as = someone,
                             .folder = folder_.path(),
                             .name = "pgbouncer"});
    const bool is_up = eventually(std::chrono::seconds(30), [&] {
        return process_->standard_error().find("process up") != std::string::npos;
    });
    if (!is_up) {
        throw std::runtime_error("pgbouncer does not come up: " + process_->standard_error());
    }
}

}  // namespace walrelay::test
