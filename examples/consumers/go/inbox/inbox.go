// Package inbox lets each message of walrelay take effect once, however often it is delivered.
// Copy it. The database of the work needs sql/inbox.sql.
package inbox

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
)

// Work does what the message asks for, all of it in the transaction. After an error the transaction
// is rolled back and the message comes again.
type Work func(ctx context.Context, tx pgx.Tx, message jetstream.Msg) error

// Inbox has the claims of one consumer.
type Inbox struct {
	DB   *pgxpool.Pool
	Name string // two consumers with one name take each other's messages away
	Work Work
}

// prefetched messages wait at the client, and their ack wait, 30 s by default, runs already. Work
// for so many must be done within it; else they come again, which is useless but does no harm.
const prefetched = 10

// Run takes message after message until ctx is done, and those that are at the client by then.
func (inbox *Inbox) Run(ctx context.Context, consumer jetstream.Consumer) error {
	messages, err := consumer.Messages(jetstream.PullMaxMessages(prefetched),
		jetstream.WithMessagesErrOnMissingHeartbeat(false)) // a broker that is away comes back
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, messages.Drain)()
	for {
		message, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		// What has begun is finished.
		if err := inbox.take(context.WithoutCancel(ctx), message); err != nil {
			// The message comes again after the ack wait.
			log.Printf("cannot answer the broker: %v", err)
		}
	}
}

func (inbox *Inbox) take(ctx context.Context, message jetstream.Msg) error {
	id := message.Headers().Get("Nats-Msg-Id")
	if id == "" { // every message of walrelay has one
		log.Printf("a message of %s without Nats-Msg-Id is left out", message.Subject())
		return message.Term()
	}
	if err := inbox.workOnce(ctx, id, message); err != nil {
		delay := pause(message)
		log.Printf("%s comes again in %v: %v", id, delay, err)
		return message.NakWithDelay(delay)
	}
	// The broker confirms this one: an ack that gets lost would bring the message again.
	return message.DoubleAck(ctx)
}

// workOnce commits claim and work together, or neither. Without the claim the work was done before.
func (inbox *Inbox) workOnce(ctx context.Context, id string, message jetstream.Msg) error {
	return pgx.BeginFunc(ctx, inbox.DB, func(tx pgx.Tx) error {
		var first bool
		err := tx.QueryRow(ctx, "SELECT walrelay_inbox.claim($1, $2)", id, inbox.Name).Scan(&first)
		if err != nil || !first {
			return err
		}
		return inbox.Work(ctx, tx, message)
	})
}

// pause is 1 s after the first failure, then 2, 4, 8 s and so on, at most a minute.
func pause(message jetstream.Msg) time.Duration {
	delay := time.Second
	if about, err := message.Metadata(); err == nil {
		delay <<= min(about.NumDelivered-1, 6)
	}
	return min(delay, time.Minute)
}
