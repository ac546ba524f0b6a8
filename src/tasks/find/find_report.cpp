#include "tasks/find/find_report.hpp"

#include "core/joined.hpp"
#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "core/waiting_slot.hpp"
#include "preflight/preflight.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

namespace walrelay::tasks {
namespace {

std::string stored_text(wall_time time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z",
                       std::chrono::time_point_cast<std::chrono::milliseconds>(time));
}

struct said_of_verdict {
    std::string_view name;
    std::string_view words;
};

said_of_verdict name_of(verdict what) {
    switch (what) {
        case verdict::once:
            return {"published", "it is in the stream once"};
        case verdict::again:
            return {"published_again", "it is in the stream, and again because that was asked for"};
        case verdict::twice:
            return {"published_twice",
                    "it is in the stream more than once under one Nats-Msg-Id; walrelay verify "
                    "names all that are"};
        case verdict::set_aside:
            return {"set_aside",
                    "it was set aside: walrelay dead-letter show ID says why, walrelay dead-letter "
                    "retry ID has it published"};
        case verdict::given_up:
            return {"given_up",
                    "an operator went on without it (walrelay resume --give-up); if the row is "
                    "still in its table: walrelay replay --ids ID publishes it"};
        case verdict::dropped:
            return {"dropped", "it was set aside, and its dead letter was dropped"};
        case verdict::awaited:
            return {"awaited",
                    "it is not in the stream yet: the slot is not at the end of the WAL and may "
                    "still bring it; walrelay verify looks whether it does"};
        case verdict::halted:
            return {"halted",
                    "it is not in the stream, and the relay is halted: walrelay status says what "
                    "to do"};
        case verdict::not_sent:
            return {"not_sent",
                    "it is not in the stream, and no slot sends it: there is none, or the row was "
                    "there before it. To have it published: walrelay replay --ids ID"};
        case verdict::missing:
            return {"missing",
                    "it is not in the stream, and the slot is past it: walrelay verify looks for "
                    "all such rows"};
        default:
            return {"unknown", "there is no trace of it: no such row, no message, no dead letter"};
    }
}

/// Why it can have a message all the same; empty where it cannot.
std::string what_was_not_seen(const surroundings& around) {
    if (around.looked_at_a_part()) {
        return fmt::format("messages before sequence {} were not looked at", around.looked_from);
    }
    return around.gone_messages == 0
               ? ""
               : fmt::format(
                     "the stream begins at sequence {}, and {} gone: its message can have "
                     "been one of them",
                     around.first_sequence,
                     around.gone_messages == 1
                         ? "1 message of it is"
                         : fmt::format("{} messages of it are", around.gone_messages));
}

std::string words_of(const event_trace& one, const surroundings& around) {
    const std::string words(name_of(one.what).words);
    if (one.what == verdict::once && !around.is_whole()) {
        return words + " among the messages that were looked at";
    }
    if (one.what != verdict::unknown) {
        return words;
    }
    const auto unseen = what_was_not_seen(around);
    if (unseen.empty()) {
        return words;
    }
    return (one.rows.empty() ? words + "; but " : "whether it was in the stream is unknown: ") +
           unseen;
}

/// Whether the consumer is ever to get it.
bool is_for(const nats::consumer_place& place, const traced_message& message) {
    return place.subjects.empty() ||
           std::ranges::any_of(place.subjects, [&](const std::string& filter) {
               return preflight::subject_covers(filter, message.subject);
           });
}

/// Of one message, for the consumer that was asked about.
std::string_view state_for(const nats::consumer_place& place, const traced_message& message) {
    if (!is_for(place, message)) {
        return "not of its subjects";
    }
    if (message.sequence <= place.acked) {
        return place.acks ? "acked" : "delivered";
    }
    return message.sequence > place.delivered ? "not delivered yet"
           : place.acks                       ? "delivered, not acked by all that came before"
                                              : "delivered";
}

std::string occasion_in_words(const traced_message& message) {
    const auto occasion = message.occasion();
    if (message.position.empty()) {
        return "not walrelay's";
    }
    if (message.of_left_branch) {
        return "of a timeline that was left at a promotion: it stands for no row";
    }
    return occasion.empty() ? "first" : occasion;
}

class text_writer {
public:
    void event(const event_trace& one, const surroundings& around) {
        line("event", one.id);
        for (const auto& row : one.rows) {
            line("  row", fmt::format("{}, id {}{}, transaction {}{}", to_string(row.table), row.id,
                                      row.created_at.empty() ? "" : ", created " + row.created_at,
                                      row.transaction,
                                      row.unmappable.empty()
                                          ? ""
                                          : "; no message can be made of it: " + row.unmappable));
        }
        for (const auto& message : one.messages) {
            auto text = fmt::format("sequence {}, stored {}, subject {}, {}", message.sequence,
                                    stored_text(message.stored), message.subject,
                                    occasion_in_words(message));
            if (around.place) {
                const auto& place = *around.place;
                text += fmt::format("; {}: {}", around.consumer, state_for(place, message));
                text += is_for(place, message) ? "" : " (" + joined(place.subjects) + ")";
            }
            line("  message", text);
        }
        if (one.messages.size() == messages_kept) {
            line("", "no more than these are shown");
        }
        for (const auto& letter : one.letters) {
            line("  letter", fmt::format("{}, {}, {}: {}", letter.id, letter.state, letter.dead_at,
                                         letter.reason));
        }
        line("  ->", words_of(one, around));
    }
    void nothing(const surroundings& around) {
        std::string text = "no table has a row of this aggregate (any more), and ";
        if (!around.is_told_by_subject) {
            text +=
                "whether the stream has a message of it is unknown: no subject of the "
                "configuration has both its type and its id; walrelay find ID, or --sequence, "
                "finds an event of it";
        } else {
            text += "the stream has no message under its subject";
            const auto unseen = what_was_not_seen(around);
            text += unseen.empty() ? "" : "; but " + unseen;
        }
        line("->", text);
    }
    void around(const surroundings& all) {
        line("looked", all.looked_from == 0
                           ? "at no message of stream " + all.stream
                           : fmt::format("stream {}, {} from sequence {} to {}", all.stream,
                                         all.subjects.empty() ? "all messages"
                                                              : "subject " + joined(all.subjects),
                                         all.looked_from, all.last_sequence));
        if (all.slot_waits) {
            const auto waits = waits_under_another_name(all.slot, *all.slot_waits);
            line("slot", waits.what + "; fix: " + waits.remedy);
        } else if (!all.slot_exists) {
            line("slot", all.slot + ": there is none");
        } else {
            const auto end =
                all.wal_end == lsn{} ? "" : fmt::format(", WAL ends at {}", to_string(all.wal_end));
            line("slot", fmt::format("{} {}, confirmed {}{}", all.slot,
                                     all.slot_active ? "in use" : "not in use",
                                     to_string(all.confirmed), end));
        }
        if (all.halted) {
            line("halted", *all.halted);
        }
        if (!all.consumer.empty() && !all.place) {
            line("consumer", all.consumer + ": the stream has none of that name");
        }
    }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void line(std::string_view what, const std::string& text) {
        fmt::format_to(std::back_inserter(out_), "{:<10} {}\n", what, one_line(text));
    }

