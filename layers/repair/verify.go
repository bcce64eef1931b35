package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// A Checked is the result of a check of the whole memory.
type Checked struct {
	repair.Counts
	Versions      int              `json:"versions"`
	Compositions  int              `json:"compositions"`
	Withheld      int              `json:"withheld"` // originals whose patch is on another device
	MissingInputs []MissingInput   `json:"apart"`
	Problems      []repair.Problem `json:"problems"`
	Roots         []Root           `json:"roots"`
	Newer         bool             `json:"-"` // data of a newer mem, which this version cannot repair
	Ignored       []repair.Problem `json:"-"` // faults in records of other devices, which only these can correct
	own           []string         // identities of this device
}

// A MissingInput is an input of valid derived data that is in no local lane: it is in the lane of a third device,
// which the remote does not have.
type MissingInput struct {
	Project string       `json:"project"` // its name
	Name    string       `json:"name"`    // version 9b2c1d4e:v001, composition feature-x, facts of session 9b2c1d4e
	Device  string       `json:"device"`  // that derived it
	Input   objects.Hash `json:"input"`   // the missing input
}

// A Root is the hash of a project. Two memories with the same records of a project have the same root.
type Root struct {
	Project refs.Project `json:"project"`
	Name    string       `json:"name"`
	Hash    objects.Hash `json:"root"`
}

// Check checks refs, commits, trees, records and streams ([repair.Check]), that lineage has no cycle
// ([lineage.Graph.Check]), and that every input and output exists. With full it reads every byte and restores every
// original whose patches this device has.
func Check(ctx context.Context, db *state.DB, full bool) (Checked, error) {
	c, err := nothing(), error(nil)
	if c.Counts, err = repair.Check(ctx, db.Refs, full, c.report); err != nil {
		return c, err
	}
	err = c.projects(ctx, db, func(ctx context.Context, id refs.Project) error {
		return checkProject(ctx, db, id, full, &c)
	})
	return c, err
}

// CheckExistence is [Check] of what every command reads, the state of each project: it checks that every input and output
// exists, and reads the texts derived from sessions. It does not read the other objects, and returns no roots.
func CheckExistence(ctx context.Context, db *state.DB) (Checked, error) {
	c := nothing()
	err := c.projects(ctx, db, func(ctx context.Context, id refs.Project) error {
		var st *state.State
		err := db.Refs.View(ctx, id, func(tx *refs.Tx) (err error) {
			if st, err = db.Fold(ctx, tx, id); err != nil {
				return err
			}
			upper, err := db.UpperAt(ctx, tx, id)
			if err != nil {
				return err
			}
			return checkLineage(ctx, db, tx, st, upper, &c)
		})
		if err != nil {
			return err
		}
		return checkPatches(ctx, db, id, st, false, &c)
	})
	return c, err
}

// nothing is a [Checked] whose JSON has no null.
func nothing() Checked {
	return Checked{MissingInputs: []MissingInput{}, Problems: []repair.Problem{}, Roots: []Root{}}
}

func (c *Checked) report(p repair.Problem) {
	if p.Device != "" {
		c.Ignored = append(c.Ignored, p)
		return
	}
	c.Problems = append(c.Problems, p)
}

// projects calls check for each project and reports its errors.
func (c *Checked) projects(ctx context.Context, db *state.DB, check func(context.Context, refs.Project) error) (err error) {
	if c.own, err = db.Refs.OwnDevices(); err != nil {
		c.report(repair.Problem{Where: "devices", What: err.Error()})
	}
	c.own = append(c.own, db.Refs.Device().ID)
	ids, err := db.Refs.Projects()
	if err != nil {
		c.report(repair.Problem{Where: "projects", What: err.Error()})
	}
	for _, id := range ids {
		err := check(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.Newer = c.Newer || errors.Is(err, refs.ErrFormat)
			c.report(repair.Problem{Where: "project " + string(id), What: err.Error()})
		}
	}
	slices.SortFunc(c.Roots, func(a, b Root) int { return strings.Compare(string(a.Project), string(b.Project)) })
	return nil
}

func checkProject(ctx context.Context, db *state.DB, id refs.Project, full bool, c *Checked) error {
	var st *state.State
	err := db.Refs.View(ctx, id, func(tx *refs.Tx) error {
		fresh := state.NewState(id) // not from the cache, which is checked, too
		all, err := tx.Records(ctx, nil)
		if err == nil {
			err = fresh.ApplyPurges(all)
		}
		if err == nil {
			all, err = state.Unpurged(all)
		}
		if err != nil {
			return err
		}
		for _, r := range all {
			if err := fresh.Apply(r); err != nil {
				return err
			}
		}
		fresh.Finish(db.Refs.Device().ID)
		st = fresh
		root, err := tx.Root()
		if err != nil {
			return err
		}
		c.Roots = append(c.Roots, Root{id, st.Name, root})
		return checkLineage(ctx, db, tx, st, all, c)
	})
	if err != nil {
		return err
	}
	return checkPatches(ctx, db, id, st, full, c)
}

