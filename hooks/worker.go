package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/refs/disk"
)

// work is the worker. It does what hooks have no time for: it drains the spool, finishes the captures of SessionStart,
// records which contexts were used, and makes digests.
func (r *run) work(ctx context.Context) error {
	return errors.Join(r.drainToEnd(ctx), r.catchUpBacklogs(ctx), r.recordUsage(ctx), r.digestCaptured(ctx))
}

// digestCaptured makes the digests of what this worker captured, to save time at the next SessionStart.
func (r *run) digestCaptured(ctx context.Context) error {
	if len(r.captured) == 0 {
		return nil
	}
	m, err := r.open()
	for i := 0; err == nil && i < len(r.captured); i++ {
		err = handover.MakeDigests(ctx, m.DB, r.captured[i])
	}
	return err
}

// drainToEnd drains the spool completely. It waits for the lock, because the hook that has it may be ended by its
// limit.
func (r *run) drainToEnd(ctx context.Context) error {
	for ctx.Err() == nil {
		r.busy = false
		if err := r.drain(ctx, limitOfWork); err != nil || !r.busy {
			return err
		}
		tick := make(chan struct{})
		r.After(20*time.Millisecond, func() { close(tick) })
		select {
		case <-ctx.Done():
		case <-tick:
		}
	}
	return nil
}

// catchUpBacklogs captures the backlogs that SessionStart recorded. A backlog that is not finished in time stays
// recorded.
func (w *World) catchUpBacklogs(ctx context.Context) error {
	files, err := disk.Match(w.spool(), "*"+backlogSuffix)
	if err != nil {
		return err
	}
	var failed error
	for _, file := range files {
		x, err := readRequest(file)
		if err != nil {
			continue // another worker was faster
		}
		var b backlog
		if json.Unmarshal(x.text, &b) == nil && filepath.IsAbs(b.Path) {
			_, refused := checkTranscript(w.projects(), b.Path)
			mine := refused == nil
			if !mine && w.Now().Sub(x.info.ModTime()) < retryNote {
				continue // of another client, whose SessionStart started a worker
			}
			if mine {
				_, err = w.catchUpAt(ctx, b, w.Uptime()+limitOfWork)
				err = errors.Join(err, w.digestAt(ctx, b))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		failed = errors.Join(failed, err, x.done())
	}
	return failed
}

// digestAt makes the missing digests of the project of a backlog, and writes again what its session is told before it
// acts: SessionStart knew only the sessions with a digest.
func (w *World) digestAt(ctx context.Context, at backlog) error {
	m, p, known, err := w.locate(ctx, at.Cwd)
	if err != nil || !known {
		return err
	}
	if err := handover.MakeDigests(ctx, m.DB, p); err != nil {
		return err
	}
	s, err := w.Settings()
	session := sessionOf(at.Path)
	if err != nil || checkSession(session) != nil {
		return err
	}
	list, err := handover.Actions(ctx, m.DB, p, handover.ContextOptions{Session: session, Dir: at.Cwd, Program: w.Program(),
		Decay: s.Decay})
	if err != nil || len(list) == 0 {
		return err
	}
	return withoutPath(w.writeActions(session, list))
}
