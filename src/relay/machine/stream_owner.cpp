#include "relay/machine/stream_owner.hpp"

#include "core/finding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace walrelay::relay {
namespace {

constexpr std::string_view slot_key = "walrelay slot=";
constexpr std::string_view database_key = " database=";
constexpr std::string_view system_key = " system=";
constexpr std::string_view timeline_key = " timeline=";
constexpr std::string_view history_key = " history=";
constexpr std::string_view rules_key = " rules=";
constexpr std::string_view disordered_key = " disordered=";
constexpr std::string_view ids_key = " ids=";

constexpr std::size_t fingerprint_digits = 16;

bool is_plain(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
}

std::string encoded(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr unsigned low_bits = 15;
    std::string text;
    for (const char letter : name) {
        if (is_plain(letter)) {
            text += letter;
            continue;
        }
        const auto byte = static_cast<unsigned char>(letter);
        text += {'%', digits[byte >> 4U], digits[byte & low_bits]};
    }
    return text;
}

/// Nothing if it was not encoded so.
std::optional<std::string> decoded(std::string_view text) {
    constexpr int hexadecimal = 16;
    std::string name;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            name += text[at];
            continue;
        }
        const auto digits = text.substr(at + 1, 2);
        unsigned char byte = 0;
        const auto* const end = digits.data() + digits.size();
        if (digits.size() != 2 ||
            std::from_chars(digits.data(), end, byte, hexadecimal).ptr != end) {
            return std::nullopt;
        }
        name += static_cast<char>(byte);
        at += 2;
    }
    return name;
}

struct mark {
    stream_owner owner;
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The value after `key`, which must stand at `at`; moves `at` past it.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key,
                                         std::size_t& at) {
    if (text.substr(at, key.size()) != key) {
        return std::nullopt;
    }
    const auto begin = at + key.size();
    for (at = begin; at < text.size() && (is_plain(text[at]) || text[at] == '%'); ++at) {
    }
    return text.substr(begin, at - begin);
}

template <class Number>
Number number_in(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

lsn from_hexadecimal(std::string_view text) {
    constexpr int base = 16;
    lsn read;
    std::from_chars(text.data(), text.data() + text.size(), read.value, base);
    return read;
}

std::string in_hexadecimal(std::uint64_t number) {
    std::array<char, fingerprint_digits> text{};
    auto* const end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
    return {text.data(), end};
}

void read_rules(std::string_view value, stream_owner& owner) {
    const auto dot = std::min(value.find('.'), value.size());
    owner.rules = value.substr(0, dot);
    const auto since = from_hexadecimal(value.substr(std::min(dot + 1, value.size())));
    owner.since = owner.rules.empty() ? lsn{} : since;
}

void read_disordered(std::string_view value, stream_owner& owner) {
    const auto dash = std::min(value.find('-'), value.size());
    const auto rest = value.substr(std::min(dash + 1, value.size()));
    const auto second = std::min(rest.find('-'), rest.size());
    const auto until = rest.substr(0, second);
    const auto below = from_hexadecimal(rest.substr(std::min(second + 1, rest.size())));
    owner.disordered_after = number_in<std::uint64_t>(value.substr(0, dash));
    owner.disordered_until =
        until.empty() ? std::nullopt : std::optional(number_in<std::uint64_t>(until));
    const bool is_ordered = owner.disordered_after == 0 && owner.disordered_until == 0U;
    owner.disordered_below = is_ordered ? lsn{} : below;
}

void read_ids(std::string_view value, stream_owner& owner) {
    owner.ids.clear();
    while (!value.empty()) {
        const auto end = std::min(value.find('-'), value.size());
        const auto one = value.substr(0, end);
        const auto dot = std::min(one.find('.'), one.size());
        owner.ids.push_back({std::string(one.substr(0, dot)),
                             from_hexadecimal(one.substr(std::min(dot + 1, one.size())))});
        value.remove_prefix(std::min(end + 1, value.size()));
    }
}

void read_history(std::string_view value, stream_owner& owner) {
    const auto plain = decoded(value);
    const auto ends = plain ? parse_timeline_ends(*plain) : std::nullopt;
    owner.ancestors = ends.value_or(std::vector<timeline_end>{});
    owner.timeline = ends ? owner.timeline : 0;
}

/// What every version adds stands after what earlier ones knew; any part may be missing. Where
/// somebody has written them in another order, all of them belong to the mark: one that was left
/// after it would become a part of the next mark.
void read_rest(std::string_view text, mark& into) {
    auto& owner = into.owner;
    const auto take = [&](std::string_view key, const auto& use) {
        auto behind = into.end;
        if (const auto value = value_of(text, key, behind)) {
            use(*value, owner);
            into.end = behind;
        }
    };
    for (auto begin = text.size(); begin != into.end;) {
        begin = into.end;
        take(system_key, [](std::string_view value, stream_owner& of) {
            of.system_identifier = number_in<std::uint64_t>(value);
        });
        take(timeline_key, [](std::string_view value, stream_owner& of) {
            of.timeline = number_in<std::uint32_t>(value);
        });
        take(history_key, read_history);
        take(rules_key, read_rules);
        take(disordered_key, read_disordered);
        take(ids_key, read_ids);
    }
}

std::optional<mark> find_mark(std::string_view text) {
    mark found;
    found.begin = text.find(slot_key);
    if (found.begin == std::string_view::npos) {
        return std::nullopt;
    }
    found.end = found.begin;
    const auto slot = value_of(text, slot_key, found.end);
    const auto database = value_of(text, database_key, found.end);
    auto name = slot ? decoded(*slot) : std::nullopt;
    auto of = database ? decoded(*database) : std::nullopt;
    if (!name || !of) {
        return std::nullopt;
    }
    found.owner = {std::move(*name), std::move(*of)};
    read_rest(text, found);
    return found;
}

bool same_but_for_system(const stream_owner& one, const stream_owner& other) {
    return one.slot == other.slot && one.database == other.database;
}

/// NULL by a byte that no text holds; no rule at all as it always was.
std::string_view value_of(const republish_rule& rule) {
    const std::string_view null = rule.column.empty() ? "" : "\1";
    return rule.value ? std::string_view(*rule.value) : null;
}

}  // namespace

