package hooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/projects"
)

// actionsExt ends the names of files with what a session is told before it acts. SessionStart writes the file, so that
// PreToolUse, which runs before each call, opens no memory.
const actionsExt = ".act"

// subagentSize is the maximal length of what a subagent is told.
const subagentSize = 1500

// recordActions writes what the session is told before it acts.
func (r *run) recordActions(list []handover.Action) {
	if err := r.writeActions(r.p.Session, list); err != nil {
		r.logError(string(r.event), r.p.Session, withoutPath(err))
	}
}

// writeActions writes what a session is told before it acts.
func (w *World) writeActions(session string, list []handover.Action) error {
	var b []byte
	for _, a := range list {
		line, err := json.Marshal(a)
		if err != nil {
			continue // strings always can
		}
		b = append(append(b, line...), '\n')
	}
	file := w.sessionFile(session, actionsExt)
	return withDir(file, func() error { return overwrite(file, b) })
}

// action is PreToolUse: it tells what the user said of the edited file, or that the command fails here, once for each
// subject in a session.
func (r *run) action() error {
	r.phase.Store(interruptible)
	if r.p.Command == "" && r.p.File == "" {
		return nil
	}
	b, err := os.ReadFile(r.sessionFile(r.p.Session, actionsExt))
	if err != nil || len(b) == 0 {
		return nil // the session started before its hooks, or the cache was deleted
	}
	var list []handover.Action
	for line := range strings.Lines(string(b)) {
		var a handover.Action
		if json.Unmarshal([]byte(line), &a) == nil { // else a writer was killed
			list = append(list, a)
		}
	}
	call := handover.Call{Command: r.p.Command, File: r.p.File, Lines: r.p.Before + "\n" + r.p.After}
	if outside(r.p.Cwd, call.File) {
		call.File = ""
	}
	found := handover.ActionsFor(list, call)
	if len(found) == 0 {
		return nil
	}
	if s, err := r.Settings(); err != nil || !s.Action {
		return err
	}
	for _, a := range found {
		if checkSession(a.ID) == nil && r.claim(a.ID+".action", 0) {
			return r.addContext(a.Text)
		}
	}
	return nil
}

// outside reports whether a file is outside of the checkout that a directory is in, or of the directory if it is in none.
func outside(dir, file string) bool {
	for d := dir; d != ""; d = projects.Parent(d) {
		if projects.IsRepo(d) {
			dir = d
			break
		}
	}
	path, err := filepath.Rel(dir, file)
	return filepath.IsAbs(file) && (err != nil || !filepath.IsLocal(path))
}

// subagent is SubagentStart: it hands over rules and pinned texts.
func (r *run) subagent(ctx context.Context) error {
	r.phase.Store(interruptible)
	s, err := r.Settings()
	if err != nil || s.ContextSize == 0 {
		return err
	}
	if checkSession(r.p.AgentID) == nil && !r.claim(r.p.AgentID+".agent", 0) {
		return nil
	}
	m, p, known, err := r.locate(ctx, r.p.Cwd)
	if err != nil || !known {
		return err
	}
	given, err := handover.Subagent(ctx, m.DB, p, handover.ContextOptions{Session: r.p.Session, Dir: r.p.Cwd,
		Program: r.Program(), Limit: min(subagentSize, s.ContextSize), Decay: s.Decay})
	if err != nil || given.Text == "" {
		return err
	}
	if err := r.addContext(given.Text); err != nil {
		return err
	}
	r.recordHandover(p, given)
	return nil
}
