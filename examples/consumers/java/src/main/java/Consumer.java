// A consumer of walrelay's messages: notes each in the table received.
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.PullSubscribeOptions;
import java.sql.Connection;
import org.postgresql.ds.PGSimpleDataSource;

public class Consumer {
    static final String NAME = "java";

    // The place of your own work.
    static void work(Connection db, Message message) throws Exception {
        System.out.println(message.getSubject() + " " + new String(message.getData()));
        try (var note = db.prepareStatement("INSERT INTO received VALUES (?, ?, ?)")) {
            note.setString(1, NAME);
            note.setString(2, message.getHeaders().getFirst("Nats-Msg-Id"));
            note.setString(3, message.getSubject());
            note.executeUpdate();
        }
    }

    public static void main(String[] words) throws Exception {
        if (words.length != 3) {
            System.err.println("usage: Consumer <URL of NATS> <stream> <URL of PostgreSQL>");
            System.exit(2);
        }
        // Connects for each message. A pool, such as HikariCP's, is a DataSource as well.
        var database = new PGSimpleDataSource();
        database.setUrl(words[2]);
        var broker = Nats.connect(new Options.Builder().server(words[0]).maxReconnects(-1).build());
        var options = PullSubscribeOptions.builder().stream(words[1]).durable(NAME).build();
        var subscription = broker.jetStream().subscribe(null, options);
        new Inbox(database, NAME, Consumer::work).run(subscription);
    }
}
