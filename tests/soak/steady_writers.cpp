// See steady_writers.hpp.
#include "soak/steady_writers.hpp"

#include "support/outbox_events.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace walrelay::soak {
namespace {

constexpr unsigned number_of_writers = 4;
/// So far apart that writers never meet, and below what an id has room for.
constexpr std::uint64_t numbers_of_a_writer = 10'000'000'000;
constexpr std::uint64_t most_rows = 4;

}  // namespace

class steady_writers::writer {
public:
    writer(steady_writers& owner, unsigned index, std::chrono::milliseconds between,
           std::uint64_t seed)
        : owner_(owner),
          index_(index),
          next_(index * numbers_of_a_writer + 1),
          between_(between),
          random_(seed * 1000 + index) {}

    void write(test::postgres_session& session) {
        // What the last connection committed is not known for certain.
        last_ = {};
        auto due = std::chrono::steady_clock::now();
        while (owner_.threads_.pass(std::chrono::duration_cast<std::chrono::milliseconds>(
            due - std::chrono::steady_clock::now()))) {
            if (random_.one_in(poison_one_in)) {
                write_poison(session);
            } else {
                write_rows(session);
            }
            // What a lock or an outage has cost is not made up for.
            due = std::max(due + between_, std::chrono::steady_clock::now());
        }
    }

private:
    static constexpr std::uint64_t poison_one_in = 120;
    static constexpr std::uint64_t follow_up_one_in = 6;

    struct written {
        /// 0: there is none.
        std::uint64_t number = 0;
        std::string id;
        outbox table = outbox::events;
    };

    [[nodiscard]] outbox choose_table() {
        constexpr std::uint64_t tables = 3;
        return static_cast<outbox>(index_ < tables ? index_ : random_.between(0, tables - 1));
    }

    void commit(test::postgres_session& session, const std::string& sql,
                const std::vector<std::pair<std::string, outbox>>& keys) {
        session.execute("BEGIN;\n" + sql);
        const auto when = clock::now();
        session.execute("COMMIT");
        for (const auto& [key, table] : keys) {
            owner_.note(key, {.table = table, .when = when});
        }
    }

    void write_rows(test::postgres_session& session) {
        std::string sql;
        std::vector<std::pair<std::string, outbox>> keys;
        written last;
        for (auto left = random_.between(1, most_rows); left > 0; --left) {
            last = {.number = next_, .id = test::event_id(next_), .table = choose_table()};
            sql += insert_row(last.table, {.number = next_++});
            keys.emplace_back(last.id, last.table);
        }
        const bool again = last.table == outbox::tasks && random_.one_in(follow_up_one_in);
        if (again) {
            sql += ask_again(last.id);
            keys.emplace_back(last.id + published_again, last.table);
        }
        commit(session, sql, keys);
        if (!again && random_.one_in(follow_up_one_in)) {
            follow_up(session, last);
        }
        last_ = last;
    }

    [[nodiscard]] static std::string ask_again(const std::string& id) {
        return "UPDATE outbox_tasks SET status = 'pending' WHERE id = '" + id + "'";
    }

    /// Before, while or after the relay publishes the row that was just committed.
    void follow_up(test::postgres_session& session, const written& row) {
        const auto of_row = name_of(row.table) + " WHERE id = '" + row.id + "'";
        if (row.table == outbox::tasks) {
            session.execute("BEGIN");
            const bool there = !session.query(ask_again(row.id) + " RETURNING id").empty();
            const auto when = clock::now();
            session.execute("COMMIT");
            if (there) {
                owner_.note(row.id + published_again, {.table = row.table, .when = when});
            }
        } else if (random_.one_in(2)) {
            session.execute("DELETE FROM " + of_row);
        } else {
            session.execute("UPDATE " + name_of(row.table) +
                            " SET status = 'cancelled' WHERE id = '" + row.id + "'");
        }
    }

    /// A row that is too large, or one of another table with an id that the stream has.
    void write_poison(test::postgres_session& session) {
        const auto before = std::exchange(last_, {});
        const bool id_taken =
            before.number > 0 && before.table != outbox::tasks && random_.one_in(2);
        const row_text row{
            .number = id_taken ? before.number : next_++, .too_large = !id_taken, .poison = true};
        commit(session, insert_row(id_taken ? outbox::tasks : choose_table(), row), {});
    }

    steady_writers& owner_;
    unsigned index_;
    std::uint64_t next_;
    std::chrono::milliseconds between_;
    chaos::dice random_;
    written last_;
};

steady_writers::steady_writers(std::string conninfo, std::uint64_t rows_per_second,
                               std::uint64_t seed) {
    const std::chrono::milliseconds second{1000};
    const auto between = second * number_of_writers * (most_rows + 1) / 2 / rows_per_second;
    for (unsigned index = 0; index < number_of_writers; ++index) {
        writers_.push_back(std::make_unique<writer>(
            *this, index, std::chrono::duration_cast<std::chrono::milliseconds>(between), seed));
        threads_.add_session(conninfo,
                             [each = writers_.back().get()](test::postgres_session& session) {
                                 each->write(session);
                             });
    }
}

steady_writers::~steady_writers() {
    stop();
}

void steady_writers::note(const std::string& key, const committed_row& row) {
    const std::scoped_lock lock(mutex_);
    rows_.emplace(key, row);
}

std::uint64_t steady_writers::count() const {
    const std::scoped_lock lock(mutex_);
    return rows_.size();
}

committed_rows steady_writers::rows() const {
    const std::scoped_lock lock(mutex_);
    return rows_;
}

}  // namespace walrelay::soak
