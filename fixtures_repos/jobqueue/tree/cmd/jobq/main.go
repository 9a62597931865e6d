// Command jobq pushes, lists and runs jobs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"example.org/jobqueue/queue"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "jobq:", err)
		os.Exit(1)
	}
}

// run picks the subcommand; it exists apart from main so that errors have one way out.
func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("usage: jobq push|work|list|graveyard")
	}
	store := queue.NewMemoryStore()
	switch command := arguments[0]; command {
	case "push":
		return push(store, arguments[1:])
	case "work":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		queue.NewPool(store).Run(ctx, 4)
		return nil
	case "list":
		return list(store)
	default:
		return fmt.Errorf("unknown command %q", command)
	}
}

func push(store queue.Store, arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("usage: jobq push KIND PAYLOAD")
	}
	return store.Put(&queue.Job{Kind: arguments[0], Payload: []byte(arguments[1])})
}

// list prints one line per job: id, kind, state, attempts.
func list(store queue.Store) error {
	jobs, err := store.All()
	if err != nil {
		return err
	}
	for _, job := range jobs {
		fmt.Printf("%6d  %-16s %-8s %d\n", job.ID, job.Kind, job.State, job.Attempts)
	}
	return nil
}
