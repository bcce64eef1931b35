package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/ledger"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// An Operation is an operation of this device with its undo state.
type Operation struct {
	refs.Entry
	State OpState
}

// An OpState says whether an operation can be undone.
type OpState string

// The states of operations.
const (
	OpNext     OpState = "undo"     // the next to be undone
	OpUndoable OpState = "undoable" // can be undone after OpNext
	OpRedoable OpState = "redo"     // was undone and can be redone
	OpUndone   OpState = "undone"   // was undone and cannot be redone, because of later operations
	OpFixed    OpState = "fixed"    // changed nothing that can be undone
)

// ErrNothingToUndo means that there is no operation to undo or redo.
var ErrNothingToUndo = errors.New("no operation of this device is left")

// A Reverted is the result of undoing or redoing an operation.
type Reverted struct {
	Operation refs.Entry
	Changed   []string // things restored to their state before (undo) or after (redo) the operation
	Left      []string // things changed by later operations, left alone
}

// Operations returns the operations of this device in a project, the newest first.
func Operations(ctx context.Context, db *state.DB, p refs.Project) ([]Operation, error) {
	var out []Operation
	err := db.Refs.View(ctx, p, func(tx *refs.Tx) error {
		u, err := undoLog(ctx, db, tx, p)
		if err != nil {
			return err
		}
		for _, op := range slices.Backward(u.Ops) {
			out = append(out, Operation{op.Entry, u.state(op)})
		}
		return nil
	})
	return out, err
}

func (u *UndoLog) state(op *UndoOp) OpState {
	switch {
	case len(u.done) > 0 && op == u.done[len(u.done)-1]:
		return OpNext
	case slices.Contains(u.done, op):
		return OpUndoable
	case slices.Contains(u.undone, op):
		return OpRedoable
	case len(op.Cells) > 0:
		return OpUndone
	}
	return OpFixed
}

// Undo undoes the last n undoable operations of this device, with records that restore the state before them. Things
// changed since by other operations stay. Captures and uses cannot be undone. A dry run writes nothing. The error is
// [ErrNothingToUndo] if there is none.
func Undo(ctx context.Context, db *state.DB, p refs.Project, n int, dryRun bool) ([]Reverted, error) {
	return revert(ctx, db, p, n, dryRun, "undo")
}

// Redo redoes the last n undone operations, the one undone last first.
func Redo(ctx context.Context, db *state.DB, p refs.Project, n int, dryRun bool) ([]Reverted, error) {
	return revert(ctx, db, p, n, dryRun, "redo")
}

func revert(ctx context.Context, db *state.DB, p refs.Project, n int, dryRun bool, verb string) (out []Reverted, err error) {
	run := func(tx *refs.Tx) error {
		u, err := undoLog(ctx, db, tx, p)
		if err != nil {
			return err
		}
		var statements []state.Statement
		for len(out) < n {
			r, more, ok := u.Next(verb)
			if !ok {
				break
			}
			out, statements = append(out, r), append(statements, more...)
		}
		if len(out) == 0 {
			return fmt.Errorf("%s: %w", verb, ErrNothingToUndo)
		}
		if dryRun {
			return nil
		}
		tx.Trailer("Op", verb)
		for _, r := range out {
			tx.Trailer(trailerOf[verb], r.Operation.Commit)
		}
		for _, s := range statements {
			if _, err := tx.Add(s.Kind, s.Body); err != nil {
				return err
			}
		}
		return nil
	}
	if dryRun {
		err = db.Refs.View(ctx, p, run) // before out is read
		return out, err
	}
	// The operations are known only under the lock, so the subject contains their number.
	subject := verb
	if n > 1 {
		subject = fmt.Sprintf("%s up to %d operations", verb, n)
	} else if first, err := revert(ctx, db, p, 1, true, verb); err == nil {
		subject = verb + " " + first[0].Operation.Subject
	}
	err = db.Refs.Update(ctx, p, subject, run)
	return out, err
}

// trailerOf is the trailer with the commit that is undone or redone.
var trailerOf = map[string]string{"undo": "Undoes", "redo": "Redoes"}

// An Undoing contains the operations of this device in a project with their statements.
type UndoLog struct {
	Ops    []*UndoOp // oldest first
	done   []*UndoOp // undoable operations, the next one last
	undone []*UndoOp // redoable operations, the next one last
	Values state.Timeline
	count  uint64 // number of planned cells
}

// An UndoOp is an operation with the cells that it changed.
type UndoOp struct {
	refs.Entry
	From  uint64 // its records have lamport times above this, up to that of the entry
	Cells []state.Cell
}

func (o *UndoOp) wrote(s bodies.Stamp) bool {
	return s.Device == o.Device && s.Lamport > o.From && s.Lamport <= o.Lamport
}

