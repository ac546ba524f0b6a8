// Which position of the WAL may be confirmed: the end of the last transaction up to which the
// broker has acked every message. Knows no I/O.

export class TransactionLedger {
    #confirmable;
    #open = null;
    #unfinished = [];
    #inFlight = 0;

    /** `confirmed` is what the slot has confirmed already, as a BigInt. */
    constructor(confirmed) {
        this.#confirmable = confirmed;
    }

    get confirmable() {
        return this.#confirmable;
    }

    get inFlight() {
        return this.#inFlight;
    }

    begin() {
        this.#open = { unacked: 0, end: null };
        this.#unfinished.push(this.#open);
    }

    /** Returns the transaction, to be handed to `acked` with the ack of this message. */
    sent() {
        this.#open.unacked += 1;
        this.#inFlight += 1;
        return this.#open;
    }

    commit(end) {
        this.#open.end = end;
        this.#open = null;
        this.#advance();
    }

    acked(transaction) {
        transaction.unacked -= 1;
        this.#inFlight -= 1;
        this.#advance();
    }

    /** The server says that it has sent all up to here; it counts once all of that is acked. */
    reached(position) {
        if (this.#unfinished.length === 0 && position > this.#confirmable) {
            this.#confirmable = position;
        }
    }

    #advance() {
        while (this.#unfinished.length > 0) {
            const { unacked, end } = this.#unfinished[0];
            if (end === null || unacked > 0) {
                return;
            }
            this.#confirmable = end;
            this.#unfinished.shift();
        }
    }
}
