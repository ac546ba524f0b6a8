// How a stream that runs can end, and what walrelay makes of it.
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class StreamEnd : public postgres_fixture {
protected:
    void terminate_walsender() {
        writer_->execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
            "WHERE slot_name = " +
            as_literal(slot_));
    }
};

TEST_F(StreamEnd, ByTheAdministratorIsALoss) {
    auto streaming = stream(make_slot(output_plugin::pgoutput));
    terminate_walsender();
    const auto failure = end_of(streaming);
    EXPECT_EQ(failure.code, errc::postgres_lost);
    EXPECT_THAT(failure.server_said, HasSubstr("administrator"));
    EXPECT_EQ(streaming.next_frame().error().code, errc::postgres_lost);
}

TEST_F(StreamEnd, ByACrashIsALoss) {
    use_own_server();
    auto streaming = stream(make_slot(output_plugin::wal2json));
    server().kill_9();
    // The orphaned walsender notices a little later than the postmaster died.
    EXPECT_EQ(end_of(streaming).code, errc::postgres_lost);
}

TEST_F(StreamEnd, ComesAfterTheFramesThatWereSentBefore) {
    auto streaming = stream(make_slot(output_plugin::pgoutput));
    writer_->execute("INSERT INTO events VALUES (1, 'before the end')");
    EXPECT_FALSE(frame_with(streaming, "before the end").empty());
    terminate_walsender();
    EXPECT_EQ(end_of(streaming).code, errc::postgres_lost);
}

TEST_F(StreamEnd, ByAPublicationThatIsYoungerThanTheSlotNamesTheWayOut) {
    writer_->execute("SELECT pg_create_logical_replication_slot(" + as_literal(slot_) +
                     ", 'pgoutput')");
    writer_->execute("INSERT INTO events VALUES (1, 'too early')");
    writer_->execute("CREATE PUBLICATION published FOR TABLE events");
    auto streaming = stream({.slot = slot_, .publication = publication_, .add_tables = {}});
    const auto failure = end_of(streaming);
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.what, HasSubstr("younger than the slot " + slot_));
    EXPECT_THAT(failure.remedy, StartsWith("walrelay check tells whether"));
    EXPECT_THAT(failure.remedy, HasSubstr("with every relay stopped, set postgres.plugin = "));
    EXPECT_THAT(failure.remedy, HasSubstr("walrelay init --switch-plugin"));
}

TEST_F(StreamEnd, SendingAfterwardsIsAnError) {
    auto streaming = stream(make_slot(output_plugin::pgoutput));
    streaming.close();
    EXPECT_EQ(streaming.send("r").error().code, errc::postgres_lost);
}

}  // namespace
}  // namespace walrelay::test
