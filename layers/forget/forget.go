package forget

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// pendingFile exists while a deletion is in progress, from before the lanes are rewritten. Any process that finds it finishes
// the deletion.
const pendingFile = "forgetting"

// Forget deletes what the options select, and everything derived from it, from this memory for good. It rewrites this
// device's lanes and removes the bytes from the packs of both repositories and from the cache at once. Remotes lose
// them with the next push, other devices when they sync. It cannot be undone, and captures do not store the deleted text
// again.
//
// If it is interrupted, the memory is valid, and the next Forget finishes the deletion. A dry run only reports what
// would be deleted. The error wraps [ErrNothingToForget] if nothing would; Finished is set even then.
func Forget(ctx context.Context, db *state.DB, o ForgetOptions) (out Forgotten, err error) {
	if !o.DryRun {
		unlock, err := db.Refs.LockForget(ctx)
		if err != nil {
			return out, err
		}
		defer unlock()
		if err := finishFirst(ctx, db, &out); err != nil {
			return out, err
		}
	}
	keys, deleted, err := o.identify(ctx, db)
	if err != nil {
		return out, err
	}
	if slices.ContainsFunc(o.Revs, func(rev state.Rev) bool { return rev.Kind == state.IsMessages }) {
		o.copies = originals.OfMessages(keys)
	}
	var gone []string
	var purges []records.Purge
	oldest := map[string]uint64{}
	tools := map[string]bool{}
	forget := func(p state.Project, o ForgetOptions) error {
		var f *deletion
		err := db.Refs.WithReserve(func() (err error) { f, err = forgetIn(ctx, db, p, o, nil); return err })
		if err != nil {
			return fmt.Errorf("project %s: %w", p.Name, err)
		}
		out.Things = append(out.Things, f.items...)
		out.MetadataOnly += f.metadataOnly
		maps.Copy(tools, f.tools)
		maps.Copy(oldest, f.oldest())
		out.addFiles(f.files)
		out.Exact = slices.Compact(slices.Sorted(slices.Values(append(out.Exact, f.exact...))))
		gone, purges = append(gone, f.goneNames()...), append(purges, f.purge)
		for _, x := range f.purge.Passages {
			if x.ID != "" && !x.Part {
				keys[x.ID] = true
			}
		}
		return nil
	}
	for _, p := range o.projects() {
		if err := forget(p, o); err != nil {
			return out, err
		}
	}
	others, err := o.otherProjects(ctx, db)
	for _, p := range others {
		if len(keys) > 0 && err == nil {
			err = forget(p, ForgetOptions{DryRun: o.DryRun, Progress: o.Progress, copies: originals.OfMessages(keys)})
		}
	}
	if err != nil {
		return out, err
	}
	if len(out.Things) == 0 {
		if o.Tool != "" && !tools[o.Tool] {
			return out, &NoToolError{o.Tool, sortedKeys(tools)}
		}
		return out, ErrNothingToForget
	}
	damaged, err := damaged(db)
	if err != nil {
		return out, err
	}
	out.Things = append(out.Things, damaged...)
	out.Files = slices.DeleteFunc(out.Files, o.isClean)
	if out.Remotes, err = remotesOf(db, oldest); err != nil || o.DryRun {
		return out, err
	}
	if err = db.Refs.WithReserve(func() error { _, err := finish(ctx, db); return err }); err != nil {
		return out, err
	}
	_ = db.Refs.KeepReserve() // the disk may still be full: "mem doctor" reports it
	if o.Moved {
		return out, nil
	}
	if out.Proof, err = Prove(ctx, db, o, gone, purges); err != nil {
		return out, err
	}
	out.Proof.Same, err = deleted.remaining(ctx, db)
	return out, err
}

