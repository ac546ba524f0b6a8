// The message ids of rows that come from a query instead of the WAL, made by the same rules as
// those that are published. Needs only the columns that the id is made of.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "outbox/type_kind.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace walrelay::outbox {

class message_id_reader {
public:
    /// `columns` are those that the table has. Errors: configuration_invalid for the templates,
    /// row_unmappable where a column is missing.
    [[nodiscard]] static result<message_id_reader> make(const outbox_table& table,
                                                        std::vector<column> columns,
                                                        const domain_types& domains);

    message_id_reader(const message_id_reader&) = delete;
    message_id_reader& operator=(const message_id_reader&) = delete;
    message_id_reader(message_id_reader&&) noexcept;
    message_id_reader& operator=(message_id_reader&&) noexcept;
    ~message_id_reader();

    /// The columns that are needed, each once.
    [[nodiscard]] const std::vector<std::string>& columns() const;

    /// Replaces `id` by what goes out as `Nats-Msg-Id`. `values` are the texts of the output
    /// functions for `columns()`, under the settings that a session of walrelay pins. Errors:
    /// row_unmappable where one is NULL or empty.
    [[nodiscard]] result<void> read(std::span<const field> values, std::string& id);

private:
    struct state;
    explicit message_id_reader(std::unique_ptr<state> initial);
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::outbox
