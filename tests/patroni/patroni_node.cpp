// See patroni_node.hpp.
#include "patroni/patroni_node.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/http_client.hpp"
#include "support/postgres_template.hpp"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace walrelay::patroni {
namespace {

// The shortest times that Patroni allows. Asynchronous: what a standby lacks of the last moment is
// gone after a failover, and the relay has to cope with that.
constexpr const char* configuration_text = R"(scope: walrelay
name: {name}
restapi:
  listen: 127.0.0.1:{rest}
  connect_address: 127.0.0.1:{rest}
etcd3:
  hosts: 127.0.0.1:{etcd}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    maximum_lag_on_failover: 100000000
{ignored}
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        wal_level: logical
        wal_log_hints: "on"
        hot_standby: "on"
        hot_standby_feedback: "on"
        max_wal_senders: 20
        max_replication_slots: 20
        wal_keep_size: 256MB
        fsync: "off"
        shared_buffers: 32MB
{more}
  initdb:
    - encoding: UTF8
    - locale: C
    - auth: trust
  pg_hba:
    - local all all trust
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {data}
  bin_dir: {bin}
  pgpass: {folder}/{name}.pgpass
  basebackup:
    - checkpoint: fast
  authentication:
    superuser:
      username: postgres
    replication:
      username: postgres
    rewind:
      username: postgres
  parameters:
    unix_socket_directories: {folder}
)";

}  // namespace

patroni_node::patroni_node(const node_surroundings& around, int number)
    : around_(around),
      name_("node" + std::to_string(number)),
      port_(test::free_port()),
      rest_port_(test::free_port()) {
    write_configuration();
}

patroni_node::~patroni_node() {
    if (patroni_) {
        patroni_->kill_9();
    }
    // Nobody starts it again now.
    if (const auto pid = postmaster()) {
        kill(*pid, SIGQUIT);
        (void)test::eventually(std::chrono::seconds(10), [this] { return !postmaster(); });
    }
    if (const auto pid = postmaster()) {
        kill(*pid, SIGKILL);
    }
}

std::filesystem::path patroni_node::configuration() const {
    return around_.folder / (name_ + ".yml");
}

std::filesystem::path patroni_node::data() const {
    return around_.folder / name_;
}

void patroni_node::write_configuration() const {
    const std::string more =
        around_.synchronizes_slots ? "        sync_replication_slots: \"on\"" : "";
    const std::string ignored =
        around_.leaves_slot_alone ? "    ignore_slots: [{name: walrelay, type: logical}]" : "";
    std::ofstream out(configuration());
    out << fmt::format(configuration_text, fmt::arg("name", name_), fmt::arg("rest", rest_port_),
                       fmt::arg("etcd", around_.etcd_port), fmt::arg("port", port_),
                       fmt::arg("data", data().string()), fmt::arg("more", more),
                       fmt::arg("ignored", ignored),
                       fmt::arg("bin", around_.postgres_programs.string()),
                       fmt::arg("folder", around_.folder.string()));
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + configuration().string());
    }
}

test::postgres_session patroni_node::session(const std::string& database) const {
    return test::postgres_session("host=127.0.0.1 port=" + std::to_string(port_) +
                                  " user=postgres dbname=" + database);
}

void patroni_node::start() {
    patroni_.emplace(test::command{.program = (around_.patroni_programs / "patroni").string(),
                                   .arguments = {configuration().string()},
                                   .environment = {{"PGDATA", ""}, {"PGPORT", ""}, {"PGHOST", ""}},
                                   .run_as = test::postgres_account(),
                                   .folder = around_.folder,
                                   .name = name_});
}

std::optional<pid_t> patroni_node::postmaster() const {
    pid_t pid = 0;
    if (!(std::ifstream(data() / "postmaster.pid") >> pid) || pid <= 0 || kill(pid, 0) != 0) {
        return std::nullopt;
    }
    // After a kill the file stays, and its number may be another process's by now.
    std::ifstream words("/proc/" + std::to_string(pid) + "/cmdline");
    std::string line;
    std::getline(words, line);
    return line.find(data().string()) != std::string::npos ? std::optional(pid) : std::nullopt;
}

void patroni_node::kill_postgres() const {
    const auto pid = postmaster();
    if (!pid || kill(*pid, SIGKILL) != 0) {
        throw std::runtime_error("PostgreSQL of " + name_ + " does not run");
    }
}

int patroni_node::status_of(const std::string& target) const {
    try {
        return test::http_get(rest_port_, target).status;
    } catch (const std::system_error&) {
        return 0;  // its Patroni is not there
    }
}

bool patroni_node::leads() const {
    constexpr int ok = 200;
    return status_of("/primary") == ok;
}

bool patroni_node::follows() const {
    constexpr int ok = 200;
    return status_of("/replica") == ok;
}

std::string patroni_node::log() const {
    return patroni_ ? patroni_->standard_error() : "";
}

}  // namespace walrelay::patroni
