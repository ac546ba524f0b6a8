// A reading of a stream is complete or says that it is not, whatever lies between it and the
// stream.
#include "nats/requests/stream_scan.hpp"

#include "chaos/cluster_network.hpp"
#include "nats/requests/cleanup_cursor.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/stream_reading.hpp"
#include "nats_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using std::chrono_literals::operator""ms;
using testing::HasSubstr;

std::string id_of(std::uint64_t number) {
    return "id-" + std::to_string(number);
}

void publish_some(stream_reader& to, std::uint64_t first, std::uint64_t last) {
    for (auto number = first; number <= last; ++number) {
        const position where{{7, 1}, {lsn{number}, {}, 0}};
        to.publish("s.a", "body",
                   {{"Nats-Msg-Id", id_of(number)}, {"Walrelay-Position", to_string(where)}});
    }
}

struct seen {
    std::vector<std::uint64_t> sequences = {};
    std::optional<error> failed = {};
};

seen read_all(nats::stream_scan& scan) {
    seen all;
    const auto read = scan.read([&](const nats::scanned_message& one) -> result<void> {
        EXPECT_EQ(one.id, id_of(one.sequence));
        all.sequences.push_back(one.sequence);
        return {};
    });
    if (!read) {
        all.failed = read.error();
    }
    return all;
}

seen read_all(const nats::connect_options& from) {
    auto scan = nats::stream_scan::open(from);
    EXPECT_TRUE(scan) << to_string(scan.error());
    return scan ? read_all(*scan) : seen{};
}

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all;
    for (auto each = first; each <= last; ++each) {
        all.push_back(each);
    }
    return all;
}

class StreamScan : public nats_fixture {
protected:
    /// A stream S with so many messages.
    void fill(std::uint64_t count, const std::string& user = "") {
        const auto address = "127.0.0.1:" + std::to_string(server().port());
        writer_.emplace("nats://" + user + address);
        writer_->create({.name = "S", .subjects = {"s.>"}});
        publish_some(*writer_, 1, count);
    }
    [[nodiscard]] stream_reader& writer() { return *writer_; }

private:
    std::optional<stream_reader> writer_;
};

TEST_F(StreamScan, ReadsToTheLastSequenceAndThenOn) {
    fill(20);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    EXPECT_EQ(read_all(*scan).sequences, numbers(1, 20));
    EXPECT_EQ(scan->read_to(), 20U);
    EXPECT_EQ(read_all(*scan).sequences, numbers(1, 0));
    publish_some(writer(), 21, 25);
    EXPECT_EQ(read_all(*scan).sequences, numbers(21, 25));
    scan->begin_at(19);
    EXPECT_EQ(read_all(*scan).sequences, numbers(19, 25));
}

TEST_F(StreamScan, ReadsAPartOfTheStream) {
    fill(20);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    scan->read_between(5, 9);
    EXPECT_EQ(read_all(*scan).sequences, numbers(5, 8));
    EXPECT_EQ(scan->read_to(), 8U);
    scan->read_between(5, 5);
    EXPECT_EQ(read_all(*scan).sequences, numbers(1, 0));
    writer().delete_message("S", 8);
    scan->read_between(5, 9);
    EXPECT_EQ(read_all(*scan).sequences, numbers(5, 7));
    scan->read_between(19, 100);
    EXPECT_EQ(read_all(*scan).sequences, numbers(19, 20));
    scan->begin_at(19);
    EXPECT_EQ(read_all(*scan).sequences, numbers(19, 20));
}

/// nats-server 2.9 refuses a consumer of a subject that the stream does not have.
TEST_F(StreamScan, ReadsInBatchesAlsoAfterASubjectThatTheStreamDoesNotHave) {
    fill(20);
    const auto from = options();
    nats::subscription_handle incoming;
    auto connection = nats::connect_blocking(from);
    ASSERT_TRUE(connection);
    nats::stream_reading reading(connection->get(), from, incoming);
    std::uint64_t count = 0;
    const auto visit = [&](const nats::stream_message&) -> result<void> {
        ++count;
        return {};
    };
    reading.read_only("elsewhere.a");
    nats::reading_span of_subject(1, 20);
    EXPECT_TRUE(reading.read(of_subject, visit));
    EXPECT_EQ(count, 0U);
    reading.read_only(">");
    nats::reading_span all(1, 20);
    EXPECT_TRUE(reading.read(all, visit));
    EXPECT_EQ(count, 20U);
    EXPECT_GT(reading.batch_size(), 1U);
}

