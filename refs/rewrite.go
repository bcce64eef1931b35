package refs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// Rewrite is [Repo.Update] of a lane that begins anew: fn is given this device's lane as it is, to read, and an empty
// one to write, and its commit has no parent and begins a new epoch. What fn does not put there is not in the lane any more; its
// bytes go with [Repo.Sweep].
func (r *Repo) Rewrite(ctx context.Context, p Project, message string, fn func(old, tx *Tx) error) error {
	return r.Update(ctx, p, message, func(tx *Tx) error {
		old := *tx
		old.write, old.lanes = false, slices.Clone(tx.lanes)
		own := tx.own()
		tx.lanes[0] = &lane{device: own.device, root: &node{loaded: true}, git: own.git, replaces: own.tip}
		epoch, err := epochAt(ctx, own.git, own.tip)
		if err != nil {
			return err
		}
		tx.Trailer("Epoch", strconv.FormatUint(epoch+1, 10))
		if err := fn(&old, tx); err != nil || own.tip.IsZero() {
			return err
		}
		return r.noteFormer(ctx, p, own.tip)
	})
}

// Carry puts what this device's lane holds in old into tx as it is: the records, objects, growth points and streams of which
// keep says so. A dir is "records", "objects", "points" or "streams".
func (tx *Tx) Carry(old *Tx, keep func(dir string, name objects.Hash) bool) error {
	l := old.own()
	return l.root.walk(l.git, nil, func(path []string, id pack.ID) error {
		digits := path[1:]
		if path[0] == "streams" {
			digits = path[1:5]
		}
		if path[0] != "format" {
			h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(digits, ""), ".json"))
			if err != nil || !keep(path[0], h) {
				return err
			}
		}
		_, err := tx.own().root.set(l.git, id, slices.Clone(path)...)
		return err
	})
}

// OwnObjects returns the sorted names of the objects of moderate size in this device's lane.
func (tx *Tx) OwnObjects() ([]objects.Hash, error) {
	own := Tx{r: tx.r, lanes: tx.lanes[:1]}
	return own.names("objects")
}

// AddAgain stores a record that another body was made for. Its place among all records stays.
func (tx *Tx) AddAgain(r Record) (Record, error) {
	b, err := r.encode()
	if err != nil {
		return r, err
	}
	tx.lamport = max(tx.lamport, r.Lamport)
	return r, tx.putBlob(b, recordPath(r.ID))
}
