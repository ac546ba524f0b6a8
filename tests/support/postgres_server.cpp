// See postgres_server.hpp.
#include "support/postgres_server.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/postgres_template.hpp"

#include <libpq-fe.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds start_patience{60};

void append_line(const std::filesystem::path& file, const std::string& line) {
    std::ofstream out(file, std::ios::app);
    out << line << '\n';
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

}  // namespace

postgres_server::postgres_server(const postgres_options& options)
    : folder_("postgres"), data_(folder_.path() / "data"), port_(free_port()) {
    copy_postgres_template(data_);
    give_to_postgres(folder_.path());
    const auto configuration = data_ / "postgresql.conf";
    append_line(configuration, "port = " + std::to_string(port_));
    append_line(configuration, "unix_socket_directories = '" + folder_.path().string() + "'");
    for (const auto& line : options.settings) {
        append_line(configuration, line);
    }
    start();
}

postgres_server::~postgres_server() {
    if (process_ && process_->running()) {
        process_->signal(SIGQUIT);
        (void)process_->wait_exit(std::chrono::seconds(10));
    }
}

std::string postgres_server::conninfo(const std::string& database) const {
    return "host=127.0.0.1 port=" + std::to_string(port_) + " user=postgres dbname=" + database;
}

std::string postgres_server::socket_conninfo(const std::string& database) const {
    return "host=" + folder_.path().string() + " port=" + std::to_string(port_) +
           " user=postgres dbname=" + database;
}

postgres_session postgres_server::session(const std::string& database) const {
    return postgres_session(conninfo(database));
}

std::string postgres_server::fresh_database(const std::string& encoding) {
    const std::string name = "test_" + std::to_string(++databases_);
    session().execute("CREATE DATABASE " + name + " TEMPLATE template0 ENCODING " +
                      as_literal(encoding) + " LC_COLLATE 'C' LC_CTYPE 'C'");
    return name;
}

void postgres_server::reconfigure(const std::string& line) {
    append_line(data_ / "postgresql.conf", line);
    process_->signal(SIGHUP);
}

void postgres_server::stop(postgres_stop how, std::chrono::milliseconds patience) {
    process_->signal(how == postgres_stop::fast ? SIGINT : SIGQUIT);
    if (!process_->wait_exit(patience)) {
        throw std::runtime_error("PostgreSQL does not stop; its log:\n" + log());
    }
}

void postgres_server::kill_9() {
    process_->kill_9();
}

void postgres_server::start() {
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

void postgres_server::start_once() {
    process_.emplace(command{.program = (postgres_binary_folder() / "postgres").string(),
                             .arguments = {"-D", data_.string()},
                             // PG* variables of the caller's shell must not reach the server.
                             .environment = {{"PGDATA", ""}, {"PGPORT", ""}},
                             .run_as = postgres_account(),
                             .folder = folder_.path(),
                             .name = "postgres"});
}

bool postgres_server::answers() const {
    return PQping(conninfo().c_str()) == PQPING_OK;
}

}  // namespace walrelay::test
