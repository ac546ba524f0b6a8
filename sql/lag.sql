-- How far walrelay is behind, and what it could not deliver: one look, nothing is changed. Any role
-- may run it; the dead letters want SELECT on walrelay.dead_letter.
--
--     psql -d app -f sql/lag.sql
--     psql -d app -v slot=relay -f sql/lag.sql
\set ON_ERROR_STOP on
\if :{?slot} \else \set slot walrelay \endif

-- The slot. `unconfirmed` is the WAL that is written and not yet confirmed, of all tables, not of the
-- outbox alone; it does not come down while walrelay is stopped. `kept` is what PostgreSQL keeps on
-- its disk for the slot, `left` what may be added before the slot is lost (NULL: no limit is set,
-- max_slot_wal_keep_size). `active` is false while no walrelay is connected.
\echo The slot :slot
SELECT slot_name, plugin, active, wal_status,
       pg_size_pretty(pg_wal_lsn_diff(here.lsn, confirmed_flush_lsn)) AS unconfirmed,
       pg_size_pretty(pg_wal_lsn_diff(here.lsn, restart_lsn)) AS kept,
       pg_size_pretty(safe_wal_size) AS "left"
  FROM pg_replication_slots,
       (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                    ELSE pg_current_wal_lsn() END AS lsn) AS here
 WHERE slot_name = :'slot';

-- The connection: how long ago walrelay last answered, and how long what it last confirmed took.
\echo Its connection
SELECT pid, application_name, state, reply_time, flush_lag
  FROM pg_stat_replication
 WHERE pid = (SELECT active_pid FROM pg_replication_slots WHERE slot_name = :'slot');

-- The oldest transaction that is still open: no slot is made, and no row of it relayed, before its
-- end.
\echo The oldest open transactions
SELECT pid, now() - xact_start AS open_for, state, left(query, 60) AS query
  FROM pg_stat_activity
 WHERE backend_xid IS NOT NULL ORDER BY xact_start LIMIT 3;

\echo Dead letters
SELECT to_regclass('walrelay.dead_letter') IS NOT NULL AS has_dead_letters \gset
\if :has_dead_letters
SELECT source_schema || '.' || source_table AS "table", count(*) AS letters,
       count(*) FILTER (WHERE retries = 0) AS never_retried, max(dead_at) AS newest,
       min(left(reason, 80)) AS one_reason
  FROM walrelay.dead_letter WHERE retries >= 0 GROUP BY 1 ORDER BY 2 DESC;
\else
\echo there is no table walrelay.dead_letter yet
\endif
