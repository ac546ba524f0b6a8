// See patroni_cluster.hpp.
#include "patroni/patroni_cluster.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/postgres_template.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace walrelay::patroni {
namespace {

using namespace std::chrono_literals;

/// A standby is copied, a lock runs out, pg_rewind runs: some tens of seconds each.
constexpr auto patience = 180s;

void require(bool held, const std::string& what) {
    if (!held) {
        throw std::runtime_error("this did not come about: " + what);
    }
}

std::string local_url(std::uint16_t port) {
    return "http://127.0.0.1:" + std::to_string(port);
}

}  // namespace

patroni_cluster::patroni_cluster(cluster_options options)
    : options_(std::move(options)),
      etcd_peer_port_(test::free_port()),
      around_{.patroni_programs = options_.patroni_programs,
              .postgres_programs = options_.postgres_programs,
              .folder = folder_.path() / "nodes",
              .etcd_port = test::free_port(),
              .leaves_slot_alone = options_.without_copies && !options_.failover_slots,
              .synchronizes_slots = options_.failover_slots && !options_.without_copies} {
    std::filesystem::create_directory(around_.folder);
    test::give_to_postgres(around_.folder);
    start_etcd();
    int number = 0;
    for (auto& node : nodes_) {
        node = std::make_unique<patroni_node>(around_, ++number);
        node->start();
    }
    leader().session("postgres").execute(std::string("CREATE DATABASE ") + database_name);
    // As from PostgreSQL 15 on: wal2json is refused where everybody may take an outbox's name.
    leader().session(database_name).execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    wait_for_standbys();
}

void patroni_cluster::start_etcd() {
    const auto client = local_url(around_.etcd_port);
    const auto peer = local_url(etcd_peer_port_);
    etcd_.emplace(test::command{
        .program = "etcd",
        .arguments = {"--name", "one", "--data-dir", (folder_.path() / "etcd").string(),
                      "--listen-client-urls", client, "--advertise-client-urls", client,
                      "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                      "--initial-cluster", "one=" + peer},
        .folder = folder_.path(),
        .name = "etcd"});
}

std::string patroni_cluster::conninfo() const {
    std::string hosts;
    std::string ports;
    for (const auto& node : nodes_) {
        hosts += hosts.empty() ? "127.0.0.1" : ",127.0.0.1";
        ports += (ports.empty() ? "" : ",") + std::to_string(node->port());
    }
    return "host=" + hosts + " port=" + ports + " user=postgres dbname=" + database_name +
           " target_session_attrs=read-write connect_timeout=5";
}

test::postgres_session patroni_cluster::session() const {
    return test::postgres_session(conninfo());
}

patroni_node& patroni_cluster::leader() {
    const auto leads = [](const auto& node) { return node->leads(); };
    require(test::eventually(patience,
                             [&] { return std::any_of(nodes_.begin(), nodes_.end(), leads); }),
            "a node leads");
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), leads);
    return found == nodes_.end() ? leader() : **found;
}

void patroni_cluster::wait_for_standbys() {
    require(test::eventually(patience,
                             [&] {
                                 const auto count = std::count_if(
                                     nodes_.begin(), nodes_.end(),
                                     [](const auto& node) { return node->follows(); });
                                 return count == std::ssize(nodes_) - 1;
                             }),
            "two standbys follow the leader");
}

void patroni_cluster::keep_slot() {
    const std::string slot = std::string("slots.") + slot_name;
    configure({slot + ".type=logical", slot + ".database=" + database_name,
               slot + ".plugin=" + options_.plugin});
}

bool patroni_cluster::has_slot(const patroni_node& node, const std::string& condition) {
    try {
        return node.session(database_name)
                   .value_of("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" +
                             std::string(slot_name) + "'" + condition) == "1";
    } catch (const std::runtime_error&) {
        return false;  // it is being started
    }
}

void patroni_cluster::drop_slot_of_standby(const patroni_node& node, const std::string& condition) {
    try {
        node.session(database_name)
            .execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
                "slot_name = '" +
                std::string(slot_name) + "' AND NOT active AND pg_is_in_recovery()" + condition);
    } catch (const std::runtime_error&) {
        // It is being started.
    }
}

void patroni_cluster::drop_copies() {
    for (const auto& node : nodes_) {
        drop_slot_of_standby(*node, "");
    }
}

void patroni_cluster::wait_for_slot() {
    require(test::eventually(patience, [&] { return has_slot(leader(), ""); }),
            "the leader has the slot");
}

void patroni_cluster::wait_for_copies() {
    const std::string ready = options_.failover_slots ? " AND synced AND NOT temporary" : "";
    const auto has_it = [&](const auto& node) {
        if (node->leads()) {
            return true;
        }
        // A former leader has a slot of its own, in whose place PostgreSQL makes no copy. Neither
        // it nor Patroni drops that: an operator has to.
        if (options_.failover_slots) {
            drop_slot_of_standby(*node, " AND NOT synced");
        }
        return has_slot(*node, ready);
    };
    require(test::eventually(patience,
                             [&] { return std::all_of(nodes_.begin(), nodes_.end(), has_it); }),
            "each standby has a copy of the slot");
}

void patroni_cluster::configure(const std::vector<std::string>& settings) {
    std::vector<std::string> words{"edit-config", "walrelay", "--force", "--quiet"};
    for (const auto& setting : settings) {
        words.insert(words.end(), {"--set", setting});
    }
    control(words);
}

void patroni_cluster::switch_over() {
    const auto& old = leader();
    const auto next = std::find_if(nodes_.begin(), nodes_.end(),
                                   [&](const auto& node) { return node->follows(); });
    require(next != nodes_.end(), "a standby to switch over to");
    control({"switchover", "walrelay", "--leader", old.name(), "--candidate", (*next)->name(),
             "--force"});
    require(test::eventually(patience, [&] { return (*next)->leads(); }),
            (*next)->name() + " leads");
}

void patroni_cluster::control(std::vector<std::string> words) {
    words.insert(words.begin(), {"-c", nodes_.front()->configuration().string()});
    test::run_to_success({.program = (options_.patroni_programs / "patronictl").string(),
                          .arguments = std::move(words),
                          .folder = folder_.path(),
                          .name = "patronictl"},
                         60s);
}

void patroni_cluster::keep_logs(const std::filesystem::path& where) const {
    for (const auto& from : {folder_.path(), around_.folder}) {
        for (const auto& file : std::filesystem::directory_iterator(from)) {
            if (file.path().extension() == ".stderr" || file.path().extension() == ".stdout") {
                std::filesystem::copy_file(file.path(), where / file.path().filename(),
                                           std::filesystem::copy_options::overwrite_existing);
            }
        }
    }
}

}  // namespace walrelay::patroni
