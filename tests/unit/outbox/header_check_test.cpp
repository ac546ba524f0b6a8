#include "outbox/header_check.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

message sound() {
    message made;
    made.id = "id;retry-7-1";
    made.subject = "events.a.b";
    made.add_header("Walrelay-Position", "1.1.0000000000000001.0000000000000001.0");
    made.add_header("Trace", "\x7f\xc3\xa9 !");
    return made;
}

TEST(HeaderCheck, TakesWhatStaysOnItsLine) {
    EXPECT_TRUE(check_lines(sound()));
    EXPECT_TRUE(check_lines(message{}));
}

TEST(HeaderCheck, FindsEachControlCharacterWhereverItStands) {
    for (int byte = 0; byte < ' '; ++byte) {
        for (std::size_t before = 0; before < 20; ++before) {
            const auto text =
                std::string(before, '\xff') + static_cast<char>(byte) + std::string(9, '!');
            auto in_id = sound();
            in_id.id = text;
            EXPECT_FALSE(check_lines(in_id)) << byte << " behind " << before;
            auto in_subject = sound();
            in_subject.subject = text;
            EXPECT_FALSE(check_lines(in_subject)) << byte << " behind " << before;
            auto in_name = sound();
            in_name.add_header(text, "x");
            EXPECT_FALSE(check_lines(in_name)) << byte << " behind " << before;
            auto in_value = sound();
            in_value.add_header("x", text);
            EXPECT_FALSE(check_lines(in_value)) << byte << " behind " << before;
        }
    }
}

TEST(HeaderCheck, TakesEveryOtherByte) {
    for (int byte = ' '; byte < 256; ++byte) {
        auto with = sound();
        with.id = std::string(17, static_cast<char>(byte));
        EXPECT_TRUE(check_lines(with)) << byte;
    }
}

}  // namespace
}  // namespace walrelay::outbox
