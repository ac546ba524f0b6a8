#include "nats/requests/message_get.hpp"

#include "core/json_string.hpp"
#include "nats/requests/connect_call.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <string_view>

namespace walrelay::nats {
namespace {

/// In the answer to a request for the next message; 0 if it names none.
std::uint64_t sequence_in(const simdjson::padded_string& answer) {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    std::uint64_t sequence = 0;
    if (parser.iterate(answer).get(document) != simdjson::SUCCESS ||
        document["message"]["seq"].get(sequence) != simdjson::SUCCESS) {
        return 0;
    }
    return sequence;
}

/// Of the error in an answer; 0 if it holds none.
std::int64_t error_code_in(const simdjson::padded_string& answer) {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    std::int64_t code = 0;
    if (parser.iterate(answer).get(document) != simdjson::SUCCESS ||
        document["error"]["err_code"].get(code) != simdjson::SUCCESS) {
        return 0;
    }
    return code;
}

}  // namespace

result<message_handle> message_at(jsCtx* jetstream, const std::string& stream,
                                  std::uint64_t sequence) {
    natsMsg* raw = nullptr;
    jsErrCode code{};
    const auto status = js_GetMsg(&raw, jetstream, stream.c_str(), sequence, nullptr, &code);
    message_handle found(raw);
    if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) {
        return message_handle();
    }
    if (status != NATS_OK) {
        return unavailable(fmt::format("message {} of stream {} cannot be read", sequence, stream),
                           status);
    }
    return found;
}

result<std::uint64_t> next_from(natsConnection* connection, const connect_options& options,
                                std::uint64_t sequence, const std::string& subject) {
    const auto api = options.api + ".STREAM.MSG.GET." + options.stream;
    const auto request =
        fmt::format(R"({{"seq":{},"next_by_subj":{}}})", sequence, json_string(subject));
    natsMsg* raw = nullptr;
    const auto status = natsConnection_RequestString(&raw, connection, api.c_str(), request.c_str(),
                                                     options.timeout.count());
    const message_handle answer(raw);
    const auto what = fmt::format("the messages of stream {} from sequence {} on cannot be read",
                                  options.stream, sequence);
    if (status != NATS_OK) {
        return unavailable(what, status);
    }
    const simdjson::padded_string text(natsMsg_GetData(raw),
                                       static_cast<std::size_t>(natsMsg_GetDataLength(raw)));
    if (const auto found = sequence_in(text); found > 0) {
        return found;
    }
    if (error_code_in(text) == JSNoMessageFoundErr) {
        return 0;
    }
    return error{errc::broker_unavailable, what, "", std::string(std::string_view(text))};
}

}  // namespace walrelay::nats
