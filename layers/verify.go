package layers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Checked is the result of a check of the whole memory.
type Checked struct {
	refs.Counts
	Versions, Compositions int
	Withheld               int // originals whose patch is not on this machine
	Apart                  []Apart
	Newer                  bool // something was written by a newer version of mem: no damage that this one could repair
	Problems               []refs.Problem
	Ignored                []refs.Problem // what other devices wrote and nobody heeds: all else is whole
	Roots                  []Root
}

// An Apart is something that another device made of a text that lies in no lane here: in that of a third device, which the remote it came
// from does not have. What was made is whole.
type Apart struct {
	Project Project
	Name    string       // of what was made: version 9b2c1d4e:v001, composition feature-x, facts of session 9b2c1d4e
	Device  string       // that made it
	Input   objects.Hash // that is not here
}

// A Root is the hash of a project: two memories with the same records have the same.
type Root struct {
	Project Project
	Hash    objects.Hash
}

// Check checks everything: refs, commits, trees, records, streams ([refs.Repo.Check]), and that lineage has
// no cycle ([lineage.Graph.Check]) and every input and output is there. With full it reads every byte and restores every original
// that this device has patches for.
func (m *Memory) Check(ctx context.Context, full bool) (Checked, error) {
	var c Checked
	var err error
	report := func(p refs.Problem) {
		if p.Device != "" {
			c.Ignored = append(c.Ignored, p)
			return
		}
		c.Problems = append(c.Problems, p)
	}
	if c.Counts, err = m.repo.Check(ctx, full, report); err != nil {
		return c, err
	}
	ids, err := m.repo.Projects()
	if err != nil {
		report(refs.Problem{Where: "projects", What: err.Error()})
	}
	for _, id := range ids {
		err := m.checkProject(ctx, id, full, &c)
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err != nil {
			c.Newer = c.Newer || errors.Is(err, refs.ErrFormat)
			report(refs.Problem{Where: "project " + string(id), What: err.Error()})
		}
	}
	slices.SortFunc(c.Roots, func(a, b Root) int { return strings.Compare(string(a.Project.ID), string(b.Project.ID)) })
	return c, nil
}

func (m *Memory) checkProject(ctx context.Context, id refs.Project, full bool, c *Checked) error {
	var st *State
	err := m.repo.View(ctx, id, func(tx *refs.Tx) error {
		fresh := newState(id) // not from the cache: that is checked too
		records, err := tx.Records(ctx, nil)
		if err == nil {
			fresh.Strangers, err = m.strangersAt(ctx, id, tx.Tips())
		}
		if err == nil {
			err = m.heed(ctx, fresh, records)
		}
		if err == nil {
			records, err = m.unpurged(ctx, id, records)
		}
		if err != nil {
			return err
		}
		var upper []facts.Record
		for _, r := range records {
			if err := fresh.apply(r); err != nil {
				return err
			}
			upper = append(upper, facts.Record{Kind: r.Kind, Device: r.Device, Body: r.Body})
		}
		fresh.finish()
		st = fresh
		root, err := tx.Root()
		if err != nil {
			return err
		}
		c.Roots = append(c.Roots, Root{st.project(), root})
		return m.checkLineage(ctx, tx, st, upper, c)
	})
	if err != nil {
		return err
	}
	return m.checkPatches(ctx, id, st, full, c)
}

