package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// A given is which sessions the context told of that a session was given. It is noted beside the memory and recorded in it by a
// worker later: SessionStart has no time for a commit, and of a session that nobody went on with there is nothing to
// record. Lost with the cache, it costs that a session does not come nearer.
type given struct {
	Cwd  string    `json:"cwd"`
	At   time.Time `json:"at"`
	Used []string  `json:"used"`
}

// keepGiven is how long a session may take until it says something.
const keepGiven = 7 * 24 * time.Hour

func (w *World) givenDir() string { return filepath.Join(w.Store, "cache", "given") }

// noteGiven notes that the session was given a context. What cannot be noted is not recorded.
func (r *run) noteGiven(used []string) {
	if len(used) == 0 {
		return
	}
	b, err := json.Marshal(given{r.p.Cwd, r.Now().UTC(), used})
	if err != nil || os.MkdirAll(r.givenDir(), 0o700) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(r.givenDir(), r.p.Session), b, 0o600) // as above
}

// recordGiven records the contexts that sessions were given which are in memory now.
func (w *World) recordGiven(ctx context.Context) error {
	entries, err := os.ReadDir(w.givenDir())
	if err != nil || len(entries) == 0 {
		return nil // as above
	}
	m, err := w.open()
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		if ctx.Err() != nil {
			break
		}
		file := filepath.Join(w.givenDir(), e.Name())
		var g given
		b, err := os.ReadFile(file)
		if checkSession(e.Name()) != nil || err != nil || json.Unmarshal(b, &g) != nil {
			_ = os.Remove(file) // it is no use to anybody
			continue
		}
		p, _, err := m.Locate(ctx, g.Cwd)
		known := false
		if err == nil {
			known, err = m.RecordGiven(ctx, p.ID, e.Name(), g.Used, g.At)
		}
		if known || w.Now().Sub(g.At) > keepGiven {
			err = errors.Join(err, os.Remove(file))
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
