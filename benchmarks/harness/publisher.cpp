// A publisher alone: what JetStream takes from one connection, with as many publishes under way as
// the relay would have. Messages are copies of one that the relay made. With nats.c, or with
// --bare by bare_publisher.
//
//   bench_publisher --nats URL --like FILE --rows N [--window 4096] [--bare
//       [--inbox TEXT] [--replies N] [--without HEADER]... [--no-blanks]
//       [--batch N]]
//
// What stands after --bare changes how a message is published, to find what each part of it costs.
// The stream must be empty. Prints one line of JSON: seconds until the last ack.

#include "harness/bare_publisher.hpp"
#include "harness/loop_connection.hpp"
#include "harness/message_like.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace walrelay;

struct order {
    std::string nats;
    std::string like;
    std::uint64_t rows = 0;
    std::uint64_t window = 4096;
    bool bare = false;
    bench::publish_form form;
};

/// Publishes until the window is full, but lets the acks have their turn now and then.
void publish_some(const bench::message_like& like, const std::string& inbox, const order& given,
                  bench::loop_connection& link, std::uint64_t& sent, std::uint64_t acked) {
    constexpr int turn = 128;
    for (int count = 0; count < turn && sent < given.rows && sent - acked < given.window; ++count) {
        const auto message = like.make(inbox + std::to_string(sent), sent, sent);
        test::require(natsConnection_PublishMsg(link.handle(), message.get()), "publish");
        ++sent;
    }
    link.write();
}

void publish_with_library(const bench::message_like& like, const order& given) {
    const auto inbox = bench::new_inbox();
    bench::loop_connection link(given.nats, inbox + "*");
    std::uint64_t sent = 0;
    std::uint64_t acked = 0;
    while (acked < given.rows) {
        publish_some(like, inbox, given, link, sent, acked);
        constexpr int patience_milliseconds = 30'000;
        const bool more = sent < given.rows && sent - acked < given.window;
        auto ready = link.interest();
        if (poll(&ready, 1, more ? 0 : patience_milliseconds) == 0 && !more) {
            throw std::runtime_error("the broker does not ack");
        }
        link.process(ready.revents, [&](natsMsg* answer) {
            acked += bench::acked_sequence(bench::body_of(answer)) > 0 ? 1U : 0U;
        });
    }
}

/// Returns seconds.
double publish_all(const order& given) {
    const bench::message_like like{std::filesystem::path(given.like)};
    const auto start = std::chrono::steady_clock::now();
    if (given.bare) {
        auto how = given.form;
        how.inbox = how.inbox.empty() ? bench::new_inbox() : how.inbox;
        bench::bare_publisher(given.nats, like, how).publish(given.rows, given.window);
    } else {
        publish_with_library(like, given);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Publishes copies of a message and waits for every ack", "bench_publisher");
    order given;
    app.add_option("--nats", given.nats)->required();
    app.add_option("--like", given.like)->required();
    app.add_option("--rows", given.rows)->required();
    app.add_option("--window", given.window);
    app.add_flag("--bare", given.bare);
    app.add_option("--inbox", given.form.inbox, "A number follows");
    app.add_option("--replies", given.form.replies, "So many reply subjects, in turn");
    app.add_option("--without", given.form.without, "A header that is left out");
    app.add_flag("!--no-blanks", given.form.blank_after_name);
    app.add_option("--batch", given.form.batch,
                   "So many messages are a fast batch, and --rows a multiple of it");
    CLI11_PARSE(app, argc, argv);
    try {
        fmt::print("{{\"seconds\": {}}}\n", publish_all(given));
        return 0;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench_publisher: {}\n", failure.what());
        return 1;
    }
}
