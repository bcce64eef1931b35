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

// A Mending is a damage, and what was done about it.
type Mending struct {
	Where string // the file or branch
	What  string // is wrong
	Done  string // what was done, or would be; "": nothing could be
	Kept  string // where the damaged file is now; "": nowhere
}

// A Loss is an object that is nowhere to be had.
type Loss struct {
	Where   string // the repository and the branch
	Lane    refs.Lane
	Path    []string // in the tree of the lane; of a commit or a directory it may be empty
	ID      pack.ID
	Commit  string // that brought it, its first line
	Session string // that this commit is about; "" if it does not say
	Old     bool   // it is of older commits only: all that the lane holds now is without it
}

// Patches reports whether the loss is one of originals.git.
func (l Loss) Patches() bool { return strings.HasPrefix(l.Where, refs.OriginalsDir) }

// A Supply brings what branches have on a remote into w and says where they are there.
type Supply func(ctx context.Context, branches []string, w *pack.Writer) (map[string]pack.ID, error)

// MendFiles puts right the small files of the store in dir that are damaged: HEAD, the settings of git,
// device.json and the other control files. The store need not be one that can be opened. A damaged byte of
// those with a sum is found by it. The error wraps [refs.ErrNotRepo] if there is nothing of a memory.
func MendFiles(dir string, dryRun bool) ([]Mending, error) {
	if !exists(filepath.Join(dir, refs.MemoryDir)) && !exists(filepath.Join(dir, lane.DeviceFile)) {
		return nil, fmt.Errorf("%s: %w", dir, refs.ErrNotRepo)
	}
	m := &mender{store: dir, dryRun: dryRun}
	for name, v := range refs.SummedFiles(dir) {
		if err := m.small(name, v); err != nil {
			return nil, err
		}
	}
	if err := m.former(); err != nil {
		return nil, err
	}
	slices.SortFunc(m.did, func(a, b Mending) int { return strings.Compare(a.Where, b.Where) })
	d, err := lane.ReadDevice(dir)
	heads := homes(dir, d.ID)
	if err != nil {
		if heads = heads[1:]; len(heads) == 0 {
			heads = []string{lane.Prefix + "unknown"} // until the device is known again
		}
	}
	var lost *refs.DeviceError
	if errors.As(err, &lost) && lost.Missing {
		m.did = append(m.did, Mending{Where: lane.DeviceFile, What: "it is missing"})
	}
	for _, part := range []string{refs.MemoryDir, refs.OriginalsDir} {
		if err := m.gitFiles(part, heads); err != nil {
			return m.did, err
		}
	}
	return m.did, nil
}

type mender struct {
	store  string // its directory
	dryRun bool
	did    []Mending
}

func (m *mender) aside(part string) string { return filepath.Join(m.store, refs.DamagedDir, part) }

func (m *mender) small(name string, v any) error {
	b, damage := checkSmall(m.store, name, v)
	if damage == nil {
		return nil
	}
	file := filepath.Join(m.store, name)
	fixed, ok := disk.MendSum(b)
	did := Mending{Where: name, What: damage.Error()}
	if ok {
		did.Done = "one byte of it was put right"
	}
	if ok && !m.dryRun {
		kept, err := pack.SetAside(file, m.aside(""))
		if err := errors.Join(err, disk.WriteFile(file, fixed)); err != nil {
			return fmt.Errorf("mend %s: %w", name, err)
		}
		did.Kept = refs.KeptAs("", kept)
	}
	m.did = append(m.did, did)
	return nil
}

