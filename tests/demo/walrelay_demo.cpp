// Shows walrelay at work: an embedded PostgreSQL and nats-server in a temporary folder, a writer
// that fills an outbox, a consumer that sees its events arrive. Then walrelay and the broker are
// killed, and table and stream are compared. Nothing is left on the machine.
#include "demo/demo_writer.hpp"
#include "demo/interrupt.hpp"
#include "demo/latency_book.hpp"
#include "demo/live_list.hpp"
#include "demo/paint.hpp"
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
    std::chrono::seconds writing{9};
    /// When `./dev demo` was typed, before it installed and built; nothing if it is not known.
    std::optional<std::chrono::system_clock::time_point> begun_at = {};
};

constexpr const char* usage =
    "usage: walrelay_demo --walrelay <program> [--keep] [--seconds <n>] [--begun-at <time>]\n"
    "  --keep       stay up until Ctrl-C, with the dashboard's address and a writer, so that you "
    "can\n"
    "               watch it and insert rows yourself\n"
    "  --seconds    how long to write, 9 if not given\n"
    "  --begun-at   seconds since 1970: the time to the first event is also counted from then\n";

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
        } else if (word == "--begun-at" && has_value) {
            chosen.begun_at = std::chrono::system_clock::time_point(
                std::chrono::seconds(std::atoll(words[++index])));
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
        say(painted(hue::faint, fmt::format("$ walrelay run --postgres \"{}\" \\\n"
                                            "      --nats {} --table public.outbox_events",
                                            conninfo_, broker_.url())));
        start_relay();
        live_list list(book_, std::chrono::milliseconds(750));
        follow(list);
        const auto rows = write(list);
        const bool agrees = verify();
        const bool flawless = print_summary(rows, all_events(), book_.result());
        if (chosen_.keep) {
            keep_up(list);
        }
        const bool stopped = relay_->stop(patience) == 0;
        if (!stopped) {
            say("walrelay did not stop in order; its log:\n" + relay_->log());
        }
        return agrees && flawless && stopped ? EXIT_SUCCESS : EXIT_FAILURE;
    }

private:
    test::relay_start relay_command(std::string verb, int number) const {
        return {.program = chosen_.program,
                .arguments = {std::move(verb), "--postgres", conninfo_, "--nats", broker_.url(),
                              "--table", "public.outbox_events"},
                .folder = folder_.path(),
                // Any port that is free.
                .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"}},
                .name = "walrelay" + std::to_string(number)};
    }

    void start_relay() {
        relay_.emplace(relay_command("run", ++starts_));
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

    /// From the first message on that the list does not have.
    void follow(live_list& list) {
        follower_.emplace(
            broker_.url(), stream,
            [&list](const test::stored_message& message) { list.arrived(message); },
            list.last_sequence() + 1);
    }

    void wait_for_new_event(const live_list& list, live_list::clock::time_point since) {
        wait_until(patience, "no event arrives any more; the relay's log:\n" + relay_->log(),
                   [&] { return list.has_event_since(since); });
    }

    /// As a supervisor would, it is started again at once.
    void kill_relay(const live_list& list) {
        const auto killed = live_list::clock::now();
        say(painted(hue::bad, fmt::format("          kill -9 {}   walrelay, in the middle of it",
                                          relay_->process().pid())));
        relay_->kill_9();
        start_relay();
        wait_for_new_event(list, killed);
        say_back(killed, "started again, it continues after the last message of the stream");
    }

    void kill_broker(live_list& list) {
        constexpr std::chrono::seconds away{1};
        say(painted(hue::bad,
                    fmt::format("          kill -9 {}   nats-server; it stays away for a second",
                                broker_.pid())));
        follower_.reset();
        broker_.kill_9();
        let_pass(away);
        const auto back = live_list::clock::now();
        broker_.start();
        follow(list);
        wait_for_new_event(list, back);
        say_back(back, "it is back, and walrelay continues");
    }

    void say_first_event() const {
        const std::chrono::duration<double> here = live_list::clock::now() - started_at_;
        auto text = fmt::format("          first event: {:.1f} s after the start of the servers",
                                here.count());
        if (chosen_.begun_at) {
            const std::chrono::duration<double> all =
                std::chrono::system_clock::now() - *chosen_.begun_at;
            text += fmt::format(", {:.0f} s after ./dev demo", all.count());
        }
        say(painted(hue::good, text));
    }

    static void say_back(live_list::clock::time_point since, const char* what) {
        const std::chrono::duration<double> taken = live_list::clock::now() - since;
        say(painted(hue::good, fmt::format("          {}: {:.1f} s", what, taken.count())));
    }

    written write(live_list& list) {
        constexpr int parts = 3;
        const auto begun = live_list::clock::now();
        demo_writer writer(conninfo_, book_);
        wait_for_new_event(list, begun);
        say_first_event();
        let_pass(chosen_.writing / parts);
        kill_relay(list);
        let_pass(chosen_.writing / parts);
        kill_broker(list);
        let_pass(chosen_.writing / parts);
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

    /// What walrelay itself says of table and stream.
    bool verify() {
        say(painted(hue::faint, "$ walrelay verify"));
        const auto run = test::run_to_end(relay_command("verify", 0), patience);
        const bool agrees = run.exit_code == 0;
        fmt::print("{}", painted(agrees ? hue::good : hue::bad, run.output));
        return agrees;
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
    live_list::clock::time_point started_at_ = live_list::clock::now();
    latency_book book_;
    test::temporary_folder folder_{"demo"};
    test::postgres_server postgres_;
    test::nats_server broker_;
    std::string conninfo_ = postgres_.conninfo(postgres_.fresh_database());
    std::optional<test::relay_process> relay_;
    std::optional<test::stream_follower> follower_;
    int starts_ = 0;
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
