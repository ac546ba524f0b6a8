#include "relay/machine/replay_target.hpp"

#include <string_view>
#include <utility>

namespace walrelay::relay {
namespace {

/// nats-server, server/errors.json: JSStreamSubjectOverlapErr.
constexpr std::string_view overlap = "subjects overlap with an existing stream";

error not_for_replays(const std::string& stream, const std::string& why) {
    return {errc::broker_unsuitable, "stream " + stream + " " + why + "; it is left as it is",
            "name a stream that does not exist yet: --to-stream"};
}

}  // namespace

stream_owner owner_of_replay(std::string slot, std::string database,
                             std::uint64_t system_identifier, const replay_rules& rules) {
    // With their numbers, so that no two kinds of choice read alike.
    std::vector<std::string> parts = {"subject " + rules.subject, "to " + rules.to_subject};
    for (const auto& table : rules.tables) {
        parts.push_back("table " + to_string(table));
    }
    for (const auto& aggregate : rules.aggregates) {
        parts.push_back("aggregate " + aggregate);
    }
    stream_owner owner{std::move(slot), std::move(database), system_identifier};
    owner.rules = fingerprint_of_texts(std::move(parts));
    return owner;
}

result<std::optional<position>> replay_goes_on_after(const std::string& stream,
                                                     const stream_owner& owner,
                                                     const stream_facts& there,
                                                     const lineage& line) {
    const auto mark = owner_in(there.description);
    if (!mark && (!there.description.empty() || there.last_sequence > 0)) {
        return not_for_replays(stream, "was not made by a replay");
    }
    if (mark && (mark->slot != owner.slot || mark->database != owner.database)) {
        return not_for_replays(stream, "is that of slot " + mark->slot + " of database " +
                                           mark->database + ", as its description says");
    }
    if (mark && mark->rules != owner.rules) {
        return not_for_replays(stream,
                               "has the rows of a replay with other --table, --subject or "
                               "--aggregate");
    }
    if (there.last_sequence == 0) {
        return std::optional<position>{};
    }
    if (there.shared || !there.final_position || there.final_position != there.last_position) {
        return not_for_replays(stream, "does not end with a message of the replay: sequence " +
                                           std::to_string(there.last_sequence) +
                                           " was deleted, or somebody else has written there");
    }
    if (!line.shares(*there.final_position)) {
        return not_for_replays(stream, "ends with position " + to_string(*there.final_position) +
                                           ", which is of another history than the database");
    }
    return there.final_position;
}

result<void> joins_replayed(const std::string& stream, const position& begins,
                            const replayed_before& there) {
    if (there.first && begins.at < there.first->at) {
        return not_for_replays(
            stream, "begins with the row at position " + to_string(*there.first) +
                        ", after that at which this replay begins (" + to_string(begins) + ")");
    }
    if (begins.at > there.last.at) {
        return error{errc::broker_unsuitable,
                     "stream " + stream + " ends with the row at position " +
                         to_string(there.last) + ", and this replay begins after it, at " +
                         to_string(begins) + ": what is between them would be missing there",
                     "begin where the stream ends: --from " + to_string(there.last)};
    }
    return {};
}

error explain_replay_failure(error why, const std::string& stream) {
    if (why.server_said.find(overlap) != std::string::npos) {
        why.remedy =
            "give the messages subjects that no other stream has: --subject 'replay.{subject}'";
    } else if (advice_for(why.code) != advice::this_configuration) {
        why.remedy +=
            (why.remedy.empty() ? "" : ", then: ") +
            std::string(
                "run the same command again; it goes on after the last message of stream ") +
            stream;
    }
    return why;
}

}  // namespace walrelay::relay
