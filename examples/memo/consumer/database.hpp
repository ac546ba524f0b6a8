// One connection to PostgreSQL, as thin as it can be. The only part that sees libpq.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;

namespace memo {

using sql_row = std::vector<std::optional<std::string>>;

/// Everything here throws std::runtime_error with the server's words; a lost connection stays lost.
class database {
public:
    explicit database(const std::string& conninfo);

    /// One statement with $1, $2, ... as text.
    std::vector<sql_row> query(const std::string& sql, const std::vector<std::string>& values = {});

private:
    struct closer {
        void operator()(pg_conn* connection) const;
    };
    std::unique_ptr<pg_conn, closer> connection_;
};

/// BEGIN; rolled back by the destructor unless it was committed.
class transaction {
public:
    explicit transaction(database& where);
    ~transaction();
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;

    void commit();

private:
    database& where_;
    bool open_ = true;
};

}  // namespace memo
