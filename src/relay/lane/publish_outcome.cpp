#include "relay/lane/publish_outcome.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace walrelay::relay {
namespace {

struct known_code {
    std::int32_t code;
    outcome_class kind;
};

constexpr std::int32_t store_failed = 10077;

// Sorted by code. 10077 is decided by its text, see `classify_store_failure`.
constexpr std::array known_codes{
    known_code{10002, outcome_class::transient},   // account resources exceeded
    known_code{10004, outcome_class::transient},   // cluster incomplete
    known_code{10006, outcome_class::transient},   // cluster not active
    known_code{10007, outcome_class::transient},   // cluster not assigned
    known_code{10008, outcome_class::transient},   // cluster not available
    known_code{10009, outcome_class::transient},   // cluster not leader
    known_code{10023, outcome_class::transient},   // insufficient resources
    known_code{10028, outcome_class::transient},   // memory resources exceeded
    known_code{10035, outcome_class::transient},   // no account
    known_code{10039, outcome_class::transient},   // not enabled for account
    known_code{10047, outcome_class::transient},   // storage resources exceeded
    known_code{10054, outcome_class::refused},     // message exceeds maximum
    known_code{10060, outcome_class::unsuitable},  // another stream has the subject
    known_code{10063, outcome_class::doubt},       // sequence does not match
    known_code{10070, outcome_class::doubt},       // wrong last message id
    known_code{10071, outcome_class::doubt},       // wrong last sequence
    known_code{10076, outcome_class::transient},   // JetStream not enabled, also while it starts
    known_code{10097, outcome_class::refused},     // header exceeds maximum
    known_code{10109, outcome_class::unsuitable},  // stream sealed
    known_code{10118, outcome_class::transient},   // stream offline
    known_code{10120, outcome_class::transient},   // no limits for the account
    known_code{10158, outcome_class::doubt},       // id is in process
    known_code{10163, outcome_class::transient},   // leader is warming up
    known_code{10164, outcome_class::doubt},       // wrong last sequence, in process
    known_code{10167, outcome_class::transient},   // too many requests
    known_code{10194, outcome_class::transient},   // stream offline, with a reason
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// "stream store failed" carries the store's own words: server/filestore.go, server/memstore.go.
outcome_class classify_store_failure(std::string_view description) {
    if (contains(description, "too large") || contains(description, "to large")) {
        return outcome_class::refused;
    }
    if (contains(description, "per subject")) {
        return outcome_class::unsuitable;
    }
    return outcome_class::transient;
}

publish_outcome doubtful(std::string_view body) {
    return {outcome_class::doubt, 0, 0, std::string(body)};
}

publish_outcome read_error(simdjson::dom::object failure) {
    std::int64_t error_code = 0;
    std::string_view description;
    if (failure["err_code"].get(error_code) != simdjson::SUCCESS) {
        error_code = 0;  // a proposal that failed says no more than "error"; a doubt
    }
    if (failure["description"].get(description) != simdjson::SUCCESS) {
        description = "an error without a description";
    }
    // Cut to fewer bits, a code of no meaning could become one that drops the message.
    const bool fits = error_code >= 0 && error_code <= std::numeric_limits<std::int32_t>::max();
    const auto code = fits ? static_cast<std::int32_t>(error_code) : 0;
    constexpr std::int32_t id_in_process = 10158;
    return {classify(code, description), 0, code, std::string(description), code == id_in_process};
}

/// Not asked of the server with Nats-Expected-Stream, which would stay with the message: see
/// publish_terms.
publish_outcome from_another_stream(std::string_view name, std::string_view body) {
    publish_outcome outcome{outcome_class::unsuitable, 0, 0, std::string(body)};
    outcome.other_stream = name;
    return outcome;
}

/// The name, where the reply is that of another stream than the one that was meant.
std::optional<std::string_view> other_stream_in(simdjson::dom::object reply,
                                                std::string_view stream,
                                                std::optional<std::string_view> domain) {
    std::string_view name;
    std::string_view of_domain;
    if (reply["stream"].get(name) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    const bool is_elsewhere =
        domain && reply["domain"].get(of_domain) == simdjson::SUCCESS && of_domain != *domain;
    return name != stream || is_elsewhere ? std::optional(name) : std::nullopt;
}

publish_outcome read_ack(simdjson::dom::object ack, std::string_view body) {
    std::uint64_t sequence = 0;
    std::string_view name;
    if (ack["seq"].get(sequence) != simdjson::SUCCESS ||
        ack["stream"].get(name) != simdjson::SUCCESS) {
        return doubtful(body);
    }
    bool duplicate = false;
    if (ack["duplicate"].get(duplicate) != simdjson::SUCCESS) {
        duplicate = false;
    }
    // Nothing is stored at 0. Clustered servers 2.10.14 to 2.10.29 call an id a duplicate so that
    // is only on its way.
    if (sequence == 0) {
        auto outcome = doubtful(body);
        outcome.id_is_taken = duplicate;
        return outcome;
    }
    return {duplicate ? outcome_class::duplicate : outcome_class::stored, sequence, 0, {}};
}

/// `", "domain":"D` at its beginning.
bool remove_domain(std::string_view& body, std::string_view domain) {
    for (const std::string_view part : {std::string_view("\","), std::string_view(" "),
                                        std::string_view("\"domain\":\""), domain}) {
        if (body.starts_with(part)) {
            body.remove_prefix(part.size());
        } else if (part != " ") {
            return false;
        }
    }
    return true;
}

/// The sequence of an ack as servers write it for a message that `stream` has just stored,
/// `{"stream":"S", "seq":17}`, with or without the blank, and in a domain
/// `{"stream":"S", "domain":"D", "seq":17}`; nothing for anything else. Spares nearly every reply
/// the parser. No name that NATS takes is one that JSON writes in another way.
std::optional<std::uint64_t> sequence_of_plain_ack(std::string_view body, std::string_view stream,
                                                   std::string_view domain) {
    constexpr std::string_view head = R"({"stream":")";
    if (!body.starts_with(head)) {
        return std::nullopt;
    }
    body.remove_prefix(head.size());
    if (!body.starts_with(stream)) {
        return std::nullopt;
    }
    body.remove_prefix(stream.size());
    if (!domain.empty() && !remove_domain(body, domain)) {
        return std::nullopt;
    }
    for (const std::string_view part : {"\",", " ", "\"seq\":"}) {
        if (body.starts_with(part)) {
            body.remove_prefix(part.size());
        } else if (part != " ") {
            return std::nullopt;
        }
    }
    if (body.starts_with('0')) {
        return std::nullopt;
    }
    std::uint64_t sequence = 0;
    const char* const end = body.data() + body.size();
    const auto [stop, failure] = std::from_chars(body.data(), end, sequence);
    const bool whole = failure == std::errc{} && std::string_view(stop, end) == "}";
    return whole ? std::optional(sequence) : std::nullopt;
}

}  // namespace

/// server/jetstream_cluster.go and server/jetstream.go: what each code is used for;
/// handleOutOfSpace switches JetStream off for good.
std::string what_ends_it(std::int32_t error_code, std::string_view description) {
    constexpr const char* restart =
        ", then restart nats-server: one that ran out of space has switched JetStream off until "
        "then";
    switch (error_code) {
        case store_failed:
            if (contains(description, "no space left")) {
                return "free space on the broker's disk" + std::string(restart);
            }
            return contains(description, "exceeded")
                       ? "raise max_msgs or max_bytes of the stream, or purge what nobody needs "
                         "(walrelay check names its limits)"
                       : "look into the log of nats-server, which could not write to its store";
        case 10023:  // insufficient resources
            return "raise max_file_store (max_memory_store for a stream in memory) of nats-server, "
                   "or free some of it" +
                   std::string(restart);
        case 10028:  // memory resources exceeded
        case 10047:  // storage resources exceeded
        case 10002:  // account resources exceeded
        case 10120:  // no limits for the account
            return "raise the JetStream limits of the account (nats account info shows them), or "
                   "delete from its streams";
        case 10035:  // no account
        case 10039:  // not enabled for account
        case 10076:  // not enabled
            return "if nats-server is not just starting: where it has switched JetStream off (its "
                   "log "
                   "says so), free space on its disk and restart it, else enable JetStream for the "
                   "account";
        case 10167:  // too many requests
        case 10163:  // leader is warming up
            return {};
        default:
            return "if it lasts longer than an election, start the servers of the cluster that are "
                   "down (nats server report jetstream names them)";
    }
}

outcome_class classify(std::int32_t error_code, std::string_view description) {
    if (error_code == store_failed) {
        return classify_store_failure(description);
    }
    const auto* const found = std::lower_bound(
        known_codes.begin(), known_codes.end(), error_code,
        [](const known_code& each, std::int32_t code) { return each.code < code; });
    if (found == known_codes.end() || found->code != error_code) {
        return outcome_class::doubt;
    }
    return found->kind;
}

publish_outcome parse_publish_reply(std::string_view body, std::string_view stream,
                                    std::optional<std::string_view> domain) {
    if (const auto sequence = sequence_of_plain_ack(body, stream, domain.value_or(""))) {
        return {outcome_class::stored, *sequence, 0, {}};
    }
    // The parser keeps its memory from reply to reply; the relay runs on one thread.
    thread_local simdjson::dom::parser parser;
    simdjson::dom::object reply;
    if (parser.parse(body.data(), body.size()).get(reply) != simdjson::SUCCESS) {
        return doubtful(body);
    }
    if (const auto other = other_stream_in(reply, stream, domain)) {
        return from_another_stream(*other, body);
    }
    simdjson::dom::object failure;
    if (reply["error"].get(failure) == simdjson::SUCCESS) {
        return read_error(failure);
    }
    return read_ack(reply, body);
}

namespace {

error is_another_domain(const publish_outcome& outcome, const std::string& stream) {
    simdjson::dom::parser parser;
    std::string_view domain;
    const auto& said = outcome.server_said;
    if (parser.parse(said.data(), said.size())["domain"].get(domain) != simdjson::SUCCESS) {
        domain = "";
    }
    const std::string other(domain);
    return {errc::broker_unsuitable,
            "stream " + stream + " of the JetStream domain \"" + other +
                "\" has answered a message for stream " + stream +
                " of another domain: both take the message's subject, and whether the row is in "
                "the stream that is meant is not known",
            "if the stream of domain " + other + " is the one that is meant, set nats.domain = \"" +
                other + "\"; else let that stream take other subjects: `nats --js-domain " + other +
                " stream info " + stream + "` shows which it takes, `nats --js-domain " + other +
                " stream edit " + stream +
                " --subjects ...` leaves them out (what it has taken stays there)",
            outcome.server_said};
}

}  // namespace

error is_another_stream(const publish_outcome& outcome, const std::string& stream) {
    const auto& other = outcome.other_stream;
    if (other == stream) {
        return is_another_domain(outcome, stream);
    }
    return {errc::broker_unsuitable,
            "stream " + other + " has answered a message for stream " + stream +
                ": the message's subject belongs to " + other + ", and " + stream +
                " does not have the row",
            "let " + stream + " alone have the subject: `nats stream info " + other +
                "` shows which of its subjects takes it, `nats stream edit " + other +
                " --subjects ...` leaves that out, and `nats stream edit " + stream +
                " --subjects ...` adds it (what " + other +
                " has taken of it stays there). Or set nats.stream or outbox.subject",
            outcome.server_said};
}

result<std::uint64_t> parse_last_sequence(std::string_view body) {
    thread_local simdjson::dom::parser parser;
    std::uint64_t sequence = 0;
    const auto answer = parser.parse(body.data(), body.size());
    if (answer["state"]["last_seq"].get(sequence) == simdjson::SUCCESS) {
        return sequence;
    }
    std::string_view said;
    if (answer["error"]["description"].get(said) != simdjson::SUCCESS) {
        constexpr std::size_t enough = 200;
        said = body.substr(0, enough);
    }
    return error{errc::broker_unavailable, "the stream does not say what it ends with", "",
                 std::string(said)};
}

}  // namespace walrelay::relay
