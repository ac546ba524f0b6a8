// A consumer of walrelay's messages: notes each in the table received.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"walrelay.example/consumer/inbox"
)

const name = "go"

// The place of your own work.
func work(ctx context.Context, tx pgx.Tx, message jetstream.Msg) error {
	id := message.Headers().Get("Nats-Msg-Id")
	fmt.Println(message.Subject(), string(message.Data()))
	_, err := tx.Exec(ctx, "INSERT INTO received VALUES ($1, $2, $3)", name, id, message.Subject())
	return err
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: consumer <URL of NATS> <stream>")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db := must(pgxpool.New(ctx, "")) // reads PGHOST, PGDATABASE, ...
	broker := must(nats.Connect(os.Args[1], nats.MaxReconnects(-1)))
	js := must(jetstream.New(broker))
	durable := jetstream.ConsumerConfig{Durable: name}
	consumer := must(js.CreateOrUpdateConsumer(ctx, os.Args[2], durable))
	notes := inbox.Inbox{DB: db, Name: name, Work: work}
	if err := notes.Run(ctx, consumer); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
