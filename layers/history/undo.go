package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// A RefusedError says that an operation is not undone or redone, so nothing was. No other operation is taken in its place.
type RefusedError struct {
	Verb      string // undo or redo
	Operation refs.Entry
	State     OpState
	Left      []string    // what was changed since: all that the operation changed; empty if State is the reason
	Last      bool        // it is the first that Verb applies to
	After     int         // operations that were asked for and can be undone or redone before it
	Instead   *refs.Entry // the next one after it that can be undone or redone
}

func (e *RefusedError) Error() string {
	which := fmt.Sprintf("operation %.7s, %s", e.Operation.Commit, e.Operation.Subject)
	switch {
	case len(e.Left) == 0 && e.State == OpFixed:
		return fmt.Sprintf("%s, cannot be %s", which, Participle(e.Verb))
	case len(e.Left) == 0 && e.Verb == "redo" && e.State == OpUndone:
		return which + ", cannot be redone, because of later operations"
	case len(e.Left) == 0 && e.Verb == "redo":
		return which + ", is not undone"
	case len(e.Left) == 0:
		return which + ", is undone already"
	}
	if e.Last {
		which = map[string]string{"undo": "the last operation", "redo": "the operation undone last"}[e.Verb] + ", " + e.Operation.Subject
	}
	if WritesFiles(e.Operation) {
		return fmt.Sprintf("the files of %s, were changed since", which)
	}
	return fmt.Sprintf("what %s, changed was changed again since: %s", which, strings.Join(e.Left, ", "))
}

// Participle returns what an operation is after a verb, undo or redo.
func Participle(verb string) string {
	return map[string]string{"undo": "undone", "redo": "redone"}[verb]
}

// WritesFiles reports whether undoing or redoing an operation writes files of Claude Code.
func WritesFiles(op refs.Entry) bool { return op.Trailer("Op") == "notes restore" }

// Options are the options of [Undo] and [Redo].
type Options struct {
	Of     []string       // the commits of the operations, in this order, instead of the last n
	DryRun bool           // write nothing
	Wrote  []records.Note // the files that a dry run named, and that have these states now
}

// A Reverted is the result of undoing or redoing an operation.
type Reverted struct {
	Operation refs.Entry
	Changed   []string       // things restored to their state before (undo) or after (redo) the operation
	Left      []string       // things changed by later operations, left alone
	Stated    bool           // the user's word is among what changed: see [state.Cell]
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

// Undo undoes the last n undoable operations of this device, or those of the options, with records that restore the state
// before them. Things changed since by other operations stay; if that is all that an operation changed, the error is a
// [*RefusedError] and nothing is undone. Captures and uses cannot be undone. The error is [ErrNothingToUndo] if there is
// no operation, and [ErrFiles] if they wrote files of Claude Code.
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
		out, statements, err = u.take(verb, n, o.Of)
		if err != nil {
			return err
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
	// The subject is written before the lock is taken: the operation that it names is the one that is undone.
	subject := fmt.Sprintf("%s up to %d operations", verb, n)
	if n == 1 || len(o.Of) == 1 {
		first, err := revert(ctx, db, p, 1, Options{Of: o.Of, DryRun: true}, verb)
		if err != nil {
			return nil, err
		}
		o.Of = []string{first[0].Operation.Commit}
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
	entries, err := Log(ctx, db, p, 0)
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
			r.Kind == records.KindNote && !WritesFiles(u.Ops[i].Entry)
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
		if len(op.Cells) == 0 {
			continue
		}
		u.undone = nil
		if slices.ContainsFunc(op.Cells, func(c state.Cell) bool { return u.before(op, c).Value != c.Value }) {
			u.done = append(u.done, op)
		} else {
			op.Cells = nil // it set what was set already
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

// stack returns the operations that a verb applies to, the next one last.
func (u *UndoLog) stack(verb string) []*UndoOp {
	if verb == "redo" {
		return u.undone
	}
	return u.done
}

// take plans to undo or redo the operations of, or the last n if there are none.
func (u *UndoLog) take(verb string, n int, of []string) (out []Reverted, statements []state.Statement, err error) {
	if len(of) > 0 {
		n = len(of)
	}
	for len(out) < n {
		commit := ""
		if len(of) > 0 {
			commit = of[len(out)]
		}
		r, more, err := u.Next(verb, commit)
		if errors.Is(err, ErrNothingToUndo) && len(out) > 0 {
			break
		}
		var refused *RefusedError
		if errors.As(err, &refused) {
			refused.After, refused.Last = len(out), refused.Last && len(out) == 0
		}
		if err != nil {
			return nil, nil, err
		}
		out, statements = append(out, r), append(statements, more...)
	}
	return out, statements, nil
}

// Next plans to undo or redo the operation with a commit, or the next one if that is empty. It then counts as done.
func (u *UndoLog) Next(verb, commit string) (Reverted, []state.Statement, error) {
	stack := u.stack(verb)
	i := len(stack) - 1
	if commit != "" {
		i = slices.IndexFunc(stack, func(o *UndoOp) bool { return o.Commit == commit })
	}
	if i < 0 {
		for _, op := range u.Ops {
			if op.Commit == commit {
				return Reverted{}, nil, &RefusedError{Verb: verb, Operation: op.Entry, State: u.state(op)}
			}
		}
		return Reverted{}, nil, fmt.Errorf("%s: %w", verb, ErrNothingToUndo)
	}
	op := stack[i]
	r, cells := u.Plan(op, verb)
	if len(cells) == 0 {
		refused := &RefusedError{Verb: verb, Operation: op.Entry, State: u.state(op), Left: r.Left, Last: i == len(stack)-1}
		for _, other := range slices.Backward(stack[:i]) {
			if _, cells := u.Plan(other, verb); len(cells) > 0 {
				refused.Instead = &other.Entry
				break
			}
		}
		return Reverted{}, nil, refused
	}
	var statements []state.Statement
	for _, c := range cells {
		statements = append(statements, u.Values.Restore(c))
		u.count++
		c.Stamp = records.Stamp{Lamport: u.Ops[len(u.Ops)-1].Lamport + u.count} // without a device: it belongs to no operation
		u.Values.Add(c)
	}
	u.move(op, verb)
	return r, statements, nil
}

// before returns the cell of a slot before an operation that set c.
func (u *UndoLog) before(op *UndoOp, c state.Cell) state.Cell {
	if was, ok := u.Values.Before(c.Slot, op.wrote); ok {
		return was
	}
	first := u.Values[c.Slot][0]
	return state.Cell{Slot: c.Slot, What: c.What, Value: first.Empty.Value, Restore: first.Empty.Restore, Empty: first.Empty}
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
		was := u.before(op, c)
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
			r.Changed, r.Stated = append(r.Changed, c.What), r.Stated || c.Stated
			out = append(out, to)
		}
	}
	slices.Reverse(r.Left)
	slices.Reverse(r.Changed)
	slices.Reverse(out)
	return r, out
}
