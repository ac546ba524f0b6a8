// See postgres_instance.hpp.
#include "support/postgres_instance.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/postgres_server.hpp"
#include "support/postgres_template.hpp"

#include <libpq-fe.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds start_patience{60};
constexpr std::chrono::seconds program_patience{120};

void append_line(const std::filesystem::path& file, const std::string& line) {
    std::ofstream out(file, std::ios::app);
    out << line << '\n';
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

void copy_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
    run_to_success({.program = "cp",
                    .arguments = {"-a", from.string(), to.string()},
                    .folder = to.parent_path(),
                    .name = "cp"},
                   program_patience);
}

}  // namespace

postgres_instance::postgres_instance(const char* name, std::filesystem::path binaries)
    : folder_(name),
      binaries_(binaries.empty() ? postgres_binary_folder() : std::move(binaries)),
      data_(folder_.path() / "data"),
      port_(free_port()) {
    give_to_postgres(folder_.path());
}

postgres_instance::~postgres_instance() {
    if (process_ && process_->running()) {
        process_->signal(SIGQUIT);
        (void)process_->wait_exit(std::chrono::seconds(10));
    }
}

std::string postgres_instance::conninfo(const std::string& database) const {
    return "host=127.0.0.1 port=" + std::to_string(port_) + " user=postgres dbname=" + database;
}

std::string postgres_instance::socket_conninfo(const std::string& database) const {
    return "host=" + folder_.path().string() + " port=" + std::to_string(port_) +
           " user=postgres dbname=" + database;
}

postgres_session postgres_instance::session(const std::string& database) const {
    return postgres_session(conninfo(database));
}

std::string postgres_instance::fresh_database(const std::string& encoding) {
    const std::string name = "test_" + std::to_string(++databases_);
    session().execute("CREATE DATABASE " + name + " TEMPLATE template0 ENCODING " +
                      as_literal(encoding) + " LC_COLLATE 'C' LC_CTYPE 'C'");
    // As from PostgreSQL 15 on: before, everybody may take the name of an outbox.
    session(name).execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    return name;
}

void postgres_instance::configure(const std::vector<std::string>& lines) {
    const auto file = data_ / "postgresql.conf";
    append_line(file, "port = " + std::to_string(port_));
    append_line(file, "unix_socket_directories = '" + folder_.path().string() + "'");
    for (const auto& line : lines) {
        append_line(file, line);
    }
}

void postgres_instance::reconfigure(const std::string& line) {
    append_line(data_ / "postgresql.conf", line);
    if (process_->running()) {
        process_->signal(SIGHUP);
    }
}

void postgres_instance::stop(postgres_stop how, std::chrono::milliseconds patience) {
    process_->signal(how == postgres_stop::fast ? SIGINT : SIGQUIT);
    if (!process_->wait_exit(patience)) {
        throw std::runtime_error("PostgreSQL does not stop; its log:\n" + log());
    }
}

void postgres_instance::kill_9() {
    process_->kill_9();
}

void postgres_instance::start() {
    // After kill_9 the orphaned backends hold the shared memory for a moment, and a new server
    // gives up at once.
    const auto deadline = std::chrono::steady_clock::now() + start_patience;
    do {
        start_once();
        if (eventually(start_patience, [this] { return !process_->running() || answers(); }) &&
            process_->running()) {
            return;
        }
    } while (std::chrono::steady_clock::now() < deadline);
    throw std::runtime_error("PostgreSQL does not start; its log:\n" + log());
}

void postgres_instance::save_disk(const std::filesystem::path& target) const {
    copy_folder(data_, target);
}

void postgres_instance::restore_disk(const std::filesystem::path& from) {
    std::filesystem::remove_all(data_);
    copy_folder(from, data_);
    configure({});
}

void postgres_instance::run_program(const std::string& program,
                                    std::vector<std::string> arguments) const {
    run_to_success({.program = (binaries_ / program).string(),
                    .arguments = std::move(arguments),
                    .environment = {{"PGDATA", ""}, {"PGPORT", ""}},
                    .run_as = postgres_account(),
                    .folder = folder_.path(),
                    .name = program},
                   program_patience);
}

void postgres_instance::start_once() {
    process_.emplace(command{.program = (binaries_ / "postgres").string(),
                             .arguments = {"-D", data_.string()},
                             // PG* variables of the caller's shell must not reach the server.
                             .environment = {{"PGDATA", ""}, {"PGPORT", ""}},
                             .run_as = postgres_account(),
                             .folder = folder_.path(),
                             .name = "postgres"});
}

bool postgres_instance::answers() const {
    const auto said = PQping(conninfo().c_str());
    return said == PQPING_OK || (said == PQPING_REJECT && !takes_queries_);
}

}  // namespace walrelay::test
