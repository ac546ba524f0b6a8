// See nats_handles.hpp.
#include "support/nats_handles.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace walrelay::test {
namespace {

std::map<std::string, std::string> headers_of(natsMsg* message) {
    const char** names = nullptr;
    int count = 0;
    std::map<std::string, std::string> headers;
    if (natsMsgHeader_Keys(message, &names, &count) != NATS_OK) {
        return headers;
    }
    for (int index = 0; index < count; ++index) {
        const char* value = nullptr;
        if (natsMsgHeader_Get(message, names[index], &value) == NATS_OK) {
            headers[names[index]] = value;
        }
    }
    std::free(static_cast<void*>(names));
    return headers;
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        parts.push_back(word);
    }
    return parts;
}

}  // namespace

void require(natsStatus status, const std::string& what) {
    if (status != NATS_OK) {
        const char* detail = nats_GetLastError(nullptr);
        throw std::runtime_error(what + ": " + natsStatus_GetText(status) + ", " +
                                 (detail != nullptr ? detail : ""));
    }
}

connection_handle connect_to(const std::string& url) {
    natsOptions* raw_options = nullptr;
    require(natsOptions_Create(&raw_options), "cannot make options");
    const owned<natsOptions, natsOptions_Destroy> options(raw_options);
    constexpr std::int64_t reconnect_wait_milliseconds = 50;
    const auto urls = split_at_commas(url);
    std::vector<const char*> pointers;
    for (const auto& each : urls) {
        pointers.push_back(each.c_str());
    }
    require(natsOptions_SetServers(raw_options, pointers.data(), static_cast<int>(pointers.size())),
            url);
    require(natsOptions_SetMaxReconnect(raw_options, -1), url);
    require(natsOptions_SetReconnectWait(raw_options, reconnect_wait_milliseconds), url);
    require(natsOptions_SetReconnectJitter(raw_options, 1, 1), url);
    natsConnection* connection = nullptr;
    require(natsConnection_Connect(&connection, raw_options), "cannot connect to " + url);
    return connection_handle(connection);
}

jetstream_handle jetstream_of(natsConnection* connection, std::chrono::milliseconds patience) {
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = patience.count();
    jsCtx* context = nullptr;
    require(natsConnection_JetStream(&context, connection, &options), "JetStream");
    return jetstream_handle(context);
}

stored_message stored_content_of(natsMsg* message) {
    stored_message content;
    content.sequence = natsMsg_GetSequence(message);
    content.subject = natsMsg_GetSubject(message);
    content.headers = headers_of(message);
    content.body.assign(natsMsg_GetData(message),
                        static_cast<std::size_t>(natsMsg_GetDataLength(message)));
    content.stored_at = std::chrono::sys_time<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(natsMsg_GetTime(message)));
    return content;
}

delivery delivery_of(natsMsg* message) {
    jsMsgMetaData* raw = nullptr;
    require(natsMsg_GetMetaData(&raw, message), "a message without metadata");
    const owned<jsMsgMetaData, jsMsgMetaData_Destroy> metadata(raw);
    delivery result;
    result.content.sequence = raw->Sequence.Stream;
    result.content.subject = natsMsg_GetSubject(message);
    result.content.headers = headers_of(message);
    result.content.body.assign(natsMsg_GetData(message),
                               static_cast<std::size_t>(natsMsg_GetDataLength(message)));
    result.content.stored_at =
        std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(raw->Timestamp));
    result.last = raw->NumPending == 0;
    return result;
}

}  // namespace walrelay::test
