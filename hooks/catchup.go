package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

// A backlog names a directory of sessions that SessionStart had no time to capture. JSON is its format in the spool.
type backlog struct {
	Cwd  string `json:"cwd"`
	Path string `json:"path"` // of the session that started
}

// Limits of one batch of files. Each batch is committed.
const (
	batchFiles = 64
	batchBytes = 8 << 20
)

// How long SessionStart captures. A worker captures the rest, and the session starts without it.
const (
	catchUpTime    = 1200 * time.Millisecond // no batch begins after it
	catchUpTimeout = 1800 * time.Millisecond // a batch is cancelled after it
)

// catchUp drains the spool and captures the changed sessions of the project, the newest first. It returns the number of
// files that are left to a worker.
func (r *run) catchUp(ctx context.Context) (left int, err error) {
	if off, err := r.captureOff(); off || err != nil {
		return 0, err
	}
	var drained error // perhaps of another project
	if r.waiting() > 0 {
		drained = r.drain(ctx, drainTimeAtStart)
	}
	end := r.Uptime() + catchUpTime
	ctx, cancel := r.Within(ctx, catchUpTimeout)
	defer cancel()
	left, err = r.catchUpAt(ctx, backlog{r.p.Cwd, r.p.Transcript}, end)
	if ctx.Err() != nil {
		left, err = max(left, 1), nil
	}
	if left == 0 || err != nil {
		return 0, errors.Join(drained, err)
	}
	return left, errors.Join(drained, r.deferCatchUp())
}

// deferCatchUp records a backlog for the session's directory and starts a worker.
func (r *run) deferCatchUp() error {
	if err := r.writeBacklog(backlog{r.p.Cwd, r.p.Transcript}); err != nil {
		return err
	}
	return r.Detach("hook", Work)
}

// catchUpAt captures the changed sessions of a backlog in batches. No batch begins after the time end. It returns the
// number of files that are left.
func (w *World) catchUpAt(ctx context.Context, at backlog, end time.Duration) (left int, err error) {
	m, p, known, err := w.locate(ctx, at.Cwd)
	if err != nil {
		return 0, err
	}
	if err := w.captureMemory(ctx, w.Claude, at.Cwd, true); err != nil {
		return 0, err
	}
	behind, err := capture.Pending(ctx, m.DB, p, capture.ListOptions{Claude: w.Claude, Dir: at.Cwd,
		SessionDir: filepath.Dir(at.Path)})
	if err != nil || len(behind) == 0 {
		return 0, err
	}
	s, err := w.Settings()
	if err != nil || !s.Capture { // a worker also comes for digests
		return 0, err
	}
	wanted := w.capturable(behind, s)
	if !known && s.CaptureProject(p) && slices.ContainsFunc(wanted, func(c capture.PendingFile) bool {
		return c.Cwd != "" && c.Cwd != at.Cwd
	}) {
		// otherwise the files would be captured as projects of their own
		if err := projects.Meet(ctx, m.DB, p, at.Cwd); err != nil {
			return len(wanted), err
		}
	}
	for len(wanted) > 0 {
		n := batch(wanted)
		var files []string
		cwds := map[string]string{}
		for _, c := range wanted[:n] {
			w.dropStamp(c.Path)
			if filepath.Dir(c.Path) == filepath.Dir(at.Path) {
				cwds[c.Path] = at.Cwd
			}
			files = append(files, c.Path)
		}
		if _, err := w.captureFiles(ctx, files, cwds); err != nil {
			return len(wanted), err
		}
		if wanted = wanted[n:]; w.Uptime() > end || ctx.Err() != nil {
			break
		}
	}
	return len(wanted), nil
}

// capturable returns the files that may be captured into this project.
func (w *World) capturable(behind []capture.PendingFile, s Settings) (out []capture.PendingFile) {
	for _, c := range behind {
		if as, _ := w.capturedAs(c.Path); !c.Known && (!s.Register || as == noProject) || w.isOff(sessionOf(c.Path)) || ignored(c.Cwd) {
			continue
		}
		if there, err := checkTranscript(w.projects(), c.Path); err == nil && there {
			out = append(out, c)
		}
	}
	return out
}

// batch returns how many files the next batch has.
func batch(wanted []capture.PendingFile) int {
	var bytes int64
	for i, c := range wanted {
		if bytes += c.Size; i == batchFiles || i > 0 && bytes > batchBytes {
			return i
		}
	}
	return len(wanted)
}

// backlogSuffix ends the names of backlogs in the spool.
const backlogSuffix = ".behind"

// writeBacklog records a backlog, once for each directory. If the record is lost, the next SessionStart in the
// directory captures the files.
func (w *World) writeBacklog(at backlog) error {
	b, err := json.Marshal(at)
	if err != nil {
		return err
	}
	name := objects.Sum([]byte(at.Cwd + "\n" + filepath.Dir(at.Path))).String()[:16] + backlogSuffix
	file := filepath.Join(w.spool(), name)
	return withoutPath(withDir(file, func() error { return disk.WriteFile(file, append(b, '\n')) }))
}

// Backlogs returns the number of directories with files that wait for a worker.
func Backlogs(dir string) int { return countFiles(filepath.Join(dir, "spool"), "*"+backlogSuffix) }
