// The keys of [[outbox]] that say what is done with the rows of a table.
#include "config/key_makers.hpp"
#include "config/outbox_tables.hpp"
#include "config/sections.hpp"
#include "config/sql_fragment.hpp"

namespace walrelay::config {
namespace {

key pending_key() {
    return text_key(
        {"outbox", "pending", "",
         "SQL predicate of the rows that are still to send, such as `status = 'pending'`: what "
         "`postgres.snapshot = \"pending\"` publishes. It may name any column of the table, and no "
         "other table."},
        [](const destination& to) -> std::string& { return to.table.pending; }, check_predicate);
}

key republish_key() {
    const key_description about{
        "outbox", "republish", "",
        "`column` and `value`: an UPDATE that sets the column to the value publishes the row "
        "again, with a message id of its own. The value is written as PostgreSQL prints it. What "
        "walrelay writes back itself never publishes anything."};
    return {about,
            value_kind::table,
            {},
            [=](const value& found, const destination& to) {
                return store_republish(about, found, to.table.republish);
            },
            [](const destination&) { return ""; }};
}

key on_published_key() {
    return text_key(
        {"outbox", "on_published", "",
         "SQL SET list that is written back to rows once their messages are acked, many at a time, "
         "such as `status = 'published', published_at = now()`."},
        [](const destination& to) -> std::string& { return to.table.on_published; },
        check_set_list);
}

key on_dead_letter_key() {
    return text_key(
        {"outbox", "on_dead_letter", "",
         "SQL SET list that is written back to a row that becomes a dead letter. `{error}` and "
         "`{attempts}` stand for what went wrong and how often it was tried; they are values and "
         "stand outside of quotes."},
        [](const destination& to) -> std::string& { return to.table.on_dead_letter; },
        check_dead_letter_set_list);
}

key delete_after_key() {
    return optional_duration_key(
        {"outbox", "delete_after", "",
         "How long after their ack rows are deleted; `\"0s\"` deletes them at once. Unset, every "
         "row is kept. Which rows go and which stay: \"Clean-up\" in operating.md."},
        [](const destination& to) -> std::optional<std::chrono::milliseconds>& {
            return to.table.delete_after;
        },
        {std::chrono::milliseconds(0)});
}

}  // namespace

std::vector<key> outbox_row_keys() {
    return {pending_key(), republish_key(), on_published_key(), on_dead_letter_key(),
            delete_after_key()};
}

}  // namespace walrelay::config
