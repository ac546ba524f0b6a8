// A relay as a Node.js team builds it from npm: pg-logical-replication reads the slot,
// @nats-io/jetstream publishes.
//
//   node log-tail.mjs [--plugin pgoutput|wal2json] [--window 256] [--prepare]
//
// --prepare makes the publication and the slot where they are missing, and ends.

import { once } from 'node:events';

import { connect } from '@nats-io/transport-node';

import * as bench from './bench-environment.mjs';
import { parseLsn } from './lsn.mjs';
import { keepColumnsAsText } from './outbox-message.mjs';
import { Relay } from './relay.mjs';

const options = bench.options({
    plugin: { type: 'string', default: 'pgoutput' },
    window: { type: 'string', default: '256' },
    prepare: { type: 'boolean', default: false },
});

async function prepare(session) {
    const { rowCount } =
        await session.query('SELECT FROM pg_publication WHERE pubname = $1', [bench.publication()]);
    if (rowCount === 0) {
        await session.query(`CREATE PUBLICATION ${bench.publication()} FOR TABLE ${bench.table()}` +
            " WITH (publish = 'insert')");
    }
    await session.query(
        'SELECT pg_create_logical_replication_slot($1, $2)' +
        ' WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1::name)',
        [bench.slot(), options.plugin]);
}

async function confirmedPosition(session) {
    const { rows: [slot] } = await session.query(
        'SELECT confirmed_flush_lsn AS lsn FROM pg_replication_slots WHERE slot_name = $1',
        [bench.slot()]);
    if (!slot) {
        throw new Error(`there is no slot ${bench.slot()}: make it with --prepare`);
    }
    return parseLsn(slot.lsn);
}

/** What is not confirmed comes again after a start, and the stream knows it by its id. */
function failed(error) {
    console.error('log-tail:', error);
    process.exit(1);
}

async function run() {
    keepColumnsAsText();
    const nats = await connect(bench.natsOptions());
    const relay = new Relay({
        nats,
        source: {
            postgres: bench.postgresOptions(),
            plugin: options.plugin,
            slot: bench.slot(),
            publication: bench.publication(),
            table: bench.table(),
        },
        confirmed: await bench.inSession(confirmedPosition),
        subjectPrefix: bench.subjectPrefix(),
        window: Number(options.window),
        failed,
    });
    const termination = bench.termination();
    await relay.start();
    console.log('ready');
    await once(termination, 'abort');
    await relay.stop();
    await nats.drain();
}

await (options.prepare ? bench.inSession(prepare) : run());
process.exit(0);
