// Every code of the project: its sentence, and what is to be done about it.
#include "core/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {
namespace {

/// Every code there is: the numbers from the first on, up to the first without a message.
std::vector<errc> every_code() {
    std::vector<errc> codes;
    for (int value = static_cast<int>(errc::frame_truncated);
         walrelay_category().message(value) != "unknown error"; ++value) {
        codes.push_back(static_cast<errc>(value));
    }
    return codes;
}

TEST(ErrorCategory, HasANameOfItsOwnForEveryCode) {
    std::set<std::string_view> names;
    for (const auto code : every_code()) {
        const auto name = to_string(code);
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_NE(name, "unknown");
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
    }
    EXPECT_EQ(to_string(errc::broker_lost), "broker_lost");
}

TEST(ErrorCategory, HasASentenceOfItsOwnForEveryCode) {
    const auto codes = every_code();
    ASSERT_FALSE(codes.empty());
    EXPECT_EQ(codes.back(), errc::position_not_kept);
    std::set<std::string> sentences;
    for (const auto code : codes) {
        sentences.insert(make_error_code(code).message());
    }
    EXPECT_EQ(sentences.size(), codes.size());
}

TEST(ErrorCategory, KnowsNoOtherNumber) {
    EXPECT_EQ(walrelay_category().message(0), "unknown error");
    EXPECT_EQ(walrelay_category().message(-1), "unknown error");
    EXPECT_EQ(walrelay_category().message(1000), "unknown error");
}

TEST(ErrorCategory, MakesCodesThatAreItsOwn) {
    const std::error_code code = errc::slot_in_use;
    EXPECT_EQ(&code.category(), &walrelay_category());
    EXPECT_STREQ(code.category().name(), "walrelay");
    EXPECT_EQ(code, errc::slot_in_use);
    EXPECT_NE(code, errc::broker_lost);
}

TEST(Advice, NeverDropsAMessageForBytesThatCannotBeRead) {
    for (const auto code : {errc::frame_truncated, errc::frame_malformed, errc::frame_unexpected}) {
        EXPECT_EQ(advice_for(code), advice::this_configuration);
    }
}

TEST(Advice, WaitsOutWhatPasses) {
    EXPECT_EQ(advice_for(errc::postgres_unavailable), advice::retry);
    EXPECT_EQ(advice_for(errc::broker_unavailable), advice::retry);
    EXPECT_EQ(advice_for(errc::slot_in_use), advice::retry);
}

TEST(Advice, StartsOverWithANewConnection) {
    EXPECT_EQ(advice_for(errc::postgres_lost), advice::reconnect);
    EXPECT_EQ(advice_for(errc::broker_lost), advice::reconnect);
    EXPECT_EQ(advice_for(errc::table_unknown), advice::reconnect);
}

TEST(Advice, BlamesOneMessageOnlyForItself) {
    for (const auto code : every_code()) {
        const bool about_a_message = code == errc::row_unmappable ||
                                     code == errc::message_too_large ||
                                     code == errc::message_refused;
        EXPECT_EQ(advice_for(code) == advice::this_message, about_a_message)
            << make_error_code(code).message();
    }
}

TEST(Advice, TakesAnUnknownCodeToAnOperator) {
    EXPECT_EQ(advice_for(static_cast<errc>(1000)), advice::this_configuration);
}

TEST(Error, IsOneLineWithTheServersWordsAndTheRemedy) {
    EXPECT_EQ(to_string(error{errc::slot_in_use, "slot walrelay is in use"}),
              "slot walrelay is in use");
    EXPECT_EQ(to_string(error{errc::slot_in_use, "slot walrelay is in use", "stop process 7",
                              "slot is active for PID 7"}),
              "slot walrelay is in use (server: slot is active for PID 7); fix: "
              "stop process 7");
}

TEST(Error, IsThrownWithItsWordsWhenAValueIsAskedForThatIsNotThere) {
    const result<int> failed = error{errc::broker_lost, "the broker went away"};
    try {
        static_cast<void>(failed.value());
        FAIL() << "no exception";
    } catch (const std::exception& thrown) {
        EXPECT_STREQ(thrown.what(), "the broker went away");
    }
}

}  // namespace
}  // namespace walrelay
