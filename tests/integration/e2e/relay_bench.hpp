// Everything one end-to-end test works with: a database with an outbox, a slot, a stream and the
// program itself, all under a name that no other test uses.
#pragma once

#include "support/comparison.hpp"
#include "support/nats_server.hpp"
#include "support/outbox_events.hpp"
#include "support/postgres_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

using std::chrono_literals::operator""s;

/// How long a test waits for what must happen. Long, because it is only ever used up by a failure.
inline constexpr std::chrono::seconds patience{90};

/// One PostgreSQL and one nats-server for all tests of a program that do not stop them.
[[nodiscard]] postgres_server& shared_postgres();
[[nodiscard]] nats_server& shared_nats();

class relay_bench {
public:
    /// Creates the database, empty. The servers must outlive the bench.
    relay_bench(postgres_server& postgres, nats_server& nats, std::string plugin,
                const std::string& encoding = "UTF8");
    /// Ends the relay, drops the slot and its kept positions, and shows the relay's log if the test
    /// has failed.
    ~relay_bench();
    relay_bench(const relay_bench&) = delete;
    relay_bench& operator=(const relay_bench&) = delete;

    /// Also the name of slot and publication, and the first token of every subject.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::string& database() const { return database_; }
    [[nodiscard]] const std::string& plugin() const { return plugin_; }
    [[nodiscard]] const std::string& stream_name() const { return name_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    /// Of the database.
    [[nodiscard]] std::string conninfo() const { return postgres_.conninfo(database_); }
    [[nodiscard]] postgres_session session() const { return postgres_.session(database_); }
    void execute(const std::string& sql) const { session().execute(sql); }
    /// Creates `public.outbox_events` in the reference shape.
    void create_table() const { execute(create_outbox_events()); }

    /// Another one than it was made with.
    void set_plugin(const std::string& plugin) { plugin_ = plugin; }
    /// The configuration file. What is set here replaces the default of that section; `%` stands
    /// for name(). The default outbox is `public.outbox_events`.
    void set_conninfo(const std::string& conninfo) { conninfo_ = conninfo; }
    /// In addition to what a bench sets of [postgres].
    void set_postgres(const std::string& toml) { postgres_settings_ = toml; }
    /// In addition to what a bench sets of [nats].
    void set_nats(const std::string& toml) { nats_settings_ = toml; }
    void set_delivery(const std::string& toml) { delivery_ = toml; }
    void set_outbox(const std::string& toml) { outbox_ = toml; }
    void set_replay(const std::string& toml) { replay_ = toml; }
    [[nodiscard]] std::string configuration() const;

    /// `walrelay <words> --config <file>` to its end.
    [[nodiscard]] finished_run command(const std::vector<std::string>& words);
    /// The same, without waiting for its end.
    [[nodiscard]] relay_process begin(const std::vector<std::string>& words);
    /// `walrelay run`, without waiting for anything.
    void launch();
    /// `walrelay run`, and waits until it streams from the slot. Throws with its log if it ends.
    void start();
    [[nodiscard]] relay_process& relay() { return *relay_; }
    /// SIGTERM; the exit code must be 0.
    void stop();
    void kill_9();

    [[nodiscard]] stream_reader& broker();
    [[nodiscard]] std::vector<stored_message> messages();
    [[nodiscard]] std::vector<seen_event> events();
    [[nodiscard]] bool wait_for_messages(std::uint64_t count);
    /// Waits until the relay has said in the stream's description what holds for its messages. That
    /// is an update of the stream's configuration, the last of two: who edits the stream before it
    /// may find the edit undone, since the broker knows no update that depends on the last one.
    [[nodiscard]] bool wait_until_marked();
    /// The same, and that the slot was told of them, which comes after the stream was marked: what
    /// is to be awaited before the broker is killed. A server that dies while it changes the
    /// description of a stream loses the stream.
    [[nodiscard]] bool confirms_messages(std::uint64_t count);

    /// A column of this slot's row in pg_replication_slots as text; nothing if there is no such
    /// slot, the value is null, or PostgreSQL is not there.
    [[nodiscard]] std::optional<std::string> slot(const std::string& column);
    /// Whether a replication connection streams from the slot. A slot that is being created is
    /// active, too.
    [[nodiscard]] bool streaming();
    /// Its process, while the slot is in use.
    [[nodiscard]] std::optional<std::string> walsender();
    /// Where the WAL ends now.
    [[nodiscard]] std::string wal_end() const;
    [[nodiscard]] bool confirmed_reaches(const std::string& lsn);

    /// The ids of all rows of `outbox_events` by version: the order of commit if one session at a
    /// time wrote them.
    [[nodiscard]] std::vector<std::string> committed_ids() const;
    /// Waits for as many messages as there are ids, stops the relay and compares.
    void expect_relayed(const std::vector<std::string>& ids);

private:
    [[nodiscard]] relay_start start_with(const std::vector<std::string>& words);
    void drop_slot();

    postgres_server& postgres_;
    nats_server& nats_;
    std::string plugin_;
    std::string name_;
    std::string database_;
    std::string conninfo_;
    std::string postgres_settings_;
    std::string nats_settings_;
    std::string delivery_;
    std::string outbox_;
    std::string replay_;
    temporary_folder folder_;
    int commands_ = 0;
    std::optional<relay_process> relay_;
    std::unique_ptr<stream_reader> broker_;
    std::optional<postgres_session> slot_session_;
};

/// Says what is wrong, if anything is.
[[nodiscard]] testing::AssertionResult exactly_once_in_order(
    const std::vector<std::string>& committed, const std::vector<seen_event>& stream);

/// The ids of the numbers `first` to `last`.
[[nodiscard]] std::vector<std::string> event_ids(std::uint64_t first, std::uint64_t last);

/// A test with a bench on the shared servers, run with each plugin.
class e2e_test : public testing::TestWithParam<const char*> {
protected:
    relay_bench bench{shared_postgres(), shared_nats(), GetParam()};
};

/// For INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline auto both_plugins() {
    return testing::Values("wal2json", "pgoutput");
}
[[nodiscard]] inline std::string plugin_name(const testing::TestParamInfo<const char*>& info) {
    return info.param;
}

}  // namespace walrelay::test
