// By which type the rows of an outbox table are found again by their ids. Asked once, and again
// where an error speaks of types: the column may have got another one, or the name another table.
#pragma once

#include "core/bytea_text.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/catalog/write_back_sql.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/server_error.hpp"

#include <boost/asio/awaitable.hpp>

#include <map>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct key_kind {
    keyed_rows rows = {};
    bool is_bytea = false;
    bool is_marked = false;  // an update of the table: see core/control.hpp

    /// Of a bytea the key is its digits.
    [[nodiscard]] std::string text_of(const std::string& key) const {
        return is_bytea ? std::string(bytea_mark) + key : key;
    }
};

/// Whether the type of a key may be another one than it was: a value that the type does not have,
/// or a comparison or a cast that does not exist.
[[nodiscard]] bool is_about_types(const server_report& report);

class key_kinds {
public:
    /// Errors: postgres_unsuitable where the table has no such column; else as connection::query.
    [[nodiscard]] boost::asio::awaitable<result<key_kind>> find(connection& sql,
                                                                const outbox_table& table);
    [[nodiscard]] boost::asio::awaitable<result<key_kind>> find_again(connection& sql,
                                                                      const outbox_table& table);
    void forget() { known_.clear(); }

private:
    std::map<table_name, key_kind> known_;
};

/// Those of the keys that are values of the type, by their place. The row of any other is not there
/// (any more).
[[nodiscard]] boost::asio::awaitable<result<std::vector<bool>>> fitting_keys(
    connection& sql, key_kind kind, std::vector<std::string> keys);

}  // namespace walrelay::postgres
