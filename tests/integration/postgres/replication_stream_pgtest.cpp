#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A status update that confirms everything: 'r', three positions, a time, no reply wanted.
std::string confirm_up_to(lsn position) {
    std::string message = "r";
    const auto add = [&message](std::uint64_t value) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            message += static_cast<char>((value >> shift) & 0xff);
        }
    };
    for (int time = 0; time < 3; ++time) {
        add(position.value);
    }
    add(0);
    return message + '\0';
}

class ReplicationStream : public postgres_fixture,
                          public testing::WithParamInterface<output_plugin> {
protected:
    /// How often a part of the row was here and the rest of it was not, until it was whole.
    int parts_before_a_row_of(std::size_t bytes, postgres::replication_stream& from) {
        int parts = 0;
        for (bool is_in_transaction = false;;) {
            const auto frame = from.next_frame();
            if (!frame || (*frame && (*frame)->size() >= bytes)) {
                EXPECT_TRUE(frame);
                return parts;
            }
            if (*frame) {
                is_in_transaction = is_in_transaction || (*frame)->front() == 'w';
            } else {
                parts += is_in_transaction && from.has_part_of_frame() ? 1 : 0;
                (void)run(from.wait_readable());
            }
        }
    }
    static boost::asio::awaitable<bool> finished(postgres::replication_stream& of) {
        co_await of.finish(20s);
        co_return true;
    }
    lsn confirmed() {
        return *parse_lsn(
            writer_->value_of("SELECT confirmed_flush_lsn FROM pg_replication_slots "
                              "WHERE slot_name = " +
                              as_literal(slot_)));
    }
    bool slot_is_free() {
        return writer_->value_of("SELECT active FROM pg_replication_slots WHERE slot_name = " +
                                 as_literal(slot_)) == "f";
    }
};

INSTANTIATE_TEST_SUITE_P(Plugins, ReplicationStream,
                         testing::Values(output_plugin::pgoutput, output_plugin::wal2json),
                         [](const auto& one) { return to_string(one.param); });

TEST_P(ReplicationStream, BringsARow) {
    auto streaming = stream(make_slot(GetParam()));
    writer_->execute("INSERT INTO events VALUES (1, 'first of all')");
    const auto frame = frame_with(streaming, "first of all");
    EXPECT_EQ(frame.front(), 'w');
}

TEST_P(ReplicationStream, BringsWhatIsThereAtTheStart) {
    const auto from = make_slot(GetParam());
    writer_->execute("INSERT INTO events VALUES (1, 'early'), (2, 'late')");
    auto streaming = stream(from);
    EXPECT_FALSE(frame_with(streaming, "early").empty());
    EXPECT_FALSE(frame_with(streaming, "late").empty());
}

TEST_P(ReplicationStream, MovesTheSlotWithAStatusUpdate) {
    auto streaming = stream(make_slot(GetParam()));
    writer_->execute("INSERT INTO events VALUES (1, 'confirm me')");
    (void)frame_with(streaming, "confirm me");
    const auto end = *parse_lsn(writer_->value_of("SELECT pg_current_wal_flush_lsn()"));
    ASSERT_LT(confirmed(), end);
    ASSERT_TRUE(streaming.send(confirm_up_to(end)).has_value());
    EXPECT_TRUE(eventually(10s, [&] { return confirmed() == end; }));
}

TEST_P(ReplicationStream, BringsALargeRowWhole) {
    auto streaming = stream(make_slot(GetParam()));
    writer_->execute("INSERT INTO events VALUES (1, repeat('walrelay', 1000000) || 'end')");
    EXPECT_GT(frame_with(streaming, "walrelayend").size(), 8'000'000U);
}

TEST_P(ReplicationStream, SendsMoreThanTheSocketTakesWhileItReads) {
    auto streaming = stream(make_slot(GetParam()));
    writer_->execute(
        "INSERT INTO events SELECT g, repeat('x', 1000) FROM generate_series(1, 5000) "
        "AS g; INSERT INTO events VALUES (1, 'the last one')");
    const auto status = confirm_up_to(confirmed());
    for (int sent = 0; sent < 100'000; ++sent) {
        ASSERT_TRUE(streaming.send(status).has_value());
    }
    EXPECT_FALSE(frame_with(streaming, "the last one").empty());
}

/// Long before libpq has all of it, and so before that can be more than the memory holds.
// How much comes with one reading is up to both processes' speed: a fast server's row may be whole
// at once, so it is read again until it is seen in parts.
TEST_P(ReplicationStream, SaysThatAPartOfALargeRowIsHere) {
    const auto from = make_slot(GetParam());
    writer_->execute("INSERT INTO events VALUES (1, repeat('x', 20000000))");
    int parts = 0;
    for (int attempt = 0; attempt < 30 && parts < 2; ++attempt) {
        auto streaming = stream(from);
        parts = parts_before_a_row_of(20'000'000, streaming);
        EXPECT_FALSE(streaming.has_part_of_frame());
        run(finished(streaming));
    }
    EXPECT_GT(parts, 1);
}

TEST_P(ReplicationStream, FinishFreesTheSlot) {
    auto streaming = stream(make_slot(GetParam()));
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(run(finished(streaming)));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_TRUE(slot_is_free());
    EXPECT_EQ(streaming.next_frame().error().code, errc::postgres_lost);
}

TEST_P(ReplicationStream, FinishWritesWhatWasSent) {
    auto streaming = stream(make_slot(GetParam()));
    const auto end = *parse_lsn(writer_->value_of("SELECT pg_current_wal_flush_lsn()"));
    ASSERT_TRUE(streaming.send(confirm_up_to(end)).has_value());
    EXPECT_TRUE(run(finished(streaming)));
    EXPECT_EQ(confirmed(), end);
}

TEST_P(ReplicationStream, AWaitEndsWhenTheStreamIsClosed) {
    auto streaming = stream(make_slot(GetParam()));
    std::optional<result<void>> waited;
    const auto wait_on = [&]() -> boost::asio::awaitable<result<void>> {
        for (;;) {
            const auto step = co_await streaming.wait_readable();
            if (step.has_error()) {
                co_return step;
            }
        }
    };
    start(wait_on(), [&](result<void> how) { waited.emplace(std::move(how)); });
    context_.restart();
    context_.poll();
    ASSERT_FALSE(waited.has_value());
    streaming.close();
    run_until([&] { return waited.has_value(); });
    EXPECT_EQ(waited->error().code, errc::postgres_lost);
}

TEST_P(ReplicationStream, AWaitOutlivesTheStream) {
    std::optional<result<void>> waited;
    {
        auto streaming = stream(make_slot(GetParam()));
        (void)run(streaming.wait_readable());
        while (streaming.next_frame()->has_value()) {
        }
        start(streaming.wait_readable(), [&](result<void> how) { waited.emplace(std::move(how)); });
        context_.restart();
        context_.poll();
    }
    run_until([&] { return waited.has_value(); });
}

}  // namespace
}  // namespace walrelay::test
