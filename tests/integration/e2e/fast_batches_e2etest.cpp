// delivery.batch = "fast": with nats-server 2.14 and newer messages share batches, with older ones
// they go singly; what is in the stream is the same.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/nats_handles.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <regex>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// How many acks of whole batches the broker sends: everybody may listen to the inboxes here.
class batch_acks {
public:
    explicit batch_acks(const std::string& url) : link_(connect_to(url)) {
        natsSubscription* raw = nullptr;
        require(natsConnection_Subscribe(&raw, link_.get(), "_INBOX.>", take, this), "_INBOX.>");
        subscription_.reset(raw);
        require(natsConnection_Flush(link_.get()), "cannot flush");
    }
    ~batch_acks() {
        natsSubscription_Drain(subscription_.get());
        natsSubscription_WaitForDrainCompletion(subscription_.get(), 2000);
    }
    batch_acks(const batch_acks&) = delete;
    batch_acks& operator=(const batch_acks&) = delete;

    [[nodiscard]] int seen() const { return seen_; }

private:
    static void take(natsConnection* /*link*/, natsSubscription* /*subscription*/, natsMsg* said,
                     void* context) {
        const message_handle keeper(said);
        const std::string_view body(natsMsg_GetData(said),
                                    static_cast<std::size_t>(natsMsg_GetDataLength(said)));
        auto& self = *static_cast<batch_acks*>(context);
        self.seen_ += body.find("\"batch\":") != std::string_view::npos ? 1 : 0;
    }

    connection_handle link_;
    subscription_handle subscription_;
    std::atomic<int> seen_ = 0;
};

class FastBatches : public testing::TestWithParam<const char*> {
protected:
    FastBatches() {
        bench.create_table();
        // So many go singly on each connection before batches begin.
        bench.set_delivery("batch = \"fast\"\nwindow_messages = 64\n");
    }

    void begin() {
        const auto made = bench.command({"init"});
        ASSERT_EQ(made.exit_code, 0) << made.errors;
        EXPECT_THAT(made.errors, HasSubstr(may_come() ? "batches_allowed" : "batches_not_allowed"));
        bench.start();
    }
    [[nodiscard]] bool may_come() const {
        const std::regex knows_batches("Version: +2\\.(1[4-9]|[2-9][0-9])");
        return std::regex_search(broker.log(), knows_batches);
    }
    void expect_batches() {
        EXPECT_EQ(eventually(may_come() ? patience : 0s, [&] { return acks.seen() > 0; }),
                  may_come());
    }
    /// One INSERT each, so that rows wait for each other.
    void insert(std::uint64_t transactions) {
        for (std::uint64_t each = 0; each < transactions; ++each) {
            bench.execute(insert_events(next_, next_ + 199));
            next_ += 200;
        }
    }
    [[nodiscard]] std::string conninfo() const {
        return shared_postgres().conninfo(bench.database());
    }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, GetParam()};
    batch_acks acks{broker.url()};
    std::uint64_t next_ = 1;
};

TEST_P(FastBatches, StoreWhatSinglePublishesStore) {
    begin();
    insert(10);
    bench.expect_relayed(event_ids(1, 2000));
    expect_batches();
}

TEST_P(FastBatches, AreNotUsedBeforeTheStreamAllowsThem) {
    bench.start();
    insert(3);
    bench.expect_relayed(event_ids(1, 600));
    EXPECT_EQ(acks.seen(), 0);
    EXPECT_THAT(bench.command({"check"}).output, HasSubstr("takes no fast batches"));
}

/// Within a batch the server skips it without a word.
TEST_P(FastBatches, ARowWithTheIdOfAnotherIsSetAside) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nmessage_id = "
        "'{aggregate_id}-{version}'\nsubject = '%.{aggregate_type}'\n");
    begin();
    insert(2);
    // Twice number 250 among those of one transaction.
    bench.execute("BEGIN; " + insert_events(401, 500) +
                  "; INSERT INTO outbox_events SELECT (jsonb_populate_record(o, "
                  "jsonb_build_object('id', gen_random_uuid()))).* FROM outbox_events o "
                  "WHERE version = 250; " +
                  insert_events(501, 600) + "; COMMIT");
    ASSERT_TRUE(bench.wait_for_messages(600)) << bench.relay().log();
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter") == "1";
    }));
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 600U);
}

TEST_P(FastBatches, SurviveKillsOfRelayAndBroker) {
    begin();
    insert(1);
    ASSERT_TRUE(bench.confirms_messages(200));
    background_writer writer(conninfo(), 2);
    for (int round = 0; round < 4; ++round) {
        const auto goal = writer.commits() + 150;
        ASSERT_TRUE(eventually(patience, [&] { return writer.commits() > goal; }));
        bench.kill_9();
        bench.start();
        ASSERT_TRUE(eventually(patience, [&] { return writer.commits() > goal + 150; }));
        broker.kill_9();
        broker.start();
    }
    writer.stop();
    bench.expect_relayed(bench.committed_ids());
}

INSTANTIATE_TEST_SUITE_P(Plugin, FastBatches, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
