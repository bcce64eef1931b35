package repair

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A lostTip is a commit in the packs that is no other commit's parent: perhaps the tip of a lost lane.
type lostTip struct {
	id      pack.ID
	ref     string // of its lane
	lamport uint64
	at      time.Time
}

// damagedBranches are the branches that are damaged or missing, and those whose commit cannot be read.
type damagedBranches struct {
	names  map[string]string // what is wrong, by name
	files  map[string]bool   // damaged files
	shared []Fix             // damaged files with several branches
}

// verifyBranches returns the branches with a valid file and the damaged ones.
func (x *repair) verifyBranches(g *gitstore.Repo) (good []gitstore.Ref, bad damagedBranches, err error) {
	bad = damagedBranches{names: map[string]string{}, files: map[string]bool{}}
	good, err = g.VerifyRefs(func(file, name string, err error) {
		bad.files[file] = true
		if name != "" {
			bad.names[name] = err.Error()
		} else {
			bad.shared = append(bad.shared, Fix{Where: x.Part.Dir + "/" + file, What: err.Error(), Done: "kept its valid lines"})
		}
	})
	if err != nil {
		return nil, bad, err
	}
	known, err := g.RegisteredRefs()
	if err != nil {
		return nil, bad, err
	}
	for _, name := range known {
		if !contains(good, name) && bad.names[name] == "" {
			bad.names[name] = "the branch is missing"
		}
	}
	for _, ref := range good {
		_, err := g.Commit(ref.ID)
		if err != nil && !unreadable(err) {
			return nil, bad, err
		}
		if err != nil && !x.packsToRepair() && (x.fetchFrom == nil || !x.dryRun) {
			bad.names[ref.Name], bad.files[ref.Name] = fmt.Sprintf("its commit %s is missing", ref.ID), true
		}
	}
	return good, bad, nil
}

// branches restores the damaged branches.
func (x *repair) branches(g *gitstore.Repo) error {
	good, bad, err := x.verifyBranches(g)
	if err != nil {
		return err
	}
	if len(bad.files) > 0 && !x.dryRun {
		if err := x.setAsideRefs(g, bad.files); err != nil {
			return err
		}
	}
	for _, f := range bad.shared {
		f.Kept = x.kept[strings.TrimPrefix(f.Where, x.Part.Dir+"/")]
		x.fixes = append(x.fixes, f)
	}
	return x.restore(g, good, bad.names)
}

// setAsideRefs keeps damaged files of branches in [refs.DamagedDir] and removes what is damaged.
func (x *repair) setAsideRefs(g *gitstore.Repo, files map[string]bool) error {
	x.kept = map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		kept, err := x.setAside(x.Part.Dir, filepath.Join(g.Dir(), filepath.FromSlash(file)))
		if err == nil {
			err = g.RemoveDamaged(file)
		}
		if err != nil {
			return err
		}
		x.kept[file] = kept
	}
	return nil
}

// restore sets each lost branch to the newest commit that its device signed.
func (x *repair) restore(g *gitstore.Repo, good []gitstore.Ref, bad map[string]string) error {
	if len(bad) == 0 {
		return nil
	}
	heads, err := x.findTips(g, good)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		found := slices.DeleteFunc(slices.Clone(heads), func(h lostTip) bool { return h.ref != name })
		if err := x.restoreOne(name, bad[name], found); err != nil {
			return err
		}
	}
	return nil
}

// contains reports whether the sorted refs contain one of that name.
func contains(refs []gitstore.Ref, name string) bool {
	_, ok := slices.BinarySearchFunc(refs, name, func(r gitstore.Ref, name string) int {
		return strings.Compare(r.Name, name)
	})
	return ok
}

func (x *repair) restoreOne(name, what string, found []lostTip) error {
	fix := Fix{Where: x.Part.Dir + "/" + name, What: what, Kept: x.kept[name]}
	p, device, ok := lane.SplitRef(name)
	defer func() { x.add(fix) }()
	if ok && len(found) == 0 && device == x.r.Device().ID && (p == refs.Home || x.Part.Dir == refs.OriginalsDir) {
		fix.Done = "restarted, empty"
		if x.dryRun {
			return nil
		}
		return x.r.RestartLost(x.ctx, p)
	}
	if !ok || len(found) == 0 {
		return nil
	}
	newest := slices.MaxFunc(found, func(a, b lostTip) int {
		return cmp.Or(cmp.Compare(a.lamport, b.lamport), a.at.Compare(b.at), pack.Compare(a.id, b.id))
	})
	fix.Done = "set to the newest commit that its device signed, " + newest.id.String()[:10]
	if x.dryRun {
		return nil
	}
	unlock, err := x.r.LockLane(x.ctx, p)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := x.Git.Ref(name) // packed-refs may contain an older one
	if err != nil || old == newest.id {
		return err
	}
	return x.Git.Update(x.ctx, name, old, newest.id)
}

// add adds a fix. An entry for the same file or branch without a repair is replaced, but its description is kept.
func (x *repair) add(f Fix) {
	if i := slices.IndexFunc(x.fixes, func(d Fix) bool { return d.Where == f.Where && d.Done == "" }); i >= 0 {
		f.What = x.fixes[i].What
		x.fixes[i] = f
		return
	}
	x.fixes = append(x.fixes, f)
}