// undoLog loads the operations.
func undoLog(ctx context.Context, db *state.DB, tx *refs.Tx, p refs.Project) (*UndoLog, error) {
	records, err := tx.Records(ctx, nil)
	if err == nil {
		records, err = state.Unpurged(records)
	}
	if err != nil {
		return nil, err
	}
	st, err := db.FoldOutline(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Log(ctx, db, p, 0)
	if err != nil {
		return nil, err
	}
	u := &UndoLog{Values: state.Timeline{}}
	for _, e := range slices.Backward(entries) {
		if e.Device != db.Refs.Device().ID {
			continue
		}
		op := &UndoOp{Entry: e}
		if len(u.Ops) > 0 {
			op.From = u.Ops[len(u.Ops)-1].Lamport
		}
		u.Ops = append(u.Ops, op)
	}
	if err := u.read(st, records); err != nil {
		return nil, err
	}
	u.Fold()
	return u, nil
}

// fixedOps are the operations that cannot be undone: "clean", "forget" and "purge" rewrite a lane, so their records are
// those of earlier operations, and "rebuild" is a part of a forget.
var fixedOps = []string{"clean", "forget", "purge", "rebuild"}

// read sorts the statements of records by slot and by operation.
func (u *UndoLog) read(st *state.State, records []refs.Record) error {
	captures := map[*UndoOp]bool{}
	for _, r := range records {
		cells, err := st.Cells(r)
		if err != nil {
			return err
		}
		for i, c := range cells {
			cells[i] = u.Values.Add(c)
		}
		i, _ := slices.BinarySearchFunc(u.Ops, r.Lamport, func(o *UndoOp, n uint64) int { return cmp.Compare(o.Lamport, n) })
		if i == len(u.Ops) || r.Device != u.Ops[i].Device {
			continue
		}
		u.Ops[i].Cells = append(u.Ops[i].Cells, cells...)
		captures[u.Ops[i]] = captures[u.Ops[i]] || r.Kind == bodies.KindSession
	}
	for op := range captures {
		if captures[op] || slices.Contains(fixedOps, op.Trailer("Op")) {
			op.Cells = nil
		}
	}
	u.forgetEarlier()
	return nil
}

// forgetEarlier makes the operations before the last forget fixed: an undo must not step over a forget, which cannot be
// undone.
func (u *UndoLog) forgetEarlier() {
	last := -1
	for i, op := range u.Ops {
		if op.Trailer("Op") == "forget" {
			last = i
		}
	}
	for _, op := range u.Ops[:last+1] {
		op.Cells = nil
	}
}

// Fold determines, from the operations in their order, which are undone and not redone.
func (u *UndoLog) Fold() {
	byCommit := map[string]*UndoOp{}
	for _, op := range u.Ops {
		byCommit[op.Commit] = op
		undoes, redoes := named(op.Entry, "Undoes"), named(op.Entry, "Redoes")
		for _, commit := range undoes {
			u.move(byCommit[commit], "undo")
		}
		for _, commit := range redoes {
			u.move(byCommit[commit], "redo")
		}
		if len(undoes)+len(redoes) > 0 {
			op.Cells = nil
			continue
		}
		if len(op.Cells) > 0 {
			u.done, u.undone = append(u.done, op), nil
		}
	}
}

// named returns the values of the trailers with a key.
func named(e refs.Entry, key string) []string {
	var out []string
	for _, t := range e.Trailers {
		if v, ok := strings.CutPrefix(t, "Mem-"+key+": "); ok {
			out = append(out, v)
		}
	}
	return out
}

// move moves an operation between the stacks.
func (u *UndoLog) move(op *UndoOp, verb string) {
	from, to := &u.done, &u.undone
	if verb == "redo" {
		from, to = to, from
	}
	if i := slices.Index(*from, op); op != nil && i >= 0 {
		*from, *to = slices.Delete(*from, i, i+1), append(*to, op)
	}
}

// Next plans the next operation to undo or redo: the last one with an effect. It then counts as done.
func (u *UndoLog) Next(verb string) (Reverted, []state.Statement, bool) {
	stack := u.done
	if verb == "redo" {
		stack = u.undone
	}
	for _, op := range slices.Backward(stack) {
		r, cells := u.Plan(op, verb)
		if len(cells) == 0 {
			continue
		}
		var statements []state.Statement
		for _, c := range cells {
			statements = append(statements, u.Values.Restore(c))
			u.count++
			c.Stamp = bodies.Stamp{Lamport: u.Ops[len(u.Ops)-1].Lamport + u.count} // without a device: it belongs to no operation
			u.Values.Add(c)
		}
		u.move(op, verb)
		return r, statements, true
	}
	return Reverted{}, nil, false
}

// Plan returns the cells that undo or redo an operation: for each slot that it changed, the value before or after it. A
// slot that has another value now was changed by a later operation; it is left alone and listed in Left.
func (u *UndoLog) Plan(op *UndoOp, verb string) (Reverted, []state.Cell) {
	r := Reverted{Operation: op.Entry}
	var out []state.Cell
	seen := map[string]bool{}
	for _, c := range slices.Backward(op.Cells) { // the last change of each slot by the operation
		if seen[c.Slot] {
			continue
		}
		seen[c.Slot] = true
		was, ok := u.Values.Before(c.Slot, op.wrote)
		if !ok {
			first := u.Values[c.Slot][0]
			was = state.Cell{Slot: c.Slot, What: c.What, Value: first.Empty.Value, Restore: first.Empty.Restore, Empty: first.Empty}
		}
		from, to := c, was
		if verb == "redo" {
			from, to = was, c
		}
		switch now := u.Values.Last(c.Slot).Value; {
		case from.Value == to.Value:
		case now != from.Value:
			r.Left = append(r.Left, c.What)
		default:
			r.Changed = append(r.Changed, c.What)
			out = append(out, to)
		}
	}
	slices.Reverse(r.Left)
	slices.Reverse(r.Changed)
	slices.Reverse(out)
	return r, out
}