// A lineageCheck checks that everything in the records of a project exists and is consistent. Faults in records of
// other devices are reported with the device.
type lineageCheck struct {
	m      *state.DB
	tx     *refs.Tx
	st     *state.State
	c      *Checked
	have   map[objects.Hash]bool
	listed map[objects.Hash]bool // texts listed by records of trusted devices
}

func (l *lineageCheck) bad(what, device string, err error) {
	l.c.problem(l.st, what, device, err)
}

// problem records a fault in a record of a device. The store is sound if another device has signed it like that.
func (c *Checked) problem(st *state.State, what, device string, err error) {
	p := repair.Problem{Where: "project " + st.AsProject().Name + ": " + what, What: err.Error()}
	if device != "" && !slices.Contains(c.own, device) {
		p.Device = device
		c.Ignored = append(c.Ignored, p)
		return
	}
	c.Problems = append(c.Problems, p)
}

func (l *lineageCheck) need(what, device string, h objects.Hash) {
	if !l.have[h] {
		l.bad(what, device, fmt.Errorf("object %s is missing: %w", h.Short(), objects.ErrNotFound))
	}
}

// input checks that an input of a derivation exists.
func (l *lineageCheck) input(what, device string, deleted bool, h objects.Hash) {
	switch {
	case l.have[h]:
	case l.listed[h] || device == l.m.Refs.Device().ID:
		l.need(what, device, h)
	case !deleted:
		a := MissingInput{l.st.AsProject().Name, what, device, h}
		if !slices.Contains(l.c.MissingInputs, a) {
			l.c.MissingInputs = append(l.c.MissingInputs, a)
		}
	}
}

func checkLineage(ctx context.Context, db *state.DB, tx *refs.Tx, st *state.State, upper []refs.Record, c *Checked) error {
	l := &lineageCheck{m: db, tx: tx, st: st, c: c, have: map[objects.Hash]bool{}, listed: listedTexts(st)}
	for h, err := range tx.All(ctx) {
		if err != nil {
			return err
		}
		l.have[h] = true
	}
	l.upper(upper)
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			l.need("session "+records.ShortID(s.ID), p.Stamp.Device, p.Original)
			for _, f := range p.Files {
				l.need("session "+records.ShortID(s.ID)+", file "+f.Name, p.Stamp.Device, f.Hash)
			}
		}
	}
	for _, v := range st.Versions {
		l.version(ctx, v)
	}
	for _, k := range st.Compositions {
		l.composition(ctx, k)
	}
	l.cycles()
	return ctx.Err()
}

// cycles checks the graph of derivations: first that of this device, then with those of one more device each. A device
// that closes a cycle is left out.
func (l *lineageCheck) cycles() {
	of := map[string][]lineage.Derivation{}
	add := func(device string, d lineage.Derivation) {
		if slices.Contains(l.c.own, device) {
			device = ""
		}
		of[device] = append(of[device], d)
	}
	for _, v := range l.st.Versions {
		add(v.Device, v.Derivation)
	}
	for _, k := range l.st.Compositions {
		add(k.Device, k.Derivation)
	}
	var sound []lineage.Derivation
	for _, device := range slices.Sorted(maps.Keys(of)) {
		var graph lineage.Graph
		for _, s := range l.st.Sessions {
			for _, p := range s.Points {
				graph.AddSource(p.Original)
			}
		}
		with := slices.Concat(sound, of[device])
		for _, d := range with {
			graph.Add(d)
		}
		if err := graph.Check(); err != nil {
			l.bad("lineage", device, err)
			continue
		}
		sound = with
	}
}

func (l *lineageCheck) version(ctx context.Context, v *records.Version) {
	l.c.Versions++
	what := fmt.Sprintf("version %s:%s", records.ShortID(v.Session), v.Label)
	l.need(what, v.Device, v.Derivation.Output)
	for _, h := range v.Derivation.Witnesses {
		l.need(what, v.Device, h)
	}
	for _, h := range v.Derivation.Inputs {
		l.input(what, v.Device, v.Deleted, h)
	}
	if err := checkVersion(ctx, l.tx, v); err != nil {
		l.bad(what, v.Device, err)
	}
}

