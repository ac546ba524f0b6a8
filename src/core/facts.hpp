// What the two servers say of themselves, as plain values: read by the adapters, judged by
// relay/preflight, which decides what is a finding.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay {

enum class output_plugin { wal2json, pgoutput };

[[nodiscard]] constexpr const char* to_string(output_plugin plugin) {
    return plugin == output_plugin::wal2json ? "wal2json" : "pgoutput";
}

/// From pg_replication_slots. Documentation: PostgreSQL, "pg_replication_slots".
struct slot_facts {
    std::string plugin = {};    // empty for a physical slot
    std::string database = {};  // empty for a physical slot
    bool active = false;
    bool two_phase = false;
    std::int32_t active_pid = 0;
    std::optional<lsn> restart = {};
    std::optional<lsn> confirmed = {};  // confirmed_flush_lsn
    std::string wal_status = {};        // reserved | extended | unreserved | lost
    /// Why it was invalidated, in PostgreSQL's word; empty if it was not, or before 16.
    std::string invalidation_reason = {};
    bool failover = false;  // from 17 on: standbys may keep a copy
    bool synced = false;    // from 17 on: it is such a copy
};

/// A physical slot that synchronized_standby_slots names: failover slots send nothing that its
/// standby has not confirmed. Documentation: PostgreSQL 17, "Replication".
struct standby_slot {
    std::string name = {};
    bool exists = false;
    bool active = false;
};

/// From pg_publication.
struct publication_facts {
    bool publishes_inserts = false;
    bool publishes_updates = false;
    bool via_partition_root = false;
    bool for_all_tables = false;
    /// Of all tables of a schema.
    bool for_schemas = false;
    /// The slot's position lies before the publication was created: pgoutput cannot decode from
    /// there, see reference "pgoutput" in docs/operating.md.
    bool younger_than_slot = false;
    bool owned = false;                   // the role may alter it
    std::vector<table_name> tables = {};  // from pg_publication_tables
    /// Those of them of which a row filter keeps rows back.
    std::vector<table_name> filtered = {};
};

/// A statement of the configuration that PostgreSQL would refuse.
struct refused_statement {
    std::string setting = {};  // outbox.on_published, ...
    std::string statement = {};
    std::string server_said = {};
    /// The right that the role lacks, in GRANT's words; empty where that is not the trouble.
    std::string missing_right = {};
};

/// A column GENERATED ALWAYS AS.
struct generated_column {
    std::string name = {};
    /// Of the others, VIRTUAL in PostgreSQL 18, the WAL has no value.
    bool stored = true;
};

struct row_count {
    std::uint64_t count = 0;
    /// Else it is what the statistics say, of a table that is too large to be counted.
    bool is_exact = true;
};

/// From pg_class and pg_attribute, for one configured table.
struct table_facts {
    table_name table = {};
    std::uint32_t oid = 0;  // 0 if it does not exist
    std::string owner = {};
    bool exists = false;
    bool partitioned = false;
    bool ordinary = false;  // an ordinary or partitioned table, not a view or foreign table
    bool unlogged = false;
    bool readable = true;  // the role has SELECT
    /// Rows that are there; counted only where there is no slot, and nothing where that is not
    /// allowed or would take long.
    std::optional<row_count> rows = {};
    /// Its updates can be published: primary key or REPLICA IDENTITY, in every partition. Without,
    /// PostgreSQL refuses UPDATEs to the writers once a publication publishes them.
    bool identified = true;
    std::vector<table_name> leaves = {};        // of a partitioned table, at any depth
    std::vector<std::uint32_t> leaf_oids = {};  // of these, in that order
    /// Columns whose change can move a row to another partition, at any depth.
    std::vector<std::string> partition_columns = {};
    /// Tables that inherit from it (INHERITS), at any depth.
    std::vector<table_name> children = {};
    std::vector<column> columns = {};
    std::vector<generated_column> generated = {};  // of the columns
    std::vector<std::string> nullable = {};        // of the columns
    /// Those of the columns with which no index of all rows begins.
    std::vector<std::string> unindexed = {};
    /// Those of the columns of which the role has no SELECT.
    std::vector<std::string> unreadable = {};
    /// The role may name what is in the table's schema.
    bool reachable = true;
    /// The columns that the publication sends of all its rows; empty where there is no publication,
    /// and before PostgreSQL 15, which does not tell.
    std::vector<std::string> published = {};
    /// Of the write-backs that the configuration asks for.
    std::vector<refused_statement> refused = {};
    /// Those of SELECT, UPDATE and DELETE from which row-level security can hide rows.
    std::vector<std::string> hidden_from = {};
    /// The same for the role of postgres.writer.
    std::vector<std::string> hidden_from_writer = {};
    /// Who may attach a trigger to it, or to a partition, and is not trusted: `PUBLIC`, or quoted.
    std::vector<std::string> trigger_makers = {};
    /// Triggers that run a function of a role that is not trusted.
    std::vector<std::string> foreign_triggers = {};
    /// What else runs where its rows are changed, and is not in trusted hands: constraints,
    /// indexes, generated columns, rules, partitions, tables that follow by a foreign key.
    std::vector<std::string> foreign_code = {};
    /// Defaults of columns: run where a statement of the configuration says DEFAULT.
    std::vector<std::string> foreign_defaults = {};
    /// What runs already where its rows are read: policies that apply to the relay's role, and what
    /// the planner evaluates.
    std::vector<std::string> foreign_reading = {};
};

