// A server, or somebody between, that alters one byte of what is sent: whichever it is, the slot is
// never told to forget a row that is neither stored nor set aside.
#include "relay/machine/relay_machine.hpp"
#include "unit/relay/machine/relay_script.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;

/// What the server sends, and where its transactions end, of one row each after the first, which
/// has two.
std::vector<std::string> sent_frames() {
    constexpr std::uint32_t oid = 16384;
    std::vector<std::string> frames{test::keepalive_frame(lsn{0x90})};
    const auto transaction = [&](std::uint64_t commit, const std::vector<std::string>& ids) {
        frames.push_back(test::begin_frame(lsn{commit}));
        if (frames.size() == 2) {
            frames.push_back(
                test::relation_frame(oid, "public", "outbox", {"id", "kind", "payload"}));
        }
        auto at = commit - 0x20;
        for (const auto& id : ids) {
            frames.push_back(test::insert_frame(oid, {id, "kind", "{}"}, lsn{at += 8}));
        }
        frames.push_back(test::commit_frame(lsn{commit}, lsn{commit + 8}));
    };
    transaction(0x100, {"a", "b"});
    frames.push_back(test::keepalive_frame(lsn{0x108}));
    transaction(0x200, {"c"});
    transaction(0x300, {"d"});
    frames.push_back(test::keepalive_frame(lsn{0x308}));
    return frames;
}

/// How many rows a slot that stands at `told` has forgotten.
std::size_t forgotten_at(lsn told) {
    return (told > lsn{0x100} ? 2U : 0U) + (told > lsn{0x200} ? 1U : 0U) +
           (told > lsn{0x300} ? 1U : 0U);
}

bool begins_with(const std::string& line, const char* word) {
    return line.starts_with(word);
}

/// Obeys the relay as servers do, until it wants no more frames.
class altered_session {
public:
    altered_session() {
        script_.start();
        script_.broker_connects(0);
        script_.postgres_connects();
    }

    void hear(const std::string& frame) {
        if (connected_) {
            obey(script_.single_frame(frame));
            obey(script_.passes(30ms));
        }
    }
    /// Until the slot is told all that it will be told.
    void ends() {
        for (int second = 0; second < 4 && connected_; ++second) {
            obey(script_.passes(1s));
        }
    }
    [[nodiscard]] std::size_t kept() const { return kept_; }
    [[nodiscard]] lsn told() { return script_.reported().value_or(lsn{}); }

private:
    void obey(const std::vector<std::string>& lines) {
        for (const auto& line : lines) {
            if (begins_with(line, "close_postgres") || begins_with(line, "finish")) {
                connected_ = false;
            } else if (begins_with(line, "publish")) {
                ++kept_;
                obey(script_.acks(1));
            } else if (begins_with(line, "dead_letter")) {
                ++kept_;
                obey(script_.dead_letter_is_stored());
            }
        }
    }

    relay_script script_;
    std::size_t kept_ = 0;
    bool connected_ = true;
};

std::array<char, 5> others_of(char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return {'\0', '\xFF', static_cast<char>(value ^ 1U), static_cast<char>(value ^ 0x80U),
            static_cast<char>(value + 1U)};
}

TEST(AlteredFrames, TheScriptItselfIsRelayed) {
    altered_session session;
    for (const auto& frame : sent_frames()) {
        session.hear(frame);
    }
    session.hear(test::keepalive_frame(lsn{0x308}));
    session.ends();
    EXPECT_EQ(session.kept(), 4U);
    EXPECT_EQ(session.told(), lsn{0x308});
}

/// But for the kind of a change, of which a frame says nothing else: an UPDATE may have the form of
/// an INSERT.
TEST(AlteredFrames, NoAlteredByteLosesARow) {
    constexpr std::size_t kind_offset = 25;
    const auto frames = sent_frames();
    for (std::size_t index = 0; index < frames.size(); ++index) {
        for (std::size_t offset = 0; offset < frames[index].size(); ++offset) {
            for (const char other : others_of(frames[index][offset])) {
                if (other == frames[index][offset] || (offset == kind_offset && other == 'U')) {
                    continue;
                }
                altered_session session;
                for (std::size_t each = 0; each < frames.size(); ++each) {
                    auto frame = frames[each];
                    if (each == index) {
                        frame[offset] = other;
                    }
                    session.hear(frame);
                }
                session.hear(test::keepalive_frame(lsn{0x308}));
                session.ends();
                EXPECT_GE(session.kept(), forgotten_at(session.told()))
                    << "frame " << index << ", byte " << offset << " as "
                    << static_cast<int>(static_cast<unsigned char>(other));
            }
        }
    }
}

}  // namespace
}  // namespace walrelay::relay
