"""A consumer of walrelay's messages: notes each in the table received."""
import asyncio
import signal
import sys

import nats
import psycopg_pool

from inbox import Inbox

NAME = "python"


async def work(db, message):
    """The place of your own work."""
    print(message.subject, message.data.decode(), flush=True)
    row = NAME, message.headers["Nats-Msg-Id"], message.subject
    await db.execute("INSERT INTO received VALUES (%s, %s, %s)", row)


async def main(url, stream):
    stopping = asyncio.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    # Reads PGHOST, PGDATABASE, ...
    async with psycopg_pool.AsyncConnectionPool(min_size=1, open=False) as pool:
        broker = await nats.connect(url, max_reconnect_attempts=-1)
        subscription = await broker.jetstream().pull_subscribe("", durable=NAME, stream=stream)
        await Inbox(pool, NAME, work).run(subscription, stopping)
        await broker.close()


if len(sys.argv) != 3:
    sys.exit("usage: consumer.py <URL of NATS> <stream>")
asyncio.run(main(*sys.argv[1:]))
