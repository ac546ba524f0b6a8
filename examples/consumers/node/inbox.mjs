// Lets each message of walrelay take effect once, however often it is delivered.
// Copy it. The database of the work needs sql/inbox.sql.

// Messages that wait at the client, where their ack wait, 30 s by default, runs already. Work for
// so many must be done within it; else they come again, which is useless but does no harm.
const prefetched = 10;

// The claims of one consumer.
export class Inbox {
    #pool;
    #name;
    #work;
    #messages;

    // Two consumers with one name take each other's messages away. work(db, message) does what the
    // message asks for, all of it in the transaction of db, which it does not commit. If it throws,
    // the transaction is rolled back and the message comes again.
    constructor(pool, name, work) {
        this.#pool = pool;
        this.#name = name;
        this.#work = work;
    }

    // Takes message after message until stop() is called.
    async run(consumer) {
        this.#messages = await consumer.consume({ max_messages: prefetched });
        for await (const message of this.#messages) {
            try {
                await this.#take(message);
            } catch (error) {
                // The message comes again after the ack wait.
                console.warn(`cannot answer the broker: ${error.message}`);
            }
        }
    }

    stop() {
        this.#messages?.stop();
    }

    async #take(message) {
        const id = message.headers?.get('Nats-Msg-Id');
        if (!id) { // every message of walrelay has one
            console.warn(`a message of ${message.subject} without Nats-Msg-Id is left out`);
            message.term();
            return;
        }
        try {
            await this.#workOnce(id, message);
        } catch (error) {
            const delay = pause(message);
            console.warn(`${id} comes again in ${delay} ms: ${error.message}`);
            message.nak(delay);
            return;
        }
        // The broker confirms this one: an ack that gets lost would bring the message again.
        if (!await message.ackAck()) {
            throw new Error(`no answer to the ack of ${id}`);
        }
    }

    // Commits claim and work together, or neither. Without the claim the work was done before.
    async #workOnce(id, message) {
        const db = await this.#pool.connect();
        let failure;
        try {
            await db.query('BEGIN');
            const claim = await db.query(
                'SELECT walrelay_inbox.claim($1, $2) AS first', [id, this.#name]);
            if (claim.rows[0].first) {
                await this.#work(db, message);
            }
            await db.query('COMMIT');
        } catch (error) {
            failure = error;
            throw error;
        } finally {
            db.release(failure); // a connection that failed is closed, which rolls back
        }
    }
}

// Milliseconds: 1,000 after the first failure, then 2,000, 4,000 and so on, at most a minute.
function pause(message) {
    return Math.min(1000 * 2 ** (message.info.deliveryCount - 1), 60_000);
}
