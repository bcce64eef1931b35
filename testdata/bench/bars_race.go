package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memvcs/mem/objects"
)

const (
	writers  = 8
	raceAdds = 25
)

// barRace lets eight writers add to one lane at once while mem and git read it, then looks for every
// state that an add has acknowledged.
func (b *bench) barRace() ([]row, error) {
	c, err := b.generated(8e6, writers)
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	work := filepath.Join(b.tmp, "work", "-home-dev-race")
	if err := errors.Join(b.fresh(filepath.Dir(work)), os.MkdirAll(work, 0o700)); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var torn, reads atomic.Int64
	var readers, writing sync.WaitGroup
	for _, argv := range b.readers() {
		readers.Go(func() {
			for ctx.Err() == nil {
				reads.Add(1)
				if b.quiet(argv...) != nil {
					torn.Add(1)
				}
			}
		})
	}
	var mu sync.Mutex
	var acked []objects.Hash
	var failed []error
	for i := range writers {
		writing.Go(func() {
			names, err := b.growing(c.files[i], filepath.Join(work, filepath.Base(c.files[i])))
			mu.Lock()
			defer mu.Unlock()
			acked = append(acked, names...)
			failed = append(failed, err)
		})
	}
	writing.Wait()
	stop()
	readers.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	var lost float64
	for _, name := range acked {
		if b.quiet(b.mem, "cat-file", "b3:"+name.String()) != nil {
			lost++
		}
	}
	none, least := atMost(0)
	return []row{
		{Bar: "race", What: "lost updates, 8 writers", Value: lost, Demand: none, Least: least, Detail: fmt.Sprintf("%d acknowledged adds in one lane", len(acked))},
		{Bar: "race", What: "torn reads, system git among the readers", Value: float64(torn.Load()), Demand: none, Least: least, Detail: fmt.Sprintf("%d reads", reads.Load())},
	}, nil
}

// readers are commands that must succeed at every instant.
func (b *bench) readers() [][]string {
	git := []string{"git", "-C", b.repositories()[0]}
	return [][]string{
		{b.mem, "ls", "--json"},
		append(git, "log", "--all", "--format=%H"),
		append(git, "fsck", "--strict", "--no-dangling"),
	}
}

// growing adds src in pieces, in the one project that all writers share, and returns the names of the
// states it has added.
func (b *bench) growing(src, dst string) ([]objects.Hash, error) {
	text, err := os.ReadFile(src)
	if err != nil {
		return nil, err
	}
	// The project follows from the working directory that the records name.
	project := strings.SplitN(filepath.Base(filepath.Dir(src)), "-", 4)[3]
	text = bytes.ReplaceAll(text, []byte(`"cwd":"/home/dev/`+project+`"`), []byte(`"cwd":"/home/dev/race"`))
	var names []objects.Hash
	for part := 1; part <= raceAdds; part++ {
		n := len(text) * part / raceAdds
		n += bytes.IndexByte(text[n-1:], '\n')
		if err := os.WriteFile(dst, text[:n], 0o600); err != nil {
			return names, err
		}
		if err := b.quiet(b.mem, "add", dst); err != nil {
			return names, err
		}
		names = append(names, objects.Sum(text[:n]))
	}
	return names, nil
}

// quiet runs a command without measuring it; it may run beside others.
func (b *bench) quiet(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = b.tmp, b.environ()
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, tail(errs.String()))
	}
	return nil
}
