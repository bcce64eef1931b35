package forget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/originals"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// pendingFile is there while something is being forgotten. Who finds it brings that to its end.
const pendingFile = "forgetting.json"

// A pending is what is still to do after the lanes began anew. It holds no words of a session.
type pending struct {
	Projects []refs.Project `json:"projects"`
	Rebuild  []rebuild      `json:"rebuild,omitempty"`
}

// Forget takes what the options name out of this memory for ever, with everything that was made of it: this
// device's lanes begin anew without it, the bytes go from the packs of both repositories and from the cache at
// once, from remotes with the next push, and from other devices when they sync. What the built-in engine made
// of what is left is made again. Nothing can undo it, and a capture takes nothing of it in again.
//
// Interrupted, it leaves a valid memory; the next Forget brings it to its end. A dry run only says what would
// go. The error wraps [ErrNothingToForget] if nothing would; Finished says then, too, whether another one was
// brought to its end.
func (m Ops) Forget(ctx context.Context, o ForgetOptions) (out Forgotten, err error) {
	if !o.DryRun {
		unlock, err := m.Refs.LockForget(ctx)
		if err != nil {
			return out, err
		}
		defer unlock()
		err = m.Refs.WithReserve(func() (err error) { out.Finished, _, err = m.finishForgetting(ctx); return err })
		if err != nil {
			return out, fmt.Errorf("finish an interrupted forget: %w", err)
		}
	}
	var gone []string
	var said []bodies.Purge
	tools := map[string]bool{}
	for _, p := range o.places() {
		var f *forgetting
		err := m.Refs.WithReserve(func() (err error) { f, err = m.forgetIn(ctx, p, o, nil); return err })
		if err != nil {
			return out, fmt.Errorf("project %s: %w", p.Name, err)
		}
		out.Things = append(out.Things, f.things...)
		maps.Copy(tools, f.tools)
		for _, file := range f.files {
			if !slices.Contains(out.Files, file) {
				out.Files = append(out.Files, file)
			}
		}
		gone, said = append(gone, f.lost()...), append(said, f.purge)
	}
	if len(out.Things) == 0 {
		if o.Tool != "" && !tools[o.Tool] {
			return out, &NoToolError{o.Tool, sortedKeys(tools)}
		}
		return out, ErrNothingToForget
	}
	aside, err := m.aside()
	if err != nil {
		return out, err
	}
	out.Things = append(out.Things, aside...)
	out.Files = slices.DeleteFunc(out.Files, func(file string) bool { _, err := os.Lstat(file); return err != nil })
	if out.Remotes, err = m.remotesOf(o.places()); err != nil || o.DryRun {
		return out, err
	}
	var made []string
	err = m.Refs.WithReserve(func() error {
		_, again, err := m.finishForgetting(ctx)
		made = append(made, again...)
		return err
	})
	if err != nil {
		return out, err
	}
	_ = m.Refs.KeepReserve() // there may still be no room: "mem doctor" tells
	gone = slices.DeleteFunc(gone, func(name string) bool { return slices.Contains(made, name) })
	out.Proof, err = m.Prove(ctx, o, gone, said)
	return out, err
}

// places returns the projects to look in.
func (o ForgetOptions) places() []state.Project {
	all := slices.Clone(o.Projects)
	for _, rev := range o.Revs {
		if !slices.ContainsFunc(all, func(p state.Project) bool { return p.ID == rev.Project.ID }) {
			all = append(all, rev.Project)
		}
	}
	return all
}

// remotesOf returns the remotes that have some of the projects.
func (m Ops) remotesOf(projects []state.Project) (out []string, err error) {
	remotes, err := m.Refs.Remotes()
	for _, r := range remotes {
		if slices.ContainsFunc(projects, func(p state.Project) bool { _, ok := r.Projects[p.ID]; return ok }) {
			out = append(out, r.Name)
		}
	}
	return out, err
}

// FreePlans is how many times a forgetting is planned while others write. The next time they wait, so that it ends.
const FreePlans = 2

