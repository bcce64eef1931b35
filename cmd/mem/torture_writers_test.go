package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/objects"
)

// Writers runs concurrent writers on one store, half of them on one lane, with n commands each, while readers run.
func (r *Rig) Writers(ctx context.Context, writers, n int) ([]Promise, error) {
	dir, err := r.dir("writers")
	if err != nil {
		return nil, err
	}
	s, err := NewStore(ctx, r.Bin, r.Path, dir)
	if err != nil {
		return nil, err
	}
	done, stop := context.WithCancel(ctx)
	defer stop()
	var reading sync.WaitGroup
	readers := s.readers()
	reads, failed := make([]int, len(readers)), make([]error, len(readers))
	for i, argv := range readers {
		reading.Go(func() { reads[i], failed[i] = s.readLoop(done, r.Uptime, argv) })
	}
	all := make([]*writer, writers)
	err = parallel(ctx, writers, writers, func(ctx context.Context, i int) error {
		project := 0
		if i%2 == 1 {
			project = 1 + i%4
		}
		all[i] = &writer{Store: s, session: newSession(s, uint64(100+i), fmt.Sprintf("/home/user/app%d", project))}
		return all[i].work(ctx, n)
	})
	stop()
	reading.Wait()
	for _, e := range append(failed, err) {
		if e != nil {
			return nil, e
		}
	}
	if err := s.Drain(ctx, r.Uptime); err != nil {
		return nil, err
	}
	states, err := s.checkWriters(ctx, all)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, n := range reads {
		total += n
	}
	return []Promise{
		{What: fmt.Sprintf("no update of %d concurrent writers is lost", writers), Times: states,
			Of: fmt.Sprintf("acknowledged states of %d commands", writers*n)},
		{What: "no reader sees half of an update", Times: total, Of: "concurrent reads"},
	}, RemoveAll(dir)
}

// readers returns the programs that read while others write.
func (s *Store) readers() [][]string {
	all := [][]string{{s.Bin, "ls", "--all-projects", "--json"}, {s.Bin, "log", "--all-projects", "--json"}}
	if _, err := exec.LookPath("git"); err != nil {
		return all
	}
	for _, repo := range repositories() {
		all = append(all, []string{"git", "-C", filepath.Join(s.Dir, repo), "fsck", "--strict", "--no-dangling"})
	}
	return append(all, []string{"git", "-C", filepath.Join(s.Dir, "memory.git"), "log", "--all", "--format=%H"})
}

// readLoop repeats a reading command, which must never fail, with pauses for the writers.
func (s *Store) readLoop(ctx context.Context, uptime func() time.Duration, argv []string) (n int, err error) {
	for ctx.Err() == nil {
		begin := uptime()
		res := s.Run(ctx, 0, "", argv)
		if ctx.Err() != nil {
			return n, nil
		}
		took := uptime() - begin
		if res.Code != 0 {
			return n, brokenf("a reader failed: %s: %s", argv[0], res)
		}
		n++
		select {
		case <-ctx.Done():
		case <-time.After(50*time.Millisecond + 19*took):
		}
	}
	return n, nil
}

// lockTimeout is the lock timeout of a writer, long enough for a slow disk.
const lockTimeout = "10m"

// A writer is a growing session.
type writer struct {
	*Store
	*session
	captured []objects.Hash // states that a command acknowledged
}

// work runs n commands: most are hooks, which write a note and drain the spool if no other process does; one in eight
// is mem add, and one in eighty is followed by mem compress.
func (w *writer) work(ctx context.Context, n int) error {
	for i := range n {
		if err := w.grow(1); err != nil {
			return err
		}
		if i%8 != 0 {
			if err := w.hook(ctx); err != nil {
				return err
			}
			continue
		}
		if err := w.Do(ctx, "add", w.file, "--lock-timeout", lockTimeout); err != nil {
			return fmt.Errorf("command %d of %s: %w", i, w.ID, err)
		}
		w.acked = w.last()
		w.captured = append(w.captured, w.names[w.last()])
		if i%80 == 40 {
			if err := w.Do(ctx, "compress", w.ID, "--ratio", fmt.Sprint(2+i%7), "--lock-timeout", lockTimeout); err != nil {
				return fmt.Errorf("command %d of %s: %w", i, w.ID, err)
			}
		}
	}
	return nil
}

// hook runs a hook of the session, which must succeed without output.
func (w *writer) hook(ctx context.Context) error {
	file, err := w.payload(w.Store)
	if err != nil {
		return err
	}
	res := w.Run(ctx, 0, file, []string{w.Bin, "hook", "Stop"})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if res.Code != 0 || res.Stderr != "" {
		return brokenf("%s", res)
	}
	w.noted = w.last()
	return nil
}

