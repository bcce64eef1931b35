package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
)

// A Fix describes one damaged file or branch and its repair.
type Fix struct {
	Where string `json:"where"`          // the file or branch
	What  string `json:"what"`           // the damage
	Done  string `json:"done,omitempty"` // the repair, planned in a dry run; "" if none is possible
	Kept  string `json:"kept,omitempty"` // path of the damaged file in the store; "" if it was not kept
}

// A Loss is a missing object that cannot be restored.
type Loss struct {
	Where   string // the repository and the branch
	Lane    refs.Lane
	Path    []string // in the tree of the lane; may be empty for a commit or a directory
	ID      pack.ID
	Commit  string // subject of the commit that added the object
	Session string // the session named by that commit; "" if it names none
	Old     bool   // only older commits contain it; the tip of the lane does not
}

// Patches reports whether the object belongs to originals.git.
func (l Loss) Patches() bool { return strings.HasPrefix(l.Where, refs.OriginalsDir) }

// A FetchFunc writes the objects of branches of a remote to w and returns the tips of the branches there.
type FetchFunc func(ctx context.Context, branches []string, w *pack.Writer) (map[string]pack.ID, error)

// FixFiles repairs the control files of the store in dir: HEAD, git's settings, device.json and the other small
// files. It does not need a store that can be opened. Damage of a file with a checksum is only reported. The error wraps [refs.ErrNotRepo] if dir contains no memory.
func FixFiles(dir string, dryRun bool) ([]Fix, error) {
	if !exists(filepath.Join(dir, refs.MemoryDir)) && !exists(filepath.Join(dir, lane.DeviceFile)) {
		return nil, fmt.Errorf("%s: %w", dir, refs.ErrNotRepo)
	}
	m := &fixer{store: dir, dryRun: dryRun}
	files, err := refs.ChecksummedFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if damage := checkFile(dir, name); damage != nil {
			m.fixes = append(m.fixes, Fix{Where: name, What: damage.Error()})
		}
	}
	slices.SortFunc(m.fixes, func(a, b Fix) int { return strings.Compare(a.Where, b.Where) })
	d, err := lane.ReadDevice(dir)
	heads := homeBranches(dir, d.ID)
	if err != nil {
		if heads = heads[1:]; len(heads) == 0 {
			heads = []string{lane.Prefix + "unknown"} // until device.json is restored
		}
	}
	var lost *refs.DeviceError
	if errors.As(err, &lost) && lost.Missing {
		m.fixes = append(m.fixes, Fix{Where: lane.DeviceFile, What: "it is missing"})
	}
	for _, part := range []string{refs.MemoryDir, refs.OriginalsDir} {
		if err := m.gitFiles(part, heads); err != nil {
			return m.fixes, err
		}
	}
	return m.fixes, nil
}

type fixer struct {
	store  string // its directory
	dryRun bool
	fixes  []Fix
}

// damagedDir returns the directory that keeps the damaged files of a part of the store.
func (m *fixer) damagedDir(part string) string { return filepath.Join(m.store, refs.DamagedDir, part) }

// setAside keeps a damaged file of a part of the store in [refs.DamagedDir]. It returns its path in the store, "" if
// the file does not exist.
func (m *fixer) setAside(part, file string) (kept string, err error) {
	name, err := pack.SetAside(file, m.damagedDir(part))
	return refs.DamagedPath(part, name), err
}

// remove removes a damaged file of a part of the store after it has set it aside.
func (m *fixer) remove(part, file string) (kept string, err error) {
	if kept, err = m.setAside(part, file); err != nil {
		return "", err
	}
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	return kept, nil
}

