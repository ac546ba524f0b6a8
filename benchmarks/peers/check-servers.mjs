// A PostgreSQL and a nats-server in a temporary folder, on free ports, for the check of the peers.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
    appendFileSync, chownSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '@nats-io/transport-node';
import pg from 'pg';

const patienceMilliseconds = 30_000;

async function freePort() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    return port;
}

function postgresBinaryFolder() {
    const base = '/usr/lib/postgresql';
    const newest = readdirSync(base)
        .filter((version) => existsSync(join(base, version, 'bin', 'postgres')))
        .sort((left, right) => right - left)[0];
    return process.env.WALRELAY_TEST_PG_BIN ?? join(base, newest, 'bin');
}

/** PostgreSQL does not run as root. */
function postgresAccount() {
    if (process.getuid() !== 0) {
        return {};
    }
    const number = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    return { uid: number('-u'), gid: number('-g') };
}

async function eventually(attempt) {
    const deadline = Date.now() + patienceMilliseconds;
    for (;;) {
        try {
            return await attempt();
        } catch (error) {
            if (Date.now() > deadline) {
                throw error;
            }
            await sleep(50);
        }
    }
}

export class Servers {
    #folder = mkdtempSync(join(tmpdir(), 'walrelay-peers-'));
    #account = postgresAccount();
    #running = [];
    #broker;

    /** What a peer finds in its environment. */
    environment;
    sql;
    nats;

    async start() {
        if (this.#account.uid !== undefined) {
            chownSync(this.#folder, this.#account.uid, this.#account.gid);
        }
        const postgresPort = await this.#startPostgres();
        const url = `nats://127.0.0.1:${await this.#startNats()}`;
        this.environment = {
            ...process.env,
            BENCH_PGHOST: '127.0.0.1', BENCH_PGPORT: String(postgresPort), BENCH_PGUSER: 'postgres',
            BENCH_PGDATABASE: 'postgres', BENCH_NATS_URL: url, BENCH_STREAM: 'OUTBOX',
            BENCH_SUBJECT_PREFIX: 'events', BENCH_SLOT: 'peer', BENCH_PUBLICATION: 'peer',
            BENCH_TABLE: 'outbox_events',
        };
        this.sql = await eventually(() => this.#session(postgresPort));
        this.nats = await eventually(() => connect({ servers: url }));
    }

    async stop() {
        await this.nats?.close();
        await this.sql?.end();
        for (const server of this.#running) {
            server.kill('SIGINT');
            await (server.exitCode ?? once(server, 'exit'));
        }
        rmSync(this.#folder, { recursive: true });
    }

    /** Until it may go on, the broker takes nothing in and answers nobody. */
    freezeBroker() {
        this.#broker.kill('SIGSTOP');
    }

    unfreezeBroker() {
        this.#broker.kill('SIGCONT');
    }

    async #startPostgres() {
        const bin = postgresBinaryFolder();
        const data = join(this.#folder, 'postgres');
        const how = { ...this.#account, cwd: this.#folder };
        execFileSync(join(bin, 'initdb'),
            ['-D', data, '--no-sync', '--auth=trust', '--username=postgres', '--locale=C',
                '--encoding=UTF8'],
            { ...how, stdio: ['ignore', 'ignore', 'inherit'] });
        const port = await freePort();
        const settings = [
            `port = ${port}`, "listen_addresses = '127.0.0.1'",
            `unix_socket_directories = '${this.#folder}'`, 'wal_level = logical', 'fsync = off',
            // Minor versions that know this setting refuse wal2json without it; others ignore it.
            "output_plugin_libraries = 'pgoutput, wal2json'",
            // Asks whoever reads a slot every second how far it is.
            'wal_sender_timeout = 2s',
        ];
        appendFileSync(join(data, 'postgresql.conf'), `\n${settings.join('\n')}\n`);
        this.#run(join(bin, 'postgres'), ['-D', data], how);
        return port;
    }

    async #startNats() {
        const port = await freePort();
        this.#broker = this.#run('nats-server',
            ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', join(this.#folder, 'nats')],
            { cwd: this.#folder });
        return port;
    }

    #run(program, args, how) {
        const log = openSync(join(this.#folder, 'log'), 'a');
        const server = spawn(program, args, { ...how, stdio: ['ignore', log, log] });
        this.#running.push(server);
        return server;
    }

    async #session(port) {
        const session = new pg.Client(
            { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
        await session.connect();
        return session;
    }
}
