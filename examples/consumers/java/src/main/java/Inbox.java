// Lets each message of walrelay take effect once, however often it is delivered.
// Copy it. The database of the work needs sql/inbox.sql.
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;

/** The claims of one consumer: two consumers with one name take each other's messages away. */
public record Inbox(DataSource pool, String name, Work work) {
    /** Does what the message asks for, all of it in the transaction of db, and does not commit it.
     *  If it throws, the transaction is rolled back and the message comes again. */
    public interface Work {
        void run(Connection db, Message message) throws Exception;
    }

    // Messages that wait at the client, where their ack wait, 30 s by default, runs already. Work
    // for so many must be done within it; else they come again, which is useless but does no harm.
    private static final int PREFETCHED = 10;

    /** Takes message after message until the thread is interrupted. */
    public void run(JetStreamSubscription subscription) throws InterruptedException {
        while (!Thread.currentThread().isInterrupted()) {
            // Asks anew each time: it needs no notice of a broker that was away.
            for (Message message : subscription.fetch(PREFETCHED, Duration.ofSeconds(1))) {
                take(message);
            }
        }
    }

    private void take(Message message) throws InterruptedException {
        String id = message.hasHeaders() ? message.getHeaders().getFirst("Nats-Msg-Id") : null;
        if (id == null) { // every message of walrelay has one
            System.err.println(
                "a message of " + message.getSubject() + " without Nats-Msg-Id is left out");
            message.term();
            return;
        }
        try {
            workOnce(id, message);
        } catch (Exception failure) {
            var delay = pause(message);
            System.err.println(id + " comes again in " + delay.toSeconds() + " s: " + failure);
            message.nakWithDelay(delay);
            return;
        }
        try {
            // The broker confirms this one: an ack that gets lost would bring the message again.
            message.ackSync(Duration.ofSeconds(5));
        } catch (TimeoutException | IllegalStateException failure) {
            // The message comes again after the ack wait.
            System.err.println("no answer to the ack of " + id + ": " + failure);
        }
    }

    // Commits claim and work together, or neither. Without the claim the work was done before.
    private void workOnce(String id, Message message) throws Exception {
        try (var db = pool.getConnection()) {
            db.setAutoCommit(false);
            try {
                if (claim(db, id)) {
                    work.run(db, message);
                }
                db.commit();
            } catch (Exception failure) {
                db.rollback();
                throw failure;
            }
        }
    }

    private boolean claim(Connection db, String id) throws SQLException {
        try (var claim = db.prepareStatement("SELECT walrelay_inbox.claim(?, ?)")) {
            claim.setString(1, id);
            claim.setString(2, name);
            var answer = claim.executeQuery();
            answer.next();
            return answer.getBoolean(1);
        }
    }

    // 1 s after the first failure, then 2, 4, 8 s and so on, at most a minute.
    private static Duration pause(Message message) {
        long deliveries = message.metaData().deliveredCount();
        return Duration.ofSeconds(Math.min(1L << Math.min(deliveries - 1, 6), 60));
    }
}
