// One of the systems of examples/ at work: its schema.sql in a database of its own, walrelay with
// the example's own walrelay.toml, a stream. Only addresses, the plugin and what a test names are
// set from outside, by environment, so that what is tested is the example.
#pragma once

#include "support/eventually.hpp"
#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

/// How long a test waits for what must happen. Long, because it is only ever used up by a failure.
inline constexpr std::chrono::seconds patience{45};

class system_bench {
public:
    /// `example` is the folder in examples/; slot and stream are named after it (the stream in
    /// upper case). Loads its schema.sql.
    system_bench(const std::string& example, std::string plugin);
    /// Ends the relay, drops the slot, removes the stream, and shows the relay's log if the test
    /// has failed.
    ~system_bench();
    system_bench(const system_bench&) = delete;
    system_bench& operator=(const system_bench&) = delete;

    [[nodiscard]] const std::string& plugin() const { return plugin_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] const std::string& stream_name() const { return stream_; }
    [[nodiscard]] std::string conninfo() const;
    [[nodiscard]] static std::string nats_url();
    /// The text of a file of the example.
    [[nodiscard]] std::string example_file(const std::string& name) const;

    [[nodiscard]] postgres_session session() const { return postgres_session(conninfo()); }
    void execute(const std::string& sql) const { session().execute(sql); }
    [[nodiscard]] std::string value_of(const std::string& sql) const;
    /// The first column of all rows, a NULL as "NULL".
    [[nodiscard]] std::vector<std::string> column_of(const std::string& sql) const;
    /// Waits until the query gives this value.
    [[nodiscard]] testing::AssertionResult becomes(const std::string& sql,
                                                   const std::string& wanted) const;
    /// What SQL makes of `expression` over `body text` and `headers jsonb` of a message.
    [[nodiscard]] std::string of_message(const stored_message& message,
                                         const std::string& expression) const;

    /// The example's writer.sql, as often as asked for.
    void write(int times = 1) const;

    /// From the next start or command on.
    void set(const std::string& variable, const std::string& value);
    /// Uses another text in place of the example's walrelay.toml.
    void set_configuration(const std::string& toml) { configuration_ = toml; }
    /// `walrelay run`, without waiting for anything.
    void launch();
    /// `walrelay run`, and waits until it streams from the slot.
    void start();
    [[nodiscard]] finished_run command(const std::vector<std::string>& words);
    [[nodiscard]] relay_process& relay() { return *relay_; }
    /// SIGTERM; the exit code must be 0.
    void stop();
    void kill_9();

    [[nodiscard]] stream_reader& broker();
    [[nodiscard]] std::vector<stored_message> messages();
    /// All messages of the stream once there are so many; the test fails if they do not come, or if
    /// there are more.
    [[nodiscard]] std::vector<stored_message> messages(std::size_t count);
    /// Nothing missing, twice or out of order by `walrelay verify`.
    [[nodiscard]] testing::AssertionResult verified();

private:
    [[nodiscard]] relay_start start_with(const std::vector<std::string>& words);
    void clean_up() noexcept;

    std::filesystem::path example_;
    std::string plugin_;
    std::string slot_;
    std::string stream_;
    std::string database_;
    temporary_folder folder_;
    std::map<std::string, std::string> environment_;
    std::optional<std::string> configuration_;
    int commands_ = 0;
    std::optional<relay_process> relay_;
    std::unique_ptr<stream_reader> broker_;
};

[[nodiscard]] std::vector<std::string> ids_of(const std::vector<stored_message>& messages);
[[nodiscard]] std::vector<std::string> subjects_of(const std::vector<stored_message>& messages);
[[nodiscard]] std::vector<std::string> bodies_of(const std::vector<stored_message>& messages);

/// For INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline auto both_plugins() {
    return testing::Values("wal2json", "pgoutput");
}
[[nodiscard]] inline std::string plugin_name(const testing::TestParamInfo<const char*>& info) {
    return info.param;
}

}  // namespace walrelay::test
