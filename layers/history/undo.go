package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/records"
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

// ErrFiles means that an operation wrote files of Claude Code, which must be written before it is undone or redone:
// [Reverted].Notes has their states.
var ErrFiles = errors.New("it wrote files of Claude Code")

// Options are the options of [Undo] and [Redo].
type Options struct {
	DryRun bool           // write nothing
	Wrote  []records.Note // the files that a dry run named, and that have these states now
}

// A Reverted is the result of undoing or redoing an operation.
type Reverted struct {
	Operation refs.Entry
	Changed   []string       // things restored to their state before (undo) or after (redo) the operation
	Left      []string       // things changed by later operations, left alone
	Notes     []records.Note // states of files of Claude Code on this device
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
// changed since by other operations stay. Captures and uses cannot be undone. The error is [ErrNothingToUndo] if there is
// none, and [ErrFiles] if they wrote files of Claude Code.
func Undo(ctx context.Context, db *state.DB, p refs.Project, n int, o Options) ([]Reverted, error) {
	return revert(ctx, db, p, n, o, "undo")
}

// Redo redoes the last n undone operations, the one undone last first.
func Redo(ctx context.Context, db *state.DB, p refs.Project, n int, o Options) ([]Reverted, error) {
	return revert(ctx, db, p, n, o, "redo")
}

func revert(ctx context.Context, db *state.DB, p refs.Project, n int, o Options, verb string) (out []Reverted, err error) {
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
		if o.DryRun {
			return nil
		}
		tx.Trailer("Op", verb)
		for _, r := range out {
			tx.Trailer(trailerOf[verb], r.Operation.Commit)
		}
		files := Files(out)
		if !slices.EqualFunc(files, o.Wrote, func(a, b records.Note) bool { return a.Dir == b.Dir && a.File == b.File && a.Text == b.Text }) {
			return ErrFiles
		}
		statements = slices.DeleteFunc(statements, func(s state.Statement) bool { return s.Kind == records.KindNote })
		for _, n := range files {
			statements = append(statements, state.Statement{Kind: records.KindNote, Body: n})
		}
		for _, s := range statements {
			if _, err := tx.Add(s.Kind, s.Body); err != nil {
				return err
			}
		}
		return nil
	}
	if o.DryRun {
		err = db.Refs.View(ctx, p, run) // before out is read
		return out, err
	}
	// The operations are known only under the lock, so the subject contains their number.
	subject := verb
	if n > 1 {
		subject = fmt.Sprintf("%s up to %d operations", verb, n)
	} else if first, err := revert(ctx, db, p, 1, Options{DryRun: true}, verb); err == nil {
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

func (o *UndoOp) wrote(s records.Stamp) bool {
	return s.Device == o.Device && s.Lamport > o.From && s.Lamport <= o.Lamport
}

// undoLog loads the operations.
func undoLog(ctx context.Context, db *state.DB, tx *refs.Tx, p refs.Project) (*UndoLog, error) {
	all, err := db.Undoable(ctx, tx, p)
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
	if err := u.read(st, all); err != nil {
		return nil, err
	}
	u.Fold()
	return u, nil
}

// fixedOps are the operations that cannot be undone: they rewrite a lane, so their records are those of earlier operations.
var fixedOps = []string{"clean", "forget", "purge"}

// read sorts the statements of records by slot and by operation.
func (u *UndoLog) read(st *state.State, all []refs.Record) error {
	captures := map[*UndoOp]bool{} // of sessions and notes
	for _, r := range all {
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
		captures[u.Ops[i]] = captures[u.Ops[i]] || r.Kind == records.KindSession ||
			r.Kind == records.KindNote && u.Ops[i].Trailer("Op") != "notes restore"
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
			c.Stamp = records.Stamp{Lamport: u.Ops[len(u.Ops)-1].Lamport + u.count} // without a device: it belongs to no operation
			u.Values.Add(c)
		}
		u.move(op, verb)
		return r, statements, true
	}
	return Reverted{}, nil, false
}

// note returns the state n of a note for an operation that set of: it replaces the newest recorded state of the file on
// this device.
func (u *UndoLog) note(n records.Note, of state.Cell, verb string) records.Note {
	for _, c := range slices.Backward(u.Values[of.Slot]) {
		if c.Stamp.Device != "" {
			n.After = append(slices.Clone(n.After), records.NoteState(c.Stamp))
			break
		}
	}
	if verb == "undo" {
		n.Undoes = []string{records.NoteState(of.Stamp)}
	}
	return n
}

// Files returns the last states of files of Claude Code after operations were undone or redone in order.
func Files(done []Reverted) (out []records.Note) {
	for _, r := range done {
		for _, n := range r.Notes {
			i := slices.IndexFunc(out, func(o records.Note) bool { return o.Dir == n.Dir && o.File == n.File })
			if i < 0 {
				out = append(out, n)
				continue
			}
			n.After, n.Undoes = append(n.After, out[i].After...), append(n.Undoes, out[i].Undoes...)
			out[i] = n
		}
	}
	for i := range out {
		slices.Sort(out[i].After)
		out[i].After = slices.Compact(out[i].After)
	}
	return out
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
			if n, ok := to.Restore.Body.(records.Note); ok {
				n = u.note(n, c, verb)
				to.Restore.Body, r.Notes = n, append(r.Notes, n)
			}
			r.Changed = append(r.Changed, c.What)
			out = append(out, to)
		}
	}
	slices.Reverse(r.Left)
	slices.Reverse(r.Changed)
	slices.Reverse(out)
	return r, out
}
