package hooks

import (
	"context"
	"path/filepath"

	"github.com/memvcs/mem/layers"
)

// Limits of one catching up: what is older waits for the next one.
const (
	catchUpFiles = 64
	catchUpBytes = 24 << 20
)

// catchUp folds the spool and captures what has changed of the project's sessions, the newest first, also of those
// that were killed.
func (r *run) catchUp(ctx context.Context) error {
	if off, err := r.off(); off || err != nil {
		return err
	}
	if Spooled(r.Store) > 0 {
		if err := r.fold(ctx, foldTimeAtStart); err != nil {
			return err
		}
	}
	m, err := r.open()
	if err != nil {
		return err
	}
	p, _, err := m.Locate(ctx, r.p.Cwd)
	if err != nil {
		return err
	}
	behind, err := m.Behind(ctx, p, layers.ListOptions{Claude: r.Claude, Dir: r.p.Cwd}, filepath.Dir(r.p.Transcript))
	if err != nil || len(behind) == 0 {
		return err
	}
	s, err := r.Settings()
	if err != nil {
		return err
	}
	var files []string
	cwds := map[string]string{}
	var bytes int64
	holds := m.Holder(ctx)
	for _, c := range behind {
		if !c.Known && (!s.Register || r.elsewhere(holds, p, c.Path)) {
			continue
		}
		if len(files) == catchUpFiles || len(files) > 0 && bytes+c.Size > catchUpBytes {
			break
		}
		if there, err := checkTranscript(r.projects(), c.Path); err == nil && there {
			r.forget(c.Path)
			if filepath.Dir(c.Path) == filepath.Dir(r.p.Transcript) {
				cwds[c.Path] = r.p.Cwd
			}
			files, bytes = append(files, c.Path), bytes+c.Size
		}
	}
	_, err = r.captureFiles(ctx, files, cwds)
	return err
}

// elsewhere reports whether a file that this project does not know is another one's, or no session at all: names of
// directories can be the same for two projects.
func (r *run) elsewhere(holds func(project, session string) bool, p layers.Project, path string) bool {
	name, ok := r.remembered(path)
	if !ok || name == string(p.ID) {
		return false
	}
	if name == noProject {
		return true
	}
	return holds(name, layers.Source{Path: path}.SessionID())
}
