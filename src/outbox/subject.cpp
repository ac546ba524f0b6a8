#include "outbox/subject.hpp"

#include "core/percent.hpp"

#include <array>
#include <vector>

namespace walrelay::outbox {
namespace {

constexpr bool is_special(char byte) {
    return is_control(byte) || byte == ' ' || byte == '.' || byte == '*' || byte == '>' ||
           byte == '%';
}

constexpr auto special_bytes = [] {
    std::array<bool, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        table[byte] = is_special(static_cast<char>(byte));
    }
    return table;
}();

struct token {
    std::string literal;
    bool has_name = false;
};

/// Only dots in literal text part tokens: those in values are encoded, but for the value at the
/// end.
std::vector<token> tokens_of(const text_template& subject) {
    std::vector<token> tokens(1);
    for (const auto& part : subject.parts()) {
        for (const char byte : part.literal) {
            if (byte == '.') {
                tokens.emplace_back();
            } else {
                tokens.back().literal += byte;
            }
        }
        tokens.back().has_name |= !part.names.empty();
    }
    return tokens;
}

error unfit(const text_template& subject, std::string_view why) {
    return {errc::configuration_invalid, "subject \"" + subject.text() + "\" " + std::string(why),
            "write tokens parted by single dots, such as events.{aggregate_type}.{event_type}"};
}

}  // namespace

void append_subject_token(std::string& subject, std::string_view value) {
    if (subject.empty() && !value.empty() && value.front() == '$') {
        append_percent_encoded(subject, '$');
        value.remove_prefix(1);
    }
    std::size_t start = 0;
    for (std::size_t index = 0; index < value.size(); ++index) {
        if (special_bytes[static_cast<unsigned char>(value[index])]) {
            subject.append(value, start, index - start);
            append_percent_encoded(subject, value[index]);
            start = index + 1;
        }
    }
    subject.append(value, start, value.size() - start);
}

void append_subject_tail(std::string& subject, std::string_view value) {
    if (value.starts_with('.') || value.ends_with('.') ||
        value.find("..") != std::string_view::npos) {
        append_subject_token(subject, value);
        return;
    }
    for (auto dot = value.find('.'); dot != std::string_view::npos; dot = value.find('.')) {
        append_subject_token(subject, value.substr(0, dot));
        subject += '.';
        value.remove_prefix(dot + 1);
    }
    append_subject_token(subject, value);
}

result<void> check_subject(const text_template& subject) {
    if (subject.text().starts_with('$')) {
        return unfit(subject, "begins with \"$\", which is the server's own");
    }
    for (const auto& each : tokens_of(subject)) {
        if (each.literal.empty() && !each.has_name) {
            return unfit(subject, "has an empty token");
        }
        for (const char byte : each.literal) {
            if (byte == '*' || byte == '>') {
                return unfit(subject, "has a wildcard in its literal text");
            }
            if (byte == ' ' || is_control(byte)) {
                return unfit(subject, "has a blank or control character in its literal text");
            }
        }
    }
    return {};
}

std::string subject_pattern(const text_template& subject, const known_values& value_of) {
    std::string pattern;
    std::size_t token_at = 0;
    bool is_known = true;
    const auto end_token = [&] {
        if (!is_known) {
            pattern.replace(token_at, std::string::npos, "*");
        }
        is_known = true;
    };
    for (const auto& part : subject.parts()) {
        for (const char byte : part.literal) {
            if (byte == '.') {
                end_token();
                token_at = pattern.size() + 1;
            }
            pattern += byte;
        }
        if (part.names.empty()) {
            continue;
        }
        const bool is_column = part.key_of(0).empty();
        const auto value = is_column ? value_of(part.names.front()) : std::nullopt;
        is_known = is_known && value && !value->empty();
        if (is_known) {
            const bool is_last = &part == &subject.parts().back();
            (is_last ? append_subject_tail : append_subject_token)(pattern, *value);
        }
    }
    const bool ends_open = !is_known && subject.ends_with_name();
    end_token();
    if (ends_open) {
        pattern.back() = '>';
    }
    return pattern;
}

std::string subject_pattern(const text_template& subject) {
    return subject_pattern(subject, [](std::string_view) { return std::nullopt; });
}

}  // namespace walrelay::outbox
