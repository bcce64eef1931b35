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

// FixClock mends the lane of a project, and then that of its patches, which may be all that is left to mend.
// FixClock lets this device's lanes of a project begin anew with Lamport times that other stores take: the patches
// alone, or with records those of memory.git, too, under the names that follow from their new times.
func (r *Repo) FixClock(ctx context.Context, p Project, records bool) error {
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
