// A stream in another JetStream domain than that of the server walrelay is connected to.
#include "nats/requests/cleanup_cursor.hpp"
#include "nats/requests/stream_request.hpp"
#include "nats/requests/stream_scan.hpp"
#include "nats_fixture.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

/// The fixture's server is a leaf node with a JetStream of its own.
class Domain : public nats_fixture {
protected:
    Domain() {
        const auto port = std::to_string(free_port());
        hub_ = std::make_unique<nats_server>(nats_options{
            .jetstream_settings = "domain: hub",
            .settings = {"server_name: hub", "leafnodes { listen: \"127.0.0.1:" + port + "\" }"}});
        use_server({.jetstream_settings = "domain: leaf",
                    .settings = {"server_name: leaf",
                                 "leafnodes { remotes: [ { url: \"nats-leaf://127.0.0.1:" + port +
                                     "\" } ] }"}});
    }
    [[nodiscard]] nats::connect_options to_the_hub() const {
        auto how = options();
        how.api = "$JS.hub.API";
        return how;
    }
    /// Once the leaf node has found its hub.
    [[nodiscard]] std::unique_ptr<nats::connection> open_over_the_leaf() {
        std::unique_ptr<nats::connection> opened;
        EXPECT_TRUE(eventually(30s, [&] {
            auto tried = open(to_the_hub());
            if (tried) {
                opened = std::move(*tried);
            }
            return opened != nullptr;
        }));
        return opened;
    }

    std::unique_ptr<nats_server> hub_;
};

TEST_F(Domain, HasTheStreamThatIsPublishedTo) {
    const auto opened = open_over_the_leaf();
    ASSERT_NE(opened, nullptr);
    ASSERT_TRUE(create_stream(*opened, {"S", {"s.>"}, 1}));
    stream_reader at_the_hub(hub_->url());
    EXPECT_TRUE(at_the_hub.state("S"));
    EXPECT_FALSE(stream_reader(server().url()).state("S")) << "the leaf node has one of its own";
    ASSERT_TRUE(opened->publish(sample("1"), 1, 0));
    ASSERT_TRUE(opened->publish(sample("2"), 2, 1));
    opened->flush();
    run_until([&] { return replies_.size() == 2 || lost_; });
    ASSERT_EQ(replies_.size(), 2U);
    EXPECT_THAT(replies_.back().second, HasSubstr("\"seq\":2"));
    EXPECT_EQ(at_the_hub.message_count("S"), 2U);
    opened->ask_stream();
    run_until([&] { return !stream_info_.empty(); });
    EXPECT_THAT(stream_info_, HasSubstr("\"last_seq\":2"));
}

/// The leaf node has a stream of the same name for the same subject: both ack.
TEST_F(Domain, TellsTheAcksOfItsStreamFromThoseOfOneOfTheSameName) {
    stream_reader at_the_hub(hub_->url());
    at_the_hub.create({.name = "S", .subjects = {"s.>"}});
    const auto opened = open_over_the_leaf();
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(opened->domain(), "hub");
    stream_reader at_the_leaf(server().url());
    at_the_leaf.create({.name = "S", .subjects = {"s.>"}});
    ASSERT_TRUE(opened->publish(sample("1"), 1, std::nullopt));
    opened->flush();
    run_until([&] { return replies_.size() == 2 || lost_; });
    ASSERT_EQ(replies_.size(), 2U);
    std::vector<relay::outcome_class> kinds;
    for (const auto& [index, body] : replies_) {
        const auto read = relay::parse_publish_reply(body, "S", opened->domain());
        kinds.push_back(read.kind);
        if (read.kind == relay::outcome_class::unsuitable) {
            EXPECT_THAT(relay::is_another_stream(read, "S").what, HasSubstr("domain \"leaf\""));
        }
    }
    EXPECT_THAT(kinds, UnorderedElementsAre(relay::outcome_class::stored,
                                            relay::outcome_class::unsuitable));
}

TEST_F(Domain, IsReadDescribedAndConsumedOverTheLeaf) {
    stream_reader at_the_hub(hub_->url());
    at_the_hub.create({.name = "S", .subjects = {"s.>"}});
    for (int index = 0; index < 5; ++index) {
        at_the_hub.publish("s.a", "body", {{"Nats-Msg-Id", std::to_string(index)}});
    }
    ASSERT_NE(open_over_the_leaf(), nullptr);
    const auto described = nats::set_description(to_the_hub(), "words");
    ASSERT_TRUE(described) << to_string(described.error());
    EXPECT_EQ(*described, 5U);
    auto scan = nats::stream_scan::open(to_the_hub());
    ASSERT_TRUE(scan) << to_string(scan.error());
    int seen = 0;
    const auto read = scan->read([&](const nats::scanned_message&) {
        ++seen;
        return result<void>();
    });
    EXPECT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(seen, 5);
    nats::cleanup_cursor cursor(to_the_hub(), "cleanup");
    const auto ready = cursor.open();
    ASSERT_TRUE(ready) << to_string(ready.error());
    const auto batch = cursor.next();
    ASSERT_TRUE(batch) << to_string(batch.error());
    EXPECT_EQ(batch->size(), 5U);
    const auto settled = cursor.settle({{4, 0ms}});
    EXPECT_TRUE(settled) << to_string(settled.error());
}

}  // namespace
}  // namespace walrelay::test