/// Why the server's wal2json cannot be used.
enum class plugin_trouble {
    none,
    /// output_plugin_libraries does not list it.
    not_allowed,
    not_installed,
    /// Older than 2.5: its rows come without the types of their columns (include-type-oids).
    too_old,
};

/// A table that was a partition of an outbox, and that is none now.
struct gone_partition {
    table_name root = {};
    table_name leaf = {};
    /// Rows of transactions that committed before it are the root's; 0 if none are.
    lsn at = {};
};

/// An outbox that belongs to another role than when it was first relayed.
struct taken_table {
    table_name table = {};
    std::string owner = {};
    std::string owner_before = {};
};

/// A schema that has an outbox or a partition of one, and in which a role that is not trusted may
/// create tables: it can take a name that an outbox or a partition has left.
struct open_schema {
    std::string name = {};
    /// Who may: `PUBLIC`, or quoted, with a comma between.
    std::string makers = {};
    /// It is theirs, so that it cannot be revoked.
    bool owned = false;
};

/// One of walrelay's own tables.
struct own_table_facts {
    bool exists = false;
    bool usable = false;  // the role has all rights that its work takes
    bool owned = false;   // the role may alter it
};

/// What lets somebody else act in walrelay's place, or have statements run as walrelay.
struct schema_flaw {
    std::string what = {};
    std::string remedy = {};
    /// The schema itself is somebody else's: nothing in it is used, as if it were not there.
    bool is_foreign = false;
};

/// What a connection is safe from on its way.
enum class transport_safety {
    /// It does not leave this machine.
    local,
    /// Encrypted, and the server has proved its name.
    verified,
    /// Encrypted, to whoever answers.
    unverified,
    clear,
};

/// The role of postgres.writer, in whose sessions rows of outboxes are changed.
struct writer_facts {
    std::string role = {};
    /// What code that runs as this role could do to the relay, in words; nothing that counts where
    /// it is empty.
    std::vector<std::string> powers = {};
    /// It may see which rows are dead letters.
    bool knows_letters = false;
    /// And those by which walrelay's updates are told from others.
    bool marks = false;
};

/// Who runs the server, where that shows: with such a service some settings and rights have another
/// way. Only advice depends on it, since roles and settings can be named by anybody.
enum class managed_service { none, rds, cloud_sql, alloydb, azure, neon, supabase };

