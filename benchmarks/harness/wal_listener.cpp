#include "harness/wal_listener.hpp"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>

namespace walrelay::bench {
namespace {

constexpr std::chrono::seconds patience{30};

/// Without its line for each event in the log, which would cost it processor time.
std::filesystem::path write_settings(const bed& on) {
    const std::string url = on.nats.url();
    const auto file = on.folder() / "wal-listener.yml";
    std::ofstream out(file);
    out << fmt::format(
        "listener:\n  slotName: {}\n  refreshConnection: 30s\n  heartbeatInterval: 10s\n"
        "  filter:\n    tables:\n      outbox_events: [insert]\n"
        "  topicsMap:\n    public_outbox_events: events\n"
        "logger:\n  level: warn\n  fmt: json\n"
        "database:\n  host: 127.0.0.1\n  port: {}\n  name: postgres\n  user: postgres\n"
        "  password: unused\n"
        "publisher:\n  type: nats\n  address: {}\n  topic: {}\n",
        bed::slot, on.postgres.port(), url, bed::stream);
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
    return file;
}

class running_listener : public running_contender {
public:
    running_listener(const std::filesystem::path& program, const bed& on)
        : process_({.program = program.string(),
                    .arguments = {"--config", write_settings(on).string()},
                    .folder = on.folder(),
                    .name = "wal-listener"}) {
        if (!on.wait_for_reader(patience) || !process_.running()) {
            throw std::runtime_error("wal-listener does not read from the slot: " + log());
        }
    }

    [[nodiscard]] std::optional<pid_t> pid() const override { return process_.pid(); }
    [[nodiscard]] std::string log() const override {
        return process_.standard_output() + process_.standard_error();
    }

    void stop() override {
        process_.signal(SIGTERM);
        if (!process_.wait_exit(patience)) {
            throw std::runtime_error("wal-listener does not end: " + log());
        }
    }

private:
    test::child_process process_;
};

/// It asks for this name and all tables. What the slot has from before it could not be decoded.
void make_publication(bed& on) {
    auto session = on.postgres.session();
    session.execute("DROP PUBLICATION IF EXISTS \"wal-listener\"");
    session.execute("CREATE PUBLICATION \"wal-listener\" FOR ALL TABLES");
}

}  // namespace

void add_wal_listener(const std::filesystem::path& program, std::vector<contender>& peers,
                      results& into) {
    if (program.empty()) {
        into.note(
            "wal-listener is left out: no program of that name is in the PATH, and --wal-listener "
            "names none.");
        return;
    }
    peers.push_back(
        {.name = wal_listener_name,
         .plugin = "pgoutput",
         .start = [program](bed& on) { return std::make_unique<running_listener>(program, on); },
         // It makes the stream itself, with the one subject that it publishes on.
         .prepare = [](bed& on) { on.remove_stream(); },
         .prepare_before_slot = make_publication});
}

}  // namespace walrelay::bench