// findTips returns the packed commits that their device signed and that no other commit and no good branch reaches.
func (x *repair) findTips(g *gitstore.Repo, good []gitstore.Ref) ([]lostTip, error) {
	reached := map[pack.ID]bool{}
	for _, ref := range good {
		for id := ref.ID; !id.IsZero() && !reached[id]; {
			reached[id] = true
			c, err := g.Commit(id)
			if err != nil {
				break // reported by missing
			}
			id = c.Parent
		}
	}
	commits := map[pack.ID]gitstore.Commit{}
	for id, err := range g.Packs().All() {
		if err != nil {
			return nil, err
		}
		k, err := g.Packs().Kind(id)
		if err != nil && !errors.Is(err, pack.ErrDelta) && !unreadable(err) {
			return nil, err
		}
		if reached[id] || err == nil && k != pack.Commit {
			continue
		}
		if c, err := g.Commit(id); err == nil {
			commits[id] = c
		}
	}
	parents := map[pack.ID]bool{}
	for _, c := range commits {
		parents[c.Parent] = true
	}
	var heads []lostTip
	for id, c := range commits {
		ref, ok := lane.CommitRef(c)
		n, err := lane.LamportOf(c)
		if parents[id] || reached[c.Parent] || !ok || err != nil {
			continue
		}
		if _, device, _ := lane.SplitRef(ref); x.signedByDevice(g, id, refs.Lane{Device: device}) {
			heads = append(heads, lostTip{id, ref, n, c.Time})
		}
	}
	slices.SortFunc(heads, func(a, b lostTip) int { return pack.Compare(a.id, b.id) })
	return heads, nil
}

// signedByDevice reports whether the device of a lane signed a commit: with its known key or, if the device is
// unknown, with the key in the device record of the commit's own tree. If the key is known but unreadable, that record
// is trusted only in commits of the store, which were checked when they arrived: a remote could forge it.
func (x *repair) signedByDevice(g *gitstore.Repo, id pack.ID, l refs.Lane) bool {
	c, err := g.Commit(id)
	if err != nil || c.Email != l.Device+"@mem.invalid" {
		return false
	}
	key, err := x.r.KeyOf(l.Device)
	if err != nil && g != x.Git {
		return false
	}
	if err != nil || key == "" {
		if key, err = lane.Signer(c); err != nil || !x.declaresKey(g, c, l.Device, key) {
			return false
		}
	}
	return lane.VerifySignature(key, c.Signature, c.Payload()) == nil
}

// declaresKey reports whether the tree of a commit contains a device record with that key. Lanes of originals.git have
// no records; any key is accepted there.
func (x *repair) declaresKey(g *gitstore.Repo, c gitstore.Commit, device, key string) bool {
	if x.Part.Dir == refs.OriginalsDir {
		return true
	}
	found := false
	x.records(g, c.Tree, func(r refs.Record) bool {
		var d lane.DeviceBody
		found = found || r.Kind == "device" && json.Unmarshal(r.Body, &d) == nil && d.ID == device && d.Key == key
		return !found
	})
	return found
}

// errDone ends a walk.
var errDone = errors.New("done")

// records calls f for the readable records of a tree until it returns false.
func (x *repair) records(g *gitstore.Repo, tree pack.ID, f func(refs.Record) bool) {
	root := lane.DirAt(tree)
	e, ok, err := root.Find(g, "records")
	if err != nil || !ok || e.Dir == nil {
		return
	}
	v := newWalker(g)
	v.onObject = func(id pack.ID, path []string, file bool) error {
		h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
		if err != nil || !file {
			return nil
		}
		b, err := g.Get(id, pack.Blob)
		if err != nil {
			return nil
		}
		if r, err := lane.CheckRecord(b, h); err == nil && !f(r) {
			return errDone
		}
		return nil
	}
	_ = v.tree(e.Dir.ID, nil) // what cannot be read is skipped
}

// ReadableRecords returns the readable records of a project, sorted. Unreadable objects are skipped.
func ReadableRecords(r *refs.Repo, p refs.Project) []refs.Record {
	branches, err := r.Git().VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil
	}
	x := &repair{r: r}
	seen := map[objects.Hash]bool{}
	var out []refs.Record
	for _, ref := range branches {
		if q, _, ok := lane.SplitRef(ref.Name); !ok || q != p {
			continue
		}
		if c, err := r.Git().Commit(ref.ID); err == nil {
			x.records(r.Git(), c.Tree, func(rec refs.Record) bool {
				if !seen[rec.ID] {
					seen[rec.ID] = true
					out = append(out, rec)
				}
				return true
			})
		}
	}
	slices.SortFunc(out, refs.Record.Compare)
	return out
}

// ReadableStream returns a reader of the intact beginning of a stream.
func ReadableStream(r *refs.Repo, l refs.Lane, name objects.Hash) *stream.Reader {
	at, err := lane.At(r.Git(), l.Tip, l.Device)
	if err != nil {
		return stream.NewReader(0, nil)
	}
	n, err := at.Segments(name)
	if err != nil {
		n = 1 << 20 // unknown; the reader stops at the first missing segment
	}
	return stream.NewReader(n, at.Blobs(name))
}
