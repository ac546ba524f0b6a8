// One night of those who run walrelay: real servers, a relay that stays when it halts, and what
// each surface says of a fault: the endpoints, `walrelay status`, the log and the alerts.
#pragma once

#include "incidents/alert_table.hpp"
#include "integration/e2e/answering_relay.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::test {

/// What every surface is to say.
struct story {
    std::string state;
    bool ready = false;
    bool leader = false;
    /// In the log.
    std::string cause;
    std::set<std::string> alerts;
    /// In `walrelay status` and /status. Empty stands for `cause` where it is not ready, and for
    /// nothing where it is.
    std::string told = {};
    /// In /status, where it says the same otherwise.
    std::string member = {};
    /// In /readyz. Where it is not ready, empty stands for `cause`.
    std::string reason = {};
};

/// How the relay hears of a fault: a server or a row tells it, or it must ask.
enum class heard { at_once, by_asking };

/// From a fault to the moment when a surface says so.
[[nodiscard]] std::chrono::duration<double> agree_within(heard how);

class incident : public testing::Test {
protected:
    incident();

    /// All is well, with 100 rows in the stream.
    void begin(std::map<std::string, std::string> environment = {});
    /// The fault comes now: what the surfaces say is timed from here.
    void strikes() { struck_at = std::chrono::steady_clock::now(); }

    /// Waits until all surfaces tell the story, and says how long that took. Then the first command
    /// that is offered is run: it looks, and changes nothing.
    void tells(const story& of, heard how = heard::at_once);
    /// The same without alerts and without an offer.
    void all_say(const story& of, heard how = heard::at_once);
    /// What /metrics answered, and when.
    struct reading {
        std::string metrics;
        std::chrono::steady_clock::time_point at;
    };
    [[nodiscard]] reading read_metrics() const;
    [[nodiscard]] static bool is_in(const reading& read, const std::string& state) {
        return has(read.metrics, "walrelay_state{state=\"" + state + "\"} 1\n");
    }
    /// In this state: a relay whose halt can end by itself starts over now and then.
    [[nodiscard]] reading read_metrics_in(const std::string& state) const;
    /// These fire in the end if all goes on as now, and no others.
    void expect_alerts(const std::set<std::string>& alerts, const std::string& state);
    void expect_alerts_between(const reading& first, const reading& second,
                               const std::set<std::string>& alerts) const;
    /// The same if all goes on as since then; waits until no row is on its way.
    void expect_alerts_since(const reading& first, std::set<std::string> alerts);
    /// The same where the relay answers no more from now on.
    void expect_alerts_of_silence(const std::set<std::string>& alerts);
    /// Runs the first command that /status offers in this state. At a halt one must be offered, and
    /// the rest of the fix is kept for the next two.
    void takes_first_offer(const std::string& state);
    /// Runs the command of the fix that begins so, as it was offered.
    void takes_offer(const std::string& beginning);
    /// Runs the command that begins so, as a text offers it.
    finished_run run_offer(const std::string& text, const std::string& beginning);
    /// Takes the offered `resume`, which gives nothing up. It goes on by itself then.
    void is_healed();
    /// No row of the table is missing in the stream or there twice, and all is well.
    void has_each_row_once();

    /// Rows that were above max_row_bytes: the limit is raised, and they are inserted again, as
    /// their dead letters say, which have no content.
    void large_rows_are_let_through();
    /// Of 1,300 rows, of which the replay has written 1,000 when its command is killed; the relay
    /// is started again.
    void a_replay_breaks_off();
    /// It looks at itself five seconds from now, and every minute.
    void is_about_to_look();
    /// A role that owns nothing: what is done with its rights is what the configuration asks for.
    void relays_as_a_role(const std::string& rights_on_outbox);
    [[nodiscard]] std::string role() const { return "limited_of_" + bench.database(); }
    /// Writes WAL that has nothing to do with the outbox, a megabyte at a time.
    void fill_wal(int megabytes) const;

    finished_run status();
    /// The messages of the stream without those of replays.
    [[nodiscard]] std::vector<std::string> stored_ids();

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, "pgoutput"};
    std::optional<answering_relay> relay;
    std::chrono::steady_clock::time_point struck_at;

private:
    /// Empty where every surface tells the story.
    [[nodiscard]] std::string who_differs(const story& of);

    /// Of the fix of the last halt.
    std::vector<std::string> offered_;
};

}  // namespace walrelay::test
