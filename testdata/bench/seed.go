package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// open opens the memory that MEM_DIR names.
func open() (*refs.Repo, error) {
	return refs.Open(os.Getenv("MEM_DIR"), refs.Options{Now: time.Now, Rand: rand.Reader})
}

// seedObjects puts n small objects into one lane and writes the name of one of them to file.
func seedObjects(n int, file string) (err error) {
	ctx := context.Background()
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	const batch = 100_000
	var last objects.Hash
	for from := 0; from < n; from += batch {
		s, err := r.Stage(ctx)
		if err != nil {
			return err
		}
		for i := from; i < min(n, from+batch); i++ {
			if last, err = s.Put(fmt.Appendf(nil, "object %d of a large memory\n", i)); err != nil {
				return errors.Join(err, s.Close())
			}
		}
		message := fmt.Sprintf("%d objects", min(n, from+batch))
		err = r.Update(ctx, lane.ProjectOf("bench"), message, func(tx *refs.Tx) error { return tx.Adopt(s) })
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(last.String()+"\n"), 0o600)
}

// seedRecords adds n records, of a kind that readers keep and skip, to the first project.
func seedRecords(n int) (err error) {
	ctx := context.Background()
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	projects, err := r.Projects()
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		return errors.New("the memory has no project")
	}
	return r.Update(ctx, projects[0], fmt.Sprintf("%d records", n), func(tx *refs.Tx) error {
		for i := range n {
			if _, err := tx.Add("bench", map[string]int{"n": i}); err != nil {
				return err
			}
		}
		return nil
	})
}

// seedOperations adds the sessions of the corpus in dir as they grow below to, one at a time, until
// that has changed the memory n times.
func seedOperations(dir, to string, n int) (err error) {
	c, err := openCorpus("", dir)
	if err != nil {
		return err
	}
	options := state.Options{Now: time.Now, Rand: rand.Reader, Workers: 1, LockTimeout: time.Minute}
	m, err := layers.Open(os.Getenv("MEM_DIR"), options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	const steps = 20
	for part := 1; part <= steps; part++ {
		files, err := c.grow(to, part, steps)
		if err != nil {
			return err
		}
		for _, f := range files {
			added, err := capture.Add(context.Background(), m.DB, []capture.Source{{Path: f}}, capture.AddOptions{Op: "add"})
			if err != nil {
				return fmt.Errorf("add %s: %w", f, err)
			}
			if added[0].Change != "unchanged" {
				n--
			}
			if n == 0 {
				return nil
			}
			if n%500 == 0 { // a memory does not grow so fast: packs that were merged would not have gone yet
				if _, _, err := m.Repo().Compact(context.Background(), false); err != nil {
					return err
				}
			}
		}
	}
	return fmt.Errorf("the sessions are too short: %d operations are missing", n)
}

// storeAlone stores a file as one stream, durably, and prints how long that took.
func storeAlone(file string) (err error) {
	ctx := context.Background()
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	start := time.Now()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := r.Stage(ctx)
	if err != nil {
		return err
	}
	name := stream.Name(sessionOf(file), 0)
	if _, err := s.Grow(ctx, name, 0, &stream.Tail{Hash: objects.NewHasher()}, f); err != nil {
		return errors.Join(err, s.Close())
	}
	err = r.Update(ctx, lane.ProjectOf("bench"), "store", func(tx *refs.Tx) error { return tx.Adopt(s) })
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	fmt.Printf("%.3f ms\n", float64(time.Since(start))/float64(time.Millisecond))
	return nil
}

// makeLine writes a transcript that is a single record of about n bytes, which quotes the file text
// over and over.
func makeLine(file string, n int64, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	said, err := os.ReadFile(text)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(said))
	if err != nil {
		return err
	}
	quoted = quoted[1 : len(quoted)-1]
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, `{"type":"user","uuid":"1","parentUuid":null,"sessionId":%q,"cwd":"/home/dev/line","timestamp":"2026-01-01T09:00:00.000Z","message":{"role":"user","content":"`, sessionOf(file))
	for written := 0; int64(written) < n; written += len(quoted) {
		w.Write(quoted) // an error sticks and comes back from Flush
	}
	w.WriteString("\"}}\n")
	return errors.Join(w.Flush(), f.Close())
}
