// The events of the log that a running relay writes: its start and end, the two links, the stream's
// checkpoint, the startup check, what cannot be delivered.
#pragma once

#include "core/log_event.hpp"

namespace walrelay {

inline constexpr auto log_events_relay = std::to_array<log_event>({
    {"start", log_severity::info, "version file slot stream tables plugin",
     "The relay starts: what it is, which configuration it has read, and what it relays.", ""},
    {"http_listening", log_severity::info, "address",
     "The port for health, metrics and the dashboard is open.", ""},
    {"http_exposed", log_severity::warning, "address",
     "The port answers on an address that other machines reach.",
     "Set `http.listen` to a loopback address, or keep others away with a firewall."},
    {"start_failed", log_severity::error, "error",
     "The relay cannot start with this configuration; it exits with 2.",
     "Do what the line says, then start again."},
    {"broker_connected", log_severity::info, "stream sequence position messages",
     "The broker is connected and the stream's last message is known. `messages` are sent again.",
     ""},
    {"leader_followed", log_severity::info, "stream server",
     "Another server of the cluster leads the stream. Nothing is on its way, and the relay "
     "connects "
     "to that one.",
     ""},
    {"strangers_in_stream", log_severity::warning, "stream sequence position messages",
     "Somebody else has published among the last messages of the stream.",
     "Allow only walrelay's user to publish on the stream's subjects (docs/security.md), or set "
     "`sole_writer = false`."},
    {"broker_lost", log_severity::warning, "error retry_seconds messages",
     "The broker cannot be reached, or its connection ended. walrelay tries again by itself.",
     "Nothing for a restart of the broker; where it lasts, see why the broker is away."},
    {"postgres_lost", log_severity::warning, "error retry_seconds",
     "PostgreSQL cannot be reached, or its connection ended. walrelay tries again by itself.",
     "Nothing for a restart of the server; where it lasts, see why the server is away."},
    {"tables_read_again", log_severity::info, "error retry_seconds",
     "The catalog is read again over a new connection: a row came from a table that is new (a "
     "partition for one) or has a type that is new, or columns, partitions or types have changed.",
     ""},
    {"finding", log_severity::warning, "code",
     "A relay that runs has found something that walrelay check names as well; it looks every "
     "minute, at PostgreSQL only once that shows a change, or half an hour has passed.",
     "Do what the line says."},
    {"finding_is_over", log_severity::info, "code",
     "Something that a relay had found is not so any more.", ""},
    {"facts_changed", log_severity::info, "slot",
     "Something has changed that the relay's decisions rest on (publication, tables, rights), and "
     "it costs no row.",
     "See that the change was meant."},
    {"facts_not_read", log_severity::warning, "error",
     "What the relay's decisions rest on cannot be asked for: a change of publication or tables is "
     "not noticed meanwhile.",
     "Do what the line says."},
    {"server_warned", log_severity::warning, "slot",
     "PostgreSQL warns on the replication connection. A warning that costs rows halts the relay.",
     "See what PostgreSQL says."},
    {"streaming", log_severity::info, "slot plugin lsn",
     "The relay holds the slot and reads it from this LSN on.", ""},
    {"standing_by", log_severity::info, "slot error",
     "Another relay holds the slot. This one takes over as soon as the slot is free.", ""},
    {"slot_taken", log_severity::info, "slot", "The slot is free and this relay takes over.", ""},
    {"first_transaction", log_severity::info, "slot lsn xid",
     "After a start: the first transaction with a row that the stream is not known to have, named "
     "before that row is read. A relay that is killed by one of its rows at each start names the "
     "same one each time. One with dead letters alone may be named, and then the next as well. "
     "wal2json tells no `xid`.",
     ""},
    {"sent_again", log_severity::info, "slot stream lsn position rows",
     "The slot stood before the stream's last message when the relay began, after a crash or "
     "because somebody has put it back. `rows` that the stream has were not published again.",
     ""},
    {"caught_up", log_severity::info, "seconds messages",
     "The relay has published what had come before, and publishes rows as they come.", ""},
    {"recovered", log_severity::info, "seconds messages",
     "The relay publishes rows as they come again, after a server was away.", ""},
    {"well", log_severity::info,
     "state seconds messages lag_seconds window_messages window_limit dead_letters",
     "The heartbeat (`log.heartbeat`): the relay is well. `messages` were stored in the last "
     "`seconds`.",
     ""},
    {"hang_up_ignored", log_severity::info, "", "SIGHUP came; nothing is reopened.",
     "Restart walrelay for a changed configuration."},
    {"stopping", log_severity::info, "messages",
     "The relay was told to stop, and waits for the acks of `messages`.", ""},
    {"stop_incomplete", log_severity::warning, "messages rows seconds",
     "The wait for acks and write-backs was given up. The next start sends these messages again.",
     "See whether the broker is there; raise the time that the service manager gives."},
    {"stopped", log_severity::info, "messages slot lsn",
     "The relay has ended. `messages` were stored since the start, and the slot is confirmed up to "
     "`lsn`.",
     ""},
    {"halted", log_severity::error, "error",
     "The relay stops because an operator must decide. It exits with 3, or stays and is not ready "
     "(`delivery.on_halt`).",
     "Do what the line says; docs/operating.md, \"Halt and resume\", says what can be decided."},
    {"halted_before_row", log_severity::error, "error",
     "A row cannot be delivered and `on_poison = \"halt\"`: the relay stops in front of it.",
     "Fix the row or the mapping, or set `on_poison = \"dead_letter\"`."},
    {"staying_halted", log_severity::error, "seconds",
     "`delivery.on_halt = \"stay\"`: the process stays, without slot and broker. With `seconds` it "
     "starts over that often, without it waits until `walrelay resume` says how to go on.",
     "`walrelay verify` names the rows, `walrelay resume --heal` publishes them; `walrelay resume` "
     "alone goes on where the cause is fixed, and halts again if rows are missing."},
    {"still_halted", log_severity::error, "error", "Said once a minute while a halt lasts.",
     "As for `halted`."},
    {"resumed", log_severity::info, "", "The halt was taken back: the relay starts over.", ""},
    {"stopped_while_halted", log_severity::info, "",
     "A signal ended the process while it was halted.", ""},
    {"startup_check_started", log_severity::info, "rows stream",
     "The newest rows of the tables are looked for in the whole stream, as its last messages do "
     "not show them.",
     ""},
    {"new_rows_not_called", log_severity::warning, "slot error",
     "The rows that come into the tables cannot be compared with what the slot brings, while the "
     "relay runs. Said once for each reason.",
     "What the line names; walrelay verify lists missing rows."},
    {"startup_check_passed", log_severity::info, "",
     "All of these rows are in the stream or in the "
     "dead letters.",
     ""},
    {"startup_check_unanswered", log_severity::warning, "error",
     "It could not be found out whether these rows are missing.", "Run `walrelay verify`."},
    {"rows_left_out", log_severity::warning, "rows stream",
     "Rows are neither in the stream nor in the dead letters, and an operator decided to go on "
     "without them.",
     "`walrelay dead-letter list` keeps their message ids; `walrelay verify` names them."},
    {"left_out_not_kept", log_severity::warning, "error",
     "The message ids of these rows could not be kept, so that the next start misses them again.",
     "See why walrelay.dead_letter cannot be written."},
    {"acked_messages_lost", log_severity::error, "stream sequence",
     "The stream has lost messages that it had acked; `sequence` is where it ends now. What the "
     "slot still has of them is sent again.",
     "Run `walrelay verify` where the line says so; docs/guarantees.md explains `confirm_delay` "
     "and "
     "`sync_interval`."},
    {"given_up", log_severity::error, "stream sequence",
     "The stream has lost messages, and an operator decided to go on without them.",
     "`walrelay verify` names the rows that are missing."},
    {"slot_place_unproved", log_severity::warning, "slot lsn",
     "The slot stands after what walrelay.witness names, or after its beginning where there is no "
     "witness, and the newest rows of the tables could "
     "not all be read, or the stream need not have their messages: it is not known whether "
     "somebody moved it past rows.",
     "Run `walrelay verify`; grant SELECT on the outbox tables, without row-level security."},
    {"witness_not_kept", log_severity::warning, "slot error",
     "walrelay.witness cannot be written: what the stream or the slot loses while no relay runs "
     "may "
     "go unnoticed.",
     "Grant what the line says; `walrelay check` says which losses that concerns."},
    {"witness_delayed", log_severity::warning, "slot error",
     "walrelay.witness could not be written just now. The slot waits until it is.",
     "See why PostgreSQL does not take the write, where it lasts."},
    {"gap_healing", log_severity::error, "slot stream",
     "Rows are in neither slot nor stream, and `on_slot_loss = \"heal\"`: they are published from "
     "the tables.",
     "Find out who dropped or advanced the slot."},
    {"history_changed", log_severity::warning, "stream",
     "The database is on another timeline, or is another one, than before.",
     "Expected after a failover. `walrelay verify` lists messages whose rows were lost."},
    {"orphans_in_stream", log_severity::error, "stream messages first_sequence last_sequence",
     "The stream has messages whose rows were lost in a failover. Consumers may have acted on "
     "them.",
     "Run `walrelay verify`; use synchronous replication where this must not happen."},
    {"comparison_started", log_severity::info, "slot stream messages",
     "The rows that the slot sends are compared with the stream one by one.", ""},
    {"comparison_shortened", log_severity::warning, "stream lsn",
     "The stream has dropped messages that were to be compared. Rows before `lsn` are taken for "
     "published.",
     "Run `walrelay verify`."},
    {"comparison_done", log_severity::info, "stream lsn",
     "The comparison is over: the stream has all rows up to `lsn`.", ""},
    {"message_left_out", log_severity::warning, "stream slot id",
     "The stream has messages of later rows, but not that of this row: somebody else has written "
     "among its last messages.",
     "As for `strangers_in_stream`."},
    {"own_message_found", log_severity::info, "stream sequence id",
     "The broker said that an id is taken; the message there is this row's own.", ""},
    {"stream_not_marked", log_severity::warning, "stream error",
     "The stream's description cannot be written, so that each start compares rows with the "
     "stream.",
     "Allow walrelay's user to update the stream (docs/security.md)."},
    {"snapshot_started", log_severity::info, "rows slot lsn",
     "Rows that were there before the slot begins are published.", ""},
    {"snapshot_done", log_severity::info, "slot lsn",
     "These rows are in the stream, and the slot takes over at `lsn`.", ""},
    {"snapshot_restarted", log_severity::info, "stream",
     "The stream has changed meanwhile: which rows it lacks is found out again.", ""},
    {"table_not_relayed", log_severity::warning, "table",
     "A configured table is not sent by the slot.", "Do what the line says."},
    {"table_vanished", log_severity::info, "table",
     "Rows came from a table that is gone and did not have the columns of an outbox.", ""},
    {"control_row_ignored", log_severity::warning, "slot",
     "A row of walrelay.control makes no request that can be followed.",
     "See who may write into walrelay.control (docs/security.md)."},
    {"dead_letter_stored", log_severity::warning, "table position reason",
     "A row cannot be delivered and is kept in walrelay.dead_letter.",
     "Fix the cause, then `walrelay dead-letter retry`."},
    {"dead_letters_counted", log_severity::warning, "rows",
     "More rows were set aside than lines were written; this is their number.",
     "Run `walrelay dead-letter list`."},
    {"dead_letters_resumed", log_severity::info, "seconds",
     "Dead letters are stored again, after a lock was waited for.", ""},
    {"dead_letters_done", log_severity::info, "rows",
     "The messages of retried dead letters are in the stream: these letters are done.", ""},
    {"retries_lost", log_severity::warning, "rows",
     "Requests to retry dead letters were lost, with a slot that was lost, moved or healed; the "
     "letters are open again.",
     "`walrelay dead-letter retry` asks once more."},
    {"write_back_failed", log_severity::warning, "error rows retry_seconds",
     "Published rows could not be written back (`on_published`); walrelay tries again by itself.",
     "Where it lasts, do what the line says."},
    {"write_back_resumed", log_severity::info, "table seconds",
     "Rows are written back again, after a lock was waited for.", ""},
    {"write_stalled", log_severity::warning, "seconds",
     "PostgreSQL does not answer a write of walrelay's; the line names whoever holds the lock.",
     "End the transaction that holds the lock."},
});

}  // namespace walrelay