// isClean reports whether a file is known to contain nothing of what was forgotten: it is gone, or has no spelling of the
// secret.
func (o ForgetOptions) isClean(file string) bool {
	if o.Secret == nil {
		_, err := os.Lstat(file)
		return errors.Is(err, fs.ErrNotExist)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !originals.Holds(b, markers.Spellings(o.Secret))
}

// addFiles adds the files that are not in the list yet.
func (out *Forgotten) addFiles(files []string) {
	for _, file := range files {
		if !slices.Contains(out.Files, file) {
			out.Files = append(out.Files, file)
		}
	}
}

// finishFirst finishes an interrupted deletion before a new one.
func finishFirst(ctx context.Context, db *state.DB, out *Forgotten) error {
	err := db.Refs.WithReserve(func() (err error) { out.Finished, err = finish(ctx, db); return err })
	if err != nil {
		return fmt.Errorf("finish an interrupted forget: %w", err)
	}
	return nil
}

// projects returns the selected projects and those of the revisions.
func (o ForgetOptions) projects() []state.Project {
	all := slices.Clone(o.Projects)
	for _, rev := range o.Revs {
		if !slices.ContainsFunc(all, func(p state.Project) bool { return p.ID == rev.Project.ID }) {
			all = append(all, rev.Project)
		}
	}
	return all
}

// otherProjects returns the projects that are not selected, which may have copies of deleted messages.
func (o ForgetOptions) otherProjects(ctx context.Context, db *state.DB) ([]state.Project, error) {
	all, err := trust.Projects(ctx, db)
	return slices.DeleteFunc(all, func(p state.Project) bool {
		return slices.ContainsFunc(o.projects(), func(x state.Project) bool { return x.ID == p.ID })
	}), err
}

// identify returns the keys of the messages that the revisions select by their numbers, and the text of all that they select.
func (o ForgetOptions) identify(ctx context.Context, db *state.DB) (keys map[string]bool, text deletedText, err error) {
	keys, text = map[string]bool{}, deletedText{}
	for _, p := range o.projects() {
		if len(o.Revs) == 0 {
			break
		}
		o.DryRun = true
		f, err := NewDeletion(ctx, db, p, o, nil)
		if err != nil {
			return nil, nil, err
		}
		err = f.identify(ctx, keys, text)
		f.Close()
		if err != nil {
			return nil, nil, err
		}
	}
	return keys, text, nil
}

// oldest returns, by branch, the least Lamport time of a deleted or changed record.
func (f *deletion) oldest() map[string]uint64 {
	out := map[string]uint64{}
	note := func(s records.Stamp) {
		branch := refs.Lane{Project: f.p.ID, Device: s.Device}.Ref()
		if n, ok := out[branch]; !ok || s.Lamport < n {
			out[branch] = s.Lamport
		}
	}
	for _, r := range f.records {
		_, anew := f.regrown[r.ID]
		if f.drop[r.ID] || anew || f.bodies[r.ID] != nil {
			note(state.StampOf(r))
		}
	}
	for _, s := range f.st.Sessions {
		for _, p := range s.Points {
			if f.gone[p.Original.String()] {
				note(p.Stamp)
			}
		}
	}
	return out
}

// remotesOf returns the names of the remotes that have a record of a branch with at least the given Lamport time.
func remotesOf(db *state.DB, oldest map[string]uint64) (out []string, err error) {
	remotes, err := db.Refs.Remotes()
	for _, r := range remotes {
		for branch, n := range oldest {
			if mark, ok := r.Marks[branch]; ok && mark.Lamport >= n {
				out = append(out, r.Name)
				break
			}
		}
	}
	return out, err
}

// forgetIn plans the deletion in a project and, unless it is a dry run, applies it. Other writers of the project wait
// meanwhile. purges has the purges of other devices to apply, nil to apply o.
func forgetIn(ctx context.Context, db *state.DB, p state.Project, o ForgetOptions, purges *state.Purges) (*deletion, error) {
	f, err := NewDeletion(ctx, db, p, o, purges)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Plan(ctx); err != nil {
		return f, err
	}
	needed := f.found()
	if purges != nil {
		needed = f.changes() || f.answer && len(f.answers) > 0
	}
	if o.DryRun || !needed {
		return f, nil
	}
	for _, x := range f.purge.Passages {
		if x.ID != "" && !x.Part {
			f.Seals.Messages = append(f.Seals.Messages, x.ID)
		}
	}
	if err := originals.AddSeals(db, f.Seals); err != nil {
		return f, err
	}
	if err := NotePending(db); err != nil {
		return f, err
	}
	return f, f.Apply(ctx)
}

// goneNames returns the names of the deleted objects and records.
func (f *deletion) goneNames() []string {
	kept := f.named()
	return slices.DeleteFunc(sortedKeys(f.gone), func(name string) bool { return kept[name] })
}

// NotePending stores durably that a deletion is being applied.
func NotePending(db *state.DB) error { return db.Refs.WriteNote(pendingFile, nil) }

// Pending reports whether a deletion is unfinished.
func Pending(db *state.DB) (bool, error) {
	_, err := os.Stat(filepath.Join(db.Refs.Dir(), pendingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// finish deletes the bytes that no lane refers to any more. It reports whether a deletion was pending.
func finish(ctx context.Context, db *state.DB) (found bool, err error) {
	if found, err = Pending(db); err != nil || !found {
		return false, err
	}
	ids, err := db.Refs.Projects()
	if err != nil {
		return true, err
	}
	for _, id := range ids {
		if err := DropPatches(ctx, db, id); err != nil {
			return true, err
		}
	}
	if err := dropBytes(ctx, db); err != nil {
		return true, err
	}
	return true, db.Refs.RemoveNote(pendingFile)
}

// damaged returns the damaged files that a repair moved. Their content is unknown, so all of them are deleted.
func damaged(db *state.DB) (out []DeletedItem, err error) {
	files, err := repair.Damaged(db.Refs)
	for _, f := range files {
		out = append(out, DeletedItem{Kind: "damaged file", Name: f, Count: 1})
	}
	return out, err
}

// dropBytes empties the cache, deletes the damaged files that a repair moved, and removes unreachable objects from
// the packs.
func dropBytes(ctx context.Context, db *state.DB) error {
	db.Outlines.Clear()
	db.CountedMu.Lock()
	db.Counted = nil
	db.CountedMu.Unlock()
	if err := db.DropCache(); err != nil {
		return err
	}
	if err := repair.DropDamaged(db.Refs); err != nil {
		return err
	}
	return db.Refs.Sweep(ctx)
}

// DropPatches deletes the patches of a project whose records were deleted.
func DropPatches(ctx context.Context, db *state.DB, p refs.Project) error {
	keep := map[objects.Hash]bool{}
	err := db.Refs.View(ctx, p, func(tx *refs.Tx) error {
		list, err := tx.Records(ctx, nil)
		for _, r := range list {
			if r.Kind != records.KindSession {
				continue
			}
			err = errors.Join(err, state.ApplyTo(r, func(s records.Snapshot) {
				for _, file := range s.Files {
					keep[secrets.FilePatchID(r.ID, file.Name)] = true
				}
				keep[r.ID] = s.Withheld
			}))
		}
		return err
	})
	if err != nil {
		return err
	}
	return db.Refs.RewritePatches(ctx, p, func(h objects.Hash) bool { return keep[h] })
}

// FinishForgetting finishes an interrupted deletion, and reports whether there was one.
func FinishForgetting(ctx context.Context, db *state.DB) (bool, error) {
	unlock, err := db.Refs.LockForget(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	found := false
	err = db.Refs.WithReserve(func() (err error) { found, err = finish(ctx, db); return err })
	return found, err
}
