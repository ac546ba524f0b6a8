// A blocking SQL session, as a writer or an operator would have one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;

namespace walrelay::test {

using sql_row = std::vector<std::optional<std::string>>;
using sql_rows = std::vector<sql_row>;

/// Everything here throws std::runtime_error with the words of the server.
class postgres_session {
public:
    explicit postgres_session(const std::string& conninfo);

    /// One or more statements; what they return is dropped.
    void execute(const std::string& sql);
    [[nodiscard]] sql_rows query(const std::string& sql);
    /// One statement with $1, $2, ... as text.
    [[nodiscard]] sql_rows query(const std::string& sql, const std::vector<std::string>& values);
    /// The first column of the first row; it must be there and not be null.
    [[nodiscard]] std::string value_of(const std::string& sql);
    /// `COPY ... FROM STDIN`, with all of its input.
    void copy_in(const std::string& sql, const std::string& input);

    [[nodiscard]] int backend_pid() const;

private:
    struct closer {
        void operator()(pg_conn* connection) const;
    };
    std::unique_ptr<pg_conn, closer> connection_;
};

/// Quoted for use in SQL.
[[nodiscard]] std::string as_literal(const std::string& text);
[[nodiscard]] std::string as_identifier(const std::string& name);

}  // namespace walrelay::test
