// See settings.hpp.
#include "consumer/settings.hpp"

#include <CLI/CLI.hpp>

namespace memo {
namespace {

void add_seconds(CLI::App& program, const std::string& name, std::chrono::milliseconds& target,
                 const std::string& meaning) {
    constexpr double shortest_seconds = 0.01;
    constexpr double longest_seconds = 86400;
    const auto keep = [&target](double seconds) {
        target =
            std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
    };
    program.add_option_function<double>(name, keep, meaning)
        ->check(CLI::Range(shortest_seconds, longest_seconds))
        ->default_str(std::to_string(target.count() / 1000));
}

}  // namespace

std::optional<settings> read_settings(int argc, char** argv, int& exit_code) {
    settings read;
    CLI::App program("Sends the mails of the stream over SMTP, each of them once.");
    program.option_defaults()->always_capture_default();
    program.add_option("--postgres", read.postgres, "database with email_outbox and email_inbox");
    program.add_option("--nats", read.nats, "broker");
    program.add_option("--stream", read.stream, "stream that walrelay writes");
    program.add_option("--subject", read.subject, "which messages of the stream");
    program.add_option("--consumer", read.consumer, "durable consumer of the stream");
    program.add_option("--smtp", read.smtp, "mail server: smtp://host:port or smtps://...");
    program.add_option("--from", read.from, "sender of the mails");
    add_seconds(program, "--smtp-timeout-seconds", read.smtp_timeout, "longest time for one mail");
    add_seconds(program, "--ack-wait-seconds", read.ack_wait,
                "when a message without an ack comes again");
    add_seconds(program, "--retry-delay-seconds", read.retry_delay, "between two tries of a mail");
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) {
        exit_code = program.exit(wrong);
        return std::nullopt;
    }
    return read;
}

}  // namespace memo
