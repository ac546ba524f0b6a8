// Golden captures of a real server, damaged: nothing that is cut is ever taken for whole, and no
// byte, whatever it is, does more than make an error.
#include "unit/wal/captures.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::testing {
namespace {

constexpr std::size_t small_frame_bytes = 400;

class DamagedCaptures : public ::testing::TestWithParam<capture> {};

/// Every offset of a small frame; of a large one both ends and samples of the middle.
std::vector<std::size_t> offsets_of(std::size_t size) {
    constexpr std::size_t sample_distance = 4'999;
    std::vector<std::size_t> offsets;
    for (std::size_t offset = 0; offset < size; ++offset) {
        const bool near_an_end = offset < small_frame_bytes || size - offset < small_frame_bytes;
        if (near_an_end || offset % sample_distance == 0) {
            offsets.push_back(offset);
        }
    }
    return offsets;
}

/// What a new decoder must see before it can decode the payload at a point of a capture: the
/// descriptions of tables, and the begin of the transaction that is open there.
class context {
public:
    explicit context(output_plugin plugin) : plugin_{plugin} {}

    void add(const std::string& payload, const change& decoded) {
        const bool describes = plugin_ == output_plugin::pgoutput && payload.front() == 'R';
        if (describes) {
            descriptions_.push_back(payload);
        } else if (std::holds_alternative<transaction_begin>(decoded)) {
            begin_ = payload;
        } else if (std::holds_alternative<transaction_commit>(decoded)) {
            begin_.reset();
        }
    }

    [[nodiscard]] std::unique_ptr<wal::decoder> make_decoder() const {
        auto decoder = wal::make_decoder(plugin_);
        for (const auto& description : descriptions_) {
            static_cast<void>(decoder->decode(description).value());
        }
        if (begin_) {
            static_cast<void>(decoder->decode(*begin_).value());
        }
        return decoder;
    }

private:
    output_plugin plugin_;
    std::vector<std::string> descriptions_;
    std::optional<std::string> begin_;
};

TEST_P(DamagedCaptures, AreNeverTakenForWholeWhenCut) {
    const auto payloads = payloads_of(GetParam());
    const auto decoder = wal::make_decoder(GetParam().plugin);
    for (std::size_t index = 0; index < payloads.size(); ++index) {
        const std::string_view whole = payloads[index];
        for (const auto length : offsets_of(whole.size())) {
            const auto decoded = decoder->decode(whole.substr(0, length));
            ASSERT_FALSE(decoded) << "payload " << index << " cut to " << length;
            ASSERT_NE(decoded.error().what.find(" at byte "), std::string::npos);
        }
        ASSERT_TRUE(decoder->decode(whole)) << "payload " << index;
    }
}

/// Reads every byte of a change, so that a sanitizer sees a view that points anywhere else.
std::size_t touch(const change& decoded) {
    return to_text(decoded).size();
}

/// Decodes the payload with each of its bytes flipped in several ways. Returns how many characters
/// the changes had that came out all the same.
std::size_t decode_with_flips(const std::string& payload, const context& before) {
    std::size_t characters = 0;
    auto decoder = before.make_decoder();
    for (std::size_t offset = 0; offset < payload.size(); ++offset) {
        for (const unsigned flip : {0x01U, 0x20U, 0x80U, 0xFFU}) {
            auto damaged = payload;
            damaged[offset] = static_cast<char>(static_cast<unsigned char>(damaged[offset]) ^ flip);
            const auto decoded = decoder->decode(damaged);
            if (!decoded) {
                EXPECT_FALSE(decoded.error().what.empty());
                continue;
            }
            characters += touch(*decoded);
            decoder = before.make_decoder();
        }
    }
    return characters;
}

TEST_P(DamagedCaptures, AreSurvivedWithAnyByteFlipped) {
    const auto decoder = wal::make_decoder(GetParam().plugin);
    context before{GetParam().plugin};
    std::size_t characters = 0;
    for (const auto& payload : payloads_of(GetParam())) {
        if (payload.size() <= small_frame_bytes) {
            characters += decode_with_flips(payload, before);
        }
        before.add(payload, decoder->decode(payload).value());
    }
    EXPECT_GT(characters, 0U) << "a flipped byte within a text is still a text";
}

TEST_P(DamagedCaptures, HaveFramesThatAreNeverTakenForWholeWhenCut) {
    for (const auto& message : split_capture(read_file(capture_path(GetParam().name, ".frames")))) {
        const std::string_view whole = message;
        ASSERT_TRUE(wal::parse_frame(whole));
        const std::size_t header = whole.front() == 'w' ? 25 : whole.size();
        for (std::size_t length = 0; length < header; ++length) {
            ASSERT_FALSE(wal::parse_frame(whole.substr(0, length))) << length;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Postgresql15, DamagedCaptures, ::testing::ValuesIn(captures),
                         [](const auto& each) { return std::string{each.param.name}; });

}  // namespace
}  // namespace walrelay::testing
