// Takes mails from the stream that walrelay writes and sends them over SMTP.

#include "consumer/mail_desk.hpp"
#include "consumer/subscription.hpp"

#include <csignal>
#include <iostream>
#include <thread>

namespace {

volatile std::sig_atomic_t stopping = 0;

void stop(int /*signal*/) {
    stopping = 1;
}

constexpr std::chrono::milliseconds a_moment{500};

/// Until the process is asked to end. Throws when a connection is lost.
void work(const memo::settings& options) {
    memo::database connection(options.postgres);
    memo::inbox memory(connection);
    const memo::mail_server server(options);
    memo::mail_desk desk(memory, server, options);
    memo::subscription messages(options);
    std::cerr << "waiting for mails" << std::endl;
    while (stopping == 0) {
        const auto message = messages.next(a_moment);
        if (!message) {
            continue;
        }
        if (desk.handle(memo::read_order(*message)) == memo::verdict::done) {
            messages.acknowledge();
        } else {
            messages.postpone(options.retry_delay);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    int exit_code = 0;
    const auto options = memo::read_settings(argc, argv, exit_code);
    if (!options) {
        return exit_code;
    }
    std::signal(SIGTERM, stop);
    std::signal(SIGINT, stop);
    while (stopping == 0) {
        try {
            work(*options);
        } catch (const std::exception& lost) {
            std::cerr << lost.what() << "; trying again" << std::endl;
            std::this_thread::sleep_for(a_moment);
        }
    }
    return 0;
}
