package forget

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// A Proof is the result of searching every byte of the store for deleted text.
type Proof struct {
	Bytes   int64 // searched: files as they are, objects of git unpacked, streams decompressed
	Objects int
	Left    []string       // where deleted text was found: paths, and places in repositories
	Others  map[string]int // by device: places in its lanes, until it syncs
	Kept    []Kept         // places that no deletion changes
	Same    []Remaining    // messages that have the same text as deleted ones, and stay
	// Unselected are the projects that match too, but were not selected.
	Unselected []refs.Project
}

// Prove searches every byte of the store: for a secret and its spellings, for matches of an expression, or else for the
// names in gone. purges has the purges of this deletion, which other devices must apply.
func Prove(ctx context.Context, db *state.DB, o ForgetOptions, gone []string, purges []records.Purge) (Proof, error) {
	v := &Prover{M: db, o: o, purges: purges, Out: Proof{Others: map[string]int{}}}
	switch {
	case o.Secret != nil:
		v.Needles = markers.Spellings(o.Secret)
	case o.Match == nil:
		v.names = map[string]bool{}
		for _, name := range gone {
			if isHash(name) {
				v.names[name] = true
			} else {
				v.Needles = append(v.Needles, []byte(name))
			}
		}
	}
	lanes, err := AllLanes(db)
	if err != nil {
		return v.Out, err
	}
	if err := v.lanes(ctx, lanes); err != nil {
		return v.Out, err
	}
	if err := v.hidden(ctx); err != nil {
		return v.Out, err
	}
	if err := v.repositories(ctx); err != nil {
		return v.Out, err
	}
	if err := v.files(); err != nil {
		return v.Out, err
	}
	aside, err := repair.Damaged(db.Refs)
	if err != nil {
		return v.Out, err
	}
	for _, file := range aside {
		v.Out.Left = append(v.Out.Left, file+", which is damaged")
	}
	v.sortKept()
	slices.Sort(v.Out.Left)
	v.Out.Left = slices.Compact(v.Out.Left)
	return v.Out, nil
}

// Holds searches every byte of the store for a text and returns the places that contain it, except in the lanes of
// other devices and in unreachable objects, which the next sweep deletes.
func Holds(ctx context.Context, db *state.DB, text []byte) ([]string, error) {
	p, err := Prove(ctx, db, ForgetOptions{}, []string{string(text)}, nil)
	return slices.DeleteFunc(p.Left, func(where string) bool { return strings.HasSuffix(where, unreachable) }), err
}

// unreachable is the suffix of the entry of an unreachable object in [Proof].Left.
const unreachable = ", which is unreachable"

// A Prover searches a store for needles and for matches of an expression.
type Prover struct {
	M       *state.DB
	o       ForgetOptions
	purges  []records.Purge
	Needles [][]byte
	names   map[string]bool // more needles: hashes, of which there may be many
	Out     Proof
}

// AllLanes returns the lanes of all projects, including [refs.Home] and those of untrusted devices.
func AllLanes(db *state.DB) ([]refs.Lane, error) {
	lanes, err := db.Refs.AllLanes()
	if err != nil {
		return nil, err
	}
	devices, err := db.Refs.OwnDevices()
	for _, d := range devices {
		lanes = append(lanes, refs.Lane{Project: refs.Home, Device: d})
	}
	return lanes, err
}

// lanes searches lanes, as many at once as there are processors.
func (v *Prover) lanes(ctx context.Context, lanes []refs.Lane) error {
	each := make([]Prover, len(lanes))
	errs := make([]error, len(lanes))
	state.Parallel(len(lanes), runtime.GOMAXPROCS(0), func(i int) {
		each[i] = Prover{M: v.M, o: v.o, Needles: v.Needles, names: v.names, Out: Proof{Others: map[string]int{}}}
		errs[i] = each[i].Lane(ctx, lanes[i])
	})
	for i := range each {
		out := each[i].Out
		v.Out.Bytes += out.Bytes
		if p := lanes[i].Project; !v.selected(p) {
			if len(out.Left)+len(out.Others)+len(out.Kept) > 0 && !slices.Contains(v.Out.Unselected, p) {
				v.Out.Unselected = append(v.Out.Unselected, p)
			}
			continue
		}
		v.Out.Left = append(v.Out.Left, out.Left...)
		for d, n := range out.Others {
			v.Out.Others[d] += n
		}
		for _, k := range out.Kept {
			v.keep(k.Device, k.Kind, k.Places)
		}
	}
	return cmp.Or(errs...)
}

// selected reports whether a project is searched for what must be gone. Names and secrets must be gone everywhere.
func (v *Prover) selected(p refs.Project) bool {
	return v.o.Match == nil || p == refs.Home ||
		slices.ContainsFunc(v.o.projects(), func(x state.Project) bool { return x.ID == p })
}