struct postgres_facts {
    std::int32_t version_number = 0;  // server_version_num, 150020 for 15.20
    history origin = {};
    lsn current = {};  // pg_current_wal_flush_lsn(); 0 on a standby
    bool in_recovery = false;
    transport_safety transport = transport_safety::local;
    std::string database = {};
    std::string encoding = {};  // server_encoding
    std::string wal_level = {};
    std::string role = {};
    /// By REPLICATION or SUPERUSER; or the server takes its replication connection all the same, as
    /// services do that give the right by membership.
    bool role_replicates = false;
    /// The first of both: functions of slots ask for it.
    bool role_has_replication = false;
    /// Why it takes none, where one was tried: the role, or a pooler that is in between.
    std::optional<error> replication_refused = {};
    managed_service service = managed_service::none;
    /// Nothing where the relay's own role changes rows.
    std::optional<writer_facts> writer = {};
    [[nodiscard]] const std::string& writing_role() const { return writer ? writer->role : role; }
    std::int32_t slots_free = 0;
    std::int32_t senders_free = 0;
    std::chrono::milliseconds sender_timeout{0};  // wal_sender_timeout, 0 is never
    /// synchronous_standby_names, and what this session's application_name is: that of walrelay's
    /// replication connection, too.
    std::string synchronous_standbys = {};
    std::string application_name = {};
    /// output_plugin_libraries, where the server has it (see docs/operating.md).
    std::optional<std::string> output_plugin_libraries = {};
    plugin_trouble wal2json = plugin_trouble::not_allowed;
    /// Tables of the schema walrelay, each by what its rows are.
    own_table_facts dead_letters = {};
    own_table_facts halts = {};
    own_table_facts controls = {};
    own_table_facts witnesses = {};
    own_table_facts slot_starts = {};
    own_table_facts replays = {};
    own_table_facts partitions = {};
    /// Of walrelay.control_key, by which the relay knows rows of walrelay.control; empty where
    /// there is none that this role may read and that belongs to whom it must.
    std::string control_secret = {};
    /// The role may make those that are missing.
    bool may_make_tables = false;
    /// The server's words, where it was tried, the rights are there, and it refused.
    std::string making_refused = {};
    /// Where it takes none for as long as it is as it is now, read-only for one.
    std::optional<error> making_waits = {};
    /// The table of requests is of a version that had no proof, and this role can complete it.
    [[nodiscard]] bool can_complete_control() const {
        return controls.exists && control_secret.empty() && controls.owned && may_make_tables;
    }
    std::vector<schema_flaw> schema_flaws = {};  // of the schema walrelay
    /// Schemas of the role's search_path in which others may create objects: no statement with a
    /// fragment of the configuration looks there.
    std::vector<std::string> open_schemas = {};
    std::optional<slot_facts> slot = {};
    /// Which of the rows from before it were published when it was made: none, pending or all, as
    /// walrelay.slot_start keeps it; empty where it keeps nothing of the slot, nothing where that
    /// is not known.
    std::optional<std::string> slot_began_with = {};
    /// A copy of it, which a change of its plugin has left (postgres/slot_switch).
    bool slot_waits = false;
    /// A copy of a kept one, which a rewind that broke off has left (postgres/slot_rewind).
    bool slot_is_rewinding = false;
    std::vector<standby_slot> standby_slots = {};
    std::optional<publication_facts> publication = {};
    /// Why the role could not create it, where it was tried; the second, as making_waits.
    std::optional<error> publication_refused = {};
    std::optional<error> publication_waits = {};
    std::vector<table_facts> tables = {};  // one for each configured table, same order
    /// Every other name under which the outbox's schemas hold tables, and all schemas where an
    /// outbox is partitioned: needed to tell a partition that is new from a table that is none of
    /// ours.
    std::vector<table_name> other_tables = {};
    /// Who may call pg_logical_emit_message, beside superusers: `PUBLIC`, or quoted.
    std::vector<std::string> message_writers = {};
    std::vector<taken_table> taken_tables = {};
    /// Where the names of the outboxes can be taken.
    std::vector<open_schema> open_names = {};
    /// What is remembered of partitions; read only for wal2json and partitioned outboxes.
    std::vector<gone_partition> gone_partitions = {};
    /// Domains and the base type each stands for, so that a domain over jsonb is taken as jsonb.
    std::vector<std::pair<type_oid, type_oid>> domains = {};
    /// All other types that somebody has made, in ascending order; nothing where they were not
    /// read.
    std::optional<std::vector<type_oid>> types = {};
};

enum class stream_retention { limits, interest, work_queue };

/// A message that walrelay wrote.
struct recent_message {
    std::string id = {};  // Nats-Msg-Id
    wall_time stored_at = {};
    std::uint64_t sequence = 0;
    std::optional<position> where = {};
};

/// The same, by its place.
struct placed_message {
    std::uint64_t sequence = 0;
    position where = {};
    std::string id = {};  // Nats-Msg-Id
};

/// One message of the stream that was asked for.
struct asked_message {
    std::uint64_t sequence = 0;
    /// Nothing if it is not there any more, or not walrelay's.
    std::optional<position> where = {};
    std::string id = {};  // Nats-Msg-Id
};