std::string fingerprint_of(const std::vector<outbox_table>& tables) {
    std::vector<std::string> parts;
    for (const auto& table : tables) {
        auto& part = parts.emplace_back();
        const auto rule = table.republish.value_or(republish_rule{});
        for (const std::string_view text :
             {std::string_view(table.table.schema), std::string_view(table.table.name),
              std::string_view(table.message_prefix), std::string_view(table.message_id),
              std::string_view(rule.column), value_of(rule)}) {
            part.append(text);
            part += '\0';
        }
        const auto& columns = table.columns;
        for (const auto* name : {&columns.id, &columns.aggregate_type, &columns.aggregate_id,
                                 &columns.event_type, &columns.version, &columns.created_at}) {
            part += name->value_or("");
            part += '\0';
        }
    }
    return fingerprint_of_texts(std::move(parts));
}

std::string fingerprint_of_ids(const outbox_table& table) {
    const auto id = table.columns.id.value_or("id");
    std::string part;
    for (const std::string_view text :
         {std::string_view(table.table.schema), std::string_view(table.table.name),
          std::string_view(table.message_prefix), std::string_view(table.message_id),
          std::string_view(id)}) {
        part.append(text);
        part += '\0';
    }
    return fingerprint_of_texts({std::move(part)});
}

std::vector<std::string> fingerprints_of_ids(const std::vector<outbox_table>& tables) {
    // A description has room for 4096 bytes.
    constexpr std::size_t most = 64;
    std::vector<std::string> all;
    all.reserve(tables.size());
    for (const auto& table : tables) {
        all.push_back(fingerprint_of_ids(table));
    }
    if (all.size() > most) {
        const auto one = fingerprint_of_texts(all);
        std::ranges::fill(all, one);
    }
    return all;
}

std::optional<id_rules> ids_in(const std::optional<stream_owner>& mark,
                               std::string_view fingerprint) {
    if (!mark) {
        return std::nullopt;
    }
    const auto found = std::ranges::find(mark->ids, fingerprint, &id_rules::fingerprint);
    return found == mark->ids.end() ? std::nullopt : std::optional(*found);
}

std::string fingerprint_of_texts(std::vector<std::string> parts) {
    std::sort(parts.begin(), parts.end());
    // FNV-1a, because the result outlives the program.
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const auto& part : parts) {
        for (const char each : part) {
            hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
        }
    }
    auto text = in_hexadecimal(hash);
    return std::string(fingerprint_digits - text.size(), '0') + text;
}