// forgetIn plans what a project is to forget and, unless it is a dry run, does it. If another writer comes
// first it begins again.
func (m Ops) forgetIn(ctx context.Context, p state.Project, o ForgetOptions,
	heeding *state.Purges) (*forgetting, error) {
	for try := 0; ; try++ {
		hold := try >= FreePlans && !o.DryRun
		f, err := m.tryForget(ctx, p, o, heeding, hold)
		if !errors.Is(err, refs.ErrConflict) || hold {
			return f, err
		}
	}
}

// tryForget plans once; with hold nobody else writes the project meanwhile.
func (m Ops) tryForget(ctx context.Context, p state.Project, o ForgetOptions, heeding *state.Purges,
	hold bool) (*forgetting, error) {
	var held *refs.Writer
	if hold {
		var err error
		if held, err = m.Refs.Writer(ctx, p.ID); err != nil {
			return nil, err
		}
		defer held.Close()
	}
	f, err := m.NewForgetting(ctx, p, o, heeding)
	if err != nil {
		return nil, err
	}
	f.held = held
	defer f.Stage.Close()
	if err := f.Plan(ctx); err != nil {
		return f, err
	}
	needed := f.found()
	if heeding != nil {
		needed = f.changes() || f.answer && len(f.answers) > 0
	}
	if o.DryRun || !needed {
		return f, nil
	}
	if err := originals.On(m.DB).AddSeals(f.Seals); err != nil {
		return f, err
	}
	if err := m.NotePending(f); err != nil {
		return f, err
	}
	return f, f.Apply(ctx)
}

// lost returns the names of what is not there any more.
func (f *forgetting) lost() []string {
	kept := f.named()
	return slices.DeleteFunc(sortedKeys(f.gone), func(name string) bool { return kept[name] })
}

func (m Ops) NotePending(f *forgetting) error {
	p, _, err := m.ReadPending()
	if err != nil {
		return err
	}
	if !slices.Contains(p.Projects, f.p.ID) {
		p.Projects = append(p.Projects, f.p.ID)
	}
	p.Rebuild = append(p.Rebuild, f.redo...)
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return m.Refs.WriteNote(pendingFile, append(b, '\n'))
}

func (m Ops) ReadPending() (p pending, ok bool, err error) {
	ok, err = m.Refs.ReadNote(pendingFile, &p)
	return p, ok, err
}

// RenewPending notes anew that something is being forgotten, when the note of it is damaged beyond repair: all
// projects are looked through, and what was made of what goes is not made again. It returns where the damaged
// note is kept.
func (m Ops) RenewPending() (kept string, err error) {
	var p pending
	if p.Projects, err = m.Refs.Projects(); err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	return m.Refs.ReplaceNote(pendingFile, append(b, '\n'))
}

// finishForgetting drops the bytes of what the lanes do not hold any more, and makes again what was made of it.
// It reports whether there was anything to do, and the names of what it made: without what is forgotten a text
// may come out as it was.
func (m Ops) finishForgetting(ctx context.Context) (some bool, made []string, err error) {
	p, some, err := m.ReadPending()
	if err != nil || !some {
		return false, nil, err
	}
	for _, id := range p.Projects {
		if err := m.DropPatches(ctx, id); err != nil {
			return true, made, err
		}
	}
	if err := m.dropBytes(ctx); err != nil {
		return true, made, err
	}
	if len(p.Rebuild) > 0 {
		if made, err = m.rebuildAll(ctx, p.Rebuild); err != nil {
			return true, made, err
		}
		if err := m.dropBytes(ctx); err != nil {
			return true, made, err
		}
	}
	return true, made, m.Refs.RemoveNote(pendingFile)
}

// aside returns the damaged files that a repair put aside. What is in them cannot be told, so all of them go.
func (m Ops) aside() (out []ForgottenThing, err error) {
	files, err := repair.Damaged(m.Refs)
	for _, f := range files {
		out = append(out, ForgottenThing{Kind: "damaged file", Name: f, Count: 1})
	}
	return out, err
}

