package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/refs"
)

// An Operation is an operation of this device in a project, as undoing sees it.
type Operation struct {
	refs.Entry
	State OpState
}

// An OpState says what can be done about an operation.
type OpState string

// The states of operations.
const (
	OpNext     OpState = "undo"     // is the next to be undone
	OpUndoable OpState = "undoable" // is undone after that
	OpRedoable OpState = "redo"     // was undone and can be done again
	OpUndone   OpState = "undone"   // was undone, and something else was done since
	OpFixed    OpState = "fixed"    // brought nothing that can be taken back
)

// ErrNothingToUndo says that no operation is left that could be undone or done again.
var ErrNothingToUndo = errors.New("no operation of this device is left")

// A Reverted is what became of one operation by undoing it, or doing it again.
type Reverted struct {
	Operation refs.Entry
	Changed   []string // what it spoke of that is now as it was before, or as it was after it
	Left      []string // what was changed again since, by whom ever, and stays as it is
}

// Operations returns the operations of this device in a project, the newest first.
func (m *Memory) Operations(ctx context.Context, p refs.Project) ([]Operation, error) {
	var out []Operation
	err := m.repo.View(ctx, p, func(tx *refs.Tx) error {
		u, err := m.undoing(ctx, tx, p)
		if err != nil {
			return err
		}
		for _, op := range slices.Backward(u.ops) {
			out = append(out, Operation{op.Entry, u.state(op)})
		}
		return nil
	})
	return out, err
}

// state says what can be done about an operation.
func (u *undoing) state(op *undoOp) OpState {
	switch {
	case len(u.done) > 0 && op == u.done[len(u.done)-1]:
		return OpNext
	case slices.Contains(u.done, op):
		return OpUndoable
	case slices.Contains(u.undone, op):
		return OpRedoable
	case len(op.cells) > 0:
		return OpUndone
	}
	return OpFixed
}

// Undo takes back the last n operations of this device that can be taken back: with records that say what was so before
// them. What has been changed since by another operation stays. Captures, and what sessions used, are not operations to undo.
// A dry run writes nothing. The error is [ErrNothingToUndo] if there is none.
func (m *Memory) Undo(ctx context.Context, p refs.Project, n int, dryRun bool) ([]Reverted, error) {
	return m.revert(ctx, p, n, dryRun, "undo")
}

// Redo does the last n operations again that were undone, the one undone last first.
func (m *Memory) Redo(ctx context.Context, p refs.Project, n int, dryRun bool) ([]Reverted, error) {
	return m.revert(ctx, p, n, dryRun, "redo")
}

