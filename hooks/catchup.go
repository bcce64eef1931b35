package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// A place is where sessions of a project are: what catching up needs to know of a session that starts.
type place struct {
	Cwd  string `json:"cwd"`
	Path string `json:"path"` // of the session's file
}

// Limits of one step of catching up: what a step has done stays done.
const (
	stepFiles = 64
	stepBytes = 8 << 20
)

// How long SessionStart catches up, with the spool. What is left then is captured by a worker, and the session
// starts with what there is.
const (
	catchUpTime = 1200 * time.Millisecond // no step begins after it
	catchUpLast = 1800 * time.Millisecond // a step ends
)

// catchUp folds the spool and captures what has changed of the project's sessions, the newest first, also of those
// that were killed. It returns how many files are left, which a worker is at.
func (r *run) catchUp(ctx context.Context) (left int, err error) {
	if off, err := r.off(); off || err != nil {
		return 0, err
	}
	if r.waiting() > 0 {
		if err := r.fold(ctx, foldTimeAtStart); err != nil {
			return 0, err
		}
	}
	end := r.Uptime() + catchUpTime
	ctx, cancel := r.Within(ctx, catchUpLast)
	defer cancel()
	left, err = r.catchUpAt(ctx, place{r.p.Cwd, r.p.Transcript}, end)
	if ctx.Err() != nil {
		left, err = max(left, 1), nil
	}
	if left == 0 || err != nil {
		return 0, err
	}
	if err := r.leavePlace(place{r.p.Cwd, r.p.Transcript}); err != nil {
		return left, err
	}
	return left, r.Detach("hook", Work)
}

// catchUpAt captures what has changed of the sessions at a place, in steps of which none begins after a time.
// It returns how many files are left.
func (w *World) catchUpAt(ctx context.Context, at place, end time.Duration) (left int, err error) {
	m, err := w.open()
	if err != nil {
		return 0, err
	}
	p, known, err := m.Projects().Locate(ctx, at.Cwd)
	if err != nil {
		return 0, err
	}
	behind, err := m.Capture().Behind(ctx, p, capture.ListOptions{Claude: w.Claude, Dir: at.Cwd}, filepath.Dir(at.Path))
	if err != nil || len(behind) == 0 {
		return 0, err
	}
	s, err := w.Settings()
	if err != nil {
		return 0, err
	}
	wanted := w.wanted(behind, w.elsewhere(m.Capture().Holder(ctx), p), s)
	if !known && s.CaptureProject(p) && slices.ContainsFunc(wanted, func(c capture.Candidate) bool {
		return c.Cwd != "" && c.Cwd != at.Cwd
	}) {
		if err := m.Projects().Meet(ctx, p, at.Cwd); err != nil { // or they would be captured as projects of their own
			return len(wanted), err
		}
	}
	for len(wanted) > 0 {
		n := step(wanted)
		var files []string
		cwds := map[string]string{}
		for _, c := range wanted[:n] {
			w.forget(c.Path)
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

// wanted returns the files that may be captured here.
func (w *World) wanted(behind []capture.Candidate, elsewhere func(path string) bool,
	s Settings) (out []capture.Candidate) {
	for _, c := range behind {
		if !c.Known && (!s.Register || elsewhere(c.Path)) || w.isOff(sessionOf(c.Path)) || ignored(c.Cwd) {
			continue
		}
		if there, err := checkTranscript(w.projects(), c.Path); err == nil && there {
			out = append(out, c)
		}
	}
	return out
}

// step returns how many files are captured at once.
func step(wanted []capture.Candidate) int {
	var bytes int64
	for i, c := range wanted {
		if bytes += c.Size; i == stepFiles || i > 0 && bytes > stepBytes {
			return i
		}
	}
	return len(wanted)
}

// elsewhere returns a function that reports whether a file that a project does not know is another one's, or no
// session at all: names of directories can be the same for two projects.
func (w *World) elsewhere(holds func(project, session string) bool, p state.Project) func(path string) bool {
	return func(path string) bool {
		name, ok := w.remembered(path)
		if !ok || name == string(p.ID) {
			return false
		}
		if name == noProject {
			return true
		}
		return holds(name, capture.Source{Path: path}.SessionID())
	}
}

// behindSuffix ends the name of a file in the spool that tells of a place where a SessionStart left something.
const behindSuffix = ".behind"

// leavePlace notes that files are left at a place, once for each place. The next SessionStart there looks
// again, whatever becomes of the note.
func (w *World) leavePlace(p place) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	name := objects.Sum([]byte(p.Cwd + "\n" + filepath.Dir(p.Path))).String()[:16] + behindSuffix
	return cause(settings.WriteFile(filepath.Join(w.spool(), name), append(b, '\n')))
}

// Behind returns at how many places files wait for a worker.
func Behind(dir string) int {
	files, err := filepath.Glob(filepath.Join(dir, "spool", "*"+behindSuffix))
	if err != nil {
		return 0
	}
	return len(files)
}

// catchUpPlaces captures what SessionStart has left, to its end. A place that time runs out for keeps its note.
func (w *World) catchUpPlaces(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(w.spool(), "*"+behindSuffix))
	if err != nil {
		return err
	}
	var failed error
	for _, file := range files {
		x, err := readWord(file)
		if err != nil {
			continue // another worker was faster
		}
		var p place
		if json.Unmarshal(x.text, &p) == nil && filepath.IsAbs(p.Path) {
			mine := strings.HasPrefix(p.Path, w.projects()+string(filepath.Separator))
			if !mine && w.Now().Sub(x.info.ModTime()) < keepNote {
				continue // of another client, whose SessionStart has started a worker
			}
			if mine {
				_, err = w.catchUpAt(ctx, p, w.Uptime()+limitOfWork)
				err = errors.Join(err, w.digestAt(ctx, p))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		failed = errors.Join(failed, err, x.done())
	}
	return failed
}

// digestAt makes the digests that the project of a place lacks.
func (w *World) digestAt(ctx context.Context, at place) error {
	m, err := w.open()
	if err != nil {
		return err
	}
	p, known, err := m.Projects().Locate(ctx, at.Cwd)
	if err != nil || !known {
		return err
	}
	return m.Handover().MakeDigests(ctx, p)
}
