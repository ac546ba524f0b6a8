#include "nats/requests/stream_request.hpp"

#include "core/json_string.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/stream_reader.hpp"

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

namespace walrelay::nats {
namespace {

namespace json = simdjson::ondemand;

/// The words of the error in an answer; nothing if it holds none.
std::optional<std::string> refusal_in(const simdjson::padded_string& answer) {
    json::parser parser;
    json::document document;
    std::string_view said;
    if (parser.iterate(answer).get(document) != simdjson::SUCCESS) {
        return "an answer that is not JSON";
    }
    if (document["error"]["description"].get(said) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    return std::string(said);
}

result<simdjson::padded_string> ask_at(natsConnection* connection, const connect_options& to,
                                       const std::string& subject, const std::string& body) {
    natsMsg* raw = nullptr;
    const auto status = natsConnection_RequestString(&raw, connection, subject.c_str(),
                                                     body.c_str(), to.timeout.count());
    const message_handle answer(raw);
    if (status != NATS_OK) {
        return unavailable("JetStream does not answer a request to " + subject, status);
    }
    simdjson::padded_string text(natsMsg_GetData(raw),
                                 static_cast<std::size_t>(natsMsg_GetDataLength(raw)));
    if (auto said = refusal_in(text)) {
        return error{errc::broker_unsuitable, "JetStream refuses a request to " + subject, "",
                     std::move(*said)};
    }
    return text;
}

result<simdjson::padded_string> ask(natsConnection* connection, const connect_options& to,
                                    const std::string& verb, const std::string& body) {
    return ask_at(connection, to, to.api + ".STREAM." + verb + "." + to.stream, body);
}

/// The configuration in the answer to a request for a stream's state, without its description.
std::optional<std::string> configuration_in(const simdjson::padded_string& answer) {
    json::parser parser;
    json::document document;
    json::object config;
    if (parser.iterate(answer).get(document) != simdjson::SUCCESS ||
        document["config"].get(config) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    std::string text;
    for (auto member : config) {
        std::string_view key;
        json::value value;
        std::string_view as_it_is;
        if (member.unescaped_key().get(key) != simdjson::SUCCESS ||
            member.value().get(value) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        const std::string name(key);
        if (simdjson::to_json_string(value).get(as_it_is) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        if (name != "description") {
            text += ",\"" + name + "\":" + std::string(as_it_is);
        }
    }
    return text;
}

result<std::uint64_t> last_sequence_in(const simdjson::padded_string& answer) {
    json::parser parser;
    json::document document;
    std::uint64_t sequence = 0;
    if (parser.iterate(answer).get(document) != simdjson::SUCCESS ||
        document["state"]["last_seq"].get(sequence) != simdjson::SUCCESS) {
        return error{errc::broker_unavailable, "the state of a stream cannot be read"};
    }
    return sequence;
}

}  // namespace

result<std::uint64_t> set_description(const connect_options& to, const std::string& text) {
    const auto connection = connect_blocking(to);
    if (!connection) {
        return connection.error();
    }
    const auto info = ask(connection->get(), to, "INFO", "");
    if (!info) {
        return cause_of(connection->get(), to, info.error());
    }
    const auto rest = configuration_in(*info);
    if (!rest) {
        return error{errc::broker_unavailable,
                     "the configuration of stream " + to.stream + " cannot be read"};
    }
    const auto updated =
        ask(connection->get(), to, "UPDATE", "{\"description\":" + json_string(text) + *rest + "}");
    return updated ? last_sequence_in(*updated) : cause_of(connection->get(), to, updated.error());
}

result<void> remove_stream(const connect_options& to) {
    const auto connection = connect_blocking(to);
    if (!connection) {
        return connection.error();
    }
    const auto removed = ask(connection->get(), to, "DELETE", "");
    return removed ? result<void>{} : cause_of(connection->get(), to, removed.error());
}

std::vector<std::string> streams_of(const connect_options& to,
                                    const std::vector<std::string>& subjects) {
    // Who may not ask is not answered.
    constexpr std::chrono::milliseconds patience{1000};
    auto shortly = to;
    shortly.timeout = std::min(to.timeout, patience);
    std::vector<std::string> names;
    const auto connection = connect_blocking(shortly);
    for (const auto& subject : subjects) {
        const auto answer = connection
                                ? ask_at(connection->get(), shortly, to.api + ".STREAM.NAMES",
                                         "{\"subject\":" + json_string(subject) + "}")
                                : connection.error();
        if (!answer) {
            break;
        }
        json::parser parser;
        json::document document;
        json::array streams;
        if (parser.iterate(*answer).get(document) != simdjson::SUCCESS ||
            document["streams"].get_array().get(streams) != simdjson::SUCCESS) {
            continue;
        }
        for (auto each : streams) {
            std::string_view name;
            if (each.get(name) == simdjson::SUCCESS && name != to.stream &&
                std::ranges::find(names, name) == names.end()) {
                names.emplace_back(name);
            }
        }
    }
    return names;
}

result<void> step_down(const connect_options& to) {
    constexpr std::chrono::milliseconds patience{500};
    constexpr int tries = 8;
    const auto connection = connect_blocking(to);
    if (!connection) {
        return connection.error();
    }
    const auto asked = ask(connection->get(), to, "LEADER.STEPDOWN", "");
    if (!asked) {
        return asked.error();
    }
    // Only a leader answers; until there is one again, nobody does.
    auto short_of_patience = to;
    short_of_patience.timeout = patience;
    for (int left = tries; left > 0; --left) {
        if (ask(connection->get(), short_of_patience, "INFO", "")) {
            break;
        }
    }
    return {};
}

result<broker_facts> facts_of(const connect_options& to) {
    subscription_handle looking_back;  // outlives the connection, see nats/look_back
    const auto connection = connect_blocking(to);
    if (!connection) {
        return connection.error();
    }
    auto only_the_last = to;
    only_the_last.look_back = 0;
    return read_broker(connection->get(), only_the_last, looking_back);
}

result<asked_message> message_of(const connect_options& to) {
    auto read = facts_of(to);
    if (!read) {
        return read.error();
    }
    if (!read->stream || !read->stream->asked) {
        return error{errc::broker_unsuitable, "there is no stream " + to.stream};
    }
    return std::move(*read->stream->asked);
}

result<std::optional<stream_glance>> glance_at(const connect_options& to) {
    const auto read = facts_of(to);
    if (!read) {
        return read.error();
    }
    const auto& seen = read->stream;
    using glance = std::optional<stream_glance>;
    return seen ? glance{{seen->created,
                          {seen->message_count, seen->byte_count, seen->last_sequence},
                          {seen->max_messages, seen->max_bytes, seen->discard_new},
                          seen->max_message_bytes,
                          read->max_payload_bytes,
                          seen->leader}}
                : glance{};
}

}  // namespace walrelay::nats