// checkLineage looks whether everything that records name is there and fits together.
func (m *Memory) checkLineage(ctx context.Context, tx *refs.Tx, st *State, upper []facts.Record, c *Checked) error {
	bad := func(what, device string, err error) {
		p := refs.Problem{Where: "project " + st.project().Name + ": " + what, What: err.Error()}
		if st.stranger(device) {
			p.Device = device
			c.Ignored = append(c.Ignored, p)
			return
		}
		c.Problems = append(c.Problems, p)
	}
	have := map[objects.Hash]bool{}
	for h, err := range tx.All(ctx) {
		if err != nil {
			return err
		}
		have[h] = true
	}
	need := func(what, device string, h objects.Hash) {
		if !have[h] {
			bad(what, device, fmt.Errorf("object %s is missing: %w", h.Short(), objects.ErrNotFound))
		}
	}
	told := made(st)
	input := func(what, device string, deleted bool, h objects.Hash) {
		switch {
		case have[h]:
		case told[h] || device == m.repo.Device().ID:
			need(what, device, h)
		case !deleted:
			a := Apart{st.project(), what, device, h}
			if !slices.Contains(c.Apart, a) {
				c.Apart = append(c.Apart, a)
			}
		}
	}
	own := func(what string, h objects.Hash) { need(what, "", h) }
	if err := checkFacts(upper, own, input); err != nil {
		bad("facts", "", err)
	}
	var graph lineage.Graph
	for _, s := range st.Sessions {
		for _, p := range slices.Concat(s.Points, s.Guests) {
			need("session "+ShortID(s.ID), p.Stamp.Device, p.Original)
			graph.AddSource(p.Original)
			for _, f := range p.Files {
				need("session "+ShortID(s.ID)+", file "+f.Name, p.Stamp.Device, f.Hash)
			}
		}
	}
	for _, v := range st.Versions {
		c.Versions++
		what := fmt.Sprintf("version %s:%s", ShortID(v.Session), v.Label)
		if !v.guest {
			graph.Add(v.Derivation)
		}
		need(what, v.Device, v.Derivation.Output)
		for _, h := range v.Derivation.Witnesses {
			need(what, v.Device, h)
		}
		for _, h := range v.Derivation.Inputs {
			input(what, v.Device, v.Deleted, h)
		}
		if err := m.checkVersion(ctx, tx, v); err != nil {
			bad(what, v.Device, err)
		}
	}
	for _, k := range st.Compositions {
		c.Compositions++
		what := "composition " + k.Name
		need(what, k.Device, k.Derivation.Output)
		if !st.stranger(k.Device) {
			graph.Add(k.Derivation)
		}
		for i, p := range k.Parts {
			if p.Project == st.Project {
				input(what, k.Device, k.Deleted, k.Derivation.Inputs[i])
			}
		}
		for _, in := range k.Derivation.Inputs[min(len(k.Parts), len(k.Derivation.Inputs)):] {
			need(what, k.Device, in) // the facts of a summary
		}
		if err := readObject(ctx, tx, k.Derivation.Output, func(b []byte) error { _, err := compose.Decode(b); return err }); err != nil {
			bad(what, k.Device, err)
		}
	}
	if err := graph.Check(); err != nil {
		bad("lineage", "", err)
	}
	return nil
}

// checkFacts looks whether the transcripts that facts quote are there, and what models were asked and answered.
func checkFacts(records []facts.Record, need func(string, objects.Hash), input func(what, device string, deleted bool, h objects.Hash)) error {
	set, err := facts.Fold(records, nil)
	if err != nil {
		return err
	}
	for _, x := range set.Exchanges {
		if !x.Original.IsZero() {
			input("facts of session "+ShortID(x.Session), x.Device, false, x.Original)
		}
	}
	for _, w := range set.Witnesses {
		need("witness of facts", w)
	}
	for _, r := range records {
		asked, err := reflected(r.Kind, r.Body)
		if err != nil {
			return err
		}
		for _, w := range asked {
			need("witness of rules", w)
		}
	}
	return nil
}

// made returns the texts that the records of a project say are here: transcripts, and what was made of them.
func made(st *State) map[objects.Hash]bool {
	out := map[objects.Hash]bool{}
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			out[p.Original] = true
		}
	}
	for _, v := range st.Versions {
		out[v.Derivation.Output] = true
	}
	for _, k := range st.Compositions {
		out[k.Derivation.Output] = true
	}
	return out
}

// checkVersion reads a version and its plan.
func (m *Memory) checkVersion(ctx context.Context, tx *refs.Tx, v *Version) error {
	if _, err := v.Plan(); err != nil {
		return err
	}
	return readObject(ctx, tx, v.Derivation.Output, func(b []byte) error { _, err := compress.Decode(b); return err })
}

// readObject gives f the content of an object; that it is missing is reported elsewhere.
func readObject(ctx context.Context, tx *refs.Tx, h objects.Hash, f func([]byte) error) error {
	rc, err := tx.Get(ctx, h)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	if err != nil {
		return err
	}
	return f(b)
}

// checkPatches looks whether the exact bytes of every session and of its files can be had.
func (m *Memory) checkPatches(ctx context.Context, id refs.Project, st *State, full bool, c *Checked) error {
	for _, s := range st.Sessions {
		for i := range s.Points {
			p := &s.Points[i]
			found := func(what string, err error) {
				if errors.Is(err, ErrWithheld) && p.Stamp.Device != m.repo.Device().ID {
					c.Withheld++
				} else if err != nil {
					c.Problems = append(c.Problems, refs.Problem{Where: "project " + st.project().Name + ": " + what + " of " + ShortID(s.ID), What: err.Error()})
				}
			}
			if p.Withheld {
				found("original", m.checkOriginal(ctx, id, s, p, full))
			}
			for _, f := range p.Files {
				if f.Withheld {
					found("file "+f.Name, m.checkFile(ctx, id, s, p, f, full))
				}
			}
		}
	}
	return ctx.Err()
}

func (m *Memory) checkOriginal(ctx context.Context, id refs.Project, s *Session, p *Point, full bool) error {
	if full {
		return m.WriteOriginal(ctx, id, s, p, io.Discard)
	}
	_, err := m.patches(ctx, id, s, p)
	return err
}

func (m *Memory) checkFile(ctx context.Context, id refs.Project, s *Session, p *Point, f FileRef, full bool) error {
	if full {
		return m.WriteFile(ctx, id, s, p, f, io.Discard)
	}
	_, err := m.filePatch(ctx, id, s, p, f.Name)
	return err
}
