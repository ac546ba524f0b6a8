// What must hold between settings.
#include "config/rules.hpp"

#include "config/quote.hpp"
#include "config/read.hpp"

#include <algorithm>
#include <optional>

namespace walrelay::config {
namespace {

/// Notes a problem of a key, unless its value was refused already.
void blame(draft& of, const std::string& name, std::string what, std::string remedy,
           std::size_t entry = 0) {
    if (!of.is_spoilt(name, entry)) {
        of.add({of.where(name, entry), name, std::move(what), std::move(remedy)});
    }
}

void require_pair(draft& of, const std::string& present, const std::string& present_value,
                  const std::string& absent, const std::string& absent_value) {
    if (!of.is_spoilt(absent) && !present_value.empty() && absent_value.empty()) {
        blame(of, present, "is set without " + absent, "set " + absent + " too, or remove it");
    }
}

void check_one_way_to_sign_in(draft& of) {
    const nats_settings& nats = of.all().nats;
    std::string first;
    for (const auto& [name, set_to] : {std::pair("nats.credentials", &nats.credentials),
                                       {"nats.nkey_seed", &nats.nkey_seed},
                                       {"nats.user", &nats.user},
                                       {"nats.token_file", &nats.token_file}}) {
        if (set_to->empty()) {
            continue;
        }
        if (first.empty()) {
            first = name;
        } else {
            of.add({of.where(name), name, "is a second way to sign in, beside " + first,
                    "keep one of them"});
        }
    }
}

void check_one_api(draft& of) {
    const nats_settings& nats = of.all().nats;
    if (!nats.domain.empty() && !nats.api_prefix.empty()) {
        of.add({of.where("nats.api_prefix"), "nats.api_prefix", "is set beside nats.domain",
                "keep one of them: the domain stands for the prefix " +
                    in_quotes("$JS." + nats.domain + ".API")});
    }
}

/// The first token, which is taken off; nothing if there is none left.
std::optional<std::string_view> take_token(std::string_view& rest) {
    if (rest.empty()) {
        return std::nullopt;
    }
    const auto token = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(token.size() + 1, rest.size()));
    return token;
}

/// Whether the pattern can match a subject that begins with these tokens.
bool reaches(std::string_view pattern, std::string_view prefix) {
    while (const auto wanted = take_token(prefix)) {
        const auto token = take_token(pattern);
        if (!token || (*token != ">" && *token != "*" && *token != *wanted)) {
            return false;
        }
        if (*token == ">") {
            return true;
        }
    }
    return !pattern.empty();
}

/// The stream would take the answers to its own publishes.
void check_inbox(draft& of) {
    const nats_settings& nats = of.all().nats;
    const auto taken = std::find_if(
        nats.subjects.begin(), nats.subjects.end(),
        [&](const std::string& subject) { return reaches(subject, nats.inbox_prefix); });
    if (taken != nats.subjects.end() && !of.is_spoilt("nats.subjects") &&
        !of.is_spoilt("nats.inbox_prefix")) {
        blame(of, of.is_set("nats.inbox_prefix") ? "nats.inbox_prefix" : "nats.subjects",
              "the stream's subject " + in_quotes(*taken) + " takes the answers to " +
                  in_quotes(nats.inbox_prefix + ".>") + " as messages",
              "choose a prefix that no subject of the stream begins with, such as "
              "\"_INBOX_relay\"");
    }
}

void check_backoff(draft& of) {
    const delivery_settings& delivery = of.all().delivery;
    const std::string first = "delivery.backoff_initial";
    const std::string longest = "delivery.backoff_max";
    if (delivery.backoff_initial > delivery.backoff_max && !of.is_spoilt(first) &&
        !of.is_spoilt(longest)) {
        blame(of, of.is_set(first) ? first : longest,
              "the first wait of " + show(delivery.backoff_initial) +
                  " is longer than the longest of " + show(delivery.backoff_max),
              "make backoff_initial at most backoff_max");
    }
}

/// The trail's slot has the relay's name in front.
void check_room_for_trail(draft& of) {
    constexpr std::size_t longest = 57;
    const auto& all = of.all();
    if (all.replay.keep && all.postgres.slot.size() > longest && !of.is_spoilt("postgres.slot") &&
        !of.is_spoilt("replay.keep")) {
        blame(of, "replay.keep",
              "asks for a trail, and no name is left for it: the slot " +
                  in_quotes(all.postgres.slot + "_trail") + " would have more than 63 characters",
              "use a postgres.slot of at most 57 characters, or remove replay.keep");
    }
}

bool has_source(const draft& of, std::size_t entry) {
    return of.is_set("outbox.table", entry) || of.all().outbox[entry].is_tableless();
}

/// Each entry has a table or a prefix, and no other entry has the same.
void check_source(draft& of, std::size_t entry) {
    const auto& tables = of.all().outbox;
    const std::string name =
        tables[entry].is_tableless() ? "outbox.message_prefix" : "outbox.table";
    if (of.is_spoilt("outbox.table", entry) || of.is_spoilt("outbox.message_prefix", entry)) {
        return;
    }
    if (!has_source(of, entry)) {
        of.add({of.where_of_entry(entry), name, "is not set",
                "write table = \"public.outbox_events\" in this entry"});
        return;
    }
    for (std::size_t earlier = 0; earlier < entry; ++earlier) {
        if (tables[earlier].table == tables[entry].table && has_source(of, earlier)) {
            return blame(of, name,
                         in_quotes(to_string(tables[entry].table)) + " is there already, see " +
                             of.where(name, earlier),
                         "keep one [[outbox]] entry for each table", entry);
        }
    }
}

/// What asks for a table where there is none.
void check_tableless(draft& of, std::size_t entry) {
    for (const auto* name :
         {"outbox.table", "outbox.pending", "outbox.republish", "outbox.on_published",
          "outbox.on_dead_letter", "outbox.delete_after"}) {
        if (of.is_set(name, entry)) {
            blame(of, name, "is set beside outbox.message_prefix, whose rows are in no table",
                  "remove one of the two", entry);
        }
    }
    const std::string beside = " does not go together with outbox.message_prefix, see " +
                               of.where("outbox.message_prefix", entry) +
                               ": those events are in no table";
    const std::string apart = ", or relay them by a walrelay with a slot of its own";
    if (of.all().delivery.on_slot_loss == slot_loss_policy::heal) {
        of.add({of.where("delivery.on_slot_loss"), "delivery.on_slot_loss", "\"heal\"" + beside,
                "write \"halt\"" + apart});
    }
    if (of.all().postgres.snapshot != snapshot_mode::none) {
        of.add({of.where("postgres.snapshot"), "postgres.snapshot", "a snapshot" + beside,
                "write \"none\"" + apart});
    }
}

void check_entry(draft& of, std::size_t entry) {
    const outbox_table& table = of.all().outbox[entry];
    check_source(of, entry);
    if (table.keeps_tombstones && table.body != body_format::payload &&
        !of.is_spoilt("outbox.body", entry)) {
        blame(of, "outbox.null_payload",
              "\"tombstone\" is for messages that are the payload alone, and body is another one",
              "remove null_payload, or write body = \"payload\"", entry);
    }
    if (table.is_tableless()) {
        check_tableless(of, entry);
    } else if (of.all().postgres.snapshot == snapshot_mode::pending && table.pending.empty() &&
               !of.is_spoilt("outbox.pending", entry)) {
        of.add({of.where_of_entry(entry), "outbox.pending",
                "is not set, but postgres.snapshot = \"pending\" asks for it, see " +
                    of.where("postgres.snapshot"),
                "write pending = \"status = 'pending'\" in this entry, in the terms of the table"});
    }
}

void check_passwords(draft& of) {
    const postgres_settings& postgres = of.all().postgres;
    if (!postgres.password_file.empty() && !postgres.password_command.empty()) {
        blame(of, "postgres.password_command", "is set beside postgres.password_file",
              "leave one of the two out");
    }
    const auto& file = postgres.writer_password_file;
    const auto& command = postgres.writer_password_command;
    if (!file.empty() && !command.empty()) {
        blame(of, "postgres.writer_password_command", "is set beside postgres.writer_password_file",
              "leave one of the two out");
    }
    require_pair(of, "postgres.writer_password_file", file, "postgres.writer", postgres.writer);
    require_pair(of, "postgres.writer_password_command", command, "postgres.writer",
                 postgres.writer);
}

}  // namespace

void check_rules(draft& of) {
    const nats_settings& nats = of.all().nats;
    if (of.all().postgres.conninfo.empty()) {
        blame(of, "postgres.conninfo", "is not set",
              "start with --postgres \"host=... dbname=... user=...\", or write in the file: "
              "[postgres] conninfo = \"host=... dbname=... user=...\"");
    }
    check_passwords(of);
    check_one_way_to_sign_in(of);
    check_one_api(of);
    check_inbox(of);
    require_pair(of, "nats.password_file", nats.password_file, "nats.user", nats.user);
    require_pair(of, "nats.tls.cert", nats.tls.cert, "nats.tls.key", nats.tls.key);
    require_pair(of, "nats.tls.key", nats.tls.key, "nats.tls.cert", nats.tls.cert);
    check_backoff(of);
    check_room_for_trail(of);
    if (of.all().outbox.empty()) {
        blame(of, "outbox", "no table is named",
              "start with --table public.outbox_events, or write in the file: [[outbox]] "
              "table = \"public.outbox_events\"");
    }
    for (std::size_t entry = 0; entry < of.all().outbox.size(); ++entry) {
        check_entry(of, entry);
    }
}

}  // namespace walrelay::config
