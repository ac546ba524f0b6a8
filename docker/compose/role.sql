-- The role that walrelay runs as in the demonstration. It makes its publication, slot and schema by
-- itself at the first start, for which it needs the owner's rights on the table.
\set ON_ERROR_STOP on
CREATE ROLE walrelay LOGIN REPLICATION PASSWORD 'walrelay';
GRANT app TO walrelay;
GRANT CREATE ON DATABASE app TO walrelay;