TEST_F(StreamScan, KnowsOneMessage) {
    fill(2);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    const auto found = scan->message_of(2);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->id, id_of(2));
    EXPECT_EQ((*found)->subject, "s.a");
    EXPECT_GT((*found)->stored, scan->facts().created);
    const auto none = scan->message_of(3);
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST_F(StreamScan, EndsWhereTheLastMessagesWereDeleted) {
    fill(20);
    for (const auto gone : {5U, 6U, 19U, 20U}) {
        writer().delete_message("S", gone);
    }
    auto expected = numbers(1, 18);
    expected.erase(expected.begin() + 4, expected.begin() + 6);
    const auto all = read_all(options());
    EXPECT_EQ(all.failed, std::nullopt);
    EXPECT_EQ(all.sequences, expected);
}

TEST_F(StreamScan, EndsWhereTheStreamIsPurgedWhileItIsRead) {
    constexpr std::uint64_t many = 10'000;  // more than a batch
    fill(many);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    std::uint64_t count = 0;
    const auto read = scan->read([&](const nats::scanned_message&) -> result<void> {
        if (++count == 10) {
            writer().purge("S");
        }
        return {};
    });
    EXPECT_TRUE(read) << to_string(read.error());
    EXPECT_GE(count, 10U);
    EXPECT_LT(count, many);
}

