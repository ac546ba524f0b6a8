// See postgres_template.hpp.
#include "support/postgres_template.hpp"

#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds patience{120};

// fsync off: a test's data need not outlive the machine. The rest makes room for many tests in
// one server and keeps it from doing work of its own in the middle of one.
constexpr const char* common_settings = R"(
listen_addresses = '127.0.0.1'
wal_level = logical
max_wal_senders = 20
max_replication_slots = 20
max_connections = 60
fsync = off
full_page_writes = off
autovacuum = off
shared_buffers = 32MB
max_wal_size = 4GB
checkpoint_timeout = 1h
log_min_messages = warning
log_replication_commands = on
)";

void initialise(const std::filesystem::path& binaries, const std::filesystem::path& folder,
                const std::filesystem::path& data) {
    run_to_success({.program = (binaries / "initdb").string(),
                    .arguments = {"--pgdata=" + data.string(), "--no-sync", "--auth=trust",
                                  "--username=postgres", "--encoding=UTF8", "--locale=C"},
                    .run_as = postgres_account(),
                    .folder = folder,
                    .name = "initdb"},
                   patience);
}

/// Servers of old minor versions do not have the setting and would not start with it.
bool knows_output_plugin_libraries(const std::filesystem::path& binaries,
                                   const std::filesystem::path& folder,
                                   const std::filesystem::path& data) {
    child_process process({.program = (binaries / "postgres").string(),
                           .arguments = {"-D", data.string(), "-C", "output_plugin_libraries"},
                           .run_as = postgres_account(),
                           .folder = folder,
                           .name = "settings"});
    return process.wait_exit(patience) == 0;
}

temporary_folder make_template(const std::filesystem::path& binaries) {
    temporary_folder folder("postgres-template");
    give_to_postgres(folder.path());
    const auto data = folder.path() / "data";
    initialise(binaries, folder.path(), data);
    std::ofstream configuration(data / "postgresql.conf", std::ios::app);
    configuration << common_settings;
    if (knows_output_plugin_libraries(binaries, folder.path(), data)) {
        configuration << "output_plugin_libraries = 'pgoutput, test_decoding, wal2json'\n";
    }
    return folder;
}

std::filesystem::path newest_version_in(const std::filesystem::path& base) {
    int newest = 0;
    if (std::filesystem::is_directory(base)) {
        for (const auto& entry : std::filesystem::directory_iterator(base)) {
            const int version = std::atoi(entry.path().filename().c_str());
            if (version > newest && std::filesystem::exists(entry.path() / "bin" / "postgres")) {
                newest = version;
            }
        }
    }
    if (newest == 0) {
        throw std::runtime_error("no PostgreSQL server in " + base.string() +
                                 ": apt install postgresql, or set WALRELAY_TEST_PG_BIN");
    }
    return base / std::to_string(newest) / "bin";
}

}  // namespace

std::filesystem::path postgres_binary_folder() {
    if (const char* chosen = std::getenv("WALRELAY_TEST_PG_BIN"); chosen != nullptr) {
        return chosen;
    }
    return newest_version_in("/usr/lib/postgresql");
}

std::optional<account> postgres_account() {
    if (geteuid() != 0) {
        return std::nullopt;
    }
    return find_account("postgres");
}

void give_to_postgres(const std::filesystem::path& folder) {
    const auto owner = postgres_account();
    if (!owner) {
        return;
    }
    const auto give = [&owner](const std::filesystem::path& path) {
        if (lchown(path.c_str(), owner->user, owner->group) != 0) {
            throw std::runtime_error("cannot change the owner of " + path.string());
        }
    };
    give(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        give(entry.path());
    }
}

void copy_postgres_template(const std::filesystem::path& target,
                            const std::filesystem::path& binaries) {
    static std::map<std::filesystem::path, temporary_folder> originals;
    auto found = originals.find(binaries);
    if (found == originals.end()) {
        found = originals.emplace(binaries, make_template(binaries)).first;
    }
    const auto& original = found->second;
    run_to_success({.program = "cp",
                    .arguments = {"-a", (original.path() / "data").string(), target.string()},
                    .folder = original.path(),
                    .name = "cp"},
                   patience);
}

}  // namespace walrelay::test
