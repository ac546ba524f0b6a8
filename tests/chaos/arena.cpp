// See arena.hpp.
#include "chaos/arena.hpp"

#include "chaos/transaction_maker.hpp"
#include "support/outbox_events.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

namespace walrelay::chaos {
namespace {

constexpr std::uint64_t first_marker = 900'000'000'000;
constexpr std::chrono::milliseconds request_patience{300};

test::postgres_options postgres_options_of(const arena_options& options) {
    test::postgres_options result{
        .settings = {"wal_sender_timeout = 5s", "checkpoint_timeout = 30min"},
        .binaries = options.postgres_programs};
    result.settings.insert(result.settings.end(), options.postgres_settings.begin(),
                           options.postgres_settings.end());
    return result;
}

}  // namespace

arena::arena(arena_options options)
    : options_(std::move(options)),
      postgres_(postgres_options_of(options_)),
      database_(postgres_.fresh_database()) {
    if (options_.cluster_network) {
        network_ = std::make_unique<cluster_network>();
    } else if (options_.cluster) {
        cluster_ = std::make_unique<test::nats_cluster>();
    } else {
        nats_ = std::make_unique<test::nats_server>(
            test::nats_options{.settings = options_.nats_settings});
    }
    if (options_.proxies) {
        nats_link_ = std::make_unique<tcp_proxy>(nats_->port());
        postgres_link_ = std::make_unique<tcp_proxy>(postgres_.port());
    }
    broker_ = std::make_unique<test::stream_reader>(broker_url(), request_patience);
    if (options_.duplicate_window || options_.cluster) {
        // Servers that have just begun to agree answer late on a machine with other work.
        constexpr std::chrono::seconds patience{30};
        test::stream_reader patient(broker_url(), patience);
        patient.create(
            {.name = stream_name,
             .subjects = {all_subjects},
             .replicas = options_.cluster ? 3 : 1,
             .duplicate_window = options_.duplicate_window.value_or(std::chrono::minutes(2))});
    }
    session().execute(options_.create_table.empty() ? test::create_outbox_events()
                                                    : options_.create_table);
}

arena::~arena() {
    for (auto& relay : relays_) {
        if (relay) {
            relay->kill_9();
        }
    }
}

std::string arena::broker_url() const {
    if (network_) {
        return network_->cluster().urls();
    }
    return cluster_ ? cluster_->urls() : nats_->url();
}

test::postgres_standby& arena::add_standby(test::standby_options options) {
    options.binaries = options_.postgres_programs;
    return standbys_.emplace_back(postgres_.conninfo(database_), options);
}

test::postgres_server& arena::add_server() {
    return more_servers_.emplace_back(postgres_options_of(options_));
}

void arena::relay_connects_to(const std::vector<const test::postgres_instance*>& servers) {
    relay_ports_.clear();
    for (const auto* server : servers) {
        relay_ports_.push_back(server->port());
    }
}

std::string arena::relay_conninfo() const {
    auto ports = relay_ports_;
    if (ports.empty()) {
        ports.push_back(postgres_link_ ? postgres_link_->port() : postgres_.port());
    }
    std::string hosts;
    std::string list;
    for (const auto port : ports) {
        hosts += (hosts.empty() ? "" : ",") + std::string("127.0.0.1");
        list += (list.empty() ? "" : ",") + std::to_string(port);
    }
    return "host=" + hosts + " port=" + list + " user=postgres dbname=" + database_ +
           (ports.size() > 1 ? " target_session_attrs=read-write" : "");
}

std::string arena::relay_urls() const {
    auto urls = network_ ? network_->client_urls() : broker_url();
    if (nats_link_) {
        urls = "nats://127.0.0.1:" + std::to_string(nats_link_->port());
    }
    std::string list;
    for (const char letter : urls) {
        list += letter == ',' ? std::string("', '") : std::string(1, letter);
    }
    return "['" + list + "']";
}

std::string arena::configuration(unsigned index) const {
    return "[postgres]\nconninfo = '" + relay_conninfo() + " application_name=relay-" +
           std::to_string(index) + "'\nslot = 'chaos'\nplugin = '" + options_.plugin +
           "'\npublication = 'chaos'\n" + options_.postgres + "[nats]\nurls = " + relay_urls() +
           "\nstream = 'CHAOS'\nsubjects = ['chaos.>']\nreplicas = " +
           (options_.cluster ? "3" : "1") + "\n" + options_.nats +
           "[delivery]\nbackoff_max = '2s'\n" + options_.delivery +
           "\n[log]\nlevel = 'debug'\n[[outbox]]\n" + "table = 'public.outbox_events'\n" +
           (options_.outbox.empty() ? usual_outbox : options_.outbox) + options_.more_outboxes;
}

test::relay_start arena::start_with(const std::vector<std::string>& words, const std::string& name,
                                    unsigned index) const {
    const auto file = folder() / ("relay-" + std::to_string(index) + ".toml");
    std::ofstream(file) << configuration(index);
    test::relay_start how{
        .program = options_.relay_program, .arguments = words, .folder = folder(), .name = name};
    how.arguments.insert(how.arguments.end(), {"--config", file.string()});
    return how;
}

void arena::start_relay(unsigned index, const std::vector<std::string>& flags) {
    std::vector<std::string> words{"run"};
    words.insert(words.end(), flags.begin(), flags.end());
    relays_.at(index).emplace(start_with(words, "relay-" + std::to_string(index), index));
}

bool arena::relays_run() {
    return ended_relays().empty();
}

std::string arena::ended_relays() {
    std::string text;
    for (unsigned index = 0; index < relays_.size(); ++index) {
        auto& relay = relays_.at(index);
        if (relay && !relay->process().running()) {
            const auto code = relay->process().wait_exit(std::chrono::milliseconds(0));
            text += "relay " + std::to_string(index) + " has ended by itself with " +
                    (code ? std::to_string(*code) : "nothing") + "; ";
        }
    }
    return text;
}

std::string arena::relay_log(unsigned index) const {
    return relays_.at(index) ? relays_.at(index)->log() : std::string();
}

test::finished_run arena::command(const std::vector<std::string>& words) {
    constexpr std::chrono::seconds patience{90};
    return test::run_to_end(start_with(words, "command-" + words.front(), 0), patience);
}

test::relay_process arena::begin(const std::vector<std::string>& words) {
    return test::relay_process(start_with(words, "command-" + words.front(), 0));
}

std::string arena::commit_marker() {
    const auto number = ++markers_;
    const auto type = "marker-" + std::to_string(number);
    session().execute(insert_marker(first_marker + number, type));
    return "chaos.order." + type;
}

bool arena::is_stored(const std::string& subject) {
    try {
        return broker_->last(stream_name, subject).has_value();
    } catch (const std::runtime_error&) {
        return false;
    }
}

std::optional<test::sql_row> arena::walsender_row() const {
    const auto rows = session().query(
        "SELECT pid, right(application_name, 1) FROM pg_replication_slots"
        " JOIN pg_stat_replication ON pid = active_pid"
        " WHERE slot_name = $1 AND state = 'streaming'",
        {slot_name});
    return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::optional<int> arena::walsender() {
    const auto row = walsender_row();
    return row ? std::optional(std::stoi(row->front().value())) : std::nullopt;
}

std::optional<unsigned> arena::leader() {
    const auto row = walsender_row();
    return row ? std::optional(row->back().value() == "0" ? 0U : 1U) : std::nullopt;
}

void arena::keep_logs(const std::filesystem::path& where) {
    std::filesystem::create_directories(where);
    const auto keep = [&](const std::string& name, const std::string& text) {
        std::ofstream(where / name, std::ios::binary) << text;
    };
    keep("walrelay.toml", configuration(0));
    keep("postgres.log", postgres_.log());
    for (const auto& standby : standbys_) {
        keep("standby-" + std::to_string(standby.port()) + ".log", standby.log());
    }
    for (unsigned index = 0; index < relays_.size(); ++index) {
        if (relays_.at(index)) {
            keep("relay-" + std::to_string(index) + ".log", relay_log(index));
        }
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
        if (entry.path().filename().string().starts_with("core")) {
            std::filesystem::copy(entry.path(), where / entry.path().filename(),
                                  std::filesystem::copy_options::overwrite_existing);
        }
    }
    keep("nats-server.log", nats_ ? nats_->log() : cluster().log());
}

}  // namespace walrelay::chaos