/// From JetStream's STREAM.INFO and the stream's last message.
struct stream_facts {
    std::string description = {};
    std::vector<std::string> subjects = {};
    stream_retention retention = stream_retention::limits;
    bool file_storage = true;
    bool discard_new = false;
    bool sealed = false;
    bool no_ack = false;
    bool mirror_or_sourced = false;
    /// It takes numbers to be added, and nothing else (allow_msg_counter).
    bool is_counter = false;
    /// It acks what is not written yet (persist_mode = async).
    bool acks_before_stored = false;
    std::int64_t max_messages = -1;  // -1 is unlimited, as for the next three
    std::int64_t max_bytes = -1;
    std::int32_t max_message_bytes = -1;
    std::int64_t max_messages_per_subject = -1;
    bool discard_new_per_subject = false;
    std::chrono::nanoseconds max_age{0};           // 0 is for ever
    std::chrono::nanoseconds duplicate_window{0};  // of Nats-Msg-Id
    std::int64_t replicas = 1;
    /// The name of the server that leads it; empty where there is no cluster, or it is not told.
    std::string leader = {};
    wall_time created = {};
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    std::uint64_t message_count = 0;
    std::uint64_t byte_count = 0;
    /// What it was made to count from: its first_seq, which nats-server has since 2.10.
    std::uint64_t counts_from = 1;
    /// When the first message that is there was stored; nothing where there is none.
    std::optional<wall_time> first_stored = {};
    /// When the last message was stored, also where it is gone; nothing where none is known of.
    std::optional<wall_time> last_stored = {};
    /// Whether the message at last_sequence could be read; a purge or a deletion takes it away.
    bool last_message_there = false;
    /// The greatest Walrelay-Position among the messages that were looked at: the last one, or many
    /// before it as well. Nothing if walrelay wrote none of them.
    std::optional<position> last_position = {};
    /// That of the last message itself; nothing if it is not walrelay's.
    std::optional<position> final_position = {};
    /// Its Nats-Msg-Id.
    std::string final_id = {};
    /// More than the last message was looked at.
    bool looked_back = false;
    /// Somebody else wrote one of the messages that were looked at.
    bool shared = false;
    /// Of walrelay's messages before the first of somebody else's: the last. A message of somebody
    /// else can let later ones of walrelay's pass an earlier one (see docs/guarantees.md).
    std::optional<position> safe_position = {};
    /// Its Nats-Msg-Id and place.
    std::string safe_id = {};
    std::uint64_t safe_sequence = 0;
    /// Walrelay's among the messages that were looked at, in order. Empty where it cannot be said
    /// what the stream had: some between them were deleted, or it keeps few for each subject.
    std::vector<recent_message> recent = {};
    /// The same, also where some between them are missing.
    std::vector<placed_message> placed = {};
    /// None is missing between them.
    bool placed_is_whole = false;
    std::optional<asked_message> asked = {};

    /// It is empty and has been from the beginning.
    [[nodiscard]] bool is_new() const {
        return message_count == 0 && last_sequence + 1 == counts_from && !last_stored;
    }
    /// Messages that are gone from its beginning: limits or a purge have removed them.
    [[nodiscard]] std::uint64_t removed_count() const {
        const auto begins = message_count == 0 ? last_sequence + 1 : first_sequence;
        return begins > counts_from ? begins - counts_from : 0;
    }
    /// Messages that are gone from between those that are there, or from its end: a limit for each
    /// subject, a purge of one, or somebody has removed them.
    [[nodiscard]] std::uint64_t hole_count() const {
        const auto span = message_count == 0 ? 0 : last_sequence - first_sequence + 1;
        return span - std::min(span, message_count);
    }
    /// A newer message takes the place of one of its subject, so that holes are no loss. Without
    /// such a limit nobody knows what has made them.
    [[nodiscard]] bool replaces_messages() const { return max_messages_per_subject > 0; }
};

/// What the broker says to publishes that it takes none of: they are tried, and not made.
struct publish_trial {
    /// Subjects to which the account may not publish, with the server's words.
    std::vector<std::pair<std::string, std::string>> refused = {};
    /// Its max_control_line is smaller than the longest line of walrelay's; that line's length.
    std::size_t too_long_line_bytes = 0;
};

/// How the last messages of the stream can be read, as all are where a reading needs them.
struct reading_trial {
    /// Why not at all; else empty.
    std::string failed = {};
    /// One by one, without a consumer: what the server says against one. Else empty.
    std::string no_consumer = {};
    /// Only one of several that were asked for has come.
    bool one_for_each_request = false;
};

/// What JetStream lets the account have for a stream as walrelay makes it, and what is used of it;
/// -1 is unlimited.
struct account_limits {
    std::int64_t streams_max = -1;
    std::int64_t streams = 0;
    std::int64_t consumers_max = -1;  // of each stream
    std::int64_t storage_max = -1;    // 0 is none at all
    std::uint64_t storage = 0;
    /// What max_bytes of its streams come to; nothing where the server does not tell it.
    std::optional<std::uint64_t> reserved = {};
    std::int64_t stream_bytes_max = -1;
    bool needs_max_bytes = false;
    /// How often a byte of the stream counts: once where there are tiers, else for each replica.
    std::int64_t copies = 1;
    /// The account has tiers and this one, which the stream would need, is none of them.
    std::string missing_tier = {};
};

struct broker_facts {
    std::string server_version = {};
    std::uint64_t max_payload_bytes = 0;      // from INFO
    std::optional<stream_facts> stream = {};  // nothing if the stream does not exist
    /// What it would refuse of walrelay's publishes; nothing where that was not tried.
    std::optional<publish_trial> trial = {};
    /// Likewise.
    std::optional<reading_trial> reading = {};
    /// Nothing where they were not asked for, or are not told.
    std::optional<account_limits> account = {};
    /// A password or a token went to it as everybody on the way can read it.
    bool told_in_clear = false;
};

}  // namespace walrelay
