// Text with `{name}`, `{name|other}` or `{name|'text'}` in it: the form of subjects, message ids
// and header values in the configuration. Knows neither what the names mean nor what the result is
// for.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::outbox {

class text_template {
public:
    /// Literal text and the names after it, of which the first that is not NULL counts. Only the
    /// last part has no name, and only where the template ends with literal text.
    struct part {
        std::string literal;
        std::vector<std::string> names;
        /// The member of a JSON object that is meant, for each of the names; empty for the column
        /// as a whole. Empty where no name has one.
        std::vector<std::string> keys = {};
        /// What counts where all are NULL.
        std::optional<std::string> otherwise = std::nullopt;

        [[nodiscard]] std::string_view key_of(std::size_t name) const {
            return keys.empty() ? std::string_view() : keys[name];
        }

        friend bool operator==(const part&, const part&) = default;
    };

    text_template() = default;

    /// `setting` is the key of the configuration, for the error. A brace that is not part of a
    /// `{name}` is an error: there is no way to write one literally, nor a `|` in a name. Errors:
    /// configuration_invalid.
    ///
    /// As in SQL, `{name->>'key'}` is a member of a JSON object, and text stands in single quotes.
    [[nodiscard]] static result<text_template> parse(std::string_view setting,
                                                     std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<part>& parts() const { return parts_; }
    [[nodiscard]] bool has_names() const;
    [[nodiscard]] bool ends_with_name() const;
    [[nodiscard]] bool has_keys() const;
    [[nodiscard]] bool has_otherwise() const;

private:
    std::string text_;
    std::vector<part> parts_;
};

/// The columns that stand for a template's names, each of them, in the order of the names.
using column_indexes = std::vector<std::uint32_t>;

/// Calls `literal` with each literal text and `value` with what counts in each pair of braces (NULL
/// where all are), in order, until one of the latter returns false. Returns whether it came to the
/// end; if not, `culprit` is the column of the last name. `member` is asked for the member of a
/// column's JSON that a name means.
template <class Member, class Literal, class Value>
bool render(const text_template& form, const column_indexes& columns, std::span<const field> fields,
            std::uint32_t& culprit, Member member, Literal literal, Value value) {
    auto next = columns.begin();
    for (const auto& part : form.parts()) {
        literal(std::string_view(part.literal));
        field found;
        for (std::size_t name = 0; name < part.names.size() && !found; ++name) {
            culprit = next[static_cast<std::ptrdiff_t>(name)];
            const auto key = part.key_of(name);
            found =
                key.empty() || !fields[culprit] ? fields[culprit] : member(*fields[culprit], key);
        }
        next += static_cast<std::ptrdiff_t>(part.names.size());
        if (!found && part.otherwise) {
            found = *part.otherwise;
        }
        if (!part.names.empty() && !value(found)) {
            return false;
        }
    }
    return true;
}

}  // namespace walrelay::outbox