func (l *lineageCheck) composition(ctx context.Context, k *records.Composition) {
	l.c.Compositions++
	what := "composition " + k.Name
	l.need(what, k.Device, k.Derivation.Output)
	parts := min(len(k.Parts), len(k.Derivation.Inputs))
	if parts < len(k.Parts) {
		l.bad(what, k.Device, fmt.Errorf("%d parts of %d inputs", len(k.Parts), parts))
	}
	for i, p := range k.Parts[:parts] {
		if p.Project == l.st.Project {
			l.input(what, k.Device, k.Deleted, k.Derivation.Inputs[i])
		}
	}
	for _, in := range k.Derivation.Inputs[parts:] {
		l.need(what, k.Device, in) // facts of a summary
	}
	if err := readObject(ctx, l.tx, k.Derivation.Output, func(b []byte) error {
		_, err := compose.Decode(b)
		return err
	}); err != nil {
		l.bad(what, k.Device, err)
	}
}

// upper checks facts and rules: those of this device together, those of each other device separately.
func (l *lineageCheck) upper(all []refs.Record) {
	of := map[string][]facts.Record{}
	for _, r := range all {
		device := ""
		if !slices.Contains(l.c.own, r.Device) {
			device = r.Device
		}
		of[device] = append(of[device], facts.Record{Kind: r.Kind, Device: r.Device, Body: r.Body})
	}
	for _, device := range slices.Sorted(maps.Keys(of)) {
		need := func(what string, h objects.Hash) { l.need(what, device, h) }
		if err := checkFacts(of[device], need, l.input); err != nil {
			l.bad("facts", device, err)
		}
	}
}

// checkFacts checks that the transcripts quoted by facts exist, and the questions and answers of models.
func checkFacts(all []facts.Record, need func(string, objects.Hash),
	input func(what, device string, deleted bool, h objects.Hash)) error {
	set, err := facts.Fold(all)
	if err != nil {
		return err
	}
	for _, x := range set.Exchanges {
		if !x.Original.IsZero() {
			input("facts of session "+records.ShortID(x.Session), x.Device, false, x.Original)
		}
	}
	for _, r := range all {
		asked, err := knowledge.Witnesses(r.Kind, r.Body)
		if err != nil {
			return err
		}
		what := "witness of rules"
		if r.Kind == facts.KindDistilled {
			what = "witness of facts"
		}
		for _, w := range asked {
			need(what, w)
		}
	}
	return nil
}

// listedTexts returns the texts that the records of a project list: transcripts and derived texts.
func listedTexts(st *state.State) map[objects.Hash]bool {
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
func checkVersion(ctx context.Context, tx *refs.Tx, v *records.Version) error {
	if _, err := v.Plan(); err != nil {
		return err
	}
	return readObject(ctx, tx, v.Derivation.Output, func(b []byte) error {
		_, err := version.Decode(b)
		return err
	})
}

// readObject calls f with the content of an object. A missing object is reported elsewhere.
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

// checkPatches checks that the exact bytes of every session and its files can be restored.
func checkPatches(ctx context.Context, db *state.DB, id refs.Project, st *state.State, full bool, c *Checked) error {
	for _, s := range st.Sessions {
		for i := range s.Points {
			p := &s.Points[i]
			found := func(what string, err error) {
				if errors.Is(err, originals.ErrWithheld) && p.Stamp.Device != db.Refs.Device().ID {
					c.Withheld++
				} else if err != nil {
					c.problem(st, what+" of "+records.ShortID(s.ID), p.Stamp.Device, err)
				}
			}
			if p.Withheld {
				found("original", checkOriginal(ctx, db, id, s, p, full))
			}
			for _, f := range p.Files {
				if f.Withheld {
					at := capture.SessionPoint{Project: id, Session: s, Point: p}
					found("file "+f.Name, checkFile(ctx, db, at, f, full))
				}
			}
		}
	}
	return ctx.Err()
}

func checkOriginal(ctx context.Context, db *state.DB, id refs.Project, s *state.Session, p *records.Point, full bool) error {
	if full {
		return originals.WriteOriginal(ctx, db, id, s, p, io.Discard)
	}
	_, err := originals.Patches(ctx, db, id, s, p)
	return err
}

func checkFile(ctx context.Context, db *state.DB, at capture.SessionPoint, f records.FileRef, full bool) error {
	if full {
		return capture.WriteFile(ctx, db, at, f, io.Discard)
	}
	_, err := secrets.FilePatch(ctx, db, at.Project, at.Session, at.Point, f.Name)
	return err
}
