// A row of the outbox as the message that walrelay makes of it by default: same subject, same id,
// same bytes of the body. Knows neither PostgreSQL's protocol nor NATS.

import pg from 'pg';

const json = 114;
const jsonb = 3802;
const timestamptz = 1184;

/**
 * Leaves JSON and timestamps as the text that PostgreSQL sent: the envelope is concatenated.
 * To parse a payload only to print it again would cost time, and a Date has no microseconds.
 */
export function keepColumnsAsText() {
    for (const oid of [json, jsonb, timestamptz]) {
        pg.types.setTypeParser(oid, (text) => text);
    }
}

const special = /[\x00-\x20\x7f.*>%]/g;

/** One token of a subject: what NATS would take for something else is percent-encoded. */
function token(text) {
    return text.replace(special, (byte) =>
        `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** The token at the end may bring dots of its own, as in "user.created". */
function tail(text) {
    return /^\.|\.\.|\.$/.test(text) ? token(text) : text.split('.').map(token).join('.');
}

/** "2026-01-02 03:04:05.6+00" as RFC 3339; the session's time zone has to be UTC. */
function rfc3339(text) {
    if (!text.endsWith('+00')) {
        throw new Error(`timestamp ${text} is not in UTC: connect with timezone=UTC`);
    }
    return `${text.slice(0, 10)}T${text.slice(11, -3)}Z`;
}

export function messageId(row) {
    return row.id;
}

export function subjectOf(prefix, row) {
    return `${prefix}.${token(row.aggregate_type)}.${tail(row.event_type)}`;
}

/** Of a uuid as the id. */
export function bodyOf(row) {
    return `{"id":"${row.id}","aggregate_id":${JSON.stringify(row.aggregate_id)}` +
        `,"aggregate_type":${JSON.stringify(row.aggregate_type)}` +
        `,"event_type":${JSON.stringify(row.event_type)}` +
        `,"event_data":${row.event_data},"metadata":${row.metadata}` +
        `,"version":${row.version},"timestamp":"${rfc3339(row.created_at)}"}`;
}
