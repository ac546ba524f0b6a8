// A consumer of walrelay's messages: each takes effect once, however often it is delivered.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The claim and the work are one transaction; the ack comes after it.
func handle(ctx context.Context, db *pgx.Conn, message jetstream.Msg) error {
	id := message.Headers().Get("Nats-Msg-Id")
	transaction, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer transaction.Rollback(ctx)
	var first bool
	err = transaction.QueryRow(ctx, "SELECT walrelay_inbox.claim($1, 'go')", id).Scan(&first)
	if err != nil {
		return err
	}
	if first { // your work, in the same transaction
		_, err = transaction.Exec(ctx, "INSERT INTO received VALUES ('go', $1, $2)", id, message.Subject())
		if err != nil {
			return err
		}
		fmt.Println(message.Subject(), string(message.Data()))
	}
	return transaction.Commit(ctx)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	db := must(pgx.Connect(ctx, "")) // reads PGHOST, PGDATABASE, ...
	js := must(jetstream.New(must(nats.Connect(os.Args[1], nats.MaxReconnects(-1)))))
	consumer := must(js.CreateOrUpdateConsumer(ctx, os.Args[2], jetstream.ConsumerConfig{Durable: "go"}))
	messages := must(consumer.Messages())
	for {
		message := must(messages.Next())
		if err := handle(ctx, db, message); err != nil {
			log.Fatal(err) // not acked: it comes again
		}
		message.Ack()
	}
}