// Lane searches everything that is reachable from a lane, with streams decompressed.
func (v *Prover) Lane(ctx context.Context, l refs.Lane) error {
	return v.M.Refs.Outgoing(ctx, l, func(string) bool { return false }, func(piece refs.Piece) error {
		var found bool
		var err error
		var match func(line []byte) bool
		switch piece.Kind {
		case "object":
			match = v.o.matcher().derived
		case "stream":
			match = v.o.matcher().records
		}
		if piece.Kind == "record" || piece.Kind == "commit" {
			found, err = v.metadata(l, piece)
		} else {
			found, err = v.finds(piece.Content, match)
		}
		if err != nil || !found {
			return err
		}
		if l.Device != v.M.Refs.Device().ID {
			v.Out.Others[l.Device]++
			return nil
		}
		v.Out.Left = append(v.Out.Left, "memory.git "+piece.Kind+" "+piece.Name.Short())
		return nil
	})
}

// hidden counts the hidden records of other devices about the same sessions or records. A record that was derived from
// deleted text need not contain a name or a word of it.
func (v *Prover) hidden(ctx context.Context) error {
	about, records := map[string]bool{}, map[string]bool{}
	for _, p := range v.purges {
		for _, s := range p.Sessions {
			about[s] = true
		}
		for _, x := range p.Passages {
			about[x.Session] = true
		}
		for _, r := range p.Records {
			records[r] = true
		}
	}
	same := func(r refs.Record) bool {
		return records[state.RecordName(state.StampOf(r))] || slices.ContainsFunc(state.SessionsIn(r.Kind, r.Body),
			func(s string) bool {
				return slices.ContainsFunc(state.KeysOf(s, r.Device), func(key string) bool { return about[key] })
			})
	}
	for _, p := range v.o.projects() {
		if p.ID == refs.Home {
			continue
		}
		var all []refs.Record
		err := v.M.Refs.View(ctx, p.ID, func(tx *refs.Tx) (err error) {
			all, err = tx.Records(ctx, nil)
			return err
		})
		if err != nil {
			return err
		}
		seen, err := state.Unpurged(all)
		if err != nil {
			return err
		}
		shown, hidden := map[objects.Hash]bool{}, map[string]int{}
		for _, r := range seen {
			shown[r.ID] = true
		}
		for _, r := range all {
			if !shown[r.ID] && same(r) && r.Device != v.M.Refs.Device().ID {
				hidden[r.Device]++
			}
		}
		for d, n := range hidden {
			v.Out.Others[d] = max(v.Out.Others[d], n)
		}
	}
	return nil
}

// contains reports whether b contains a needle.
func (v *Prover) contains(b []byte) bool {
	return originals.Holds(b, v.Needles) || containsName(b, v.names)
}

// containsName reports whether b contains one of some hashes. It takes the same time for any number of them.
func containsName(b []byte, names map[string]bool) bool {
	if len(names) == 0 {
		return false
	}
	const digits = 2 * objects.Size
	run := 0 // hexadecimal digits before i
	for i, c := range b {
		if !objects.IsDigit(c) {
			run = 0
		} else if run++; run >= digits && names[string(b[i+1-digits:i+1])] {
			return true
		}
	}
	return false
}

// finds reports whether r contains a needle or, with an expression and if match is not nil, a line that matches.
func (v *Prover) finds(r io.Reader, match func(line []byte) bool) (bool, error) {
	var look interface {
		io.Writer
		Done() bool
	}
	if match != nil && v.o.Match != nil {
		look = originals.Lines(match)
	} else {
		most := 2 * objects.Size
		for _, n := range v.Needles {
			most = max(most, len(n))
		}
		look = originals.Windows(most, v.contains)
	}
	n, err := io.Copy(look, r)
	v.count(n)
	return look.Done(), err
}

// count counts searched bytes.
func (v *Prover) count(n int64) {
	v.Out.Bytes += n
	v.o.searched(n)
}

// repositories checks that every object of both repositories is reachable, and searches those of originals.git.
func (v *Prover) repositories(ctx context.Context) error {
	return v.M.Refs.Objects(ctx, func(repo string, g *gitstore.Repo, id pack.ID, live bool) error {
		v.Out.Objects++
		if !live {
			v.Out.Left = append(v.Out.Left, repo+" object "+id.String()[:10]+unreachable)
		}
		if repo != "originals.git" {
			return nil
		}
		_, b, err := g.Read(id)
		v.count(int64(len(b)))
		if err == nil && v.contains(b) {
			v.Out.Left = append(v.Out.Left, repo+" object "+id.String()[:10])
		}
		return err
	})
}

// files searches all files of the store as they are on the disk.
func (v *Prover) files() error {
	root := v.M.Refs.Dir()
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || len(v.Out.Others) > 0 && strings.HasPrefix(rel, "memory.git") && strings.HasSuffix(rel, ".pack") {
			return err // packs contain the lanes of other devices too; each lane was searched before
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		rel = filepath.ToSlash(rel)
		var match func(line []byte) bool
		if strings.HasPrefix(rel, "cache/") {
			match = v.o.matcher().derived
		}
		found, err := v.finds(f, match)
		if found {
			v.Out.Left = append(v.Out.Left, rel)
		}
		return err
	})
}
