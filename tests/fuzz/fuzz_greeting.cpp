// Any greeting of a server is read, asks for no log-in once that was taken out, and is answered
// with one line, whatever the secrets hold.
#include "fuzz/require.hpp"
#include "nats/session/log_in.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <string>

namespace {

using namespace walrelay;
using fuzz::is_one_line;
using fuzz::require;

constexpr std::size_t secret_bytes_max = 64;
constexpr const char* seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";

void check_without_log_in(const nats::greeting& met) {
    require(is_one_line(met.without_log_in), "a greeting is one line");
    const auto again = nats::parse_greeting(met.without_log_in);
    require(again.has_value(), "a greeting without the log-in is a greeting");
    require(again->nonce.empty() && !again->tls_required && !again->tls_available,
            "it asks neither for TLS nor for a signature");
    require(again->max_payload_bytes == met.max_payload_bytes, "it has the same limit");
    require(again->without_log_in == met.without_log_in, "there is nothing more to take out");
}

void check_answer(const nats::greeting& met, const nats::server_address& server,
                  const nats::secrets& known) {
    constexpr std::string_view line_end = "\r\n";
    const auto line = nats::connect_line(met, server, known, met.tls_required);
    require(line.has_value(), "a seed that is sound signs");
    require(line->ends_with(line_end), "the line is ended");
    require(is_one_line(std::string_view(*line).substr(0, line->size() - line_end.size())),
            "it is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    const auto secret = [&] { return input.ConsumeRandomLengthString(secret_bytes_max); };
    const nats::secrets known{secret(), secret(), secret(), secret(), secret(), seed};
    nats::server_address server;
    server.user = secret();
    server.password = secret();
    const auto met = nats::parse_greeting(input.ConsumeRemainingBytesAsString());
    if (met) {
        check_without_log_in(*met);
        check_answer(*met, {}, known);
        check_answer(*met, server, known);
    }
    return 0;
}
