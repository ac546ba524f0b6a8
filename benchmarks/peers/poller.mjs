// A polling publisher: takes the oldest pending rows that nobody else holds, publishes them, marks
// them as published, and looks again after an interval.
//
//   node poller.mjs [--interval 5000] [--prepare]
//
// --interval is in milliseconds. --prepare makes the index that its query needs, and ends.

import { setTimeout as sleep } from 'node:timers/promises';

import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import * as bench from './bench-environment.mjs';
import { bodyOf, keepColumnsAsText, messageId, subjectOf } from './outbox-message.mjs';

const batch = 100;

const options = bench.options({
    interval: { type: 'string', default: '5000' },
    prepare: { type: 'boolean', default: false },
});

const take = {
    name: 'take',
    text: 'SELECT id, aggregate_type, aggregate_id, event_type, event_data, metadata, version,' +
        ` created_at FROM ${bench.table()} WHERE status = 'pending'` +
        ` ORDER BY created_at LIMIT ${batch} FOR UPDATE SKIP LOCKED`,
};

const mark = (rows) => ({
    name: 'mark',
    text: `UPDATE ${bench.table()} SET status = 'published', published_at = now(),` +
        ' version = version + 1 WHERE id = ANY ($1)',
    values: [rows.map((row) => row.id)],
});

async function prepare(session) {
    await session.query(
        `CREATE INDEX IF NOT EXISTS outbox_pending ON ${bench.table()} (created_at)` +
        " WHERE status = 'pending'");
}

/** Publishes the rows side by side; resolves when the broker has acked all of them. */
function publish(client, rows) {
    const prefix = bench.subjectPrefix();
    return Promise.all(rows.map((row) => client.publish(
        subjectOf(prefix, row), Buffer.from(bodyOf(row)), { msgID: messageId(row) })));
}

/** Returns how many rows it published. */
async function publishBatch(session, client) {
    // On one way to the server, as the client's pipeline mode allows; so are mark and commit.
    const [, { rows }] = await Promise.all([session.query('BEGIN'), session.query(take)]);
    if (rows.length === 0) {
        await session.query('COMMIT');
        return 0;
    }
    await publish(client, rows);
    await Promise.all([session.query(mark(rows)), session.query('COMMIT')]);
    return rows.length;
}

/**
 * Looks again at once after a full batch, as a poller must whose lag is to be one interval also
 * when more than a batch is written in it: with a pause there, 20 rows a second would be the most
 * that it can do at an interval of 5 s.
 */
async function poll(session, client, termination) {
    while (!termination.aborted) {
        if (await publishBatch(session, client) < batch) {
            await sleep(Number(options.interval), null, { signal: termination }).catch(() => {});
        }
    }
}

async function run(session) {
    keepColumnsAsText();
    const nats = await connect(bench.natsOptions());
    const termination = bench.termination();
    console.log('ready');
    await poll(session, jetstream(nats), termination);
    await nats.drain();
}

await bench.inSession(options.prepare ? prepare : run);
process.exit(0);
