// The changes of a replication slot, read with pg-logical-replication and either of its plugins.
// Knows nothing of NATS.

import { once } from 'node:events';
import { Socket } from 'node:net';

import replication from 'pg-logical-replication';

import { formatLsn, parseLsn } from './lsn.mjs';

const { LogicalReplicationService, PgoutputPlugin, Wal2JsonPlugin } = replication;

const pgoutput = {
    make: ({ publication }) =>
        new PgoutputPlugin({ protoVersion: 1, publicationNames: [publication] }),
    deliver(message, listener) {
        switch (message.tag) {
            case 'begin':
                return listener.begin();
            case 'insert':
                return listener.insert(message.new);
            case 'commit':
                return listener.commit(parseLsn(message.commitEndLsn));
        }
    },
};

const wal2json = {
    // What is left out here is neither printed by the server nor parsed by us.
    make: ({ table }) => new Wal2JsonPlugin({
        formatVersion: '2', includeTypes: false, includeLsn: true, actions: 'insert',
        addTables: table,
    }),
    deliver(message, listener) {
        switch (message.action) {
            case 'B':
                return listener.begin();
            case 'I':
                return listener.insert(rowOf(message.columns));
            case 'C':
                return listener.commit(parseLsn(message.nextlsn));
        }
    },
};

function rowOf(columns) {
    const row = {};
    for (const { name, value } of columns) {
        row[name] = value;
    }
    return row;
}

export const plugins = { pgoutput, wal2json };

export class ChangeStream {
    #service;
    #plugin;
    #source;
    #socket;
    #stopping = false;

    /**
     * `source`: postgres (options of pg), plugin (a name), slot, publication, table.
     * `listener`: begin(), insert(row), commit(end), reached(position, answerWanted) and
     * failed(error).
     */
    constructor(source, listener) {
        this.#source = source;
        this.#plugin = plugins[source.plugin];
        this.#service = new LogicalReplicationService(
            { ...source.postgres, stream: () => (this.#socket = new Socket()) },
            {
                // Both ways of the library's own confirm what was received, not what was published:
                // after each message, and by a timer.
                acknowledge: { auto: false, timeoutSeconds: 0 },
                // Its flow control awaits each message by itself, so each is written to NATS by
                // itself, too. Without it all messages in a chunk from the socket become one write;
                // pause() and resume() bound what is on its way.
                flowControl: { enabled: false },
            },
        );
        this.#service.on('data', (_, message) => this.#plugin.deliver(message, listener));
        this.#service.on('heartbeat', (lsn, _, answerWanted) =>
            listener.reached(parseLsn(lsn), answerWanted));
        this.#service.on('error', (error) => this.#stopping || listener.failed(error));
    }

    /** Resolves when changes begin to flow; what goes wrong later goes to the listener. */
    start() {
        return new Promise((resolve, reject) => {
            this.#service.once('start', resolve);
            const { slot } = this.#source;
            // Settles only at the end of the replication.
            this.#service.subscribe(this.#plugin.make(this.#source), slot).catch(reject);
        });
    }

    pause() {
        this.#socket.pause();
    }

    resume() {
        this.#socket.resume();
    }

    confirm(position) {
        // The library adds one to what it is given. One byte past the end of a commit the next
        // transaction's commit may begin: were that confirmed, the server would skip it.
        return this.#service.acknowledge(formatLsn(position - 1n));
    }

    /** Closes our side first: the server reads the last confirmation before it sees the end. */
    async stop() {
        this.#stopping = true;
        this.#service.removeAllListeners('data');
        const closed = once(this.#socket, 'close');
        this.#socket.end();
        this.#socket.resume();
        await closed;
    }
}