func (m *Memory) revert(ctx context.Context, p refs.Project, n int, dryRun bool, verb string) (out []Reverted, err error) {
	run := func(tx *refs.Tx) error {
		u, err := m.undoing(ctx, tx, p)
		if err != nil {
			return err
		}
		var say []statement
		for len(out) < n {
			r, more, ok := u.next(verb)
			if !ok {
				break
			}
			out, say = append(out, r), append(say, more...)
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
		for _, s := range say {
			if _, err := tx.Add(s.kind, s.body); err != nil {
				return err
			}
		}
		return nil
	}
	if dryRun {
		return out, m.repo.View(ctx, p, run)
	}
	// What is undone is known under the lock alone, so the subject names only how many.
	subject := verb
	if n > 1 {
		subject = fmt.Sprintf("%s up to %d operations", verb, n)
	} else if first, err := m.revert(ctx, p, 1, true, verb); err == nil {
		subject = verb + " " + first[0].Operation.Subject
	}
	err = m.repo.Update(ctx, p, subject, run)
	return out, err
}

// trailerOf is the trailer by which a commit names what it undoes or does again.
var trailerOf = map[string]string{"undo": "Undoes", "redo": "Redoes"}

// An undoing is the operations of this device in a project with what they said.
type undoing struct {
	ops    []*undoOp // oldest first
	done   []*undoOp // that can be undone, the one to undo first last
	undone []*undoOp // that can be done again, the one to do first last
	said   timeline
	count  uint64 // of cells that were only planned
}

type undoOp struct {
	refs.Entry
	from  uint64 // lamport times of its records are above this, up to that of the entry
	cells []cell
}

func (o *undoOp) brought(s stamp) bool {
	return s.Device == o.Device && s.Lamport > o.from && s.Lamport <= o.Lamport
}

// undoing reads what can be undone.
func (m *Memory) undoing(ctx context.Context, tx *refs.Tx, p refs.Project) (*undoing, error) {
	records, err := tx.Records(ctx, nil)
	if err == nil {
		records, err = m.unpurged(ctx, p, records)
	}
	if err != nil {
		return nil, err
	}
	st, err := m.outline(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	entries, err := m.Log(ctx, p, 0)
	if err != nil {
		return nil, err
	}
	u := &undoing{said: timeline{}}
	for _, e := range slices.Backward(entries) {
		if e.Device != m.repo.Device().ID {
			continue
		}
		op := &undoOp{Entry: e}
		if len(u.ops) > 0 {
			op.from = u.ops[len(u.ops)-1].Lamport
		}
		u.ops = append(u.ops, op)
	}
	if err := u.read(st, records); err != nil {
		return nil, err
	}
	u.fold()
	return u, nil
}

// anew are the operations that began a lane anew: they hold what others before them brought.
var anew = []string{"clean", "forget"}

// read sorts what records say by slot and by operation.
func (u *undoing) read(st *State, records []refs.Record) error {
	captures := map[*undoOp]bool{}
	for _, r := range records {
		if st.stranger(r.Device) {
			continue // the user's word stands, whatever it says
		}
		cells, err := st.cells(r)
		if err != nil {
			return err
		}
		for i, c := range cells {
			cells[i] = u.said.add(c)
		}
		i, _ := slices.BinarySearchFunc(u.ops, r.Lamport, func(o *undoOp, n uint64) int { return cmp.Compare(o.Lamport, n) })
		if i == len(u.ops) || r.Device != u.ops[i].Device {
			continue
		}
		u.ops[i].cells = append(u.ops[i].cells, cells...)
		captures[u.ops[i]] = captures[u.ops[i]] || r.Kind == kindSession
	}
	for op := range captures {
		if captures[op] || slices.Contains(anew, op.Trailer("Op")) {
			op.cells = nil
		}
	}
	return nil
}

// fold finds out, from the operations in their order, which were undone and not done again.
func (u *undoing) fold() {
	byCommit := map[string]*undoOp{}
	for _, op := range u.ops {
		byCommit[op.Commit] = op
		undoes, redoes := named(op.Entry, "Undoes"), named(op.Entry, "Redoes")
		for _, commit := range undoes {
			u.move(byCommit[commit], "undo")
		}
		for _, commit := range redoes {
			u.move(byCommit[commit], "redo")
		}
		if len(undoes)+len(redoes) > 0 {
			op.cells = nil
			continue
		}
		if len(op.cells) > 0 {
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

// move takes an operation from the one stack to the other.
func (u *undoing) move(op *undoOp, verb string) {
	from, to := &u.done, &u.undone
	if verb == "redo" {
		from, to = to, from
	}
	if i := slices.Index(*from, op); op != nil && i >= 0 {
		*from, *to = slices.Delete(*from, i, i+1), append(*to, op)
	}
}

// next plans the next operation to undo or do again: the last one of which anything can be. It counts as done from then on.
func (u *undoing) next(verb string) (Reverted, []statement, bool) {
	stack := u.done
	if verb == "redo" {
		stack = u.undone
	}
	for _, op := range slices.Backward(stack) {
		r, cells := u.plan(op, verb)
		if len(cells) == 0 {
			continue
		}
		var say []statement
		for _, c := range cells {
			say = append(say, u.said.again(c))
			u.count++
			c.stamp = stamp{Lamport: u.ops[len(u.ops)-1].Lamport + u.count} // of nobody: no operation brought it
			u.said.add(c)
		}
		u.move(op, verb)
		return r, say, true
	}
	return Reverted{}, nil, false
}

// plan decides what undoing an operation, or doing it again, has to say: for each slot that it spoke of and that still
// says what it left there, what was said before it; or the other way round.
func (u *undoing) plan(op *undoOp, verb string) (Reverted, []cell) {
	r := Reverted{Operation: op.Entry}
	var out []cell
	seen := map[string]bool{}
	for _, c := range slices.Backward(op.cells) { // the last word of the operation on each slot
		if seen[c.slot] {
			continue
		}
		seen[c.slot] = true
		was, ok := u.said.before(c.slot, op.brought)
		if !ok {
			first := u.said[c.slot][0]
			was = cell{slot: c.slot, what: c.what, says: first.none.says, again: first.none.again, none: first.none}
		}
		from, to := c, was
		if verb == "redo" {
			from, to = was, c
		}
		switch now := u.said.last(c.slot).says; {
		case from.says == to.says:
		case now != from.says:
			r.Left = append(r.Left, c.what)
		default:
			r.Changed = append(r.Changed, c.what)
			out = append(out, to)
		}
	}
	slices.Reverse(r.Left)
	slices.Reverse(r.Changed)
	slices.Reverse(out)
	return r, out
}