func (m *mender) gitFiles(part string, heads []string) error {
	dir := filepath.Join(m.store, part)
	var bad []Mending
	err := gitstore.VerifyFiles(dir, heads, func(file string, err error) {
		bad = append(bad, Mending{Where: part + "/" + file, What: err.Error(), Done: "written anew"})
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	if !m.dryRun {
		kept, err := gitstore.MendFiles(dir, heads, m.aside(part))
		if err != nil {
			return fmt.Errorf("mend %s: %w", part, err)
		}
		for i := range bad {
			bad[i].Kept = refs.KeptAs(part, kept[strings.TrimPrefix(bad[i].Where, part+"/")])
		}
	}
	m.did = append(m.did, bad...)
	return nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// Mend makes good what is damaged in the two repositories: indexes from their packs, packs from what is whole
// in them, branches from the newest commit here that their device signed, and what is still missing of
// memory.git from supply, if there is one. It returns what it did, and what is lost. Nothing is deleted. It may
// be killed at any point and done again.
func Mend(ctx context.Context, r *refs.Repo, dryRun bool, supply Supply) (did []Mending, lost []Loss, err error) {
	for _, p := range r.Parts() {
		x := &repair{mender: mender{store: r.Dir(), dryRun: dryRun}, r: r, Part: p, ctx: ctx}
		if p.Dir == refs.MemoryDir {
			x.supply = supply
		}
		if err := x.run(); err != nil {
			return append(did, x.did...), lost, fmt.Errorf("repair %s: %w", p.Dir, err)
		}
		did, lost = append(did, x.did...), append(lost, x.lost...)
	}
	return did, lost, nil
}

// A repair works on one of the repositories.
type repair struct {
	mender
	refs.Part
	r      *refs.Repo
	ctx    context.Context
	supply Supply
	tried  bool              // branches were looked at before
	asked  bool              // the remotes, for branches that are lost here
	kept   map[string]string // where damaged files of branches are now
	lost   []Loss

	damagedPacks bool
}

func (x *repair) run() error {
	if err := x.packs(); err != nil {
		return err
	}
	if err := x.loose(); err != nil {
		return err
	}
	if err := x.branches(x.Git); err != nil {
		return err
	}
	if x.dryRun && x.damagedPacks {
		return nil // what is missing then is known when they are good
	}
	missing, err := x.missing(x.Git)
	if err != nil {
		return err
	}
	if len(missing) > 0 && x.supply != nil && !x.dryRun {
		if err := x.refetch(missing); err != nil {
			return err
		}
		if err := x.branches(x.Git); err != nil { // the newest commits may be back
			return err
		}
		if missing, err = x.missing(x.Git); err != nil {
			return err
		}
	}
	x.lost = missing
	if err := x.explain(); err != nil || x.dryRun {
		return err
	}
	return x.beginAnew()
}

// packs makes damaged packs and indexes good.
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
	if _, err := pack.Examine(dir, func(d pack.Damage) { bad = append(bad, d) }); err != nil {
		return err
	}
	x.damagedPacks = len(bad) > 0
	for _, d := range bad {
		got, err := pack.Save(dir, refs.RepairMark, x.aside(x.Part.Dir), d, x.dryRun)
		if err != nil {
			return err
		}
		x.did = append(x.did, x.saved(d, got)...)
	}
	if len(bad) > 0 && !x.dryRun {
		return x.Git.Close() // what was read is read again
	}
	return nil
}

func (x *repair) saved(d pack.Damage, got pack.Rescue) (out []Mending) {
	kept := func(ext string) string { return refs.KeptAs(x.Part.Dir, got.Aside[ext]) }
	where := x.Part.Dir + "/objects/pack/" + d.Name
	done := fmt.Sprintf("%d objects were saved", got.Objects)
	if n := len(got.Lost) + got.Gaps; n > 0 {
		done += fmt.Sprintf(", %d were damaged", n)
	}
	if d.Pack != nil {
		out = append(out, Mending{where + ".pack", d.Pack.Error(), done, kept(".pack")})
	}
	if d.Index != nil {
		if d.Pack == nil {
			done = fmt.Sprintf("made anew from the pack, %d objects", got.Objects)
		}
		out = append(out, Mending{where + ".idx", d.Index.Error(), done, kept(".idx")})
	}
	return out
}

// loose moves damaged objects out of the way.
func (x *repair) loose() error {
	var bad []string
	if err := x.Git.VerifyLoose(func(file string, err error) {
		bad = append(bad, file)
		x.did = append(x.did, Mending{Where: x.Part.Dir + "/" + file, What: err.Error(), Done: "taken out"})
	}); err != nil || x.dryRun {
		return err
	}
	for i, file := range bad {
		path := filepath.Join(x.Git.Dir(), filepath.FromSlash(file))
		kept, err := pack.SetAside(path, x.aside(x.Part.Dir))
		if err := errors.Join(err, os.Remove(path)); err != nil {
			return err
		}
		x.did[len(x.did)-len(bad)+i].Kept = refs.KeptAs(x.Part.Dir, kept)
	}
	return nil
}

// refetch brings what is missing of lanes from a remote.
func (x *repair) refetch(missing []Loss) error {
	branches := map[string]bool{}
	for _, l := range missing {
		if l.Lane.Project != refs.Home {
			branches[l.Lane.Ref()] = true
		}
	}
	return x.bring(slices.Sorted(maps.Keys(branches)))
}

// ask brings what remotes have of the branches of this device that are lost here, before they are set to
// something: their newest commits may be lost too, and this device would then not know again what it went on
// to.
func (x *repair) ask(lost []string) error {
	if x.supply == nil || x.dryRun || x.asked {
		return nil
	}
	x.asked = true
	own := slices.DeleteFunc(slices.Clone(lost), func(name string) bool {
		p, device, ok := lane.Split(name)
		return !ok || p == refs.Home || device != x.r.Device().ID
	})
	if len(own) == 0 {
		return nil
	}
	return x.bring(own)
}

// bring fetches branches and adopts what is missing of them here. It is taken by name: commits here, or ones
// that the device of the branch has signed, name directories, and these all else.
func (x *repair) bring(branches []string) (err error) {
	q, err := incoming.Begin(x.ctx, x.r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	w, err := q.Writer()
	if err != nil {
		return err
	}
	tips, err := x.supply(x.ctx, branches, w)
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

// adopt copies what is missing here from the quarantine. Where the branch or its commit is gone, the tip on the
// remote tells what to look for, if the device has signed it.
func (x *repair) adopt(q *incoming.Quarantine, tips map[string]pack.ID) error {
	unlock, err := x.r.LockMerges(x.ctx, x.Part.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := pack.Create(x.Git.PackDir(), refs.RepairMark)
	if err != nil {
		return err
	}
	back := 0
	take := func(id pack.ID) error {
		if ok, err := x.Git.Has(id); ok || err != nil {
			return err
		}
		e, err := q.Git().Packs().Entry(id)
		if errors.Is(err, pack.ErrNotFound) {
			return nil
		}
		if err == nil {
			back++
			err = w.Add(e)
		}
		return err
	}
	branches, err := x.Git.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	here := map[string]pack.ID{}
	for _, ref := range branches {
		here[ref.Name] = ref.ID
	}
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		p, device, ok := lane.Split(name)
		if !ok {
			continue
		}
		var roots []pack.ID
		tip, has := here[name]
		if has {
			roots = append(roots, tip)
			if has, err = q.Git().Has(tip); err != nil {
				return errors.Join(err, w.Abort())
			}
		}
		if !has && x.trusts(q.Git(), tips[name], refs.Lane{Project: p, Device: device}) {
			roots = append(roots, tips[name])
		}
		for _, root := range roots {
			v := &visit{git: q.Git(), seen: map[pack.ID]bool{}, each: take}
			if err := v.lane(x.ctx, root); err != nil {
				return errors.Join(err, w.Abort())
			}
		}
	}
	if _, err := w.Close(); err != nil {
		return err
	}
	if back > 0 {
		x.did = append(x.did, Mending{x.Part.Dir, fmt.Sprintf("%d objects were missing", back),
			"they came back from the remote", ""})
	}
	return x.Git.Close()
}

// missing goes through all that branches need and returns what is not there.
func (x *repair) missing(g *gitstore.Repo) (lost []Loss, err error) {
	branches, err := g.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil, err
	}
	for _, ref := range branches {
		p, device, ok := lane.Split(ref.Name)
		if !ok {
			continue
		}
		l := refs.Lane{Project: p, Device: device, Tip: ref.ID}
		v := &visit{git: g, seen: map[pack.ID]bool{}}
		v.gone = func(id pack.ID, path []string) {
			lost = append(lost, Loss{Where: x.Part.Dir + " " + ref.Name, Lane: l, Path: slices.Clone(path), ID: id, Old: v.old})
		}
		if err := v.lane(x.ctx, ref.ID); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// PutBack stores blobs of memory.git that were lost, by their names.
func PutBack(ctx context.Context, r *refs.Repo, blobs map[pack.ID][]byte) error {
	unlock, err := r.LockMerges(ctx, refs.MemoryDir)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := pack.Create(r.Git().PackDir(), refs.RepairMark)
	if err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(blobs), pack.ID.Compare) {
		e := pack.Encode(pack.Blob, blobs[id], 0)
		if e.ID != id {
			err = fmt.Errorf("%d bytes are not %s: %w", len(blobs[id]), id, pack.ErrCorrupt)
		} else {
			err = w.Add(e)
		}
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	if _, err := w.Close(); err != nil {
		return err
	}
	return r.Git().Close() // what was read is read again
}

// Damaged returns the files that repairs put aside, as paths in the store with slashes. What a damaged pack
// holds cannot be told.
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

// DropDamaged drops them for ever.
func DropDamaged(r *refs.Repo) error {
	return disk.Writing(os.RemoveAll(filepath.Join(r.Dir(), refs.DamagedDir)))
}

// SetAside gives a damaged file of a store a second name in the directory to, and returns it; see [pack.SetAside].
func SetAside(file, to string) (string, error) { return pack.SetAside(file, to) }
