// A consumer of walrelay's messages: notes each in the table received.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';

import { Inbox } from './inbox.mjs';

const name = 'node';

// The place of your own work.
async function work(db, message) {
    const id = message.headers.get('Nats-Msg-Id');
    console.log(message.subject, message.string());
    await db.query('INSERT INTO received VALUES ($1, $2, $3)', [name, id, message.subject]);
}

const [url, stream] = process.argv.slice(2);
if (stream === undefined) {
    console.error('usage: node consumer.mjs <URL of NATS> <stream>');
    process.exit(2);
}
const pool = new pg.Pool(); // reads PGHOST, PGDATABASE, ...
pool.on('error', (error) => console.warn(`an idle connection was lost: ${error.message}`));
const broker = await connect({ servers: url.split(','), maxReconnectAttempts: -1 });
const manager = await jetstreamManager(broker);
await manager.consumers.add(stream, { durable_name: name, ack_policy: 'explicit' });
const inbox = new Inbox(pool, name, work);
process.once('SIGINT', () => inbox.stop());
process.once('SIGTERM', () => inbox.stop());
await inbox.run(await jetstream(broker).consumers.get(stream, name));
await broker.close();
await pool.end();
