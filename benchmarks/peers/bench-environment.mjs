// What the harness hands to a peer: where the servers are, and what is to be published where.
// Knows nothing of how a peer works.

import { parseArgs } from 'node:util';

import pg from 'pg';

// The NATS client makes an error for each request that has been answered, and throws it away.
// Without a trace of the stack that costs next to nothing.
Error.stackTraceLimit = 0;

function required(name) {
    const value = process.env[name];
    if (!value) {
        throw new Error(`${name} is not set: README.md lists what a peer needs to be told`);
    }
    return value;
}

/** Connection options of `pg`. In UTC a timestamptz needs no arithmetic to become RFC 3339. */
export function postgresOptions() {
    return {
        host: required('BENCH_PGHOST'),
        port: Number(required('BENCH_PGPORT')),
        user: required('BENCH_PGUSER'),
        database: required('BENCH_PGDATABASE'),
        options: '-c timezone=UTC',
    };
}

/** Connection options of NATS: by default each request keeps a stack for an error that may come. */
export function natsOptions() {
    return { servers: required('BENCH_NATS_URL'), noAsyncTraces: true };
}

/** Calls `use` with a session that is closed behind it, and returns what it returns. */
export async function inSession(use) {
    const session = new pg.Client({ ...postgresOptions(), pipeline: true });
    await session.connect();
    try {
        return await use(session);
    } finally {
        await session.end();
    }
}

export const stream = () => required('BENCH_STREAM');
export const subjectPrefix = () => required('BENCH_SUBJECT_PREFIX');
export const slot = () => required('BENCH_SLOT');
export const publication = () => required('BENCH_PUBLICATION');

/** Schema and name: "outbox_events" is a table of the schema public. */
export function table() {
    const name = required('BENCH_TABLE');
    return name.includes('.') ? name : `public.${name}`;
}

/** The options of the command line; `known` is as node:util wants it. */
export function options(known) {
    return parseArgs({ options: known }).values;
}

/** A signal that is aborted by SIGTERM. */
export function termination() {
    const controller = new AbortController();
    process.once('SIGTERM', () => controller.abort());
    return controller.signal;
}
