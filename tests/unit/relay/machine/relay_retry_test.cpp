// The relay machine with retries of dead letters that it cannot do.

#include "unit/relay/machine/relay_script.hpp"
#include "unit/relay/proved_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t control_oid = 16999;
constexpr const char* event =
    R"([{"name":"id","type":25,"value":"a"},{"name":"kind","type":25,"value":"k"},)"
    R"({"name":"payload","type":25,"value":"{}"}])";

relay_options with_rows_of(std::uint64_t bytes) {
    relay_options options;
    options.lane = {4, 1000, 5s};
    options.max_row_bytes = bytes;
    return options;
}

class RelayRetry : public testing::Test {
protected:
    void begin(relay_options options) {
        script_.emplace(std::move(options));
        script_->start();
        script_->broker_connects(0);
        script_->postgres_connects();
        script_->frame(test::begin_frame(lsn{0x100}));
        script_->frame(
            test::relation_frame(control_oid, "walrelay", "control",
                                 {"kind", "slot", "dead_letter", "retry", "source_schema",
                                  "source_table", "event", "transaction", "proof"}));
    }
    std::vector<std::string> retry(const std::string& table, const std::string& content,
                                   const std::string& slot = "slot") {
        return script_->frame(
            test::insert_frame(control_oid, {"retry", slot, "7", "2", "public", table, content,
                                             test::control_transaction, test::proof_of_control()}));
    }
    /// And the slot waits for it.
    void expect_declined(const std::vector<std::string>& actions, const std::string& why) {
        EXPECT_THAT(actions, ElementsAre("dead_letter 0/100.0"));
        const auto& letter = script_->letter();
        EXPECT_EQ(letter.retry, (letter_retry{7, 2}));
        EXPECT_THAT(letter.reason, HasSubstr(why));
        EXPECT_THAT(letter.reason, HasSubstr("; fix: "));
        EXPECT_EQ(letter.event, "") << "the letter has it";
        EXPECT_THAT(describe(letter), HasSubstr("The letter is open again"));
        script_->frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
        EXPECT_LT(script_->machine().confirmed(), lsn{0x101});
        script_->dead_letter_is_stored();
        EXPECT_EQ(script_->machine().confirmed(), lsn{0x101});
    }
    relay_script& script() { return *script_; }

private:
    std::optional<relay_script> script_;
};

TEST_F(RelayRetry, OfARowThatIsTooLargeInTheWalOpensItsLetterAgain) {
    begin(with_rows_of(70'000));
    expect_declined(retry("outbox", std::string(80'000, 'x')),
                    "more than delivery.max_row_bytes = 70000 of the relay; fix: raise that");
}

TEST_F(RelayRetry, OfATableThatIsNoOutboxNowOpensItsLetterAgain) {
    begin(with_rows_of(70'000));
    expect_declined(retry("outbox_of_before", event),
                    "table public.outbox_of_before is no outbox of the configuration");
}

TEST_F(RelayRetry, OfWhatIsNoRowOpensItsLetterAgain) {
    begin(with_rows_of(70'000));
    expect_declined(retry("outbox", "not a row"), "a row of walrelay.control ");
}

TEST_F(RelayRetry, OpensItsLetterAgainAlsoWhereRowsBecomeNoDeadLetters) {
    auto options = with_rows_of(70'000);
    options.dead_letters = false;
    begin(std::move(options));
    expect_declined(retry("outbox_of_before", event), "no outbox of the configuration");
}

TEST_F(RelayRetry, OfAnotherSlotIsLeftToIt) {
    begin(with_rows_of(70'000));
    EXPECT_THAT(retry("outbox", std::string(80'000, 'x'), "another"), IsEmpty());
    EXPECT_THAT(retry("outbox_of_before", event, "another"), IsEmpty());
    EXPECT_THAT(retry("outbox", event), Contains("publish a;retry-7-2@0"));
}

}  // namespace
}  // namespace walrelay::relay
