#include "tasks/replay/stream_target.hpp"

#include "outbox/table_mapper.hpp"
#include "postgres/catalog/replay_slot.hpp"
#include "preflight/preflight.hpp"
#include "relay/intake/control_row.hpp"
#include "servers/broker_side.hpp"
#include "servers/findings_error.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

constexpr std::string_view placeholder = "{subject}";

/// The same text where the subjects stay as they are.
std::string moved(const std::string& to_subject, const std::string& subject) {
    return to_subject.empty() ? subject : relay::replayed_subject(to_subject, subject);
}

/// Of a stream that is made for it.
result<std::vector<std::string>> subjects_of(const config::settings& settings,
                                             const std::string& to_subject) {
    std::vector<std::string> subjects;
    if (to_subject.empty() || to_subject.ends_with(placeholder)) {
        for (const auto& each : settings.nats.subjects) {
            subjects.push_back(moved(to_subject, each));
        }
        return subjects;
    }
    // What comes after a > is no subject: those of the tables, which have none.
    const auto mappers = servers::mappers_of(settings);
    if (!mappers) {
        return mappers.error();
    }
    for (const auto& each : *mappers) {
        auto pattern = moved(to_subject, each.subject_pattern());
        if (std::ranges::find(subjects, pattern) == subjects.end()) {
            subjects.push_back(std::move(pattern));
        }
    }
    return subjects;
}

nats::connection_events nothing_is_told() {
    return {[](const nats::reply&) {}, [] {}, [] {}, [](const error&) {}};
}

}  // namespace

result<stream_target> target_of(const config::settings& settings, const postgres::kept_replay& of,
                                const std::string& stream, const lineage& line,
                                const std::string& database) {
    if (stream == settings.nats.stream) {
        return error{errc::configuration_invalid,
                     "stream " + stream + " is the one that the relay publishes into",
                     "leave out --to-stream to publish into this stream, or name another one"};
    }
    auto subjects = subjects_of(settings, of.to_subject);
    if (!subjects) {
        return subjects.error();
    }
    stream_target target{settings, {}};
    target.settings.nats.stream = stream;
    target.settings.nats.subjects = std::move(*subjects);
    target.settings.nats.sole_writer = true;
    for (auto& table : target.settings.outbox) {
        table.subject = moved(of.to_subject, table.subject);
    }
    target.owner = relay::owner_of_replay(postgres::replay_slot_name(of.slot), database,
                                          line.origin.system_identifier,
                                          {of.tables, of.subject, of.aggregates, of.to_subject});
    return target;
}

awaitable<result<target_sight>> look_at_target(servers::executors on, const stream_target& target,
                                               const lineage& line) {
    const auto& settings = target.settings;
    auto events = nothing_is_told();
    auto connected = co_await servers::prepare_broker(
        on.loop, on.blocking, settings, 1, std::move(events), servers::missing_stream::leave);
    if (!connected) {
        co_return connected.error();
    }
    const auto& facts = (*connected)->facts();
    const auto& there = facts.stream;
    target_sight sight;
    sight.limits.max_payload_bytes = facts.max_payload_bytes;
    if (!there) {
        co_return sight;
    }
    sight.limits.max_message_bytes = there->max_message_bytes;
    const auto last = relay::replay_goes_on_after(settings.nats.stream, target.owner, *there, line);
    if (!last) {
        co_return last.error();
    }
    const auto findings = preflight::broker_findings(servers::expectations_of(settings), facts);
    if (auto forbids = servers::to_error(findings, errc::broker_unsuitable)) {
        co_return *forbids;
    }
    if (!*last) {
        co_return sight;
    }
    auto& before = sight.before.emplace(relay::replayed_before{{}, **last});
    if (there->message_count == there->last_sequence) {
        before.messages = there->message_count;
    }
    if (there->first_sequence == 1) {
        const auto first = co_await servers::message_of_stream(on.blocking, settings, 1);
        if (!first) {
            co_return first.error();
        }
        before.first = first->where;
    }
    co_return sight;
}

error takes_no_messages(const std::string& stream, const relay::publish_outcome& said,
                        std::string trouble) {
    if (!said.other_stream.empty()) {
        return relay::is_another_stream(said, stream);
    }
    return {errc::broker_unsuitable, "stream " + stream + " takes no messages",
            "change what the broker names (nats stream info " + stream +
                " shows the stream), then run the same command again",
            std::move(trouble)};
}

}  // namespace walrelay::tasks
