// What runs as walrelay's role when it changes or deletes rows of an outbox, and can be changed by
// roles that are not trusted, as SQL. Only for the .cpp files of this folder.
#pragma once

namespace walrelay::postgres {

/// Follows trusted_roles_sql, with the same parameters. One row for each such thing: the place of
/// its table, from 0; its kind (`maker`: a role that may attach a trigger; `trigger`: one that runs
/// a function of somebody else; `reading`: runs where rows are read as well; `code`: anything
/// else); its name.
///
/// Code stands in a table and its partitions: CHECKs, also those of domains, expressions and
/// conditions of indexes, generated columns, rules, policies, conditions of triggers; pg_depend
/// says which functions and operators they use. Policies that apply to this session's role also
/// run where it reads; and whatever is done with a table, the planner evaluates what calls an
/// immutable function with constants (PostgreSQL source, eval_const_expressions on constraints,
/// indexes, statistics and partition keys). A call that begins with a column is none of those,
/// unless the function is SQL, which the planner replaces by its body. `default`: of a column,
/// which runs where a statement says DEFAULT. The owner of a type can make casts to it. It also
/// stands in tables that a foreign key lets follow (ON DELETE or ON UPDATE CASCADE, SET NULL, SET
/// DEFAULT): what their owner defers runs at commit, as whoever commits (before PostgreSQL 18;
/// PostgreSQL documentation, "CREATE TRIGGER").
inline constexpr const char* foreign_code_sql = R"sql(,
parts (place, oid) AS (
    SELECT asked.place, coalesce(tree.relid, c.oid)
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
      JOIN pg_namespace AS n ON n.nspname = asked.schema
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name
       AND c.relkind IN ('r', 'p')
      LEFT JOIN LATERAL pg_partition_tree(c.oid) AS tree ON c.relkind = 'p'),
followers (place, oid) AS (
    SELECT parts.place, k.conrelid
      FROM parts JOIN pg_constraint AS k ON k.confrelid = parts.oid AND k.contype = 'f'
     WHERE k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd')
    UNION
    SELECT f.place, k.conrelid
      FROM followers AS f JOIN pg_constraint AS k ON k.confrelid = f.oid AND k.contype = 'f'
     WHERE k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd')),
types (place, oid) AS (
    SELECT parts.place, a.atttypid
      FROM parts JOIN pg_attribute AS a ON a.attrelid = parts.oid AND a.attnum > 0
       AND NOT a.attisdropped
    UNION
    SELECT types.place, inner_type.oid
      FROM types JOIN pg_type AS t ON t.oid = types.oid
     CROSS JOIN LATERAL (
        SELECT t.typbasetype UNION ALL SELECT t.typelem UNION ALL
        SELECT r.rngsubtype FROM pg_range AS r
         WHERE t.oid IN (r.rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid) UNION ALL
        SELECT a.atttypid FROM pg_attribute AS a
         WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS inner_type (oid)
     WHERE inner_type.oid <> 0),
code (place, class, oid, name, tree) AS (
    SELECT parts.place, 'pg_constraint'::regclass, k.oid, 'constraint ' || quote_ident(k.conname),
           k.conbin::text
      FROM parts JOIN pg_constraint AS k ON k.conrelid = parts.oid AND k.contype = 'c'
    UNION ALL
    SELECT types.place, 'pg_constraint'::regclass, k.oid,
           'constraint ' || quote_ident(k.conname) || ' of domain ' || types.oid::regtype,
           NULL
      FROM types JOIN pg_constraint AS k ON k.contypid = types.oid
    UNION ALL
    SELECT parts.place, 'pg_class'::regclass, i.indexrelid, 'index ' || i.indexrelid::regclass,
           concat(i.indexprs::text, i.indpred::text)
      FROM parts JOIN pg_index AS i ON i.indrelid = parts.oid
    UNION ALL
    SELECT parts.place, 'pg_statistic_ext'::regclass, s.oid,
           'statistics ' || quote_ident(s.stxname), to_jsonb(s) ->> 'stxexprs'
      FROM parts JOIN pg_statistic_ext AS s ON s.stxrelid = parts.oid
    UNION ALL
    SELECT parts.place, 'pg_class'::regclass, p.partrelid,
           'partition key of ' || p.partrelid::regclass, p.partexprs::text
      FROM parts JOIN pg_partitioned_table AS p ON p.partrelid = parts.oid
    UNION ALL
    SELECT parts.place, 'pg_attrdef'::regclass, d.oid,
           CASE a.attgenerated WHEN '' THEN 'default of' ELSE 'generated' END || ' column ' ||
               quote_ident(a.attname), NULL
      FROM parts JOIN pg_attrdef AS d ON d.adrelid = parts.oid
      JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    UNION ALL
    SELECT parts.place, 'pg_rewrite'::regclass, r.oid, 'rule ' || quote_ident(r.rulename), NULL
      FROM parts JOIN pg_rewrite AS r ON r.ev_class = parts.oid
    UNION ALL
    SELECT parts.place, 'pg_policy'::regclass, p.oid, 'policy ' || quote_ident(p.polname), ''
      FROM parts JOIN pg_policy AS p ON p.polrelid = parts.oid
     WHERE row_security_active(parts.oid)
    UNION ALL
    SELECT parts.place, 'pg_trigger'::regclass, t.oid,
           'condition of trigger ' || quote_ident(t.tgname), NULL
      FROM parts JOIN pg_trigger AS t ON t.tgrelid = parts.oid AND NOT t.tgisinternal
       AND t.tgqual IS NOT NULL),
calls (place, name, tree, function) AS (
    SELECT code.place, code.name, code.tree, d.refobjid
      FROM code JOIN pg_depend AS d ON d.classid = code.class AND d.objid = code.oid
       AND d.refclassid = 'pg_proc'::regclass
     WHERE NOT EXISTS (SELECT FROM pg_trigger AS t
                        WHERE code.class = 'pg_trigger'::regclass AND t.oid = code.oid
                          AND t.tgfoid = d.refobjid)
    UNION ALL
    SELECT code.place, code.name, code.tree, o.oprcode
      FROM code JOIN pg_depend AS d ON d.classid = code.class AND d.objid = code.oid
       AND d.refclassid = 'pg_operator'::regclass
      JOIN pg_operator AS o ON o.oid = d.refobjid)
SELECT DISTINCT parts.place - 1, 'maker',
       CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
  FROM parts
  JOIN pg_class AS c ON c.oid = parts.oid
 CROSS JOIN aclexplode(c.relacl) AS a
 WHERE a.privilege_type = 'TRIGGER' AND a.grantee NOT IN (SELECT role FROM trusted)
UNION
SELECT parts.place - 1, 'trigger', quote_ident(t.tgname)
  FROM parts
  JOIN pg_trigger AS t ON t.tgrelid = parts.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
  JOIN pg_proc AS f ON f.oid = t.tgfoid
 WHERE f.proowner NOT IN (SELECT role FROM trusted)
UNION
SELECT calls.place - 1,
       CASE WHEN calls.name LIKE 'default of %' THEN 'default'
            WHEN calls.tree = '' OR l.lanname = 'sql' AND calls.tree IS NOT NULL
                 OR f.provolatile = 'i'
                    AND (SELECT count(*) FROM regexp_matches(calls.tree, calls_of.any_kind, 'g'))
                        > (SELECT count(*)
                             FROM regexp_matches(calls.tree, calls_of.any_kind || of_a_column, 'g'))
            THEN 'reading' ELSE 'code' END,
       calls.name || ' (function ' || f.oid::regprocedure || ')'
  FROM calls JOIN pg_proc AS f ON f.oid = calls.function
  JOIN pg_language AS l ON l.oid = f.prolang
 CROSS JOIN LATERAL (SELECT ':(?:op)?funcid ' || f.oid || ' ', '[^{}]*:args \(\{VAR ')
       AS calls_of (any_kind, of_a_column)
 WHERE f.proowner NOT IN (SELECT role FROM trusted)
UNION
SELECT types.place - 1, 'code',
       'type ' || types.oid::regtype || ' (of role ' || quote_ident(pg_get_userbyid(t.typowner)) ||
           ')'
  FROM types JOIN pg_type AS t ON t.oid = types.oid
 WHERE t.typowner NOT IN (SELECT role FROM trusted)
UNION
SELECT parts.place - 1, 'code',
       'partition ' || c.oid::regclass || ' (of role ' ||
           quote_ident(pg_get_userbyid(c.relowner)) || ')'
  FROM parts JOIN pg_class AS c ON c.oid = parts.oid
 WHERE c.relowner NOT IN (SELECT role FROM trusted)
UNION
SELECT f.place - 1, 'code', 'the foreign key of table ' || c.oid::regclass || ' (of role ' ||
       quote_ident(pg_get_userbyid(c.relowner)) || ')'
  FROM followers AS f JOIN pg_class AS c ON c.oid = f.oid
 WHERE c.relowner NOT IN (SELECT role FROM trusted)
UNION
SELECT f.place - 1, 'code', 'trigger ' || quote_ident(t.tgname) || ' of table ' ||
       t.tgrelid::regclass || ', by a foreign key (function ' || p.oid::regprocedure || ')'
  FROM followers AS f
  JOIN pg_trigger AS t ON t.tgrelid = f.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
  JOIN pg_proc AS p ON p.oid = t.tgfoid
 WHERE p.proowner NOT IN (SELECT role FROM trusted)
 ORDER BY 1, 2, 3
)sql";

}  // namespace walrelay::postgres
