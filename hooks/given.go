package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"
)

// A given is which sessions the context told of that a session was given. It is noted beside the memory and
// recorded in it by a worker later: SessionStart has no time for a commit, and of a session that nobody went on
// with there is nothing to record. Lost with the cache, it costs that a session does not come nearer.
type given struct {
	Cwd  string    `json:"cwd"`
	At   time.Time `json:"at"`
	Used []string  `json:"used"`

	session string
	word    word // that says so
}

// keepGiven is how long a session may take until it says something.
const keepGiven = 7 * 24 * time.Hour

func (w *World) givenDir() string { return filepath.Join(w.Store, "cache", "given") }

// noteGiven notes that the session was given a context. What cannot be noted is not recorded.
func (r *run) noteGiven(used []string) {
	if len(used) == 0 {
		return
	}
	_ = leaveWord(filepath.Join(r.givenDir(), r.p.Session), given{Cwd: r.p.Cwd, At: r.Now().UTC(), Used: used}) // as above
}

// recordGiven records the contexts that sessions were given which are in memory now.
func (w *World) recordGiven(ctx context.Context) error {
	var all []given
	for x := range w.words(w.givenDir()) {
		g := given{session: filepath.Base(x.file), word: x}
		if json.Unmarshal(x.text, &g) != nil {
			_ = x.done() // it is no use to anybody
			continue
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil
	}
	m, err := w.open()
	if err != nil {
		return err
	}
	var failed error
	for _, g := range all {
		if ctx.Err() != nil {
			break
		}
		p, _, err := m.Projects().Locate(ctx, g.Cwd)
		known := false
		if err == nil {
			known, err = m.Markers().RecordGiven(ctx, p.ID, g.session, g.Used, g.At)
		}
		if known || w.Now().Sub(g.At) > keepGiven {
			err = errors.Join(err, g.word.done())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
