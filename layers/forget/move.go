package forget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Moved is the result of [Move].
type Moved struct {
	Sessions []string      // IDs, without those of subagents
	Things   []DeletedItem // derived from them in the old project, and deleted there
	Removed  int           // sessions that stay because the user removed them
	Others   int           // sessions of other devices, which stay: each device moves its own
	Remotes  []string      // names of remotes that have them in the old project until the next push
}

// Move moves the sessions of one project whose working directory is selected, with their subagents and files, to another
// project: their exact bytes are captured again there, and deleted from the lane of the old project as [Forget]
// does, since a push would send them with it. What was derived from them there is deleted too. The directory temp is
// for the bytes meanwhile. If it is interrupted, a session may be in both projects, and the next Move finishes.
func Move(ctx context.Context, db *state.DB, from, to state.Project, selected func(cwd string) bool, temp string,
	dryRun bool) (out Moved, err error) {
	revs, err := out.capture(ctx, db, from, to, selected, capture.AddOptions{Op: "move", DryRun: dryRun}, temp)
	if len(revs) == 0 || dryRun || err != nil {
		return out, err
	}
	forgotten, err := Forget(ctx, db, ForgetOptions{Revs: revs, Moved: true})
	out.Remotes = forgotten.Remotes
	out.Things = slices.DeleteFunc(forgotten.Things, func(t DeletedItem) bool { return t.Kind == "session" })
	return out, err
}

// Merge moves the sessions of a project to another one. Unlike [Move] it can be undone: the sessions stay in the old project,
// hidden, with what was derived from them there. The operation that shows them in the new project names the old one, and
// that in the old project the operation.
func Merge(ctx context.Context, db *state.DB, from, to state.Project, temp string, dryRun bool) (out Moved, err error) {
	all := func(string) bool { return true }
	revs, err := out.capture(ctx, db, from, to, all, capture.AddOptions{Op: "move", DryRun: dryRun, Hide: true}, temp)
	if len(revs) == 0 || dryRun || err != nil {
		return out, err
	}
	set := func(hidden bool) func(*refs.Tx) error {
		return func(tx *refs.Tx) error {
			tx.Trailer("Op", "merge")
			for _, rev := range revs {
				id := rev.Session.ID
				if !hidden {
					id = rev.Session.FileID()
				}
				if _, err := tx.Add(records.KindSet, records.SetBody{Target: "session/" + id, Field: "deleted", Value: hidden}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	moved := records.Numbered(len(out.Sessions), "session", "sessions")
	var shown *refs.Tx
	err = db.Refs.Update(ctx, to.ID, fmt.Sprintf("merge %s of project %s", moved, from.Name), func(tx *refs.Tx) error {
		tx.Trailer("From", string(from.ID))
		shown = tx
		return set(false)(tx)
	})
	if err != nil {
		return out, err
	}
	return out, db.Refs.Update(ctx, from.ID, fmt.Sprintf("merge %s into project %s", moved, to.Name), func(tx *refs.Tx) error {
		tx.Trailer("Into", shown.Commit())
		return set(true)(tx)
	})
}

// capture captures the selected sessions of a project in another one, and returns them.
func (out *Moved) capture(ctx context.Context, db *state.DB, from, to state.Project, selected func(cwd string) bool,
	o capture.AddOptions, temp string) (revs []state.Rev, err error) {
	st, err := trust.Outline(ctx, db, from.ID)
	if err != nil {
		return nil, err
	}
	var sources []capture.Source
	device := db.Refs.Device().ID
	for _, s := range st.Sessions {
		top := s
		if parent := st.Session(s.Parent()); parent != nil {
			top = parent
		}
		switch {
		case !selected(top.Now().Scan.Cwd):
			continue
		case s.Deleted:
			out.Removed++
			continue
		case s.Last(device) == nil:
			out.Others++
			continue
		}
		rev := state.Rev{Kind: state.IsSession, Project: from, Session: s, Hash: s.Now().Original}
		revs = append(revs, rev)
		if s.Parent() == "" {
			out.Sessions = append(out.Sessions, s.ID)
		}
		if o.DryRun {
			continue
		}
		exact, err := export(ctx, db, rev, filepath.Join(temp, fmt.Sprint(len(revs))))
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
		sources = append(sources, exact...)
	}
	if len(revs) == 0 || o.DryRun {
		return revs, nil
	}
	o.Into = &to
	if _, err := capture.Add(ctx, db, sources, o); err != nil {
		return nil, fmt.Errorf("capture into project %s: %w", to.Name, err)
	}
	return revs, nil
}

// export writes the exact bytes of a session's generations and files to dir, and returns them as sources, oldest first.
func export(ctx context.Context, db *state.DB, rev state.Rev, dir string) (out []capture.Source, err error) {
	s := rev.Session
	last, err := originals.Exact(ctx, db, rev.Project.ID, s)
	if err != nil {
		return nil, err
	}
	points := slices.DeleteFunc(slices.Clone(s.Earlier()), func(p *records.Point) bool {
		return p.Stamp.Device != db.Refs.Device().ID || p.Generation == last.Generation
	})
	slices.Reverse(points) // oldest first
	for i, p := range append(points, last) {
		parent, _ := records.CutDevice(s.Parent())
		src := capture.Source{ID: s.FileID(), Parent: parent, Origin: s.Source(), Cwd: s.Now().Scan.Cwd,
			Path: filepath.Join(dir, fmt.Sprint(i), s.FileID()+".jsonl")}
		err := writeNew(src.Path, func(w io.Writer) error {
			return originals.WriteOriginal(ctx, db, rev.Project.ID, s, p, w)
		})
		if err != nil {
			return nil, err
		}
		if p == last {
			for _, f := range p.Files {
				if strings.ContainsAny(f.Name, `/\`) {
					return nil, fmt.Errorf("file %q: its name is not one of a file", f.Name)
				}
				name := filepath.Join(dir, "files", f.Name)
				at := capture.SessionPoint{Project: rev.Project.ID, Session: s, Point: p}
				err := writeNew(name, func(w io.Writer) error { return capture.WriteFile(ctx, db, at, f, w) })
				if err != nil {
					return nil, err
				}
				src.Files = append(src.Files, name)
			}
		}
		out = append(out, src)
	}
	return out, nil
}

// writeNew writes a new file and its directories.
func writeNew(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