std::uint64_t disordered_from(const std::optional<stream_owner>& mark, lsn slot_confirmed,
                              std::uint64_t known) {
    if (!mark) {
        return 0;  // nobody knows in which order its messages came
    }
    // A crash takes the slot back to where it stood at a checkpoint, a failover to an older copy.
    constexpr std::uint64_t how_far = std::uint64_t{64} << 30U;
    const auto& until = mark->disordered_until;
    const bool counts = !until || (*until > mark->disordered_after &&
                                   slot_confirmed.value <= mark->disordered_below.value + how_far);
    // A broker that has lost messages gives their sequences to others.
    return counts ? std::min(mark->disordered_after, known) : known;
}

std::string rules_of_comparison(std::string_view fingerprint, bool with_ids, bool has_holes) {
    std::string rules(with_ids ? comparing_ids_rules : comparing_rules);
    rules.append(has_holes ? "-" : "").append(has_holes ? holes_rules : "");
    return rules.append("-").append(fingerprint);
}

stream_owner being_compared(stream_owner then, bool with_ids) {
    then.rules = rules_of_comparison(fingerprint_in(then), with_ids, true);
    then.disordered_until.reset();
    return then;
}

std::string_view fingerprint_in(const stream_owner& owner) {
    const std::string_view rules = owner.rules;
    const auto dash = rules.rfind('-');
    return dash == std::string_view::npos ? rules : rules.substr(dash + 1);
}

std::string to_string(const stream_owner& owner) {
    auto text = std::string(slot_key) + encoded(owner.slot) + std::string(database_key) +
                encoded(owner.database);
    if (owner.system_identifier != 0) {
        text += std::string(system_key) + std::to_string(owner.system_identifier);
    }
    if (owner.timeline != 0) {
        text += std::string(timeline_key) + std::to_string(owner.timeline);
    }
    if (!owner.ancestors.empty()) {
        text += std::string(history_key) + encoded(to_string(owner.ancestors));
    }
    if (!owner.rules.empty()) {
        text += std::string(rules_key) + owner.rules;
        text += owner.since == lsn{} ? "" : "." + in_hexadecimal(owner.since.value);
    }
    if (owner.disordered_after != 0 || owner.disordered_until != 0U) {
        text += std::string(disordered_key) + std::to_string(owner.disordered_after) + "-" +
                (owner.disordered_until ? std::to_string(*owner.disordered_until) : "");
        text += owner.disordered_below == lsn{}
                    ? ""
                    : "-" + in_hexadecimal(owner.disordered_below.value);
    }
    for (const auto& one : owner.ids) {
        text += &one == &owner.ids.front() ? ids_key : "-";
        text += one.fingerprint + "." + in_hexadecimal(one.since.value);
    }
    return text;
}

std::optional<stream_owner> owner_in(std::string_view description) {
    const auto found = find_mark(description);
    return found ? std::optional(found->owner) : std::nullopt;
}

std::optional<disorder> late_rows_of(const std::optional<stream_owner>& mark) {
    if (!mark || mark->rules.empty()) {
        return std::nullopt;
    }
    constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();
    return disorder{mark->disordered_after, mark->disordered_until.value_or(nowhere)};
}

std::optional<stream_owner> own_mark(std::string_view description, std::string_view slot,
                                     std::string_view database) {
    auto found = owner_in(description);
    const bool is_ours =
        found && found->slot == slot && (database.empty() || found->database == database);
    return is_ours ? std::move(found) : std::nullopt;
}

std::optional<std::string> description_to_claim(const stream_owner& owner,
                                                std::string_view description) {
    if (description.empty()) {
        return to_string(owner);
    }
    const auto found = find_mark(description);
    if (!found || !same_but_for_system(found->owner, owner) || owner.system_identifier == 0 ||
        found->owner == owner ||
        (owner.rules.empty() && found->owner.system_identifier == owner.system_identifier)) {
        return std::nullopt;
    }
    return std::string(description.substr(0, found->begin)) + to_string(owner) +
           std::string(description.substr(found->end));
}

std::vector<finding> owner_findings(const preflight::expectations& wanted,
                                    const stream_owner& owner, std::string_view description) {
    findings_list found;
    const auto marked = owner_in(description);
    if (!marked || !wanted.sole_writer || same_but_for_system(*marked, owner)) {
        return found.take();
    }
    found.error("stream_of_other_slot",
                "stream " + wanted.stream + " is that of slot " + marked->slot + " of database " +
                    marked->database + ", as its description says, and this is slot " + owner.slot +
                    " of database " + owner.database +
                    ": two in one stream would skip rows of each other silently",
                "name a stream of its own: nats.stream; or, where the slot or the database was "
                "only renamed and nobody else writes there: nats stream edit " +
                    wanted.stream + " --description \"" + to_string(owner) + "\"");
    return found.take();
}

}  // namespace walrelay::relay
