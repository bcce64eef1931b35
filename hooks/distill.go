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

// A DistillRequest asks a worker to distil a session that has ended.
type DistillRequest struct {
	Session string    `json:"-"`
	Cwd     string    `json:"cwd"`
	At      time.Time `json:"at"`

	request request
}

func (w *World) distillDir() string { return filepath.Join(w.Store, "cache", "distill") }

// requestDistill asks a worker to distil the session. If the request is lost with the cache, "mem distill --backlog"
// still finds the session.
func (r *run) requestDistill() error {
	return writeRequest(filepath.Join(r.distillDir(), r.p.Session), DistillRequest{Cwd: r.p.Cwd, At: r.Now().UTC()})
}

// EachDistillRequest calls distil for every request, the oldest first, after the spool was drained. If another process
// does this already, it returns at once: that process also handles requests that arrive meanwhile. If distil returns
// false, its request and the rest wait until the next session ends.
func (w *World) EachDistillRequest(ctx context.Context, distil func(DistillRequest) (done bool, err error)) {
	for {
		l := flock.New(filepath.Join(w.Store, "cache", "distill.lock"), flock.SetPermissions(0o600))
		if ok, err := l.TryLock(); err != nil || !ok {
			return
		}
		more := w.eachDistillRequest(ctx, distil)
		l.Close()
		if !more || len(w.distillRequests()) == 0 {
			return
		}
	}
}

// eachDistillRequest is EachDistillRequest under the lock. It reports whether all requests are done.
func (w *World) eachDistillRequest(ctx context.Context, distil func(DistillRequest) (bool, error)) bool {
	for list := w.distillRequests(); len(list) > 0; list = w.distillRequests() {
		r := &run{World: w, event: Work}
		if err := errors.Join(r.drainToEnd(ctx), r.close()); err != nil {
			w.logError("distill", list[0].Session, err)
			return false
		}
		done, err := distil(list[0])
		if err != nil {
			w.logError("distill", list[0].Session, err)
		}
		if !done || list[0].request.done() != nil {
			return false
		}
	}
	return true
}

// distillRequests returns the waiting requests, the oldest first.
func (w *World) distillRequests() (out []DistillRequest) {
	for x := range w.requests(w.distillDir()) {
		a := DistillRequest{Session: filepath.Base(x.file), request: x}
		if json.Unmarshal(x.text, &a) != nil {
			_ = x.done() // malformed; if it stays, the next worker removes it
			continue
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b DistillRequest) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Session, b.Session))
	})
	return out
}
