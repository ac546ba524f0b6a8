// From a message id back to the row: which value of which column a row with that id has. Only for
// templates of text and one pair of braces. Knows neither the message nor SQL.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "outbox/type_kind.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::outbox {

/// What the text of a column's values looks like, as far as that is known without the server.
enum class value_form { any, uuid, int2, int4, int8, bytea };

/// A message id without the `;retry-7-1` or `;republish-0000000001A2B3C4-1-2` of a row that was
/// published again.
struct row_reference {
    std::string_view id;
    bool again = false;
};
[[nodiscard]] row_reference row_of_message(std::string_view message_id);

class id_inverse {
public:
    struct alternative {
        std::string column;
        value_form form = value_form::any;
    };

    /// `columns` are those that the table has. Errors: configuration_invalid where the template is
    /// none that can be turned round, row_unmappable where a column is missing.
    [[nodiscard]] static result<id_inverse> make(const outbox_table& table,
                                                 const std::vector<column>& columns,
                                                 const domain_types& domains);

    /// The columns between the braces: a row has its id from the first that is not NULL.
    [[nodiscard]] const std::vector<alternative>& alternatives() const { return alternatives_; }

    /// The text that the column of that alternative (its number) has in a row with this id (of
    /// row_of_message), in the form of its output function; nothing where no row can have both, and
    /// where the id can be that of more than one text.
    [[nodiscard]] std::optional<std::string> value_of(std::string_view id, std::size_t which) const;

    /// The same of an id that is the encoded form of a text (outbox/header_value): blanks at either
    /// end, as those of char(n), or control characters. A row whose text is `unless` would have the
    /// same id: only where there is none it is that of the other one.
    struct encoded_value {
        std::string text;
        std::string unless;
    };
    [[nodiscard]] std::optional<encoded_value> encoded_value_of(std::string_view id,
                                                                std::size_t which) const;

    /// Whether the id has its place between the words of the template, and no column there can have
    /// its text: their types may be others by now.
    [[nodiscard]] bool is_of_another_type(std::string_view id) const;

    /// Whether an id can be one of either table. Wrong only on the safe side.
    [[nodiscard]] bool may_share_ids(const id_inverse& other) const;
    /// From now on only values that are the same nowhere else count: UUIDs.
    void believe_only_uuids() { only_uuids_ = true; }

private:
    [[nodiscard]] std::optional<std::string_view> text_in(std::string_view id) const;
    [[nodiscard]] std::optional<std::string_view> between(std::string_view id) const;
    [[nodiscard]] bool may_begin_with(std::string_view text) const;

    std::string prefix_;
    std::string suffix_;
    std::vector<alternative> alternatives_;
    bool only_uuids_ = false;
};

}  // namespace walrelay::outbox