// dropBytes empties the cache, drops the damaged files that a repair put aside, and takes out of the packs what
// nothing leads to.
func (m Ops) dropBytes(ctx context.Context) error {
	m.Outlines.Clear()
	m.CountedMu.Lock()
	m.Counted = nil
	m.CountedMu.Unlock()
	if err := m.DropCache(); err != nil {
		return err
	}
	if err := repair.DropDamaged(m.Refs); err != nil {
		return err
	}
	return m.Refs.Sweep(ctx)
}

// DropPatches lets only those patches of a project stay whose records do.
func (m Ops) DropPatches(ctx context.Context, p refs.Project) error {
	keep := map[objects.Hash]bool{}
	err := m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		records, err := tx.Records(ctx, nil)
		for _, r := range records {
			if r.Kind != bodies.KindSession {
				continue
			}
			keep[r.ID] = true
			err = errors.Join(err, state.ApplyTo(r, func(s bodies.Snapshot) {
				for _, file := range s.Files {
					keep[secrets.FilePatchID(r.ID, file.Name)] = true
				}
				if !s.Withheld {
					delete(keep, r.ID)
				}
			}))
		}
		return err
	})
	if err != nil {
		return err
	}
	return m.Refs.RewritePatches(ctx, p, func(h objects.Hash) bool { return keep[h] })
}

// unlessStore drops an error that says that too little is left to make something of; those of the store stay.
func unlessStore(err error) error {
	var store *refs.WriteError
	if errors.As(err, &store) || errors.Is(err, context.Canceled) || errors.Is(err, objects.ErrCorrupt) ||
		errors.Is(err, objects.ErrNotFound) {
		return err
	}
	return nil
}

func (m Ops) composeRebuilt(ctx context.Context, st *state.State, r rebuild) (made objects.Hash, err error) {
	for _, c := range st.Compositions {
		if c.Name == r.Name && !c.Deleted {
			return made, nil // it is there already
		}
	}
	strategy, err := compose.ParseStrategy(r.Strategy)
	if err != nil {
		return made, err
	}
	req := derive.ComposeRequest{Project: r.Project, Name: r.Name, Budget: r.Budget, Strategy: strategy}
	for _, part := range r.Parts {
		in := st
		if part.Project != r.Project.ID {
			if in, err = trust.On(m.DB).State(ctx, part.Project); err != nil {
				return made, err
			}
		}
		s := in.Session(part.Session)
		if s == nil {
			continue
		}
		rev := state.Rev{Kind: state.IsSession, Project: state.Project{ID: part.Project, Name: in.Name,
			Identity: in.Identity}, Session: s, Hash: s.Now().Original}
		if v := m.partAgain(in.VersionsOf(part.Session), part); v != nil {
			rev.Kind, rev.Version, rev.Hash = state.IsVersion, v, v.Derivation.Output
		}
		req.Parts = append(req.Parts, derive.ComposePart{Rev: rev})
	}
	c, err := derive.On(m.DB).Compose(ctx, req)
	if err != nil {
		return made, unlessStore(err)
	}
	return c.Composition.Derivation.Output, nil
}

// partAgain returns the version that a part was made of, or what this device made again in its place; nil if
// neither is there.
func (m Ops) partAgain(versions []*bodies.Version, part bodies.CompositionPart) (again *bodies.Version) {
	for _, v := range versions {
		switch {
		case v.Derivation.Output == part.Output:
			return v
		case v.Device == m.Refs.Device().ID && v.Label == part.Label:
			again = v
		}
	}
	return again
}

// FinishForgetting brings to its end what was interrupted, and reports whether there was anything.
func (m Ops) FinishForgetting(ctx context.Context) (bool, error) {
	unlock, err := m.Refs.LockForget(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	some := false
	err = m.Refs.WithReserve(func() (err error) { some, _, err = m.finishForgetting(ctx); return err })
	return some, err
}
