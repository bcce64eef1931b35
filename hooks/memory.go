package hooks

import (
	"cmp"
	"context"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/projects"
)

// captureMemories captures Claude's own notes about the directories of some notes in the spool. A use of a tool is too
// early: the client has not written yet who changed a file.
func (w *World) captureMemories(ctx context.Context, list []note) error {
	running := map[[2]string]bool{}
	for _, n := range list {
		at := [2]string{cmp.Or(n.Claude, w.Claude), n.Cwd}
		if n.Event.Brief() || n.Cwd == "" ||
			w.isOff(n.Session) {
			continue
		}
		was, found := running[at]
		running[at] = n.Event != settings.SessionEnd && (was || !found) // its file is complete at the end
	}
	for at, still := range running {
		if err := w.captureMemory(ctx, at[0], at[1], still); err != nil {
			return err
		}
	}
	return nil
}

// captureMemory captures Claude's own notes about a directory, if its project is in memory and captured. It compares the
// times of the files before it opens the store.
func (w *World) captureMemory(ctx context.Context, claude, cwd string, running bool) error {
	client := notes.Client{Dir: claude, Getenv: w.Getenv}
	if ignored(cwd) || !client.Changed(w.Store, cwd) {
		return nil
	}
	s, err := w.Settings()
	if err != nil || !s.Capture {
		return err
	}
	m, p, _, err := w.locate(ctx, cwd)
	if err != nil || !s.CaptureProject(p) {
		return err
	}
	if has, err := projects.HasProject(ctx, m.DB, p.ID); err != nil || !has {
		return err
	}
	_, err = notes.CaptureAll(ctx, m.DB, p, client, cwd, notes.Options{Running: running})
	return err
}
