// One whole run of the relay as a script, run again once for every step and every kind of failure
// in front of that step. Whatever fails, in the end everything is stored once, in order, and
// confirmed.

#include "unit/relay/machine/relay_script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

/// A stream that checks the chain as a server does, and a slot that resends what is not confirmed.
class world {
public:
    void run(std::size_t failing_step, const std::string& failure) {
        obey(script_.start());
        for (std::size_t step = 0; step < step_count_max && !done(); ++step) {
            if (step == failing_step) {
                fail(failure);
            }
            proceed();
        }
    }

    [[nodiscard]] bool done() const {
        return stream_.size() == expected().size() && confirmed_ >= last_end && in_flight_.empty();
    }
    [[nodiscard]] const std::vector<std::string>& stream() const { return stream_; }
    [[nodiscard]] lsn confirmed() const { return confirmed_; }

    static std::vector<std::string> expected() { return {"a", "b", "c", "d", "e"}; }
    static constexpr lsn last_end{301};
    static constexpr std::size_t step_count_max = 400;

private:
    struct sent {
        std::string id;
        std::uint64_t expected;
    };

    void obey(const std::vector<std::string>& actions) {
        for (const auto& action : actions) {
            if (action == "connect_broker") {
                broker_connecting_ = true;
            } else if (action == "connect_postgres") {
                postgres_connecting_ = true;
            } else if (action == "close_broker") {
                broker_up_ = false;
                in_flight_.clear();
            } else if (action == "close_postgres") {
                postgres_up_ = false;
            } else if (action.starts_with("publish ")) {
                const auto at = action.find('@');
                in_flight_.push_back(
                    {action.substr(8, at - 8), std::stoull(action.substr(at + 1))});
            } else if (action.starts_with("status ")) {
                const auto reported = parse_lsn(action.substr(7)).value();
                ASSERT_GE(reported, confirmed_) << "confirmed went backwards";
                confirmed_ = reported;
                check_confirmed();
            }
        }
    }

    /// Nothing that is confirmed may be missing in the stream.
    void check_confirmed() {
        const std::size_t needed = confirmed_ >= lsn{301} ? 5 : confirmed_ >= lsn{101} ? 3 : 0;
        ASSERT_GE(stream_.size(), needed);
    }

    void proceed() {
        if (broker_connecting_) {
            broker_connecting_ = false;
            broker_up_ = true;
            obey(script_.broker_connects(stream_.size(), tail()));
        } else if (postgres_connecting_) {
            postgres_connecting_ = false;
            postgres_up_ = true;
            next_frame_ = 0;
            obey(script_.postgres_connects());
        } else if (!in_flight_.empty() && broker_up_) {
            store();
        } else if (postgres_up_ && next_frame_ < frames().size() &&
                   script_.machine().wants_frames()) {
            obey(script_.frame(frames()[next_frame_++]));
        } else {
            obey(script_.passes(100ms));
        }
    }

    void store() {
        const auto first = in_flight_.front();
        in_flight_.erase(in_flight_.begin());
        if (first.expected != stream_.size()) {
            obey(script_.reply({outcome_class::doubt, 0, 10071, "wrong last sequence"}));
            return;
        }
        stream_.push_back(first.id);
        if (lose_next_ack_) {
            lose_next_ack_ = false;
            obey(script_.broker_fails());
            return;
        }
        obey(script_.reply({outcome_class::stored, stream_.size(), 0, {}}));
    }

    void fail(const std::string& failure) {
        if (failure == "broker") {
            obey(script_.broker_fails());
        } else if (failure == "postgres") {
            obey(script_.postgres_fails());
        } else if (failure == "ack lost") {
            lose_next_ack_ = true;
        } else if (failure == "message lost" && !in_flight_.empty()) {
            in_flight_.erase(in_flight_.begin());
            obey(script_.passes(5s));
        } else if (failure == "silence") {
            obey(script_.passes(60s));
        }
    }

    [[nodiscard]] std::optional<commit_position> tail() const {
        static const std::map<std::string, commit_position> positions{{"a", {lsn{100}, lsn{1}, 0}},
                                                                      {"b", {lsn{100}, lsn{1}, 1}},
                                                                      {"c", {lsn{100}, lsn{1}, 2}},
                                                                      {"d", {lsn{300}, lsn{1}, 0}},
                                                                      {"e", {lsn{300}, lsn{1}, 1}}};
        return stream_.empty() ? std::nullopt : std::optional(positions.at(stream_.back()));
    }

    static const std::vector<std::string>& frames() {
        using namespace test;
        static const std::vector<std::string> all{
            begin_frame(lsn{100}),
            insert_frame(16384, {"a", "kind", "{}"}),
            insert_frame(16384, {"b", "kind", "{}"}),
            insert_frame(16384, {"c", "kind", "{}"}),
            commit_frame(lsn{100}, lsn{101}),
            begin_frame(lsn{200}),
            commit_frame(lsn{200}, lsn{201}),
            begin_frame(lsn{300}),
            insert_frame(16384, {"d", "kind", "{}"}),
            insert_frame(16384, {"e", "kind", "{}"}),
            commit_frame(lsn{300}, lsn{301}),
        };
        return all;
    }

    test::relay_script script_{{2, 1000, 5s}};
    std::vector<std::string> stream_;
    std::vector<sent> in_flight_;
    lsn confirmed_;
    std::size_t next_frame_ = 0;
    bool broker_up_ = false;
    bool broker_connecting_ = false;
    bool postgres_up_ = false;
    bool postgres_connecting_ = false;
    bool lose_next_ack_ = false;
};

TEST(RelayScript, DeliversEverythingOnceInOrderWhenNothingFails) {
    world calm;
    calm.run(world::step_count_max, "");
    EXPECT_TRUE(calm.done());
    EXPECT_EQ(calm.stream(), world::expected());
    EXPECT_EQ(calm.confirmed(), world::last_end);
}

TEST(RelayScript, DeliversEverythingOnceInOrderWhicheverStepFails) {
    constexpr std::size_t steps_with_failures = 60;
    for (const std::string failure :
         {"broker", "postgres", "ack lost", "message lost", "silence"}) {
        for (std::size_t step = 0; step < steps_with_failures; ++step) {
            world shaken;
            shaken.run(step, failure);
            EXPECT_TRUE(shaken.done()) << failure << " at step " << step;
            EXPECT_EQ(shaken.stream(), world::expected()) << failure << " at step " << step;
        }
    }
}

}  // namespace
}  // namespace walrelay::relay
