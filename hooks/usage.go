package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/projects"
)

// A usage lists the sessions that a handed-over context was made from. SessionStart has no time for a commit, and a
// session that is abandoned at once must not be recorded, so a worker records the usage later. If it is lost with the
// cache, the used sessions rank a little lower.
type usage struct {
	Cwd  string    `json:"cwd"`
	At   time.Time `json:"at"`
	Used []string  `json:"used"`

	session string
	request request
}

// keepUsage is how long a usage waits until its session is in memory.
const keepUsage = 7 * 24 * time.Hour

func (w *World) usageDir() string { return filepath.Join(w.Store, "cache", "given") }

// requestUsage asks a worker to record that the session got a context made from the used sessions.
func (r *run) requestUsage(used []string) {
	if len(used) == 0 {
		return
	}
	u := usage{Cwd: r.p.Cwd, At: r.Now().UTC(), Used: used}
	_ = writeRequest(filepath.Join(r.usageDir(), r.p.Session), u) // as above: it may be lost
}

// recordUsage records the requested usages of sessions that are in memory now.
func (w *World) recordUsage(ctx context.Context) error {
	var all []usage
	for x := range w.requests(w.usageDir()) {
		g := usage{session: filepath.Base(x.file), request: x}
		if json.Unmarshal(x.text, &g) != nil {
			_ = x.done() // malformed; if it stays, the next worker removes it
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
		p, _, err := projects.Locate(ctx, m.DB, g.Cwd)
		known := false
		if err == nil {
			known, err = markers.RecordGiven(ctx, m.DB, p.ID, g.session, g.Used, g.At)
		}
		if known || w.Now().Sub(g.At) > keepUsage {
			err = errors.Join(err, g.request.done())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
