// Each peer against real servers: every row is in the stream once, also after a peer was stopped or
// killed on its way, and what was published is confirmed to PostgreSQL.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { jetstream, jetstreamManager } from '@nats-io/jetstream';

import { Servers } from './check-servers.mjs';

const rows = Number(process.env.CHECK_ROWS ?? 20_000);
const rowsPerTransaction = 100;
const patienceMilliseconds = 60_000;

const servers = new Servers();
const peers = new Set();
let manager;

before(async () => {
    await servers.start();
    manager = await jetstreamManager(servers.nats);
});
after(() => servers.stop());

beforeEach(async () => {
    await servers.sql.query(`
        DROP TABLE IF EXISTS outbox_events;
        DROP PUBLICATION IF EXISTS peer;
        SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active;
        CREATE TABLE outbox_events (id uuid PRIMARY KEY, aggregate_id varchar(255) NOT NULL,
            aggregate_type varchar(255) NOT NULL, event_type varchar(255) NOT NULL,
            event_data jsonb NOT NULL, metadata jsonb, status varchar(50) NOT NULL,
            version bigint NOT NULL, created_at timestamptz NOT NULL, published_at timestamptz)`);
    await manager.streams.delete('OUTBOX').catch(() => {});
    await manager.streams.add({ name: 'OUTBOX', subjects: ['events.>'], storage: 'memory' });
});

// One that a failed test left behind would keep the slot from the next.
afterEach(() => Promise.all([...peers].map((peer) => end(peer, 'SIGKILL'))));

const idOf = (number) => `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`;

async function fill(count = rows) {
    await servers.sql.query(`
        DO $$ BEGIN FOR head IN 1 .. ${count} BY ${rowsPerTransaction} LOOP
            INSERT INTO outbox_events SELECT
                ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
                'user-' || n % 1000, 'user', 'user.created',
                '{"name": "J\\u00fcrgen \\"J\\" \\\\"}', NULL, 'pending', 1,
                '2026-01-02 03:04:05.678+00'
            FROM generate_series(head, least(head + ${rowsPerTransaction} - 1, ${count})) AS n;
            COMMIT;
        END LOOP; END $$`);
}

function run(program, args) {
    const path = fileURLToPath(new URL(program, import.meta.url));
    const peer = spawn(process.execPath, [path, ...args],
        { env: servers.environment, stdio: ['ignore', 'pipe', 'inherit'] });
    peers.add(peer);
    peer.once('exit', () => peers.delete(peer));
    return peer;
}

async function prepare(program, args) {
    const [code] = await once(run(program, [...args, '--prepare']), 'exit');
    assert.equal(code, 0);
}

async function start(program, args) {
    const peer = run(program, args);
    const [line] = await once(peer.stdout, 'data');
    assert.equal(String(line), 'ready\n');
    return peer;
}

async function end(peer, signal) {
    peer.kill(signal);
    const [code] = await once(peer, 'exit');
    return code;
}

async function eventually(what, isSo) {
    const deadline = Date.now() + patienceMilliseconds;
    while (!await isSo()) {
        assert.ok(Date.now() < deadline, `not in time: ${what}`);
        await sleep(10);
    }
}

function messagesReach(count) {
    return eventually(`${count} messages`, async () =>
        (await manager.streams.info('OUTBOX')).state.messages >= count);
}

async function streamHasEachRowOnce() {
    await messagesReach(rows);
    const consumer = await jetstream(servers.nats).consumers.get('OUTBOX');
    const ids = new Set();
    for await (const message of await consumer.consume({ max_messages: 1000 })) {
        const id = message.headers.get('Nats-Msg-Id');
        ids.add(id);
        assert.equal(message.subject, 'events.user.user.created');
        assert.equal(message.string(),
            `{"id":"${id}","aggregate_id":"user-${Number(id.slice(-12)) % 1000}",` +
            '"aggregate_type":"user","event_type":"user.created",' +
            '"event_data":{"name": "Jürgen \\"J\\" \\\\"},"metadata":null,' +
            '"version":1,"timestamp":"2026-01-02T03:04:05.678Z"}');
        if (message.info.pending === 0) {
            break;
        }
    }
    assert.equal((await manager.streams.info('OUTBOX')).state.messages, rows);
    assert.equal(ids.size, rows);
    assert.ok(ids.has(idOf(1)) && ids.has(idOf(rows)));
}