func (m *fixer) gitFiles(part string, heads []string) error {
	dir := filepath.Join(m.store, part)
	var bad []Fix
	err := gitstore.VerifyFiles(dir, heads, func(file string, err error) {
		bad = append(bad, Fix{Where: part + "/" + file, What: err.Error(), Done: "rewritten"})
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	if !m.dryRun {
		kept, err := gitstore.RepairFiles(dir, heads, m.damagedDir(part))
		if err != nil {
			return fmt.Errorf("repair %s: %w", part, err)
		}
		for i := range bad {
			bad[i].Kept = refs.DamagedPath(part, kept[strings.TrimPrefix(bad[i].Where, part+"/")])
		}
	}
	m.fixes = append(m.fixes, bad...)
	return nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// FixRepositories repairs the two repositories: indexes from their packs, packs from their intact objects, and
// branches from the newest local commit that their device signed. If fetch is not nil, it fetches the
// objects that memory.git still lacks. It returns the fixes and the losses. Nothing is deleted. It can be interrupted
// at any point and repeated.
func FixRepositories(ctx context.Context, r *refs.Repo, dryRun bool, fetch FetchFunc) (
	fixes []Fix, lost []Loss, err error) {
	for _, p := range r.Parts() {
		x := &repair{fixer: fixer{store: r.Dir(), dryRun: dryRun}, r: r, Part: p, ctx: ctx}
		if p.Dir == refs.MemoryDir {
			x.fetchFrom = fetch
		}
		if err := x.run(); err != nil {
			return append(fixes, x.fixes...), lost, fmt.Errorf("repair %s: %w", p.Dir, err)
		}
		fixes, lost = append(fixes, x.fixes...), append(lost, x.lost...)
	}
	return fixes, lost, nil
}

// A repair works on one of the repositories.
type repair struct {
	fixer
	refs.Part
	r         *refs.Repo
	ctx       context.Context
	fetchFrom FetchFunc
	kept      map[string]string // paths of the kept damaged files, by file of the repository
	lost      []Loss

	damagedPacks bool
}

func (x *repair) run() error {
	if err := x.packs(); err != nil {
		return err
	}
	if err := x.loose(); err != nil {
		return err
	}
	if err := x.refetch(); err != nil {
		return err
	}
	if err := x.branches(x.Git); err != nil || x.packsToRepair() {
		return err
	}
	if err := x.outside(); err != nil {
		return err
	}
	missing, err := x.missing(x.Git)
	if err != nil {
		return err
	}
	x.lost = missing
	if err := x.describeLosses(); err != nil || x.dryRun {
		return err
	}
	return x.restartLocal()
}

// outside removes lanes of untrusted devices that lack an object. Nothing reads them, and the next fetch brings them
// again.
func (x *repair) outside() error {
	lanes, err := x.Git.Refs(lane.OutsidePrefix)
	if err != nil {
		return err
	}
	for _, ref := range lanes {
		missing := 0
		v := newWalker(x.Git)
		v.onMissing = func(pack.ID, []string) { missing++ }
		if err := v.lane(x.ctx, ref.ID); err != nil {
			return err
		}
		if missing == 0 {
			continue
		}
		x.add(Fix{Where: x.Part.Dir + "/" + ref.Name, What: fmt.Sprintf("%d objects are missing", missing),
			Done: "removed; a fetch brings it again"})
		if x.dryRun {
			continue
		}
		if err := x.Git.Remove(x.ctx, ref.Name); err != nil {
			return err
		}
	}
	return nil
}

// packsToRepair reports whether a dry run has found damaged packs. Missing objects are known only after their repair.
func (x *repair) packsToRepair() bool { return x.dryRun && x.damagedPacks }

// packs repairs damaged packs and indexes.
func (x *repair) packs() error {
	unlock, err := x.r.LockMerges(x.ctx, x.Part.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	dir := x.Git.PackDir()
	if !x.dryRun {
		if err := pack.Sweep(dir, refs.RepairMark); err != nil {
			return err
		}
	}
	var bad []pack.Damage
	if _, err := pack.Verify(dir, func(d pack.Damage) { bad = append(bad, d) }); err != nil {
		return err
	}
	x.damagedPacks = len(bad) > 0
	for _, d := range bad {
		got, err := pack.Recover(dir, refs.RepairMark, x.damagedDir(x.Part.Dir), d, x.dryRun)
		if err != nil {
			return err
		}
		x.fixes = append(x.fixes, x.packFixes(d, got)...)
	}
	if len(bad) > 0 && !x.dryRun {
		return x.Git.Close() // closes the old packs
	}
	return nil
}

func (x *repair) packFixes(d pack.Damage, got pack.Recovery) (out []Fix) {
	kept := func(ext string) string { return refs.DamagedPath(x.Part.Dir, got.Aside[ext]) }
	where := x.Part.Dir + "/objects/pack/" + d.Name
	done := fmt.Sprintf("%d objects were saved", got.Objects)
	if n := len(got.Lost); n > 0 {
		done += fmt.Sprintf(", %d were damaged", n)
	}
	if got.Unknown {
		done = "set aside with its index"
	}
	if d.Pack != nil {
		out = append(out, Fix{where + ".pack", d.Pack.Error(), done, kept(".pack")})
	}
	if d.Index != nil {
		if d.Pack == nil {
			done = fmt.Sprintf("rebuilt from the pack, %d objects", got.Objects)
		}
		out = append(out, Fix{where + ".idx", d.Index.Error(), done, kept(".idx")})
	}
	return out
}

// loose moves damaged loose objects to [refs.DamagedDir].
func (x *repair) loose() error {
	var bad []string
	if err := x.Git.VerifyLoose(func(file string, err error) {
		bad = append(bad, file)
		x.fixes = append(x.fixes, Fix{Where: x.Part.Dir + "/" + file, What: err.Error(), Done: "removed"})
	}); err != nil || x.dryRun {
		return err
	}
	for i, file := range bad {
		kept, err := x.remove(x.Part.Dir, filepath.Join(x.Git.Dir(), filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		x.fixes[len(x.fixes)-len(bad)+i].Kept = kept
	}
	return nil
}

// refetch fetches the lanes with missing objects, and the lost branches of this device, from the remotes. It must run
// before the branches are restored: their newest commits may be lost here too, and a branch restored to an older one
// would diverge from the remote.
func (x *repair) refetch() error {
	if x.fetchFrom == nil || x.dryRun {
		return nil
	}
	missing, err := x.missing(x.Git)
	if err != nil {
		return err
	}
	_, bad, err := x.verifyBranches(x.Git)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, l := range missing {
		if l.Lane.Project != refs.Home {
			wanted[l.Lane.Ref()] = true
		}
	}
	for name := range bad.names {
		if p, device, ok := lane.SplitRef(name); ok && p != refs.Home && device == x.r.Device().ID {
			wanted[name] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return x.fetch(slices.Sorted(maps.Keys(wanted)))
}

// fetch fetches branches and adopts the objects that are missing here.
func (x *repair) fetch(branches []string) (err error) {
	q, err := incoming.Begin(x.ctx, x.r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	w, err := q.Writer()
	if err != nil {
		return err
	}
	tips, err := x.fetchFrom(x.ctx, branches, w)
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	if _, err := w.Close(); err != nil {
		return err
	}
	if len(tips) == 0 {
		return nil
	}
	return x.adopt(q, tips)
}

// adopt copies missing objects from the quarantine. It checks only their names, because it follows hashes from a local
// commit or, if the branch or its commit is missing here, from the remote's tip if the branch's device signed it.
func (x *repair) adopt(q *incoming.Quarantine, tips map[string]pack.ID) error {
	unlock, err := x.r.LockMerges(x.ctx, x.Part.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	roots, err := x.roots(q.Git(), tips)
	if err != nil {
		return err
	}
	restored := 0
	_, err = pack.Write(x.Git.PackDir(), refs.RepairMark, func(w *pack.Writer) error {
		copyEntry := func(id pack.ID, _ []string, _ bool) error {
			if ok, err := x.Git.Has(id); ok || err != nil {
				return err
			}
			_, _, err := q.Git().Packs().Get(id) // a directory may have sent a damaged entry
			if unreadable(err) {
				return nil
			}
			if err != nil {
				return err
			}
			e, err := q.Git().Packs().Entry(id)
			if err != nil {
				return err
			}
			err = w.Add(e)
			restored = w.Len()
			return err
		}
		v := newWalker(q.Git())
		v.onObject = copyEntry
		for _, root := range roots {
			if err := v.lane(x.ctx, root); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if restored > 0 {
		x.fixes = append(x.fixes, Fix{x.Part.Dir, fmt.Sprintf("%d objects were missing", restored),
			"restored from the remote", ""})
	}
	return x.Git.Close()
}

// roots returns the commits from which adopt follows hashes, given the fetched objects and the tips on the remote.
func (x *repair) roots(fetched *gitstore.Repo, tips map[string]pack.ID) (roots []pack.ID, err error) {
	branches, err := x.Git.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil, err
	}
	here := map[string]pack.ID{}
	for _, ref := range branches {
		here[ref.Name] = ref.ID
	}
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		p, device, ok := lane.SplitRef(name)
		if !ok {
			continue
		}
		tip, has := here[name]
		if has {
			roots = append(roots, tip)
			if has, err = fetched.Has(tip); err != nil {
				return nil, err
			}
		}
		if !has && x.signedByDevice(fetched, tips[name], refs.Lane{Project: p, Device: device}) {
			roots = append(roots, tips[name])
		}
	}
	return roots, nil
}

// missing returns the reachable objects that are missing or unreadable.
func (x *repair) missing(g *gitstore.Repo) (lost []Loss, err error) {
	branches, err := g.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil, err
	}
	for _, ref := range branches {
		p, device, ok := lane.SplitRef(ref.Name)
		if !ok {
			continue
		}
		l := refs.Lane{Project: p, Device: device, Tip: ref.ID}
		v := newWalker(g)
		v.onMissing = func(id pack.ID, path []string) {
			lost = append(lost, Loss{Where: x.Part.Dir + " " + ref.Name, Lane: l, Path: slices.Clone(path), ID: id, Old: v.old})
		}
		if err := v.lane(x.ctx, ref.ID); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// Restore stores lost blobs of memory.git. It checks that each has the given name.
func Restore(ctx context.Context, r *refs.Repo, blobs map[pack.ID][]byte) error {
	unlock, err := r.LockMerges(ctx, refs.MemoryDir)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = pack.Write(r.Git().PackDir(), refs.RepairMark, func(w *pack.Writer) error {
		for _, id := range slices.SortedFunc(maps.Keys(blobs), pack.Compare) {
			e := pack.Encode(pack.Blob, blobs[id], 0)
			if e.ID != id {
				return fmt.Errorf("%d bytes are not %s: %w", len(blobs[id]), id, pack.ErrCorrupt)
			}
			if err := w.Add(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Git().Close() // closes the old packs
}

// Damaged returns the damaged files that repairs have kept, as slash-separated paths in the store.
func Damaged(r *refs.Repo) (files []string, err error) {
	err = filepath.WalkDir(filepath.Join(r.Dir(), refs.DamagedDir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.Dir(), path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	return files, err
}

// DropDamaged deletes the damaged files that repairs have kept.
func DropDamaged(r *refs.Repo) error {
	return disk.AsWriteError(os.RemoveAll(filepath.Join(r.Dir(), refs.DamagedDir)))
}

// SetAside is [pack.SetAside].
func SetAside(file, to string) (string, error) { return pack.SetAside(file, to) }
