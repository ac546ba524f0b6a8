// Shows walrelay at work: an embedded PostgreSQL and nats-server in a temporary folder, a writer
// that fills an outbox, a consumer that sees its events arrive. Nothing is left behind.
#include "demo/demo_writer.hpp"
#include "demo/interrupt.hpp"
#include "demo/latency_book.hpp"
#include "demo/live_list.hpp"
#include "demo/summary.hpp"
#include "support/eventually.hpp"
#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_follower.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::demo {
namespace {

constexpr std::chrono::seconds patience{30};
constexpr const char* stream = "OUTBOX";

struct options {
    std::filesystem::path program;
    bool keep = false;
    std::chrono::seconds writing{10};
};

constexpr const char* usage =
    "usage: walrelay_demo --walrelay <program> [--keep] [--seconds <n>]\n"
    "  --keep       stay up until Ctrl-C, with the dashboard's address and a writer, so that you "
    "can\n"
    "               watch it and insert rows yourself\n"
    "  --seconds    how long to write, 10 if not given\n";

std::optional<options> read_options(int count, char** words) {
    options chosen;
    for (int index = 1; index < count; ++index) {
        const std::string_view word = words[index];
        const bool has_value = index + 1 < count;
        if (word == "--keep") {
            chosen.keep = true;
        } else if (word == "--walrelay" && has_value) {
            chosen.program = std::filesystem::absolute(words[++index]);
        } else if (word == "--seconds" && has_value) {
            chosen.writing = std::chrono::seconds(std::atoi(words[++index]));
        } else {
            return std::nullopt;
        }
    }
    return chosen.program.empty() ? std::nullopt : std::optional(chosen);
}

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

class demonstration {
public:
    explicit demonstration(const options& chosen) : chosen_(chosen) {
        create_tables(conninfo_);
        const auto version = postgres_.session().value_of("SHOW server_version");
        say("PostgreSQL " + version.substr(0, version.find(' ')) + " on port " +
            std::to_string(postgres_.port()) + ", nats-server on port " +
            std::to_string(broker_.port()) + ", both in temporary folders");
    }

    int run() {
        start_relay();
        live_list list(book_, std::chrono::milliseconds(500));
        const test::stream_follower follower(
            broker_.url(), stream,
            [&list](const test::stored_message& message) { list.arrived(message); });
        const auto rows = write(list);
        const bool flawless = print_summary(rows, all_events(), book_.result());
        if (chosen_.keep) {
            keep_up(list);
        }
        const bool stopped = relay_->stop(patience) == 0;
        if (!stopped) {
            say("walrelay did not stop in order; its log:\n" + relay_->log());
        }
        return flawless && stopped ? EXIT_SUCCESS : EXIT_FAILURE;
    }

private:
    void start_relay() {
        say(
            fmt::format("$ walrelay run --postgres \"{}\" \\\n"
                        "      --nats {} --table public.outbox_events\n",
                        conninfo_, broker_.url()));
        relay_.emplace(
            test::relay_start{.program = chosen_.program,
                              .arguments = {"run", "--postgres", conninfo_, "--nats", broker_.url(),
                                            "--table", "public.outbox_events"},
                              .folder = folder_.path(),
                              // Any port that is free.
                              .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"}}});
        auto session = postgres_.session();
        const auto streaming = [&] {
            return !session.query("SELECT FROM pg_stat_replication WHERE state <> 'startup'")
                        .empty();
        };
        wait_until(patience, "walrelay does not start",
                   [&] { return streaming() || !relay_->process().running(); });
        if (!relay_->process().running()) {
            throw std::runtime_error("walrelay ended:\n" + relay_->log());
        }
        say("dashboard: " + dashboard() + "\n");
    }

    /// As the log says it.
    std::string dashboard() {
        const auto log = relay_->log();
        const auto at = log.find("http://");
        return at == std::string::npos ? "" : log.substr(at, log.find_first_of(" \n", at) - at);
    }

    written write(const live_list& list) {
        demo_writer writer(conninfo_, book_);
        let_pass(chosen_.writing);
        auto rows = writer.stop();
        const bool arrived = test::eventually(patience, [&] {
            return list.count() >= rows.ids.size() || was_interrupted() ||
                   !relay_->process().running();
        });
        if (was_interrupted()) {
            throw interrupted();
        }
        if (!arrived || !relay_->process().running()) {
            say("not all events have arrived; the relay's log:\n" + relay_->log());
        }
        return rows;
    }

    std::vector<test::seen_event> all_events() {
        std::vector<test::seen_event> events;
        test::stream_reader reader(broker_.url());
        reader.for_each(stream, 0, [&](const test::stored_message& message) {
            events.push_back(seen(message));
        });
        return events;
    }

    void keep_up(live_list& list) {
        constexpr std::chrono::milliseconds pause{100};
        say(fmt::format(
            "\nStill running, until Ctrl-C, and somebody goes on writing. The dashboard is at\n\n"
            "  {}\n\n"
            "Insert rows and see them arrive here, and there:\n\n"
            "  psql \"{}\"\n\n"
            "  INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type,\n"
            "      event_data, status, version, created_at)\n"
            "  VALUES (gen_random_uuid(), '42', 'user', 'created', '{{\"name\": \"Ada\"}}',\n"
            "      'pending', 1, now());\n\n"
            "Subjects events.>, stream {}, broker {}\n",
            dashboard(), conninfo_, stream, broker_.url()));
        list.show_others();
        demo_writer writer(conninfo_, book_, pause);
        try {
            wait_until(std::chrono::hours(24 * 365), "",
                       [this] { return !relay_->process().running(); });
            say("walrelay ended:\n" + relay_->log());
        } catch (const interrupted&) {
            say("\nstopping");
        }
        (void)writer.stop();
    }

    options chosen_;
    latency_book book_;
    test::temporary_folder folder_{"demo"};
    test::postgres_server postgres_;
    test::nats_server broker_;
    std::string conninfo_ = postgres_.conninfo(postgres_.fresh_database());
    std::optional<test::relay_process> relay_;
};

int run(const options& chosen) {
    note_interrupts();
    try {
        return demonstration(chosen).run();
    } catch (const interrupted&) {
        say("\ninterrupted");
    } catch (const std::exception& failure) {
        fmt::print(stderr, "walrelay_demo: {}\n", failure.what());
    }
    return EXIT_FAILURE;
}

}  // namespace
}  // namespace walrelay::demo

int main(int count, char** words) {
    const auto chosen = walrelay::demo::read_options(count, words);
    if (!chosen) {
        std::fputs(walrelay::demo::usage, stderr);
        constexpr int wrong_usage = 2;
        return wrong_usage;
    }
    return walrelay::demo::run(*chosen);
}
