// Deletes the rows of one table whose messages are older than delete_after: walks the stream with a
// place that the broker keeps, never the table. What it cannot do now it does later; nothing here
// ever stops the relaying.
#pragma once

#include "audit/provenance.hpp"
#include "config/settings.hpp"
#include "core/cleanup_counts.hpp"
#include "core/error.hpp"
#include "nats/requests/cleanup_cursor.hpp"
#include "outbox/id_inverse.hpp"
#include "postgres/tables/row_cleaner.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/cleanup/cleanup_log.hpp"
#include "tasks/cleanup/own_messages.hpp"
#include "tasks/cleanup/row_rules.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::tasks {

using history_source = std::function<audit::known_history()>;

class row_cleanup : public std::enable_shared_from_this<row_cleanup> {
public:
    /// `table` is its number in the settings, which must outlive this, and `oid` that of the
    /// catalog. `on.blocking` has a thread for it alone. `known` is asked on the loop until this is
    /// closed. `counts` must outlive the loop.
    row_cleanup(servers::executors on, const config::settings& settings, std::size_t table,
                std::uint32_t oid, outbox::id_inverse inverse, history_source known,
                cleanup_counts& counts);

    /// Until it is closed.
    [[nodiscard]] boost::asio::awaitable<void> run();
    void close();

private:
    using wall_clock = std::chrono::system_clock;
    using batch = std::vector<nats::passed_message>;
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    struct due_row {
        std::string id = {};      // of the row
        std::size_t message = 0;  // in the batch
        bool again = false;       // the message publishes it again
    };
    using due_rows = std::vector<due_row>;

    /// Walks until something fails.
    outcome<> walk(std::shared_ptr<nats::cleanup_cursor> cursor);
    outcome<> recall_rules(std::shared_ptr<nats::cleanup_cursor> cursor);
    outcome<> clean_batch(std::shared_ptr<nats::cleanup_cursor> cursor, const batch& messages);
    boost::asio::awaitable<void> wait_until(wall_clock::time_point when);
    boost::asio::awaitable<void> pause(std::chrono::milliseconds length);
    /// The messages from `first` to before `end`, as often as the database makes it take. Errors:
    /// those of the cursor.
    outcome<std::vector<nats::settlement>> clean(const batch& messages, std::size_t first,
                                                 std::size_t end);
    outcome<std::vector<nats::settlement>> try_to_clean(const batch& messages, std::size_t first,
                                                        const std::vector<judged_message>& judged);
    /// One for each of these messages, whose first has the index `first` in the batch.
    outcome<std::vector<judged_message>> judge(const batch& messages, std::size_t first,
                                               std::size_t end);
    outcome<> leave_dead_letters(due_rows& rows);
    /// By the text that another row with the same message id would have: text and message.
    using encoded_rows = std::multimap<std::string, std::pair<std::string, std::size_t>>;
    /// Takes those out whose message can be that of another row.
    outcome<> leave_ambiguous(const postgres::rows_by_value& of, encoded_rows& rows);
    /// Those that have their id from that column. Marks the messages whose rows are to be looked at
    /// again; returns how many are gone.
    outcome<std::uint64_t> clean_column(std::size_t which, const due_rows& rows,
                                        std::vector<bool>& kept);
    outcome<> open_cleaner();
    [[nodiscard]] std::chrono::milliseconds again_after(const nats::passed_message& message) const;
    [[nodiscard]] wall_clock::time_point due(const nats::passed_message& message) const;
    /// Is taken up now.
    void note_owed(const nats::passed_message& message);
    void count(const nats::passed_message& last, std::uint64_t deleted);
    void goes_on();
    boost::asio::awaitable<void> back_off(error why);

    [[nodiscard]] const outbox_table& table() const { return settings_.outbox[number_]; }

    servers::executors on_;
    const config::settings& settings_;
    std::size_t number_;  // of the table, in the settings
    std::uint32_t oid_;
    outbox::id_inverse inverse_;
    history_source known_;
    cleanup_counts& counts_;
    std::chrono::milliseconds delete_after_;
    std::shared_ptr<nats::cleanup_cursor> cursor_;
    std::optional<postgres::row_cleaner> cleaner_;
    boost::asio::steady_timer timer_;
    bool closed_ = false;
    std::chrono::milliseconds waited_{0};
    cleanup_log log_;
    row_rules rules_;
};

}  // namespace walrelay::tasks
