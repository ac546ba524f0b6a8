// Another client of the account that sees walrelay's publishes, and acks them in the broker's
// place: it confirms nothing, and stops nothing once it is gone.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/nats_handles.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace walrelay::test {
namespace {

/// Sees the inbox of a publish, and says there, again and again, that this message and those to
/// come are stored, whatever the broker says.
class forger {
public:
    forger(const std::string& url, std::string stream, const std::string& subjects)
        : stream_(std::move(stream)), connection_(connect_to(url)) {
        natsSubscription* raw = nullptr;
        require(
            natsConnection_Subscribe(&raw, connection_.get(), subjects.c_str(), &forger::see, this),
            "cannot listen");
        subscription_.reset(raw);
        require(natsConnection_Flush(connection_.get()), "cannot listen");
        thread_ = std::thread([this] { speak(); });
    }
    ~forger() {
        stopped_ = true;
        thread_.join();
        subscription_.reset();
        connection_.reset();
    }
    forger(const forger&) = delete;
    forger& operator=(const forger&) = delete;

    [[nodiscard]] std::uint64_t said() const { return said_; }

private:
    static void see(natsConnection* /*of*/, natsSubscription* /*on*/, natsMsg* message,
                    void* closure) {
        const message_handle owned_message(message);
        auto& self = *static_cast<forger*>(closure);
        const char* expected = nullptr;
        natsMsgHeader_Get(message, "Nats-Expected-Last-Sequence", &expected);
        if (natsMsg_GetReply(message) == nullptr || expected == nullptr) {
            return;
        }
        const std::string reply = natsMsg_GetReply(message);
        const auto dot = reply.rfind('.');
        const std::lock_guard<std::mutex> lock(self.mutex_);
        self.inbox_ = reply.substr(0, dot + 1);
        self.index_ = std::stoull(reply.substr(dot + 1));
        self.sequence_ = std::stoull(expected) + 1;
    }

    void speak() {
        constexpr std::uint64_t ahead = 3;
        while (!stopped_) {
            std::unique_lock<std::mutex> lock(mutex_);
            const auto inbox = inbox_;
            const auto index = index_;
            const auto sequence = sequence_;
            lock.unlock();
            for (std::uint64_t each = 0; each < ahead && !inbox.empty(); ++each) {
                const auto ack = "{\"stream\":\"" + stream_ +
                                 "\",\"seq\":" + std::to_string(sequence + each) + "}";
                natsConnection_PublishString(
                    connection_.get(), (inbox + std::to_string(index + each)).c_str(), ack.c_str());
                ++said_;
            }
            natsConnection_Flush(connection_.get());
        }
    }

    std::string stream_;
    std::mutex mutex_;
    std::string inbox_;
    std::uint64_t index_ = 0;
    std::uint64_t sequence_ = 0;
    std::atomic<bool> stopped_ = false;
    std::atomic<std::uint64_t> said_ = 0;
    connection_handle connection_;
    subscription_handle subscription_;
    std::thread thread_;
};

class ForgedAcks : public testing::TestWithParam<const char*> {
protected:
    /// How often the relay has found out that the stream does not have what was acked.
    [[nodiscard]] std::size_t found_out() {
        const auto log = bench.relay().log();
        std::size_t count = 0;
        for (auto at = log.find("it is looked at again"); at != std::string::npos;
             at = log.find("it is looked at again", at + 1)) {
            ++count;
        }
        return count;
    }
    [[nodiscard]] bool is_confirmed(const std::string& lsn) {
        return bench.session().value_of("SELECT confirmed_flush_lsn >= " + as_literal(lsn) +
                                        "::pg_lsn FROM pg_replication_slots WHERE slot_name = " +
                                        as_literal(bench.name())) == "t";
    }

    postgres_server postgres;
    nats_server nats;
    relay_bench bench{postgres, nats, GetParam()};
};

TEST_P(ForgedAcks, ConfirmNoRowThatTheStreamRefuses) {
    bench.create_table();
    bench.set_delivery("backoff_initial = '1ms'\nbackoff_max = '20ms'\n");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.wait_until_marked()) << bench.relay().log();
    bench.broker().limit(bench.stream_name(), 2);
    const std::string refused = [&] {
        const forger somebody(nats.url(), bench.stream_name(), bench.name() + ".>");
        bench.execute(insert_event(2));
        EXPECT_TRUE(bench.wait_for_messages(2));
        bench.execute(insert_event(3));
        const auto end = bench.wal_end();
        bench.execute(insert_event(4));
        EXPECT_TRUE(eventually(patience, [&] { return found_out() >= 1; }))
            << somebody.said() << " acks\n"
            << bench.relay().log();
        EXPECT_FALSE(is_confirmed(end)) << bench.relay().log();
        return end;
    }();
    EXPECT_EQ(bench.messages().size(), 2U);
    EXPECT_FALSE(is_confirmed(refused)) << bench.relay().log();
    bench.broker().limit(bench.stream_name(), -1);
    bench.expect_relayed(event_ids(1, 4));
}

INSTANTIATE_TEST_SUITE_P(Plugins, ForgedAcks, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
