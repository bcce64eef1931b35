package refs

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Rewrite is [Repo.Update] for a lane that restarts: fn reads the current lane of this device from old and writes an
// empty one in tx. The commit has no parent and starts a new epoch. Data that fn does not write is no longer part of
// the lane; [Repo.Sweep] deletes it.
func (r *Repo) Rewrite(ctx context.Context, p Project, message string, fn func(old, tx *Tx) error) error {
	w, err := r.Writer(ctx, p)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Rewrite(ctx, message, fn)
}

// rewrite is [Repo.Rewrite] for a caller that has locked the lanes of the project.
func (r *Repo) rewrite(ctx context.Context, p Project, message string, fn func(old, tx *Tx) error) error {
	return r.update(ctx, p, message, func(tx *Tx) error {
		old := *tx
		old.write, old.lanes = false, slices.Clone(tx.lanes)
		own := tx.own()
		tx.lanes[0] = lane.Restarted(own.Git, own.Tip, own.Device)
		epoch, err := lane.EpochAt(ctx, own.Git, own.Tip)
		if err != nil {
			return err
		}
		tx.Trailer("Epoch", strconv.FormatUint(epoch+1, 10))
		if err := fn(&old, tx); err != nil || own.Tip.IsZero() {
			return err
		}
		return r.recordFormer(ctx, own.Git, p, own.Tip)
	})
}

// CopyFrom copies this device's lane from old to tx: the records, objects, growth points and streams for which keep
// returns true. dir is "records", "objects", "points" or "streams".
func (tx *Tx) CopyFrom(old *Tx, keep func(dir string, name objects.Hash) bool) error {
	l := old.own()
	return l.Root.Walk(l.Git, nil, func(path []string, id pack.ID) error {
		if path[0] != "format" {
			h, err := lane.PathHash(path)
			if err != nil || !keep(path[0], h) {
				return err
			}
		}
		_, err := tx.own().Root.Set(l.Git, id, slices.Clone(path)...)
		return err
	})
}

// OwnLongObjects returns the objects among names that this device's lane stores as whole streams ([Stage.PutLong]).
func (tx *Tx) OwnLongObjects(names iter.Seq[objects.Hash]) (long []objects.Hash, err error) {
	for h := range names {
		n, err := tx.own().Segments(stream.Whole(h))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			long = append(long, h)
		}
	}
	slices.SortFunc(long, objects.Hash.Compare)
	return long, nil
}

// OwnObjects returns the sorted names of the objects of moderate size in this device's lane.
func (tx *Tx) OwnObjects() ([]objects.Hash, error) {
	own := Tx{r: tx.r, lanes: tx.lanes[:1]}
	return own.names("objects")
}

// AddRewritten stores a record with a changed body. It keeps its Lamport time, and so its place in the order.
func (tx *Tx) AddRewritten(r Record) (Record, error) {
	b, err := r.Encode()
	if err == nil {
		err = tx.r.opts.body(r)
	}
	if err != nil {
		return r, err
	}
	tx.lamport = max(tx.lamport, r.Lamport)
	return r, tx.putBlob(b, lane.RecordPath(r.ID))
}

// RewritePatches restarts this device's lane of p in originals.git with the patches for which keep returns true. It
// does nothing if the lane is a single commit without other patches.
func (r *Repo) RewritePatches(ctx context.Context, p Project, keep func(objects.Hash) bool) error {
	done, err := r.lockWrite(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	tx := &Tx{r: r, project: p, ctx: ctx, write: true}
	defer tx.discard()
	if err := tx.ensureOriginals(); err != nil || tx.originals.Tip.IsZero() {
		return err
	}
	old := tx.originals
	c, err := r.originals.Commit(old.Tip)
	if err != nil {
		return err
	}
	dropped := false
	if tx.lamport, err = lane.LamportOf(c); err != nil {
		return err
	}
	tx.originals = lane.Restarted(old.Git, old.Tip, old.Device)
	tx.originals.Root.Touch()
	err = old.Root.Walk(old.Git, nil, func(path []string, id pack.ID) error {
		if path[0] == "patches" {
			h, err := lane.PathHash(path)
			if err != nil || !keep(h) {
				dropped = true
				return err
			}
		}
		_, err := tx.originals.Root.Set(old.Git, id, slices.Clone(path)...)
		return err
	})
	if err != nil || !dropped && c.Parent.IsZero() {
		return err
	}
	epoch, err := lane.EpochAt(ctx, r.originals, old.Tip)
	if err == nil {
		tx.Trailer("Epoch", strconv.FormatUint(epoch+1, 10))
		err = r.recordFormer(ctx, r.originals, p, old.Tip)
	}
	if err != nil {
		return err
	}
	return disk.AsWriteError(tx.commitLane(tx.patches, tx.originals, "remaining patches"))
}

// LockForget prevents other processes from deleting data with "mem forget" until it is unlocked.
func (r *Repo) LockForget(ctx context.Context) (unlock func(), err error) {
	return r.lock(ctx, "forget.lock", "forget")
}
