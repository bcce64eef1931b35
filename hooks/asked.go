package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// An Asked is a session that ended while a model was to distil such ones.
type Asked struct {
	Session string    `json:"-"`
	Cwd     string    `json:"cwd"`
	At      time.Time `json:"at"`

	word word // that says so
}

func (w *World) askedDir() string { return filepath.Join(w.Store, "cache", "distill") }

// askToDistill notes that the session is to be distilled. What is lost with the cache is found by "mem distill
// --backlog".
func (r *run) askToDistill() error {
	return leaveWord(filepath.Join(r.askedDir(), r.p.Session), Asked{Cwd: r.p.Cwd, At: r.Now().UTC()})
}

// EachAsked calls distil for every session that is to be distilled, the oldest first, unless another process is
// at it: that one finds also what is asked for meanwhile. What the spool knows of the session is in memory
// then. Distil says whether the session is done with; if it is not, the rest waits as it does, until the next
// session ends.
func (w *World) EachAsked(ctx context.Context, distil func(Asked) (done bool, err error)) {
	for {
		l := flock.New(filepath.Join(w.Store, "cache", "distill.lock"), flock.SetPermissions(0o600))
		if ok, err := l.TryLock(); err != nil || !ok {
			return
		}
		more := w.eachAsked(ctx, distil)
		l.Close()
		if !more || len(w.asked()) == 0 {
			return
		}
	}
}

// eachAsked distils what is asked for, under the lock, and reports whether all of it was done with.
func (w *World) eachAsked(ctx context.Context, distil func(Asked) (bool, error)) bool {
	for list := w.asked(); len(list) > 0; list = w.asked() {
		r := &run{World: w, event: Work}
		if err := errors.Join(r.foldToEnd(ctx), r.close()); err != nil {
			w.note("distill", list[0].Session, err)
			return false
		}
		done, err := distil(list[0])
		if err != nil {
			w.note("distill", list[0].Session, err)
		}
		if !done || list[0].word.done() != nil {
			return false
		}
	}
	return true
}

// asked returns the sessions that are to be distilled, the oldest first.
func (w *World) asked() (out []Asked) {
	for x := range w.words(w.askedDir()) {
		a := Asked{Session: filepath.Base(x.file), word: x}
		if json.Unmarshal(x.text, &a) != nil {
			_ = x.done() // it is no use to anybody
			continue
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Asked) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Session, b.Session)) })
	return out
}
