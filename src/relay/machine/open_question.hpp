// What PostgreSQL is asked about the row that was read last. Until it answers nothing more is read,
// so that there is one such question at a time. Pure; a part of the relay machine.
#pragma once

namespace walrelay::relay {

class open_question {
public:
    /// A row that the WAL does not hold whole is read from its table.
    void ask_for_row() { about_ = subject::row; }
    /// A row of a table that is not known: what the table is.
    void ask_for_table() { about_ = subject::table; }
    [[nodiscard]] bool is_open() const { return about_ != subject::nothing; }
    [[nodiscard]] bool is_of_row() const { return about_ == subject::row; }
    [[nodiscard]] bool is_of_table() const { return about_ == subject::table; }
    /// It is answered, or the connection is gone.
    void close() { about_ = subject::nothing; }

private:
    enum class subject { nothing, row, table } about_ = subject::nothing;
};

}  // namespace walrelay::relay
