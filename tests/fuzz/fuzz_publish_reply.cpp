// Any answer of the broker is read: only a sequence says that a message is stored, a blank changes
// nothing, and a code that does not fit drops no message.
#include "fuzz/require.hpp"
#include "relay/lane/publish_outcome.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <limits>
#include <string>

namespace {

using namespace walrelay::relay;
using walrelay::fuzz::require;

void check_reply(const std::string& body) {
    const auto read = parse_publish_reply(body, "S");
    const bool taken = read.kind == outcome_class::stored || read.kind == outcome_class::duplicate;
    require(taken == (read.sequence != 0), "what is stored has a sequence, and nothing else has");
    require(!taken || read.error_code == 0, "what is stored has no error");
    // The way around the parser is for answers as servers write them, without a blank in front.
    const auto other = parse_publish_reply(" " + body, "S");
    require(other.kind == read.kind && other.sequence == read.sequence &&
                other.error_code == read.error_code && other.id_is_taken == read.id_is_taken,
            "a blank changes nothing");
    require(!taken || body.find("stream") != std::string::npos, "an ack names a stream");
    const auto elsewhere = parse_publish_reply(body, "another");
    require(!taken || elsewhere.kind == outcome_class::unsuitable, "and is of that stream alone");
}

void check_code(std::int64_t code) {
    const auto read = parse_publish_reply(R"({"error":{"err_code":)" + std::to_string(code) +
                                              R"(,"description":"stream store failed"}})",
                                          "S");
    const bool fits = code >= 0 && code <= std::numeric_limits<std::int32_t>::max();
    require(read.error_code == (fits ? code : 0), "a code is the one that the server said, or 0");
    require(fits || read.kind == outcome_class::doubt, "a code that does not fit is a doubt");
}

void check_last_sequence(const std::string& body) {
    const auto last = parse_last_sequence(body);
    const auto other = parse_last_sequence(" " + body);
    require(last.has_value() == other.has_value(), "a blank changes nothing");
    if (last) {
        require(*last == *other, "a blank changes no sequence");
    } else {
        require(last.error().code == walrelay::errc::broker_unavailable, "one kind of error");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    check_code(input.ConsumeIntegral<std::int64_t>());
    const auto body = input.ConsumeRemainingBytesAsString();
    check_reply(body);
    check_last_sequence(body);
    return 0;
}
