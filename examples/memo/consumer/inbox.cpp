// See inbox.hpp.
#include "consumer/inbox.hpp"

#include <chrono>
#include <thread>

namespace memo {
namespace {

constexpr const char* lock_key = "hashtextextended('email_inbox ' || $1, 0)";

bool is_true(const std::vector<sql_row>& rows) {
    return !rows.empty() && rows.front().front() == "t";
}

}  // namespace

inbox::inbox(database& where) : where_(where) {
    // A commit that a crash of the server forgets would let a mail be sent again.
    where_.query(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'");
}

claim inbox::take(const mail_order& order) {
    // Not a row lock: it has to outlast the commits of a try, and to end with the connection.
    if (!is_true(where_.query("SELECT pg_try_advisory_lock(" + std::string(lock_key) + ")",
                              {order.message_id}))) {
        return claim::busy;
    }
    if (!is_settled(order)) {
        release(order);
        return claim::early;
    }
    transaction work(where_);
    const auto found = look(order);
    if (found == claim::mine) {
        where_.query("UPDATE email_inbox SET attempts = attempts + 1 WHERE message_id = $1",
                     {order.message_id});
        update_row(order, "status = 'SENDING', last_attempt_at = now()");
    }
    work.commit();
    return found;
}

bool inbox::has_row(const mail_order& order) {
    return is_true(where_.query("SELECT EXISTS (SELECT FROM email_outbox WHERE id = $1::uuid)",
                                {order.row_id}));
}

/// The WAL tells of a commit a moment before other sessions see it, and for as long before as a
/// synchronous standby takes. A status that is set in that moment would be set for no row.
bool inbox::is_settled(const mail_order& order) {
    if (order.row_id.empty() || has_row(order)) {
        return true;
    }
    constexpr std::chrono::milliseconds patience{1000};
    constexpr std::chrono::milliseconds pause{5};
    const auto deadline = std::chrono::steady_clock::now() + patience;
    // Younger than the row's transaction. Once all that are older have ended, and the row is still
    // not there, it was deleted.
    const auto horizon = where_.query("SELECT pg_current_xact_id()").front().front().value();
    do {
        const bool all_ended = is_true(
            where_.query("SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8", {horizon}));
        if (all_ended || has_row(order)) {
            return true;
        }
        std::this_thread::sleep_for(pause);
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
}

claim inbox::look(const mail_order& order) {
    where_.query("INSERT INTO email_inbox (message_id) VALUES ($1) ON CONFLICT DO NOTHING",
                 {order.message_id});
    const auto row = where_
                         .query(
                             "SELECT finished_at IS NOT NULL, handed_over_at IS NOT NULL,"
                             " attempts >= $2::int FROM email_inbox WHERE message_id = $1",
                             {order.message_id, std::to_string(max_attempts)})
                         .front();
    if (row.at(0) == "t") {
        return claim::finished;
    }
    if (row.at(1) == "t") {
        return claim::unsure;
    }
    return row.at(2) == "t" ? claim::worn_out : claim::mine;
}

void inbox::release(const mail_order& order) {
    where_.query("SELECT pg_advisory_unlock(" + std::string(lock_key) + ")", {order.message_id});
}

void inbox::hand_over(const mail_order& order) {
    where_.query("UPDATE email_inbox SET handed_over_at = now() WHERE message_id = $1",
                 {order.message_id});
}

void inbox::finish_sent(const mail_order& order) {
    transaction work(where_);
    finish(order, "SENT");
    update_row(order, "status = 'SENT', sent_at = now(), error_message = NULL");
    work.commit();
}

void inbox::finish_failed(const mail_order& order, const std::string& error) {
    transaction work(where_);
    finish(order, "FAILED");
    update_row(order, "status = 'FAILED', error_message = $2", error);
    work.commit();
}

bool inbox::note_failure(const mail_order& order, const std::string& error) {
    transaction work(where_);
    const auto row = where_
                         .query(
                             "UPDATE email_inbox SET handed_over_at = NULL WHERE message_id = $1"
                             " RETURNING attempts, attempts < $2::int",
                             {order.message_id, std::to_string(max_attempts)})
                         .front();
    const bool tries_left = row.at(1) == "t";
    if (!tries_left) {
        finish(order, "FAILED");
    }
    // Never PENDING: that is how operators ask for the mail to be sent again.
    update_row(order,
               "status = '" + std::string(tries_left ? "SENDING" : "FAILED") +
                   "', retry_count = " + row.at(0).value() + ", error_message = $2",
               error);
    work.commit();
    return tries_left;
}

void inbox::finish(const mail_order& order, const std::string& outcome) {
    where_.query("UPDATE email_inbox SET finished_at = now(), outcome = $2 WHERE message_id = $1",
                 {order.message_id, outcome});
}

void inbox::update_row(const mail_order& order, const std::string& set_list,
                       const std::string& value) {
    if (order.row_id.empty()) {
        return;
    }
    std::vector<std::string> values{order.row_id};
    if (set_list.find("$2") != std::string::npos) {
        values.push_back(value);
    }
    where_.query(
        "UPDATE email_outbox SET " + set_list + ", meta_updated_at = now() WHERE id = $1::uuid",
        values);
}

}  // namespace memo
