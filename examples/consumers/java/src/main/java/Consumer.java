// A consumer of walrelay's messages: each takes effect once, however often it is delivered.
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.PullSubscribeOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;

public class Consumer {
    // The claim and the work are one transaction; the ack comes after it.
    static void handle(Connection db, Message message) throws Exception {
        String id = message.getHeaders().getFirst("Nats-Msg-Id");
        try (var claim = db.prepareStatement("SELECT walrelay_inbox.claim(?, 'java')");
             var work = db.prepareStatement("INSERT INTO received VALUES ('java', ?, ?)")) {
            claim.setString(1, id);
            var answer = claim.executeQuery();
            answer.next();
            if (answer.getBoolean(1)) { // your work, in the same transaction
                work.setString(1, id);
                work.setString(2, message.getSubject());
                work.executeUpdate();
                System.out.println(message.getSubject() + " " + new String(message.getData()));
            }
            db.commit();
        }
    }

    public static void main(String[] words) throws Exception {
        var db = DriverManager.getConnection(words[2]);
        db.setAutoCommit(false);
        var broker = Nats.connect(new Options.Builder().server(words[0]).maxReconnects(-1).build());
        var how = PullSubscribeOptions.builder().stream(words[1]).durable("java").build();
        JetStreamSubscription consumer = broker.jetStream().subscribe(null, how);
        while (true) {
            for (Message message : consumer.fetch(100, Duration.ofSeconds(1))) {
                handle(db, message); // if it fails, the message is not acked: it comes again
                message.ack();
            }
        }
    }
}
