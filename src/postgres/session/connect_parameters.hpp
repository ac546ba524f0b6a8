// The user's conninfo together with what every connection of walrelay needs. Only for the .cpp
// files of this folder.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

/// Keywords and values as PQconnectStartParams takes them.
class connect_parameters {
public:
    /// errc::configuration_invalid if libpq cannot read a conninfo; the error does not quote it.
    [[nodiscard]] static result<connect_parameters> from(const connect_options& options);

    /// What the conninfo of that key of the configuration sets, over what is there. The same error.
    [[nodiscard]] result<void> take(const std::string& conninfo, const std::string& key);

    [[nodiscard]] bool has(std::string_view keyword) const;
    void set(std::string keyword, std::string value);
    void set_default(std::string keyword, std::string value);

    /// Null-terminated, valid until the parameters change.
    [[nodiscard]] std::vector<const char*> keywords() const;
    [[nodiscard]] std::vector<const char*> values() const;

private:
    struct parameter {
        std::string keyword;
        std::string value;
    };
    std::vector<parameter> parameters_;
};

/// One statement that pins, for the session, what changes the text of values and what would end an
/// idle session. A statement and not startup options, because PGTZ and PGDATESTYLE win over those,
/// and setting them would hide the options of a service file. With `process` it does nothing, and
/// gives no rows, in the session of another server process: there a pooler is in between, which
/// could hand out what is set to somebody else.
[[nodiscard]] std::string pin_statement(connection_kind kind, std::optional<int> process = {});

}  // namespace walrelay::postgres
