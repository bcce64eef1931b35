package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/lane"
)

// MendClocks lets the lanes of this device that other stores refuse for their Lamport times ([ErrAhead]) begin
// anew: records whose times are too late get the next ones that others take, in the same order, and with them
// new names. With dryRun it says what it would do.
func (r *Repo) MendClocks(ctx context.Context, dryRun bool) (did []Mending, err error) {
	all, err := r.memory.Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	for _, ref := range all {
		p, device, ok := lane.Split(ref.Name)
		if !ok || device != r.device.ID {
			continue
		}
		err := r.CheckClock(Lane{Project: p, Device: device})
		late, lost := r.latePatches(ctx, p)
		if err = errors.Join(err, lost); err == nil && !late {
			continue
		}
		if err != nil && !errors.Is(err, ErrAhead) {
			return did, err
		}
		m := Mending{Where: memoryDir + "/" + ref.Name, What: ErrAhead.Error(),
			Done: "begun anew with Lamport times that other stores take"}
		if !dryRun {
			if err := r.mendClock(ctx, p, err != nil); err != nil {
				return did, fmt.Errorf("mend the Lamport times of %s: %w", ref.Name, err)
			}
		}
		did = append(did, m)
	}
	return did, nil
}

// latePatches reports whether a commit of this device's lane in originals.git has a Lamport time that others refuse.
func (r *Repo) latePatches(ctx context.Context, p Project) (bool, error) {
	tip, err := r.originals.Ref(lane.Ref(p, r.device.ID))
	if err != nil {
		return false, err
	}
	for id := tip; !id.IsZero(); {
		c, err := r.originals.Commit(id)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		if n, err := lane.LamportOf(c); err != nil || !r.takes(n) {
			return err == nil, err
		}
		id = c.Parent
	}
	return false, nil
}

// mendClock mends the lane of a project, and then that of its patches, which may be all that is left to mend.
func (r *Repo) mendClock(ctx context.Context, p Project, records bool) error {
	gone := map[objects.Hash]bool{} // patches of records that have another name now
	if records {
		err := r.Rewrite(ctx, p, "repair: count records from a time that other stores take", func(old, tx *Tx) error {
			tx.Trailer("Op", "repair")
			return tx.recount(old, gone)
		})
		if err != nil {
			return err
		}
	}
	return r.RewritePatches(ctx, p, func(h objects.Hash) bool { return !gone[h] })
}

// recount puts all of old into tx, records with the Lamport times that others take. The names of the patches
// that go are added to gone.
func (tx *Tx) recount(old *Tx, gone map[objects.Hash]bool) error {
	all, err := old.own().RecordsSince(nil, nil)
	if err != nil {
		return err
	}
	slices.SortFunc(all, Record.Compare)
	n := len(all)
	if i := slices.IndexFunc(all, func(rec Record) bool { return !tx.r.follows(rec.Lamport) }); i >= 0 {
		n = i
	}
	tx.lamport = 0
	for _, l := range tx.lanes[1:] {
		if seen, err := lane.LamportOf(l.Commit); err == nil && tx.r.follows(seen) {
			tx.lamport = max(tx.lamport, seen)
		}
	}
	late := map[objects.Hash]bool{}
	for i, rec := range all {
		if i < n {
			tx.lamport = max(tx.lamport, rec.Lamport)
		} else {
			late[rec.ID] = true
		}
	}
	if err := tx.Carry(old, func(dir string, name objects.Hash) bool {
		return dir != "records" || !late[name]
	}); err != nil {
		return err
	}
	names := map[string]string{}
	for _, rec := range all[n:] {
		if err := tx.restamp(rec, names, gone); err != nil {
			return err
		}
	}
	return tx.needStage()
}

// restamp stores a record with the next Lamport time, under the name that follows from it. What it calls other
// records becomes what names says that they are called now.
func (tx *Tx) restamp(rec Record, names map[string]string, gone map[objects.Hash]bool) error {
	old, was := rec.ID, fmt.Sprintf(`"%s/%d"`, rec.Device, rec.Lamport)
	body := replaceNames(string(rec.Body), names)
	for from, to := range names {
		if strings.HasPrefix(from, `"`) {
			body = strings.ReplaceAll(body, from, to)
		}
	}
	tx.lamport++
	rec.Lamport, rec.Body = tx.lamport, json.RawMessage(body)
	b, err := rec.Encode()
	if err != nil {
		return err
	}
	names[old.String()], names[was] = rec.ID.String(), fmt.Sprintf(`"%s/%d"`, rec.Device, rec.Lamport)
	if err := tx.putBlob(b, lane.RecordPath(rec.ID)); err != nil {
		return err
	}
	patches := map[objects.Hash]objects.Hash{old: rec.ID}
	var files struct{ Files []struct{ Name string } }
	if rec.Kind == "session" && json.Unmarshal(rec.Body, &files) == nil {
		for _, f := range files.Files {
			patches[lane.FilePatch(old, f.Name)] = lane.FilePatch(rec.ID, f.Name)
		}
	}
	for from, to := range patches {
		b, err := tx.Patch(rec.Device, from)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err == nil {
			gone[from] = true
			err = tx.PutPatch(to, slices.Clone(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
