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

// FixClock restarts this device's lane of a project in originals.git with Lamport times that other stores accept. With
// records it does so first with the lane in memory.git, whose records get new names.
func (r *Repo) FixClock(ctx context.Context, p Project, records bool) error {
	renamed := map[objects.Hash]bool{} // former patches of renamed records
	if records {
		err := r.Rewrite(ctx, p, "repair: Lamport times that other stores accept", func(old, tx *Tx) error {
			tx.Trailer("Op", "repair")
			return tx.copyRestamped(old, renamed)
		})
		if err != nil {
			return err
		}
	}
	return r.RewritePatches(ctx, p, func(h objects.Hash) bool { return !renamed[h] })
}

// copyRestamped copies old to tx. Records with a Lamport time too far ahead get new ones, and therefore new names. It
// adds the names of their former patches to renamed.
func (tx *Tx) copyRestamped(old *Tx, renamed map[objects.Hash]bool) error {
	all, err := old.own().RecordsSince(nil, nil)
	if err != nil {
		return err
	}
	slices.SortFunc(all, Record.Compare)
	n := len(all)
	if i := slices.IndexFunc(all, func(rec Record) bool { return !tx.r.mayFollow(rec.Lamport) }); i >= 0 {
		n = i
	}
	tx.lamport = 0
	for _, l := range tx.lanes[1:] {
		if seen, err := lane.LamportOf(l.Commit); err == nil && tx.r.mayFollow(seen) {
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
	if err := tx.CopyFrom(old, func(dir string, name objects.Hash) bool {
		return dir != "records" || !late[name]
	}); err != nil {
		return err
	}
	names := map[string]string{}
	for _, rec := range all[n:] {
		if err := tx.restamp(rec, names, renamed); err != nil {
			return err
		}
	}
	return tx.ensureStage()
}

// restamp stores a record with the next Lamport time, and therefore a new name. References to other records in its body
// are replaced by their new names.
func (tx *Tx) restamp(rec Record, names map[string]string, renamed map[objects.Hash]bool) error {
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
	return tx.copyPatches(rec.Device, old, rec, renamed)
}

// copyPatches stores the patches that a device has for the record old, its own and those of its overflow files, as
// patches of now, the same record under another name. It adds their former names to copied.
func (tx *Tx) copyPatches(device string, old objects.Hash, now Record, copied map[objects.Hash]bool) error {
	patches := map[objects.Hash]objects.Hash{old: now.ID}
	var files struct{ Files []struct{ Name string } }
	if now.Kind == "session" && json.Unmarshal(now.Body, &files) == nil {
		for _, f := range files.Files {
			patches[lane.FilePatch(old, f.Name)] = lane.FilePatch(now.ID, f.Name)
		}
	}
	for from, to := range patches {
		b, err := tx.Patch(device, from)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err == nil {
			copied[from] = true
			err = tx.PutPatch(to, slices.Clone(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
