// Text with `{name}` or `{name|other}` in it: the form of subjects, message ids and header values
// in the configuration. Knows neither what the names mean nor what the result is for.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
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

        friend bool operator==(const part&, const part&) = default;
    };

    text_template() = default;

    /// `setting` is the key of the configuration, for the error. A brace that is not part of a
    /// `{name}` is an error: there is no way to write one literally, nor a `|` in a name. Errors:
    /// configuration_invalid.
    [[nodiscard]] static result<text_template> parse(std::string_view setting,
                                                     std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<part>& parts() const { return parts_; }
    [[nodiscard]] bool has_names() const;
    [[nodiscard]] bool ends_with_name() const;

private:
    std::string text_;
    std::vector<part> parts_;
};

/// The columns that stand for a template's names, each of them, in the order of the names.
using column_indexes = std::vector<std::uint32_t>;

/// Calls `literal` with each literal text and `value` with the field that counts in each pair of
/// braces (that of the last name where all are NULL), in order, until one of the latter returns
/// false. Returns whether it came to the end; if not, `culprit` is the index of that column.
template <class Literal, class Value>
bool render(const text_template& form, const column_indexes& columns, std::span<const field> fields,
            std::uint32_t& culprit, Literal literal, Value value) {
    auto next = columns.begin();
    for (const auto& part : form.parts()) {
        literal(std::string_view(part.literal));
        if (part.names.empty()) {
            break;
        }
        const auto last = next + static_cast<std::ptrdiff_t>(part.names.size()) - 1;
        while (next != last && !fields[*next]) {
            ++next;
        }
        if (!value(fields[*next])) {
            culprit = *next;
            return false;
        }
        next = last + 1;
    }
    return true;
}

}  // namespace walrelay::outbox
