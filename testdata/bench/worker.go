package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/memvcs/mem/testdata/gen/story"
)

// work does what a child of the bench was started for.
func work(task string, args []string) error {
	number := func(i int) (n int64) {
		if i < len(args) {
			n, _ = strconv.ParseInt(args[i], 10, 64) // the bench itself wrote it
		}
		return n
	}
	switch task {
	case "corpus": // dir, bytes, sessions
		return story.Corpus(args[0], number(1), int(number(2)), 1)
	case "line": // file, bytes, where the text comes from
		return makeLine(args[0], number(1), args[2])
	case "objects": // count, file
		return seedObjects(int(number(0)), args[1])
	case "records": // count
		return seedRecords(int(number(0)))
	case "operations": // corpus, where to grow it, count
		return seedOperations(args[0], args[1], int(number(2)))
	case "sync": // directory
		return syncOne(args[0])
	case "store": // file
		return storeAlone(args[0])
	}
	return fmt.Errorf("there is no task %q", task)
}

// syncOne makes a small file in dir durable: the least that a hook can do that acknowledges something.
func syncOne(dir string) error {
	f, err := os.CreateTemp(dir, "note-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 300))
	return errors.Join(err, f.Sync(), f.Close())
}
