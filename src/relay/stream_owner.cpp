#include "relay/stream_owner.hpp"

#include "relay/findings_list.hpp"

#include <charconv>

namespace walrelay::relay {
namespace {

constexpr std::string_view slot_key = "walrelay slot=";
constexpr std::string_view database_key = " database=";
constexpr std::string_view system_key = " system=";

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

/// The value behind `key`, which must stand at `at`; moves `at` behind it.
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
    auto behind = found.end;
    if (const auto system = value_of(text, system_key, behind)) {
        std::from_chars(system->data(), system->data() + system->size(),
                        found.owner.system_identifier);
        found.end = behind;
    }
    return found;
}

bool same_but_for_system(const stream_owner& one, const stream_owner& other) {
    return one.slot == other.slot && one.database == other.database;
}

}  // namespace

std::string to_string(const stream_owner& owner) {
    auto text = std::string(slot_key) + encoded(owner.slot) + std::string(database_key) +
                encoded(owner.database);
    if (owner.system_identifier != 0) {
        text += std::string(system_key) + std::to_string(owner.system_identifier);
    }
    return text;
}

std::optional<stream_owner> owner_in(std::string_view description) {
    const auto found = find_mark(description);
    return found ? std::optional(found->owner) : std::nullopt;
}

std::optional<std::string> description_to_claim(const stream_owner& owner,
                                                std::string_view description) {
    if (description.empty()) {
        return to_string(owner);
    }
    const auto found = find_mark(description);
    if (!found || !same_but_for_system(found->owner, owner) || owner.system_identifier == 0 ||
        found->owner.system_identifier == owner.system_identifier) {
        return std::nullopt;
    }
    return std::string(description.substr(0, found->begin)) + to_string(owner) +
           std::string(description.substr(found->end));
}

std::vector<finding> owner_findings(const expectations& wanted, const stream_owner& owner,
                                    std::string_view description) {
    findings_list found;
    const auto marked = owner_in(description);
    if (!marked || !wanted.sole_writer || same_but_for_system(*marked, owner)) {
        return found.take();
    }
    found.error("stream " + wanted.stream + " is that of slot " + marked->slot + " of database " +
                    marked->database + ", as its description says, and this is slot " + owner.slot +
                    " of database " + owner.database +
                    ": two in one stream would skip rows of each other without a word",
                "name a stream of its own: nats.stream; or, where the slot or the database was "
                "only renamed and nobody else writes there: nats stream edit " +
                    wanted.stream + " --description \"" + to_string(owner) + "\"");
    return found.take();
}

}  // namespace walrelay::relay
