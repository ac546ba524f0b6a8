// Any text of a bytea or a timestamp is read or refused, in the same way by all that read it, and
// an array is written so that its elements can be read again.
#include "fuzz/require.hpp"
#include "outbox/bytea.hpp"
#include "outbox/timestamp.hpp"
#include "postgres/session/array_literal.hpp"
#include "wal/postgres_time.hpp"

#include <string>
#include <vector>

namespace {

using namespace walrelay;
using fuzz::require;

void check_bytea(std::string_view digits) {
    std::string bytes = "before";
    std::string base64 = "before";
    const auto length = bytes.size();
    const bool read = outbox::append_bytes(bytes, digits);
    require(outbox::append_base64(base64, digits) == read, "both forms take the same digits");
    const auto count = read ? digits.size() / 2 : 0;
    require(bytes.size() == length + count, "a byte is two digits");
    require(base64.size() == length + (count + 2) / 3 * 4, "three bytes are four letters");
}

void check_timestamp(std::string_view text) {
    std::string from_text;
    std::string from_time;
    const auto when = outbox::parse_timestamp(text);
    require(outbox::append_rfc3339(from_text, text) == when.has_value(), "both take the same text");
    require(!when || outbox::append_rfc3339(from_time, *when), "what was read can be printed");
    require(from_text == from_time, "both ways print the same");
    const auto of_commit = wal::parse_timestamp(text);
    require(!when || !of_commit || *when == *of_commit, "a time is the same in rows and commits");
    if (of_commit) {
        const auto number = wal::to_postgres_time(*of_commit);
        require(wal::from_postgres_time(number) == of_commit, "a time is the same as a number");
    }
}

/// As PostgreSQL reads an array whose elements are all in quotes.
std::vector<std::string> elements_of(std::string_view literal) {
    std::vector<std::string> elements;
    for (std::size_t at = 1; at + 1 < literal.size(); at += 2) {
        require(literal[at] == '"', "an element begins with a quote");
        auto& element = elements.emplace_back();
        for (++at; literal.at(at) != '"'; ++at) {
            at += literal[at] == '\\' ? 1 : 0;
            element += literal.at(at);
        }
    }
    return elements;
}

void check_array(std::string_view text) {
    const auto half = text.size() / 2;
    const std::vector<std::string> elements{std::string(text.substr(0, half)), "",
                                            std::string(text.substr(half))};
    require(elements_of(postgres::array_literal(elements)) == elements, "an array is read again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::as_text(data, size);
    check_bytea(text);
    check_timestamp(text);
    check_array(text);
    return 0;
}
