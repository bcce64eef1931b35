package refs

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Outside returns the lanes of untrusted devices, sorted by project and device. They were verified when they were
// fetched. Nothing else reads them: [Repo.Lanes], transactions and views do not contain them.
func (r *Repo) Outside() ([]Lane, error) {
	all, err := r.memory.Refs(lane.OutsidePrefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes of untrusted devices: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if l, ok := lane.ParseLocalRef(ref.Name); ok && l.Project != Home {
			l.Tip = ref.ID
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// AllLanes returns the lanes of [Repo.Lanes] and [Repo.Outside].
func (r *Repo) AllLanes() ([]Lane, error) {
	inside, err := r.Lanes()
	if err != nil {
		return nil, err
	}
	outside, err := r.Outside()
	return append(inside, outside...), err
}

// Place moves lanes of trusted devices in and lanes of other devices out. It can be repeated after an interruption.
func (r *Repo) Place(ctx context.Context, trusted func(device string) bool) error {
	lanes, err := r.AllLanes()
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if trusted(l.Device) != l.Outside {
			continue
		}
		if err := r.place(ctx, l); err != nil {
			return disk.AsWriteError(fmt.Errorf("move the lane of device %s: %w", l.Device, err))
		}
	}
	return nil
}

// place moves a lane to the other side. What is there already is older or the same.
func (r *Repo) place(ctx context.Context, l Lane) error {
	unlock, err := r.LockLane(ctx, l.Project)
	if err != nil {
		return err
	}
	defer unlock()
	to := l
	to.Outside = !l.Outside
	old, err := r.memory.Ref(to.LocalRef())
	if err != nil {
		return err
	}
	now, err := r.memory.Ref(l.LocalRef()) // it may have moved before the lock
	if err != nil || now.IsZero() {
		return err
	}
	if old != now {
		if err := r.memory.Update(ctx, to.LocalRef(), old, now); err != nil {
			return err
		}
	}
	return r.memory.Remove(ctx, l.LocalRef())
}

// SizeOf returns the size of the objects of lanes, as they are stored.
func (r *Repo) SizeOf(ctx context.Context, lanes []Lane) (size int64, err error) {
	seen := map[pack.ID]struct{}{}
	for _, l := range lanes {
		if err := lane.AddReachable(ctx, r.memory, l.Tip, seen); err != nil {
			return size, err
		}
	}
	for id := range seen {
		n, err := r.memory.StoredSize(id)
		if err != nil && !errors.Is(err, pack.ErrNotFound) {
			return size, err
		}
		size += n
	}
	return size, nil
}

// RecordsOf calls f with each valid record of a lane.
func (r *Repo) RecordsOf(ctx context.Context, l Lane, f func(Record)) error {
	s, err := lane.At(r.memory, l.Tip, l.Device)
	if err != nil {
		return err
	}
	all, err := s.RecordsSince(nil, nil)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	for _, rec := range r.dropMalformed(all) {
		f(rec)
	}
	return nil
}
