// Which kinds of findings there are: a stable code for each, and what it means. docs/json.md is
// checked against this list.
#pragma once

#include "core/error.hpp"

#include <array>
#include <string_view>

namespace walrelay {

struct finding_kind_text {
    std::string_view code;
    std::string_view meaning;
};

inline constexpr auto finding_kinds = std::to_array<finding_kind_text>({
    {"subjects_not_covered", "The stream does not take the subjects of a table."},
    {"max_age_before_cleanup",
     "The stream deletes messages before the rows of `delete_after` are due."},
    {"retention_not_limits", "The stream has interest or workqueue retention."},
    {"stream_sealed", "The stream is sealed and takes no message."},
    {"stream_without_acks", "The stream does not ack."},
    {"stream_is_counter", "The stream adds numbers up and takes nothing else."},
    {"stream_is_bucket", "The stream is that of a key-value or object bucket."},
    {"stream_acks_early", "The stream acks messages that it has not written yet."},
    {"stream_mirrored", "The stream is a mirror or has sources."},
    {"stream_in_memory", "The stream is kept in memory."},
    {"stream_max_age",
     "The stream deletes messages by age, and with the last one the place to go on from."},
    {"stream_full", "The stream is full and refuses messages."},
    {"stream_removes_oldest", "The stream removes its oldest messages where it is full."},
    {"stream_can_fill", "The stream will refuse messages once it is full."},
    {"stream_refuses_per_subject",
     "The stream refuses messages of a subject that has enough of them."},
    {"stream_not_creatable",
     "There is no stream, and one cannot be created: rights, limits, or subjects of another one."},
    {"stream_outgrows_account", "The account has no room for all that the stream may hold."},
    {"duplicate_window_short",
     "The stream forgets message ids sooner than rows may be sent again."},
    {"no_room_for_messages", "A limit of the broker or of the stream is below any message's size."},
    {"publish_not_allowed", "The broker's account may not publish to a subject that rows need."},
    {"max_control_line_small", "The broker takes no protocol lines as long as walrelay's."},
    {"stream_read_one_by_one",
     "A limit of the account or of the stream lets messages be read only one by one."},
    {"stream_not_readable", "The messages of the stream cannot be read."},
    {"stream_missing", "There is no stream yet."},
    {"stream_of_other_slot", "The stream belongs to another slot or database."},
    {"history_refused", "The stream's last message is not of this database's history."},
    {"rows_to_compare", "The next start compares rows with the stream one by one."},
    {"rows_not_mappable",
     "PostgreSQL sends rows of a table in a form that cannot become messages."},
    {"commits_wait",
     "Commits of applications can wait for walrelay (`synchronous_standby_names`)."},
    {"commits_wait_for_ever", "Commits and write-backs can wait for each other for ever."},
    {"child_tables_not_relayed", "Tables inherit from an outbox table and are not configured."},
    {"moved_rows_published_again", "A row that moves to another partition is published again."},
    {"message_ids_can_be_equal", "Rows of two tables can have the same message id."},
    {"row_security_hides_rows", "Row-level security can hide rows from walrelay's role."},
    {"triggers_open_to_others", "Others may attach triggers, which run as walrelay's role."},
    {"triggers_of_others", "Triggers of the table run functions of others as walrelay's role."},
    {"code_of_others",
     "Constraints, indexes or foreign keys run code of others as walrelay's role."},
    {"writer_too_strong",
     "The role of `postgres.writer` may do more than change rows of outboxes."},
    {"messages_open_to_all", "Every role may write logical messages that are relayed."},
    {"dead_letter_table_unusable", "walrelay.dead_letter can neither be used nor made."},
    {"halt_table_unusable", "walrelay.halt can neither be used nor made."},
    {"witness_table_unusable", "walrelay.witness can neither be used nor made."},
    {"slot_start_table_unusable", "walrelay.slot_start can neither be used nor made."},
    {"replay_table_unusable", "walrelay.replay cannot be used."},
    {"partition_table_unusable", "walrelay.partition cannot be used."},
    {"witness_not_written", "The server is a standby, where walrelay.witness cannot be written."},
    {"stream_lost", "What was stored before is not in the stream: deleted, cut, or another one."},
    {"control_table_unusable", "walrelay.control can neither be used nor made."},
    {"control_key_unusable",
     "walrelay.control_key, which proves rows of walrelay.control, cannot be read."},
    {"control_table_not_published", "The publication does not contain walrelay.control."},
    {"schema_not_safe", "Others can change the schema walrelay or what is in it."},
    {"postgres_too_old", "The server is older than PostgreSQL 13."},
    {"wal_level_not_logical", "`wal_level` is not `logical`."},
    {"encoding_not_utf8", "The database is not in UTF8."},
    {"standby_cannot_decode", "The server is a standby older than PostgreSQL 16."},
    {"role_without_replication", "The server does not let the role replicate."},
    {"replication_refused", "The server, or a pooler before it, takes no replication connection."},
    {"rows_before_slot",
     "Rows are older than the slot that would be made, which never sends them."},
    {"table_missing", "A configured table does not exist."},
    {"table_not_ordinary",
     "A configured table is a view or something else that has no rows in the WAL."},
    {"table_unlogged", "A configured table is unlogged."},
    {"table_not_readable",
     "The role may not read a table, or columns of one, that something has to read."},
    {"subject_can_be_null", "A column that the subject needs can be NULL."},
    {"mapping_invalid", "`outbox.subject`, `message_id` or another template is not valid."},
    {"mapping_without_columns", "The mapping names columns that the table does not have."},
    {"messages_need_postgres_14", "pgoutput sends logical messages from PostgreSQL 14 on."},
    {"wal2json_not_allowed", "The server does not allow wal2json (`output_plugin_libraries`)."},
    {"wal2json_not_installed", "wal2json is not installed on the server."},
    {"wal2json_too_old", "wal2json is older than 2.5."},
    {"publication_without_inserts", "The publication does not publish inserts."},
    {"publication_without_updates",
     "The publication does not publish updates, which `republish` needs."},
    {"publication_lacks_table", "The publication does not contain a configured table."},
    {"publication_filters_rows", "A row filter of the publication keeps rows of an outbox back."},
    {"publication_after_slot", "The publication is younger than the place of the slot."},
    {"publication_not_creatable", "There is no publication, and the role may not create it."},
    {"publication_missing", "There is no publication yet."},
    {"publication_missing_for_slot", "There is no publication, but a slot from before it."},
    {"first_start_waits",
     "PostgreSQL is read-only or full: a first start makes nothing, and waits until it is not."},
    {"table_taken_over", "A table has another owner than when it was first relayed."},
    {"names_open_to_others", "Others can take the name of an outbox or of a partition."},
    {"partitions_with_wal2json", "wal2json names partitions alone, also detached ones."},
    {"standby_slot_blocks", "`synchronized_standby_slots` names a slot that holds delivery up."},
    {"slot_on_standby", "The slot is the copy that a standby keeps."},
    {"failover_differs", "The slot is a failover slot, or is none, other than asked for."},
    {"slot_two_phase", "The slot has `two_phase` on."},
    {"slot_missing", "There is no slot yet."},
    {"slot_gone", "There is no slot any more, and the stream shows an earlier run."},
    {"slot_copy_left", "A copy of the slot is left from a change of its plugin."},
    {"slot_physical", "The slot is a physical one."},
    {"slot_of_other_database", "The slot belongs to another database."},
    {"slot_of_other_plugin", "The slot was created for another plugin."},
    {"slot_lost", "PostgreSQL has removed WAL that the slot needs."},
    {"slot_rewind_unfinished", "A rewind of the slot broke off."},
    {"slot_switch_unfinished", "A change of the slot's plugin broke off."},
    {"snapshot_on_slot",
     "`postgres.snapshot` is set, and the slot was made without it: rows before it stay out."},
    {"slots_exhausted", "No replication slot is free."},
    {"slot_halted", "The slot is halted until an operator resumes it."},
    {"slot_resumed", "The slot was halted and has been resumed."},
    {"failover_needs_postgres_17", "`postgres.failover = \"true\"` needs PostgreSQL 17."},
    {"kept_tables_unusable", "walrelay.bookmark and walrelay.trail can neither be used nor made."},
    {"trail_slot_taken", "The slot of the trail is there, and walrelay did not make it."},
    {"trail_without_slot", "No replication slot is free for the trail."},
    {"trail_on_standby", "`replay.keep` keeps no trail on a standby."},
    {"position_gone", "The slot of a bookmark is not there any more."},
    {"position_lost", "PostgreSQL has removed the WAL of a bookmark."},
    {"positions_hold_much", "A kept position holds almost as much WAL as `replay.max_wal` allows."},
    {"positions_hold_catalog", "A kept position keeps VACUUM from rows of system catalogs."},
    {"bookmark_ends_early", "PostgreSQL ends a bookmark before it expires."},
    {"postgres_not_encrypted", "The connection to PostgreSQL is not encrypted."},
    {"postgres_not_verified", "The connection to PostgreSQL believes any server."},
    {"broker_not_encrypted", "A password or token goes to the broker without encryption."},
    {"statement_not_allowed", "The role may not run a statement of the configuration."},
    {"statement_refused", "PostgreSQL refuses a statement of the configuration."},
    {"republish_column_missing", "The table lacks the column of `outbox.republish`."},
    {"republish_never_fires", "No row can have the value of `outbox.republish`."},
    {"id_column_missing", "The table lacks the column by which rows are found again."},
    {"id_not_indexed", "Rows are found again by a column without an index."},
    {"replica_identity_missing", "The table has no primary key and no REPLICA IDENTITY."},
});

// clang 16 destroys temporaries that were never made where a full expression with a consteval call
// is one of several in a switch. What it builds is checked while it runs; g++ checks what is
// shipped.
#ifdef __clang__
#define WALRELAY_CHECKED_CONSTANT constexpr
#else
#define WALRELAY_CHECKED_CONSTANT consteval
#endif

/// One of the list, checked while it is compiled; or the name of an error, where a server could not
/// be asked.
class finding_code {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): written as a plain string
    WALRELAY_CHECKED_CONSTANT finding_code(const char* code) : code_(code) {
        for (const auto& each : finding_kinds) {
            if (each.code == code_) {
                return;
            }
        }
        throw "this code is not in core/finding_code.hpp";
    }
    explicit finding_code(errc code) : code_(to_string(code)) {}

    /// Lasts for ever.
    [[nodiscard]] std::string_view text() const { return code_; }

private:
    std::string_view code_;
};

#undef WALRELAY_CHECKED_CONSTANT

}  // namespace walrelay
