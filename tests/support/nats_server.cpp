// See nats_server.hpp.
#include "support/nats_server.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds patience{60};

std::string program(const nats_options& options) {
    if (!options.program.empty()) {
        return options.program;
    }
    const char* chosen = std::getenv("WALRELAY_TEST_NATS_SERVER");
    return chosen != nullptr ? chosen : "nats-server";
}

void write_configuration(const std::filesystem::path& folder, std::uint16_t port,
                         const nats_options& options) {
    std::ofstream out(folder / "nats.conf");
    out << "listen: \"127.0.0.1:" << port << "\"\n";
    if (options.jetstream) {
        const auto& more = options.jetstream_settings;
        out << "jetstream { store_dir: \"" << (folder / "store").string() << '"'
            << (more.empty() ? "" : ", ") << more << " }\n";
    }
    for (const auto& line : options.settings) {
        out << line << '\n';
    }
    if (!out.flush()) {
        throw std::runtime_error("cannot write into " + folder.string());
    }
}

bool says_info(int handle, std::uint16_t port) {
    constexpr timeval read_patience{.tv_sec = 1, .tv_usec = 0};
    setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &read_patience, sizeof read_patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return false;
    }
    constexpr std::string_view greeting = "INFO {";
    std::array<char, greeting.size()> start{};
    return recv(handle, start.data(), start.size(), MSG_WAITALL) ==
               static_cast<ssize_t>(greeting.size()) &&
           std::string_view(start.data(), start.size()) == greeting;
}

}  // namespace

nats_server::nats_server(const nats_options& options)
    : folder_("nats"), port_(free_port()), program_(program(options)) {
    write_configuration(folder_.path(), port_, options);
    start();
}

nats_server::~nats_server() {
    resume();
    stop();
}

std::string nats_server::url() const {
    return "nats://127.0.0.1:" + std::to_string(port_);
}

void nats_server::stop() {
    end_with(SIGTERM);
}

void nats_server::retire() {
    end_with(SIGUSR2);
}

void nats_server::end_with(int signal) {
    process_->signal(signal);
    if (!process_->wait_exit(patience)) {
        process_->kill_9();
    }
}

void nats_server::kill_9() {
    process_->kill_9();
}

void nats_server::freeze() {
    process_->signal(SIGSTOP);
}

void nats_server::resume() {
    process_->signal(SIGCONT);
}

void nats_server::start() {
    process_.emplace(command{.program = program_,
                             .arguments = {"-c", (folder_.path() / "nats.conf").string()},
                             .folder = folder_.path(),
                             .name = "nats-server"});
    const bool ready = eventually(patience, [this] { return !process_->running() || answers(); });
    if (!ready || !process_->running()) {
        throw std::runtime_error("nats-server does not start; its log:\n" + log());
    }
}

void nats_server::remember_store() {
    const auto copy = folder_.path() / "remembered";
    std::filesystem::remove_all(copy);
    freeze();
    std::filesystem::copy(folder_.path() / "store", copy, std::filesystem::copy_options::recursive);
    resume();
}

void nats_server::restore_store() {
    std::filesystem::remove_all(folder_.path() / "store");
    std::filesystem::rename(folder_.path() / "remembered", folder_.path() / "store");
}

bool nats_server::answers() const {
    // The server listens for clients only after JetStream has recovered its streams.
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answered = handle >= 0 && says_info(handle, port_);
    if (handle >= 0) {
        close(handle);
    }
    return answered;
}

}  // namespace walrelay::test
