// Publishes the changes of a slot, many at once, and confirms to PostgreSQL what the broker has
// acked. Knows neither the libraries' wire formats nor the command line.

import { jetstream } from '@nats-io/jetstream';

import { ChangeStream } from './change-stream.mjs';
import { bodyOf, messageId, subjectOf } from './outbox-message.mjs';
import { TransactionLedger } from './transaction-ledger.mjs';

const confirmationIntervalMilliseconds = 1000;

export class Relay {
    #changes;
    #jetstream;
    #ledger;
    #subjectPrefix;
    #window;
    #confirmed;
    #timer;
    #idle = null;
    #failed;

    /**
     * `source`: see ChangeStream. `confirmed`: the position that the slot has confirmed.
     * `window`: at so many messages without an ack no more changes are read; those of the chunk
     * that was read last still follow. `failed` is called with an error that ends the relay's work.
     */
    constructor({ nats, source, confirmed, subjectPrefix, window, failed }) {
        this.#changes = new ChangeStream(source, this);
        this.#jetstream = jetstream(nats);
        this.#ledger = new TransactionLedger(confirmed);
        this.#subjectPrefix = subjectPrefix;
        this.#window = window;
        this.#confirmed = confirmed;
        this.#failed = failed;
    }

    async start() {
        await this.#changes.start();
        this.#timer = setInterval(() => this.#confirmNews(), confirmationIntervalMilliseconds);
    }

    /** Takes no more changes, waits for the acks that are still to come, and confirms. */
    async stop() {
        clearInterval(this.#timer);
        this.#changes.pause();
        if (this.#ledger.inFlight > 0) {
            await new Promise((resolve) => (this.#idle = resolve));
        }
        this.#confirmNews();
        await this.#changes.stop();
    }

    begin() {
        this.#ledger.begin();
    }

    insert(row) {
        const transaction = this.#ledger.sent();
        // As a Buffer: the client would encode a string with the slower TextEncoder.
        const body = Buffer.from(bodyOf(row));
        this.#jetstream
            .publish(subjectOf(this.#subjectPrefix, row), body, { msgID: messageId(row) })
            .then(() => this.#acked(transaction), this.#failed);
        if (this.#ledger.inFlight >= this.#window) {
            this.#changes.pause();
        }
    }

    commit(end) {
        this.#ledger.commit(end);
    }

    reached(position, answerWanted) {
        this.#ledger.reached(position);
        if (answerWanted) {
            this.#confirm();
        }
    }

    failed(error) {
        this.#failed(error);
    }

    #acked(transaction) {
        this.#ledger.acked(transaction);
        if (this.#idle) {
            if (this.#ledger.inFlight === 0) {
                this.#idle();
            }
        } else if (this.#ledger.inFlight === this.#window >> 1) {
            this.#changes.resume();
        }
    }

    #confirmNews() {
        if (this.#ledger.confirmable !== this.#confirmed) {
            this.#confirm();
        }
    }

    #confirm() {
        this.#confirmed = this.#ledger.confirmable;
        this.#changes.confirm(this.#confirmed);
    }
}
