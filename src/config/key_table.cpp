// The table of keys. A name, a flag, the kind of value with its place and its limits, and what
// people read about it.
#include "config/keys.hpp"
#include "config/sql_fragment.hpp"

namespace walrelay::config {
namespace {

using namespace std::chrono_literals;
using postgres = postgres_settings;
using nats = nats_settings;
using tls = tls_settings;
using delivery = delivery_settings;
using outbox = outbox_table;
using replay = replay_settings;
using http = http_settings;
using log = log_settings;
using traces = traces_settings;

constexpr byte_size least_bytes{64ULL << 10U};
constexpr byte_size most_bytes{1ULL << 30U};
constexpr byte_size least_kept{1ULL << 20U};
constexpr byte_size most_kept{1ULL << 50U};

const std::vector<key> table{
    {"postgres", "conninfo", "--postgres", text(&postgres::conninfo),
     "How to reach the database: a libpq connection string or URI. `PG*` variables and the "
     "password file of libpq are honoured, so no password need stand here. Required.",
     "\"host=127.0.0.1 dbname=app user=walrelay\""},
    {"postgres", "password_file", "", text(&postgres::password_file),
     "File whose first line is the password, read at each connect: it can be replaced while the "
     "relay runs. At most one of `password_file` and `password_command` is set."},
    {"postgres", "password_command", "", text(&postgres::password_command),
     "Command of `/bin/sh` whose first line of output is the password, run at each connect: for "
     "tokens that live for minutes. It has ten seconds."},
    {"postgres", "writer", "", text(&postgres::writer),
     "What replaces values of `conninfo` for the connections that change rows of outboxes "
     "(`on_published`, `on_dead_letter`, `delete_after`): another role, without REPLICATION, so "
     "that code of others in triggers, constraints or indexes of a table "
     "does not run as the role that may read the whole WAL. Its password comes from here, from "
     "`writer_password_file` or `writer_password_command`, or from the password file of libpq, not "
     "from `password_file` or `password_command`.",
     "\"user=walrelay_writer\""},
    {"postgres", "writer_password_file", "", text(&postgres::writer_password_file),
     "What `password_file` is, for the role of `writer`."},
    {"postgres", "writer_password_command", "", text(&postgres::writer_password_command),
     "What `password_command` is, for the role of `writer`."},
    {"postgres", "slot", "--slot", text(&postgres::slot, check_slot),
     "The logical replication slot: 1 to 63 of the characters `a-z`, `0-9` and `_`."},
    {"postgres", "plugin", "--plugin",
     choice(&postgres::plugin, {{"auto", std::nullopt},
                                {"wal2json", output_plugin::wal2json},
                                {"pgoutput", output_plugin::pgoutput}}),
     "The output plugin of the slot. `\"auto\"` takes the plugin of an existing slot; for a new "
     "one `wal2json` if the server accepts it, is PostgreSQL 15 or newer and no outbox is "
     "partitioned, else `pgoutput`. wal2json must be 2.5 or newer."},
    {"postgres", "publication", "--publication", text(&postgres::publication, check_publication),
     "The publication that lists the outbox tables. Only `pgoutput` uses it. The name is taken "
     "as it is, case included."},
    {"postgres", "snapshot", "--snapshot",
     choice(&postgres::snapshot, {{"none", snapshot_mode::none},
                                  {"pending", snapshot_mode::pending},
                                  {"all", snapshot_mode::all}}),
     "Which of the rows that were in the tables before the slot was created are published "
     "first: none, those of each table's `pending`, or all of them. Whatever published rows of "
     "these tables before must have stopped when walrelay starts with it. With a slot that was "
     "made without them it is refused, as such rows are published by a replay."},
    {"postgres", "failover", "--failover",
     choice(&postgres::failover, {{"auto", std::nullopt}, {"true", true}, {"false", false}}),
     "Whether the slot is created as a failover slot, of which standbys keep a copy, so that it "
     "exists after a promotion: `\"auto\"` if the server supports it (PostgreSQL 17 and newer), "
     "`\"true\"` or no slot at all, `\"false\"` never. An existing slot is left as it is."},
    {"nats", "urls", "--nats", urls(&nats::urls),
     "The servers of the broker: `nats://` or `tls://`, host and port. Several are servers of "
     "one cluster, tried in turn; they may also stand in one string, with commas between. Where "
     "nothing else names servers, those of the variable `NATS_URL` count."},
    {"nats", "stream", "--stream", text(&nats::stream, check_stream),
     "The JetStream stream that receives the messages: no blanks, dots, `*`, `>` or slashes."},
    {"nats", "subjects", "--subjects", texts(&nats::subjects, check_subject),
     "The subjects of the stream. Used only where walrelay creates it (with file storage and "
     "limits retention)."},
    {"nats", "replicas", "", integer(&nats::replicas, {1, 5}),
     "How many servers keep a copy of the stream, 1 to 5. Used only where walrelay creates it."},
    {"nats", "max_bytes", "", size(&nats::max_bytes, {least_bytes, most_kept}),
     "How many bytes the stream holds, at least `64KiB`: when it is full, the oldest messages make "
     "room for new ones. Used only where walrelay creates it. Unset, no limit is asked for; some "
     "accounts take no stream without one (`max_bytes_required`), as with hosted NATS.",
     "\"10GiB\""},
    {"nats", "sole_writer", "", boolean(&nats::sole_writer),
     "Whether walrelay is the only writer of the stream. `true`: exactly once, in commit order, "
     "many messages on their way at once; the stream is the checkpoint. `false`: others may "
     "write too; order holds for each aggregate, and duplicates are suppressed within the "
     "stream's duplicate window."},
    {"nats", "context", "", text(&nats::context, check_context),
     "A context of the `nats` command, by its name: its file is "
     "`$XDG_CONFIG_HOME/nats/context/<name>.json`, or `~/.config/nats/context/<name>.json`. Its "
     "servers, sign-in, certificates, domain or API prefix and inbox prefix count where "
     "walrelay's own keys say nothing; of a sign-in, either all or nothing."},
    {"nats", "discover", "", boolean(&nats::discover),
     "Whether servers that a connected server tells of (`connect_urls`) are tried when none of "
     "`urls` lets walrelay in. They must pass the same TLS verification, by their own names."},
    {"nats", "domain", "", text(&nats::domain, check_domain),
     "The JetStream domain of the stream, where walrelay is connected to a leaf node of another "
     "one: requests go to `$JS.<domain>.API`. At most one of `domain` and `api_prefix` is set.",
     "\"hub\""},
    {"nats", "api_prefix", "", text(&nats::api_prefix, check_api_prefix),
     "What the subjects of JetStream's API begin with in place of `$JS.API`, where an account "
     "imports it under a name of its own."},
    {"nats", "inbox_prefix", "", text(&nats::inbox_prefix, check_inbox_prefix),
     "What the subjects begin with that the broker answers to. A user that may subscribe on a "
     "prefix of its own, `<prefix>.>`, cannot read the answers to others."},
    {"nats", "credentials", "", text(&nats::credentials),
     "File of NATS credentials (user JWT and seed). At most one of `credentials`, `nkey_seed`, "
     "`user` and `token_file` is set."},
    {"nats", "nkey_seed", "", text(&nats::nkey_seed), "File that holds the seed of an NKey."},
    {"nats", "user", "", text(&nats::user),
     "Name of the user; its password stands in `password_file`."},
    {"nats", "password_file", "", text(&nats::password_file),
     "File that holds the password of `user`."},
    {"nats", "token_file", "", text(&nats::token_file), "File that holds a token."},
    {"nats", "tls.ca", "", text(&tls::ca),
     "File of PEM certificates of authorities: only servers that they have signed are trusted. "
     "Without it, those of the system."},
    {"nats", "tls.cert", "", text(&tls::cert),
     "File of the client's PEM certificate; goes together with `tls.key`."},
    {"nats", "tls.key", "", text(&tls::key), "File of the PEM key of `tls.cert`."},
    {"nats", "tls.handshake_first", "", boolean(&tls::handshake_first),
     "Whether TLS begins before the server says anything, as nats-server wants it with "
     "`handshake_first` in its tls block."},
    {"delivery", "window_messages", "", integer(&delivery::window_messages, {1, 65536}),
     "How many messages may be on their way without an ack, 1 to 65536. A full window stops "
     "reading from PostgreSQL."},
    {"delivery", "window_bytes", "", size(&delivery::window_bytes, {least_bytes, most_bytes}),
     "How many bytes of messages may be on their way without an ack, `64KiB` to `1GiB`; a single "
     "larger message still passes alone."},
    {"delivery", "max_row_bytes", "", size(&delivery::max_row_bytes, {least_bytes, most_bytes}),
     "A row that has more bytes than this in the WAL stream becomes a dead letter without its "
     "content, `64KiB` to `1GiB`. A relay whose control group has too little memory for it takes "
     "less, `8MiB` at least, and says so when it starts."},
    {"delivery", "ack_timeout", "", duration(&delivery::ack_timeout, 100ms),
     "How long an ack may take before walrelay starts over with a new connection; at least "
     "`100ms`."},
    {"delivery", "backoff_initial", "", duration(&delivery::backoff_initial, 1ms),
     "The wait before the second try to reach a server; it grows with each further try. At least "
     "`1ms`, at most `backoff_max`."},
    {"delivery", "backoff_max", "", duration(&delivery::backoff_max, 1ms),
     "The longest wait between two tries. walrelay never gives up."},
    {"delivery", "confirm_delay", "", duration(&delivery::confirm_delay, 0ms),
     "How long the slot is held back after the ack. A broker that acks before its data is on "
     "the disk forgets acked messages when its power fails; what is younger than this is then "
     "sent again. When the time is over, walrelay asks what the stream ends with, and only the "
     "answer advances the slot: a relay that was paused, or a broker that died silently, "
     "confirms nothing. So a little longer than the broker's sync interval (nats-server: 2 "
     "minutes unless set) is enough; PostgreSQL keeps the WAL of that time."},
    {"delivery", "max_attempts", "", integer(&delivery::max_attempts, {1, 100}),
     "How often a message that the broker refuses for what it holds is tried before its row "
     "becomes a dead letter, 1 to 100. Outages are waited out, however long."},
    {"delivery", "on_poison", "",
     choice(&delivery::on_poison,
            {{"dead_letter", poison_policy::dead_letter}, {"halt", poison_policy::halt}}),
     "What happens to a row that can never be published: `\"dead_letter\"` sets it aside in the "
     "table walrelay.dead_letter and continues, `\"halt\"` stops before it and keeps the slot."},
    {"delivery", "on_slot_loss", "",
     choice(&delivery::on_slot_loss,
            {{"halt", slot_loss_policy::halt}, {"heal", slot_loss_policy::heal}}),
     "What happens where the slot no longer has what the stream lacks: `\"halt\"` stops and says "
     "how to fix it, `\"heal\"` publishes what is missing from the outbox tables."},
    {"delivery", "on_halt", "",
     choice(&delivery::on_halt, {{"exit", halt_policy::exit}, {"stay", halt_policy::stay}}),
     "What the process does where an operator must decide: `\"exit\"` ends it with exit code 3, "
     "`\"stay\"` keeps it without slot and broker, and it continues by itself once the cause is "
     "gone or `walrelay resume` was run."},
    {"outbox", "table", "--table", table_name_text(&outbox::table),
     "The table, written as in SQL: the schema is `public` if none is named, parts without "
     "double quotes are folded to lower case (`'\"Odd Schema\".\"My Table\"'` keeps both). Each "
     "entry has either this or `message_prefix`, and no two have the same.",
     "\"public.outbox_events\""},
    {"outbox", "message_prefix", "", text(&outbox::message_prefix, check_message_prefix),
     "In place of `table`: rows are the JSON objects that writers emit with "
     "`pg_logical_emit_message(true, '<message_prefix>', '{\"id\": ...}')`; there is no table. "
     "The keys are the columns.",
     "\"walrelay\""},
    {"outbox", "columns", "", columns(&outbox::columns),
     "Which column plays which role; names are taken as they are, case included. The roles are "
     "`id`, `aggregate_type`, `aggregate_id`, `event_type`, `payload`, `metadata`, `version` and "
     "`created_at`. A role that is not named here is played by the column of its own name where "
     "the table has it; `payload` by `event_data`, else by `payload`. A role named "
     "`\"\"` is played by no column: `check` and `run` refuse a table without payload unless "
     "`payload = \"\"` says that its events have none (with `body = \"event\"`).",
     "{ id = \"event_id\", payload = \"body\" }"},
    {"outbox", "subject", "--subject", text(&outbox::subject),
     "Template of the subject. `{name}` is a role or a column, `{name|other}` the first that is "
     "not NULL, `{name|'text'}` the text where it is NULL. Each value is one token, encoded where "
     "NATS needs it; only the dots of a "
     "placeholder that ends the template stay, so that one may give several tokens."},
    {"outbox", "message_id", "--message-id", text(&outbox::message_id),
     "Template of `Nats-Msg-Id`. It must differ between all rows of all tables that share a "
     "stream. `{idempotency_key|id}` takes the id where there is no key."},
    {"outbox", "body", "--body",
     choice(&outbox::body, {{"event", body_format::event},
                            {"payload", body_format::payload},
                            {"cloudevents", body_format::cloudevents},
                            {"protobuf", body_format::protobuf}}),
     "What a message carries: a JSON envelope (`\"event\"`), the bytes of the payload column "
     "alone (`\"payload\"`), CloudEvents 1.0 in binary mode (`\"cloudevents\"`) or "
     "`proto/walrelay/v1/event.proto` (`\"protobuf\"`)."},
    {"outbox", "null_payload", "",
     choice(&outbox::keeps_tombstones, {{"dead_letter", false}, {"tombstone", true}}),
     "What becomes of a row whose payload is NULL where `body = \"payload\"`: a dead letter, or an "
     "empty message with the header `Walrelay-Tombstone: true` (`\"tombstone\"`), which says that "
     "what the event is about is gone. The other bodies say it themselves."},
    {"outbox", "headers", "", headers(&outbox::headers),
     "Headers of each message beside those of walrelay: name and template of the value. A header "
     "is left out where a column of it is NULL, or its value empty. `{name->>'key'}` is a member "
     "of a column that holds a JSON object. `Content-Type` takes the place of walrelay's own. "
     "Names "
     "that begin with `Nats-` or `Walrelay-` are reserved.",
     "{ \"Correlation-Id\" = \"{correlation_id}\" }"},
    {"outbox", "pending", "", text(&outbox::pending, check_predicate),
     "SQL predicate of the rows that are still to send, such as `status = 'pending'`: what "
     "`postgres.snapshot = \"pending\"` publishes. It may name any column of the table, and no "
     "other table.",
     "\"status = 'pending'\""},
    {"outbox", "republish", "", republish(&outbox::republish),
     "`column` and `value`: an UPDATE that sets the column to the value publishes the row again, "
     "with a message id of its own. The value is written as PostgreSQL prints it. `is = "
     "\"null\"` in place of `value` stands for NULL. What walrelay writes back itself never "
     "publishes anything.",
     "{ column = \"status\", value = \"pending\" }"},
    {"outbox", "on_published", "", text(&outbox::on_published, check_set_list),
     "SQL SET list that is written back to rows once their messages are acked, many at a time, "
     "such as `status = 'published', published_at = now()`.",
     "\"status = 'published', published_at = now()\""},
    {"outbox", "on_dead_letter", "", text(&outbox::on_dead_letter, check_dead_letter_set_list),
     "SQL SET list that is written back to a row that becomes a dead letter. `{error}` and "
     "`{attempts}` stand for what went wrong and how often it was tried; they are values and "
     "stand outside of quotes.",
     "\"status = 'dead_letter', last_error = {error}, retry_count = {attempts}\""},
    {"outbox", "delete_after", "", duration(&outbox::delete_after, 0ms),
     "How long after their ack rows are deleted; `\"0s\"` deletes them at once. Unset, every row "
     "is kept. Which rows go and which stay: \"Clean-up\" in operating.md.",
     "\"7d\""},
    {"replay", "keep", "", duration(&replay::keep, 1s),
     "How far back the trail reaches: a replication slot `<slot>_trail` that walrelay itself "
     "moves along behind its own, so that any moment of this time can be replayed from. "
     "PostgreSQL keeps the WAL and the catalog rows of that time for it. Unset, there is none, "
     "and one that walrelay made before is dropped. At least `1s`; see [replay.md](replay.md).",
     "\"24h\""},
    {"replay", "max_wal", "", size(&replay::max_wal, {least_kept, most_kept}),
     "How much WAL the positions that are kept for a replay may hold, the trail and bookmarks "
     "together; at least `1MiB`. What holds more gives way, the oldest first: the trail is "
     "moved on, a bookmark is dropped. Only WAL that the slot of the relay does not need as "
     "well counts."},
    {"http", "listen", "", text(&http::listen, check_listen),
     "IP address and port on which `walrelay run` answers: the dashboard, health, status and "
     "metrics, see [monitoring.md](monitoring.md). Whoever reaches it can read them, and nobody "
     "can change anything there. Port 0 takes any free port, which the log names; `\"off\"` "
     "opens none."},
    {"http", "hosts", "", texts(&http::hosts, check_host),
     "Names under which it may be asked, besides IP addresses and `localhost`. Requests that name "
     "another host are refused.",
     "[\"relay.internal\"]"},
    {"log", "level", "--log-level",
     choice(&log::level, {{"trace", log_level::trace},
                          {"debug", log_level::debug},
                          {"info", log_level::info},
                          {"warn", log_level::warn},
                          {"error", log_level::error}}),
     "The lowest level of lines that are written."},
    {"log", "format", "--log-format",
     choice(&log::format, {{"text", log_format::text}, {"json", log_format::json}}),
     "Lines for people (`\"text\"`) or one JSON object a line (`\"json\"`)."},
    {"log", "heartbeat", "", duration(&log::heartbeat, 0ms),
     "How often a line says that all is well: messages stored, lag, window, dead letters. `\"0s\"` "
     "for never."},
    {"log", "slow", "", duration(&log::slow, 0ms),
     "The slowest message of the last minute is told, with its id, subject, position and "
     "`traceparent`, where it took longer than this from commit to ack: once a minute at most, and "
     "not of rows that were committed before walrelay was started. `\"0s\"` for never."},
    {"traces", "endpoint", "", text(&traces::endpoint, check_collector),
     "Collector that takes spans by OTLP over HTTP, with JSON: an `http://` or `https://` URL with "
     "host and port. `/v1/traces` is appended unless the URL has a path. The certificate of an "
     "`https://` collector must be signed by an authority of the system. Unset, there are no "
     "traces. See \"Traces\" in [monitoring.md](monitoring.md).",
     "\"http://127.0.0.1:4318\""},
    {"traces", "headers", "", request_headers(&traces::headers),
     "Headers of each request to the collector: names and values, for its authentication. Values "
     "are taken as they are, and never shown.",
     "{ \"Authorization\" = \"Bearer ...\" }"},
    {"traces", "service_name", "", text(&traces::service_name, check_not_empty),
     "Name of the service (`service.name`) under which the spans are shown."},
};

}  // namespace

const std::vector<key>& keys() {
    return table;
}

}  // namespace walrelay::config
