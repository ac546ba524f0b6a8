// What every measurement starts from: a PostgreSQL with an outbox, a nats-server, walrelay.
#pragma once

#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"
#include "support/temporary_folder.hpp"

#include <memory>
#include <string>

namespace walrelay::bench {

/// From the command line: `--walrelay PATH`, and numbers by name.
class arguments {
public:
    arguments(int count, char** values) : count_(count), values_(values) {}

    [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
    [[nodiscard]] long number(const std::string& name, long otherwise) const;

private:
    int count_;
    char** values_;
};

/// The servers as they come, apart from fsync, which is on: a commit costs what it costs.
class bench_setup {
public:
    explicit bench_setup(std::string walrelay);

    test::postgres_server postgres;
    test::nats_server nats;

    /// Runs `walrelay <command>` for the outbox, with the plugin.
    [[nodiscard]] test::relay_start how(const std::string& command,
                                        const std::string& plugin) const;
    /// Makes publication, slot and stream.
    void init(const std::string& plugin) const;

    static constexpr const char* stream = "OUTBOX";

private:
    std::string walrelay_;
    test::temporary_folder folder_{"bench"};
};

}  // namespace walrelay::bench
