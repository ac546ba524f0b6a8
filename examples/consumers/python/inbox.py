"""Lets each message of walrelay take effect once, however often it is delivered.

Copy it. The database of the work needs sql/inbox.sql.
"""
import asyncio
import logging

import nats.errors

# Messages that wait at the client, where their ack wait, 30 s by default, runs already. Work for
# so many must be done within it; else they come again, which is useless but does no harm.
PREFETCHED = 10


class Inbox:
    """The claims of one consumer.

    work(db, message) does what the message asks for, all of it in the transaction of db, which it
    does not commit. If it raises, the transaction is rolled back and the message comes again.
    """

    def __init__(self, pool, name, work):
        self.pool = pool
        self.name = name  # two consumers with one name take each other's messages away
        self.work = work

    async def run(self, subscription, stopping):
        """Takes message after message until the event `stopping` is set."""
        while not stopping.is_set():
            try:
                messages = await subscription.fetch(PREFETCHED, timeout=1)
            except asyncio.TimeoutError:
                continue  # there is none
            for message in messages:
                try:
                    await self.take(message)
                except (nats.errors.Error, asyncio.TimeoutError) as error:
                    # The message comes again after the ack wait.
                    logging.warning("cannot answer the broker: %r", error)

    async def take(self, message):
        message_id = (message.headers or {}).get("Nats-Msg-Id")
        if not message_id:  # every message of walrelay has one
            logging.warning("a message of %s without Nats-Msg-Id is left out", message.subject)
            await message.term()
            return
        try:
            await self.work_once(message_id, message)
        except Exception as error:  # whatever it is: the transaction is rolled back
            delay = pause(message)
            logging.warning("%s comes again in %d s: %r", message_id, delay, error)
            await message.nak(delay=delay)
            return
        # The broker confirms this one: an ack that gets lost would bring the message again.
        await message.ack_sync(timeout=5)

    async def work_once(self, message_id, message):
        """Commits claim and work together, or neither. Without the claim it was done before."""
        async with self.pool.connection() as db:  # a transaction, committed at the end
            claim = await db.execute("SELECT walrelay_inbox.claim(%s, %s)", (message_id, self.name))
            if (await claim.fetchone())[0]:
                await self.work(db, message)


def pause(message):
    """Seconds: 1 after the first failure, then 2, 4, 8 and so on, at most a minute."""
    return min(2 ** min(message.metadata.num_delivered - 1, 6), 60)
