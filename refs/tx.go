package refs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// Project returns the project whose lanes these are.
func (tx *Tx) Project() Project { return tx.project }

// Tips returns the tips of the lanes that have a commit, sorted by device.
func (tx *Tx) Tips() []Tip {
	var tips []Tip
	for _, l := range tx.lanes {
		if !l.Tip.IsZero() {
			tips = append(tips, Tip{Device: l.Device, Commit: l.Tip.String()})
		}
	}
	slices.SortFunc(tips, func(a, b Tip) int { return strings.Compare(a.Device, b.Device) })
	return tips
}

// Commit returns the tip of this device's lane, 40 hexadecimal digits, or "" if the lane does not exist. After a
// [Repo.Update] it is the new commit.
func (tx *Tx) Commit() string {
	if tx.own().Tip.IsZero() {
		return ""
	}
	return tx.own().Tip.String()
}

// Get opens an object of any lane: a blob, or the content up to a growth point. If the bytes do not match h, the reader
// fails with [objects.ErrCorrupt], at the latest at its end. The error wraps [objects.ErrNotFound] if no lane contains
// the object.
func (tx *Tx) Get(_ context.Context, h objects.Hash) (io.ReadCloser, error) {
	for _, l := range tx.lanes {
		rc, err := l.Open(h)
		if !errors.Is(err, objects.ErrNotFound) {
			return rc, err
		}
	}
	return nil, fmt.Errorf("read %s: %w", h, objects.ErrNotFound)
}

// Segments returns the number of segments of a stream in this device's lane.
func (tx *Tx) Segments(name objects.Hash) (int, error) { return tx.lanes[0].Segments(name) }

// All yields the names of all objects of the lanes in increasing order.
func (tx *Tx) All(context.Context) iter.Seq2[objects.Hash, error] {
	return func(yield func(objects.Hash, error) bool) {
		names, err := tx.names("objects", "points")
		if err != nil {
			yield(objects.Hash{}, err)
			return
		}
		for _, h := range names {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// names returns the sorted names of the files in the given directories of the lanes.
func (tx *Tx) names(dirs ...string) ([]objects.Hash, error) {
	return tx.collect(dirs, func(l *lane.Snapshot, dir string) ([]objects.Hash, error) { return l.Names(dir) })
}

// collect returns the union of the results of list for every lane and directory, sorted.
func (tx *Tx) collect(dirs []string, list func(*lane.Snapshot, string) ([]objects.Hash, error)) ([]objects.Hash,
	error) {
	var names []objects.Hash
	for _, l := range tx.lanes {
		for _, dir := range dirs {
			found, err := list(l, dir)
			if err != nil {
				return nil, err
			}
			names = append(names, found...)
		}
	}
	slices.SortFunc(names, objects.Hash.Compare)
	return slices.Compact(names), nil
}

// RecordIDs returns the sorted names of all records of the lanes.
func (tx *Tx) RecordIDs() ([]objects.Hash, error) { return tx.names("records") }

// Record returns one record of any lane.
func (tx *Tx) Record(id objects.Hash) (Record, error) {
	for _, l := range tx.lanes {
		b, err := l.Read(lane.RecordPath(id)...)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return Record{}, err
		}
		return lane.CheckRecord(b, id)
	}
	return Record{}, fmt.Errorf("record %s: %w", id, objects.ErrNotFound)
}

// Records returns the records that the lanes have added since the given tips, in the order of [Record.Compare].
// Without tips it returns all. A tip that is unknown, because its lane was rewritten, is ignored. Malformed records of
// other devices ([Options.Body]) are skipped.
func (tx *Tx) Records(ctx context.Context, since []Tip) ([]Record, error) {
	var out []Record
	for _, l := range tx.lanes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		from := len(out)
		if out, err = l.RecordsSince(out, since); err != nil {
			return nil, err
		}
		if l.Device != tx.r.device.ID { // own bodies were checked when they were written
			out = out[:from+len(tx.r.dropMalformed(out[from:]))]
		}
	}
	slices.SortFunc(out, Record.Compare)
	return slices.CompactFunc(out, func(a, b Record) bool { return a.ID == b.ID }), nil
}

// dropMalformed removes malformed records from all, in place.
func (r *Repo) dropMalformed(all []Record) []Record {
	return slices.DeleteFunc(all, func(rec Record) bool {
		return rec.Lamport > lane.MaxLamport || r.opts.body(rec) != nil
	})
}

// Follows reports whether every lane descends from its given tip. Then the state at those tips and [Tx.Records] since
// then are the whole state.
func (tx *Tx) Follows(tips []Tip) (bool, error) {
	for _, t := range tips {
		i := slices.IndexFunc(tx.lanes, func(l *lane.Snapshot) bool { return l.Device == t.Device })
		if i < 0 {
			return false, nil
		}
		id, err := pack.ParseID(t.Commit)
		if err != nil {
			return false, err
		}
		if _, ok, err := lane.CommitsSince(tx.ctx, tx.r.memory, tx.lanes[i].Tip, id, lane.MaxCommits); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// Find returns the sorted names of the objects that start with the given hexadecimal digits, at least four.
func (tx *Tx) Find(prefix string) ([]objects.Hash, error) {
	if len(prefix) < 4 || len(prefix) > 2*objects.Size || !lane.IsHex(prefix) {
		return nil, nil
	}
	return tx.collect([]string{"objects", "points"}, func(l *lane.Snapshot, dir string) ([]objects.Hash, error) {
		return l.WithPrefix(dir, prefix)
	})
}

// Root returns the hash of a project: BLAKE3 over the sorted names of its records, one on a line. Two stores with the
// same records of a project have the same root.
func (tx *Tx) Root() (objects.Hash, error) {
	ids, err := tx.RecordIDs()
	if err != nil {
		return objects.Hash{}, err
	}
	return lane.RootHash(ids), nil
}

// own returns this device's lane.
func (tx *Tx) own() *lane.Snapshot { return tx.lanes[0] }