TEST_F(StreamScan, EndsWithTheErrorOfItsReader) {
    fill(20);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    std::uint64_t count = 0;
    const auto read = scan->read([&](const nats::scanned_message&) -> result<void> {
        return ++count == 5 ? result<void>(error{errc::broker_lost, "enough"}) : result<void>();
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().what, "enough");
    EXPECT_EQ(count, 5U);
}

TEST_F(StreamScan, SaysThatTheStreamWasMadeAgain) {
    fill(20);
    auto scan = nats::stream_scan::open(options());
    ASSERT_TRUE(scan);
    writer().remove("S");
    writer().create({.name = "S", .subjects = {"s.>"}});
    const auto all = read_all(*scan);
    ASSERT_TRUE(all.failed);
    EXPECT_THAT(all.failed->what, HasSubstr("made again"));
}

TEST_F(StreamScan, ReadsInSmallerBatchesWhereTheServerTakesNoLarger) {
    use_server({.jetstream_settings = "limits { max_request_batch: 7 }"});
    fill(100);
    const auto all = read_all(options());
    EXPECT_EQ(all.failed, std::nullopt);
    EXPECT_EQ(all.sequences, numbers(1, 100));
}

TEST_F(StreamScan, ReadsOneByOneWhereTheAccountHasNoConsumer) {
    use_server({.settings = {"accounts { A { jetstream { max_consumers: 1 }, users: [{user: a, "
                             "password: a}] } }",
                             "no_auth_user: a"}});
    fill(100);
    writer().delete_message("S", 50);
    writer().delete_message("S", 100);
    nats::cleanup_cursor only(options(), "only");
    ASSERT_TRUE(only.open());
    auto expected = numbers(1, 99);
    expected.erase(expected.begin() + 49);
    const auto all = read_all(options());
    EXPECT_EQ(all.failed, std::nullopt);
    EXPECT_EQ(all.sequences, expected);
}

/// The account of the one who reads has JetStream from another one.
nats_options with_import() {
    return {.settings = {"accounts { J { jetstream: enabled, users: [{user: j, password: j}], "
                         "exports: [{service: \"$JS.API.>\"}] }, W { users: [{user: w, password: "
                         "w}], imports: [{service: {account: J, subject: \"$JS.API.>\"}}] } }",
                         "no_auth_user: w"}};
}

TEST_F(StreamScan, ReadsThroughAnImportThatGivesOneAnswerToARequest) {
    use_server(with_import());
    fill(200, "j:j@");
    const auto all = read_all(options());
    EXPECT_EQ(all.failed, std::nullopt);
    EXPECT_EQ(all.sequences, numbers(1, 200));
}

TEST_F(StreamScan, LooksBackThroughAnImportThatGivesOneAnswerToARequest) {
    use_server(with_import());
    fill(20, "j:j@");
    writer().publish("s.a", "of somebody else");
    auto opened = open(options());
    ASSERT_TRUE(opened) << to_string(opened.error());
    const auto& stream = *(*opened)->facts().stream;
    EXPECT_TRUE(stream.shared);
    EXPECT_EQ(stream.safe_sequence, 20U);
    EXPECT_EQ(stream.placed.size(), 20U);
}

TEST_F(StreamScan, LooksBackWhereTheServerTakesNoLargeBatch) {
    use_server({.jetstream_settings = "limits { max_request_batch: 7 }"});
    fill(20);
    writer().publish("s.a", "of somebody else");
    auto opened = open(options());
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_EQ((*opened)->facts().stream->placed.size(), 20U);
}

TEST_F(StreamScan, LooksBackWhereTheAccountHasNoConsumer) {
    use_server({.settings = {"accounts { A { jetstream { max_consumers: 1 }, users: [{user: a, "
                             "password: a}] } }",
                             "no_auth_user: a"}});
    fill(20);
    writer().publish("s.a", "of somebody else");
    nats::cleanup_cursor only(options(), "only");
    ASSERT_TRUE(only.open());
    auto opened = open(options());
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_EQ((*opened)->facts().stream->placed.size(), 20U);
}

TEST_F(StreamScan, TakesAMessageWithAHeaderOfTheNameOfAStatusForAMessage) {
    fill(5);
    writer().publish("s.a", "of somebody else", {{"Status", "404"}, {"Nats-Msg-Id", "id-6"}});
    publish_some(writer(), 7, 9);
    EXPECT_EQ(read_all(options()).sequences, numbers(1, 9));
}

class CleanupLimits : public StreamScan {
protected:
    /// As many messages as come within a few rounds, each settled.
    [[nodiscard]] std::size_t pass_all(std::size_t wanted) {
        nats::cleanup_cursor cursor(options(), "cleanup");
        auto opened = cursor.open();
        EXPECT_TRUE(opened) << to_string(opened.error());
        std::size_t passed = 0;
        while (opened && passed < wanted) {
            const auto batch = cursor.next();
            EXPECT_TRUE(batch) << to_string(batch.error());
            if (!batch || batch->empty()) {
                break;
            }
            std::vector<nats::settlement> done;
            for (std::size_t index = 0; index < batch->size(); ++index) {
                done.push_back({index});
            }
            passed += batch->size();
            EXPECT_TRUE(cursor.settle(done));
        }
        return passed;
    }
};

TEST_F(CleanupLimits, AreMetWhereFewMessagesMayWait) {
    use_server({.jetstream_settings = "limits { max_ack_pending: 100 }"});
    fill(300);
    EXPECT_GE(pass_all(300), 300U);
}

TEST_F(CleanupLimits, AreMetWhereTheServerTakesNoLargeBatch) {
    use_server({.jetstream_settings = "limits { max_request_batch: 7 }"});
    fill(100);
    EXPECT_GE(pass_all(100), 100U);
}

TEST(StreamScanInACluster, ReadsAgainWhatDiedOnACutRoute) {
    chaos::cluster_network network;
    auto& cluster = network.cluster();
    constexpr std::uint64_t count = 2000;
    stream_reader writer(cluster.urls());
    writer.create({.name = "S", .subjects = {"s.>"}, .replicas = 1});
    const auto leader = nats_cluster::index_of(writer.state("S")->leader);
    publish_some(writer, 1, count);

    nats::connect_options from;
    from.urls = {cluster.server((leader + 1) % nats_cluster::size).url()};
    from.stream = "S";
    auto scan = nats::stream_scan::open(from);
    ASSERT_TRUE(scan) << to_string(scan.error());
    network.set_routes({.latency = 50ms});
    std::vector<std::uint64_t> sequences;
    const auto read = scan->read([&](const nats::scanned_message& one) -> result<void> {
        sequences.push_back(one.sequence);
        if (sequences.size() == 10) {
            network.cut_off(leader, false);
            network.heal();
            network.set_routes({});
        }
        return {};
    });
    EXPECT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(sequences, numbers(1, count));
}

TEST(StreamScanInACluster, SaysHowFarItCameWhereTheStreamIsAwayForGood) {
    chaos::cluster_network network;
    auto& cluster = network.cluster();
    stream_reader writer(cluster.urls());
    writer.create({.name = "S", .subjects = {"s.>"}, .replicas = 1});
    const auto leader = nats_cluster::index_of(writer.state("S")->leader);
    publish_some(writer, 1, 500);
    nats::connect_options from;
    from.urls = {cluster.server((leader + 1) % nats_cluster::size).url()};
    from.stream = "S";
    from.timeout = 300ms;
    auto scan = nats::stream_scan::open(from);
    ASSERT_TRUE(scan) << to_string(scan.error());
    network.set_routes({.latency = 20ms, .bytes_per_second = 20'000});
    std::uint64_t last = 0;
    const auto read = scan->read([&](const nats::scanned_message& one) -> result<void> {
        last = one.sequence;
        if (last == 10) {
            network.cut_off(leader, true);
        }
        return {};
    });
    ASSERT_FALSE(read);
    EXPECT_LT(last, 500U);
    EXPECT_THAT(read.error().what, HasSubstr("could not be read up to sequence 500"));
    EXPECT_THAT(read.error().what, HasSubstr("unknown"));
}

}  // namespace
}  // namespace walrelay::test
