package ledger

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Ledger is the cached log of a project, the newest entry first. It is extended from the tips at which it was
// made. Cached entries are decoded while iterating, see [Cursor].
type Ledger struct {
	Format  int
	tips    []refs.Tip
	Entries []refs.Entry   // decoded entries
	stored  *records.Codec // or encoded ones
	n       int            // number of encoded entries
	Falls   bool           // encoded entries are sorted by time
}

const LedgerVersion = 1

// fewEntries is the largest number of operations that are read from their commits instead of the ledger.
const fewEntries = 64

// Log returns the newest n operations of a project, the newest first, or all if n is 0.
func Log(ctx context.Context, db *state.DB, p refs.Project, n int) ([]refs.Entry, error) {
	if n > 0 && n <= fewEntries {
		var out []refs.Entry
		for e, err := range db.Refs.Log(ctx, p, nil) {
			if err != nil {
				return nil, err
			}
			if out = append(out, e); len(out) == n {
				break
			}
		}
		return out, nil
	}
	l, err := ledger(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return l.Newest(p, n), nil
}

// ledger returns the current ledger of a project.
func ledger(ctx context.Context, db *state.DB, p refs.Project) (*Ledger, error) {
	var tips []refs.Tip
	err := db.Refs.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	if err != nil {
		return nil, err
	}
	file := db.CachePath("log", string(p))
	l := &Ledger{}
	if s, ok := state.ReadCacheText(file); !ok || !l.Read(s) {
		l = &Ledger{Format: LedgerVersion}
	}
	if slices.Equal(l.tips, tips) {
		return l, nil
	}
	ok, err := extend(ctx, db, p, l, tips)
	if err == nil && !ok { // a lane was rewritten: start again
		l = &Ledger{Format: LedgerVersion}
		_, err = extend(ctx, db, p, l, tips)
	}
	if err != nil {
		return nil, err
	}
	db.WriteCacheBytes(file, state.Encode(l.Code))
	return l, nil
}

// extend adds the operations after the tips of l. It returns false if a lane does not descend from its tip; then l
// is invalid.
func extend(ctx context.Context, db *state.DB, p refs.Project, l *Ledger, now []refs.Tip) (bool, error) {
	// by device: commit of the first entry, parent of the last one
	newest, oldest := map[string]string{}, map[string]string{}
	var fresh []refs.Entry
	for e, err := range db.Refs.Log(ctx, p, l.tips) {
		if err != nil {
			return false, err
		}
		if newest[e.Device] == "" {
			newest[e.Device] = e.Commit
		}
		oldest[e.Device] = e.Parent
		fresh = append(fresh, e)
	}
	for _, t := range l.tips {
		here := slices.ContainsFunc(now, func(n refs.Tip) bool { return n.Device == t.Device })
		if !here || newest[t.Device] != "" && oldest[t.Device] != t.Commit {
			return false, nil
		}
		if newest[t.Device] == "" {
			newest[t.Device] = t.Commit
		}
	}
	l.Entries, l.stored = mergeEntries(fresh, l.Newest(p, 0)), nil
	l.tips = nil
	for device, commit := range newest {
		l.tips = append(l.tips, refs.Tip{Device: device, Commit: commit})
	}
	slices.SortFunc(l.tips, func(a, b refs.Tip) int { return cmp.Compare(a.Device, b.Device) })
	return true, nil
}

// mergeEntries merges two logs, each with the newest entry first.
func mergeEntries(a, b []refs.Entry) []refs.Entry {
	out := make([]refs.Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if cmp.Or(cmp.Compare(a[0].Lamport, b[0].Lamport), cmp.Compare(a[0].Device, b[0].Device)) >= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Code encodes the ledger. Read decodes it.
func (l *Ledger) Code(c *records.Codec) {
	l.codeHead(c)
	records.List(c, &l.Entries, func(e *refs.Entry) { codeEntry(c, e) })
}

func (l *Ledger) codeHead(c *records.Codec) {
	records.Number(c, &l.Format)
	if l.Format != LedgerVersion {
		c.Failed = true
		return
	}
	state.CodeTips(c, &l.tips)
}

// codeEntry codes an entry without its project, which is known. It decodes trailers into the memory of e.
func codeEntry(c *records.Codec, e *refs.Entry) {
	records.Word(c, &e.Commit)
	records.Word(c, &e.Parent)
	records.Word(c, &e.Device)
	records.Word(c, &e.Name)
	c.Time(&e.Time)
	c.Uint(&e.Lamport)
	records.Word(c, &e.Subject)
	c.Words(&e.Trailers)
}

// Touching returns the entries that added one of the records: records of a commit have Lamport times above that of
// the previous commit in the lane.
func Touching(entries []refs.Entry, stamps []records.Stamp) []refs.Entry {
	times := map[string][]uint64{}
	for _, s := range stamps {
		times[s.Device] = append(times[s.Device], s.Lamport)
	}
	for _, t := range times {
		slices.Sort(t)
	}
	var out []refs.Entry
	before := map[string]uint64{}
	for _, e := range slices.Backward(entries) {
		t := times[e.Device]
		i, _ := slices.BinarySearch(t, before[e.Device]+1)
		if i < len(t) && t[i] <= e.Lamport {
			out = append(out, e)
		}
		before[e.Device] = e.Lamport
	}
	slices.Reverse(out)
	return out
}
