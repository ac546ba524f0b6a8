// Any sequence of payloads is survived by the wal2json decoder, and what it has seen before makes
// no difference: it compares the bytes of rows and edges with what it knows, instead of parsing
// them.
#include "fuzz/fuzz_decoder.hpp"
#include "unit/wal/change_text.hpp"
#include "wal/wal2json/wal2json_exact_reader.hpp"
#include "wal/wal2json/wal2json_object.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace walrelay::fuzz {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Says of each payload what a decoder says that knows nothing but the transaction's begin.
class twin {
public:
    void expect_same(std::string_view payload, const result<change>& decoded) {
        const auto decoder = make_decoder(output_plugin::wal2json);
        if (!begin_.empty()) {
            require(decoder->decode(begin_).has_value());
        }
        require(text_of(decoder->decode(payload)) == text_of(decoded));
        if (decoded && std::holds_alternative<transaction_begin>(*decoded)) {
            begin_ = payload;
        } else if (decoded && std::holds_alternative<transaction_commit>(*decoded)) {
            begin_.clear();
        }
    }

private:
    static std::string text_of(const result<change>& decoded) {
        return decoded ? testing::to_text(*decoded) : to_string(decoded.error());
    }

    std::string begin_;
};

/// A twin takes this way too.
void expect_same_edge(std::string_view payload) {
    wal::wal2json_exact_reader exact;
    const auto* const edge = exact.read_edge(payload);
    if (edge == nullptr) {
        return;
    }
    wal::wal2json_parser parser;
    const auto parsed = parser.parse(payload);
    require(parsed.has_value());
    for (const auto member : {&wal::wal2json_object::action, &wal::wal2json_object::timestamp,
                              &wal::wal2json_object::commit, &wal::wal2json_object::end}) {
        const auto& other = (**parsed).*member;
        require(other && other->text == (edge->*member)->text &&
                other->offset_bytes == (edge->*member)->offset_bytes);
    }
}

}  // namespace
}  // namespace walrelay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace walrelay::fuzz;
    twin other;
    return run({reinterpret_cast<const char*>(data), size}, walrelay::output_plugin::wal2json,
               [&](std::string_view payload, const auto& decoded) {
                   other.expect_same(payload, decoded);
                   expect_same_edge(payload);
               });
}
