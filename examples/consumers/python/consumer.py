"""A consumer of walrelay's messages: each takes effect once, however often it is delivered."""
import asyncio
import sys

import nats
import psycopg


def handle(db, message):
    """The claim and the work are one transaction; the ack comes after it."""
    message_id = message.headers["Nats-Msg-Id"]
    with db.transaction():
        claim = db.execute("SELECT walrelay_inbox.claim(%s, 'python')", (message_id,))
        if claim.fetchone()[0]:  # your work, in the same transaction
            db.execute("INSERT INTO received VALUES ('python', %s, %s)", (message_id, message.subject))
            print(message.subject, message.data.decode(), flush=True)


async def main(url, stream):
    db = psycopg.connect(autocommit=True)  # reads PGHOST, PGDATABASE, ...
    broker = await nats.connect(url, max_reconnect_attempts=-1)
    consumer = await broker.jetstream().pull_subscribe("", durable="python", stream=stream)
    while True:
        try:
            messages = await consumer.fetch(100, timeout=30)
        except nats.errors.TimeoutError:
            continue
        for message in messages:
            handle(db, message)  # if it fails, the message is not acked: it comes again
            await message.ack()


asyncio.run(main(*sys.argv[1:]))