    std::string out_;
};

std::string json_of(const traced_row& row) {
    return fmt::format(
        R"({{"schema":{},"table":{},"id":{},"created_at":{},"transaction":{},"message_id":{},)"
        R"("subject":{},"unmappable":{}}})",
        json_string(row.table.schema), json_string(row.table.name), json_string(row.id),
        row.created_at.empty() ? "null" : json_string(row.created_at), json_string(row.transaction),
        row.message_id.empty() ? "null" : json_string(row.message_id),
        row.subject.empty() ? "null" : json_string(row.subject),
        row.unmappable.empty() ? "null" : json_string(row.unmappable));
}

std::string json_of(const traced_message& message, const surroundings& around) {
    const auto occasion = message.occasion();
    return fmt::format(
        R"({{"sequence":{},"stored_at":{},"subject":{},"id":{},"position":{},"occasion":{},)"
        R"("of_left_branch":{},"consumer":{}}})",
        message.sequence, json_string(stored_text(message.stored)), json_string(message.subject),
        json_string(message.id), message.position.empty() ? "null" : json_string(message.position),
        occasion.empty() ? "null" : json_string(occasion), message.of_left_branch,
        around.place ? json_string(state_for(*around.place, message)) : "null");
}

std::string json_of(const traced_letter& letter) {
    return fmt::format(R"({{"id":{},"state":{},"dead_at":{},"table":{},"reason":{}}})", letter.id,
                       json_string(letter.state), json_string(letter.dead_at),
                       json_string(letter.table), json_string(letter.reason));
}

template <class Things, class Write>
std::string list_of(const Things& things, const Write& write) {
    return "[" + joined(things, ",", write) + "]";
}

std::string json_of(const event_trace& one, const surroundings& around) {
    return fmt::format(
        R"({{"id":{},"verdict":{},"rows":{},"messages":{},"dead_letters":{}}})",
        json_string(one.id), json_string(name_of(one.what).name),
        list_of(one.rows, [](const traced_row& row) { return json_of(row); }),
        list_of(one.messages,
                [&](const traced_message& message) { return json_of(message, around); }),
        list_of(one.letters, [](const traced_letter& letter) { return json_of(letter); }));
}

}  // namespace

std::string text_of(const found_events& found) {
    text_writer out;
    if (found.events.empty()) {
        out.nothing(found.around);
    }
    for (const auto& each : found.events) {
        out.event(each, found.around);
    }
    out.around(found.around);
    return out.take();
}

std::string json_of(const found_events& found) {
    const auto& around = found.around;
    const auto no_slot = !around.slot_exists;
    return fmt::format(
        R"({{"events":{},"stream":{},"looked":{{"from":{},"to":{},"subjects":{},"gone":{}}},)"
        R"("slot":{},"slot_active":{},"confirmed":{},"halted":{}}})"
        "\n",
        list_of(found.events, [&](const event_trace& each) { return json_of(each, around); }),
        json_string(around.stream), around.looked_from, around.last_sequence,
        list_of(around.subjects, [](const std::string& each) { return json_string(each); }),
        around.gone_messages, json_string(around.slot), around.slot_active,
        no_slot ? "null" : json_string(to_string(around.confirmed)),
        around.halted ? json_string(*around.halted) : "null");
}

}  // namespace walrelay::tasks