// checkWriters checks that every acknowledged state exists and every lane is one line of commits.
func (s *Store) checkWriters(ctx context.Context, all []*writer) (states int, err error) {
	err = parallel(ctx, len(all), parallelism, func(ctx context.Context, i int) error {
		w := all[i]
		w.acked = max(w.acked, w.noted)
		got, err := w.Original(ctx, w.ID)
		if err != nil {
			return err
		}
		return w.checkRestored(got, "after all writers")
	})
	if err != nil {
		return 0, err
	}
	out, err := s.Output(ctx, "ls-objects", "--all-projects")
	if err != nil {
		return 0, err
	}
	have := map[string]bool{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 0 {
			have[strings.TrimPrefix(f[0], "b3:")] = true
		}
	}
	for _, w := range all {
		for i, name := range w.captured {
			if !have[name.String()] {
				return 0, brokenf("state %d of %s was acknowledged and is missing", i, w.session)
			}
		}
		states += len(w.captured) + 1
	}
	if err := s.Do(ctx, "fsck", "--full"); err != nil {
		return 0, err
	}
	if err := s.GitFsck(ctx); err != nil {
		return 0, err
	}
	return states, s.checkLinear(ctx)
}

// checkLinear checks that every lane is one line of commits from one root.
func (s *Store) checkLinear(ctx context.Context) error {
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	for _, repo := range repositories() {
		merges, err := s.git(ctx, repo, "rev-list", "--min-parents=2", "--all")
		if err != nil {
			return err
		}
		if len(merges) > 0 {
			return brokenf("%s has merges: %v", repo, merges)
		}
		lanes, err := s.git(ctx, repo, "for-each-ref", "--format=%(refname)")
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			roots, err := s.git(ctx, repo, "rev-list", "--max-parents=0", lane)
			if err != nil {
				return err
			}
			if len(roots) != 1 {
				return brokenf("lane %s of %s has %d roots", lane, repo, len(roots))
			}
		}
	}
	return nil
}

// Storm starts n hooks at once, each for a session of its own.
func (r *Rig) Storm(ctx context.Context, n int) ([]Promise, error) {
	dir, err := r.dir("storm")
	if err != nil {
		return nil, err
	}
	s, err := NewStore(ctx, r.Bin, r.Path, dir)
	if err != nil {
		return nil, err
	}
	all := make([]*writer, n)
	for i := range all {
		all[i] = &writer{Store: s, session: newSession(s, uint64(10_000+i), "/home/user/hooked")}
		if err := all[i].grow(2); err != nil {
			return nil, err
		}
	}
	if err := parallel(ctx, n, n, func(ctx context.Context, i int) error { return all[i].hook(ctx) }); err != nil {
		return nil, err
	}
	if err := s.Drain(ctx, r.Uptime); err != nil {
		return nil, err
	}
	if err := s.checkStored(ctx, all); err != nil {
		return nil, err
	}
	if err := s.Do(ctx, "fsck", "--full"); err != nil {
		return nil, err
	}
	for i := 0; i < n; i += max(1, n/20) {
		got, err := s.Original(ctx, all[i].ID)
		if err != nil {
			return nil, err
		}
		all[i].acked = all[i].last()
		if err := all[i].checkRestored(got, "after the storm"); err != nil {
			return nil, err
		}
	}
	return []Promise{{What: fmt.Sprintf("no capture of %d concurrent hooks is lost", n), Times: n,
		Of: "sessions captured"}}, RemoveAll(dir)
}

// hookLog returns the log of the hooks.
func (s *Store) hookLog() string {
	log, err := os.ReadFile(filepath.Join(s.Dir, "cache", "hooks.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	return string(log)
}

// checkStored checks that sessions are listed as stored.
func (s *Store) checkStored(ctx context.Context, all []*writer) error {
	out, err := s.Output(ctx, "ls", "--all-projects", "--json")
	if err != nil {
		return err
	}
	var have struct {
		Sessions []struct {
			ID     string `json:"sessionId"`
			Status string
		}
	}
	if err := json.Unmarshal([]byte(out), &have); err != nil {
		return err
	}
	status := map[string]string{}
	for _, l := range have.Sessions {
		status[l.ID] = l.Status
	}
	for _, w := range all {
		if status[w.ID] != "stored" {
			return brokenf("%s is %q after %d concurrent hooks; hooks.log:\n%s", w.session, status[w.ID], len(all), s.hookLog())
		}
	}
	return nil
}