async function one(query) {
    const { rows: [row] } = await servers.sql.query(query);
    return row;
}

async function isConfirmedUpTo(end) {
    return (await one(`SELECT confirmed_flush_lsn >= '${end}' AS so FROM pg_replication_slots`)).so;
}

async function rowsThatAre(status) {
    const { count } = await one(`SELECT count(*) FROM outbox_events WHERE status = '${status}'`);
    return Number(count);
}

/** After this the peer has been asked how far it is, and has answered. */
async function peerAnswers() {
    const lastAnswer = async () =>
        (await one('SELECT reply_time::text AS time FROM pg_stat_replication')).time;
    for (let answers = 0; answers < 2; answers += 1) {
        const before = await lastAnswer();
        await eventually('an answer', async () => await lastAnswer() !== before);
    }
}

async function endOfLog() {
    return (await one('SELECT pg_current_wal_lsn() AS lsn')).lsn;
}

for (const plugin of ['pgoutput', 'wal2json']) {
    const args = ['--plugin', plugin];

    test(`log-tail with ${plugin} publishes each row once and confirms the last`, async () => {
        await prepare('log-tail.mjs', args);
        await fill();
        const last = await endOfLog();
        const peer = await start('log-tail.mjs', args);
        await streamHasEachRowOnce();
        assert.equal(await end(peer, 'SIGTERM'), 0);
        assert.ok(await isConfirmedUpTo(last));
    });

    test(`log-tail with ${plugin} confirms nothing that the broker has not acked`, async () => {
        await prepare('log-tail.mjs', args);
        const peer = await start('log-tail.mjs', args);
        servers.freezeBroker();
        try {
            await fill(rowsPerTransaction);
            const last = await endOfLog();
            await eventually('all is sent', async () =>
                (await one(`SELECT sent_lsn >= '${last}' AS so FROM pg_stat_replication`)).so);
            await peerAnswers();
            assert.ok(!await isConfirmedUpTo(last));
            servers.unfreezeBroker();
            await eventually('all is confirmed', () => isConfirmedUpTo(last));
        } finally {
            servers.unfreezeBroker();
        }
        assert.equal((await manager.streams.info('OUTBOX')).state.messages, rowsPerTransaction);
        assert.equal(await end(peer, 'SIGTERM'), 0);
    });

    for (const signal of ['SIGTERM', 'SIGKILL']) {
        test(`log-tail with ${plugin} goes on where ${signal} ended it`, async () => {
            await prepare('log-tail.mjs', args);
            await fill();
            const last = await endOfLog();
            const first = await start('log-tail.mjs', args);
            await messagesReach(rows / 4);
            assert.equal(await end(first, signal), signal === 'SIGTERM' ? 0 : null);
            const second = await start('log-tail.mjs', args);
            await streamHasEachRowOnce();
            assert.equal(await end(second, 'SIGTERM'), 0);
            assert.ok(await isConfirmedUpTo(last));
        });
    }
}

test('the poller publishes each row once and marks it', async () => {
    await prepare('poller.mjs', []);
    await fill();
    const peer = await start('poller.mjs', ['--interval', '100']);
    await streamHasEachRowOnce();
    assert.equal(await end(peer, 'SIGTERM'), 0);
    assert.equal(await rowsThatAre('pending'), 0);
});

test('the poller marks what it has published before SIGTERM ends it', async () => {
    await prepare('poller.mjs', []);
    await fill();
    const peer = await start('poller.mjs', ['--interval', '100']);
    await messagesReach(rows / 4);
    assert.equal(await end(peer, 'SIGTERM'), 0);
    const { state } = await manager.streams.info('OUTBOX');
    assert.equal(await rowsThatAre('published'), state.messages);
    assert.ok(state.messages < rows);
});
