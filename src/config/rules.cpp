// What must hold between settings.
#include "config/rules.hpp"

#include "config/quote.hpp"
#include "config/read.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace walrelay::config {
namespace {

void require_conninfo(draft& of) {
    constexpr std::string_view name = "postgres.conninfo";
    if (of.all().postgres.conninfo.empty() && !of.is_spoilt(name)) {
        of.add({of.where(name), std::string(name), "is not set",
                "start with --postgres \"host=... dbname=... user=...\", or write in the file: "
                "[postgres] conninfo = \"host=... dbname=... user=...\""});
    }
}

void require_pair(draft& of, std::string_view present, const std::string& present_value,
                  std::string_view absent, const std::string& absent_value) {
    const bool judged = !of.is_spoilt(present) && !of.is_spoilt(absent);
    if (judged && !present_value.empty() && absent_value.empty()) {
        of.add({of.where(present), std::string(present), "is set without " + std::string(absent),
                "set " + std::string(absent) + " too, or remove it"});
    }
}

void check_one_way_to_sign_in(draft& of) {
    const nats_settings& nats = of.all().nats;
    using way = std::pair<std::string_view, const std::string*>;
    const std::array<way, 4> ways{{{"nats.credentials", &nats.credentials},
                                   {"nats.nkey_seed", &nats.nkey_seed},
                                   {"nats.user", &nats.user},
                                   {"nats.token_file", &nats.token_file}}};
    std::optional<std::string_view> first;
    for (const auto& [name, set_to] : ways) {
        if (set_to->empty()) {
            continue;
        }
        if (first) {
            of.add({of.where(name), std::string(name),
                    "is a second way to sign in, beside " + std::string(*first),
                    "keep one of them"});
        } else {
            first = name;
        }
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
    constexpr std::string_view name = "nats.inbox_prefix";
    const nats_settings& nats = of.all().nats;
    if (of.is_spoilt(name) || of.is_spoilt("nats.subjects")) {
        return;
    }
    for (const auto& subject : nats.subjects) {
        if (reaches(subject, nats.inbox_prefix)) {
            const std::string_view blamed = of.is_set(name) ? name : "nats.subjects";
            of.add({of.where(blamed), std::string(blamed),
                    "the stream's subject " + in_quotes(subject) + " takes the answers to " +
                        in_quotes(nats.inbox_prefix + ".>") + " as messages",
                    "choose a prefix that no subject of the stream begins with, such as "
                    "\"_INBOX_relay\""});
            return;
        }
    }
}

void check_backoff(draft& of) {
    const delivery_settings& delivery = of.all().delivery;
    const bool spoilt =
        of.is_spoilt("delivery.backoff_initial") || of.is_spoilt("delivery.backoff_max");
    if (spoilt || delivery.backoff_initial <= delivery.backoff_max) {
        return;
    }
    const std::string_view blamed =
        of.is_set("delivery.backoff_initial") ? "delivery.backoff_initial" : "delivery.backoff_max";
    of.add({of.where(blamed), std::string(blamed),
            "the first wait of " + show(delivery.backoff_initial) +
                " is longer than the longest of " + show(delivery.backoff_max),
            "make backoff_initial at most backoff_max"});
}

bool has_source(const draft& of, std::size_t entry) {
    return of.is_set("outbox.table", entry) || of.all().outbox[entry].is_tableless();
}

/// The earlier entry that has the same table; nothing if there is none.
std::optional<std::size_t> earlier_entry(const draft& of, std::size_t entry) {
    const auto& tables = of.all().outbox;
    for (std::size_t earlier = 0; earlier < entry; ++earlier) {
        if (tables[earlier].table == tables[entry].table && has_source(of, earlier)) {
            return earlier;
        }
    }
    return std::nullopt;
}

void check_entry(draft& of, std::size_t entry) {
    const bool tableless = of.all().outbox[entry].is_tableless();
    const std::string_view name = tableless ? "outbox.message_prefix" : "outbox.table";
    if (of.is_spoilt("outbox.table", entry) || of.is_spoilt("outbox.message_prefix", entry)) {
        return;
    }
    if (!has_source(of, entry)) {
        of.add({of.where_of_entry(entry), std::string(name), "is not set",
                "write table = \"public.outbox_events\" in this entry"});
    } else if (const auto earlier = earlier_entry(of, entry)) {
        of.add({of.where(name, entry), std::string(name),
                in_quotes(to_string(of.all().outbox[entry].table)) + " is there already, see " +
                    of.where(name, *earlier),
                "keep one [[outbox]] entry for each table"});
    }
}

/// What asks for a table where there is none.
void check_tableless(draft& of, std::size_t entry) {
    if (!of.all().outbox[entry].is_tableless()) {
        return;
    }
    for (const std::string_view name :
         {"outbox.table", "outbox.pending", "outbox.republish", "outbox.on_published",
          "outbox.on_dead_letter", "outbox.delete_after"}) {
        if (of.is_set(name, entry)) {
            of.add({of.where(name, entry), std::string(name),
                    "is set beside outbox.message_prefix, whose rows are in no table",
                    "remove one of the two"});
        }
    }
    const std::string beside = " does not go together with outbox.message_prefix, see " +
                               of.where("outbox.message_prefix", entry) +
                               ": those events are in no table";
    if (of.all().delivery.on_slot_loss == slot_loss_policy::heal) {
        of.add({of.where("delivery.on_slot_loss"), "delivery.on_slot_loss", "\"heal\"" + beside,
                "write \"halt\", or relay them by a walrelay with a slot of its own"});
    }
    if (of.all().postgres.snapshot != snapshot_mode::none) {
        of.add({of.where("postgres.snapshot"), "postgres.snapshot", "a snapshot" + beside,
                "write \"none\", or relay them by a walrelay with a slot of its own"});
    }
}

/// A snapshot of what is pending needs to know what that is.
void require_pending(draft& of, std::size_t entry) {
    constexpr std::string_view name = "outbox.pending";
    const bool asked = of.all().postgres.snapshot == snapshot_mode::pending &&
                       !of.all().outbox[entry].is_tableless();
    if (asked && of.all().outbox[entry].pending.empty() && !of.is_spoilt(name, entry)) {
        of.add({of.where_of_entry(entry), std::string(name),
                "is not set, but postgres.snapshot = \"pending\" asks for it, see " +
                    of.where("postgres.snapshot"),
                "write pending = \"status = 'pending'\" in this entry, in the terms of the table"});
    }
}

void check_entries(draft& of) {
    const std::size_t entries = of.all().outbox.size();
    if (entries == 0 && !of.is_spoilt("outbox")) {
        of.add({of.file_name(), "outbox", "no table is named",
                "start with --table public.outbox_events, or write in the file: [[outbox]] "
                "table = \"public.outbox_events\""});
    }
    for (std::size_t entry = 0; entry < entries; ++entry) {
        check_entry(of, entry);
        require_pending(of, entry);
        check_tableless(of, entry);
    }
}

}  // namespace

void check_rules(draft& of) {
    const nats_settings& nats = of.all().nats;
    require_conninfo(of);
    check_one_way_to_sign_in(of);
    check_inbox(of);
    require_pair(of, "nats.password_file", nats.password_file, "nats.user", nats.user);
    require_pair(of, "nats.tls.cert", nats.tls.cert, "nats.tls.key", nats.tls.key);
    require_pair(of, "nats.tls.key", nats.tls.key, "nats.tls.cert", nats.tls.cert);
    check_backoff(of);
    check_entries(of);
}

}  // namespace walrelay::config
