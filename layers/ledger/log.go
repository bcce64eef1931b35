package ledger

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A ledger is the cached log of a project, newest first. It grows from the tips it was made at. What was read
// from the cache is decoded as it is gone through: see [cursor].
type Ledger struct {
	Format  int
	tips    []refs.Tip
	Entries []refs.Entry   // if they are decoded
	stored  *records.Codec // else before the first of them
	n       int            // how many are stored
	Falls   bool           // no stored one has a later time than the one before it
}

const LedgerVersion = 1

// fewEntries is up to how many operations are read from their commits rather than from the ledger.
const fewEntries = 64

// Log returns the newest n operations of a project, newest first; n of 0 returns all.
func (m Ops) Log(ctx context.Context, p refs.Project, n int) ([]refs.Entry, error) {
	if n > 0 && n <= fewEntries {
		var out []refs.Entry
		for e, err := range m.Refs.Log(ctx, p, nil) {
			if err != nil {
				return nil, err
			}
			if out = append(out, e); len(out) == n {
				break
			}
		}
		return out, nil
	}
	l, err := m.ledger(ctx, p)
	if err != nil {
		return nil, err
	}
	return l.Newest(p, n), nil
}

// ledger returns the ledger of a project, brought up to date.
func (m Ops) ledger(ctx context.Context, p refs.Project) (*Ledger, error) {
	var tips []refs.Tip
	err := m.Refs.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	if err != nil {
		return nil, err
	}
	file := m.CachePath("log", string(p))
	l := &Ledger{}
	if s, ok := state.ReadCacheText(file); !ok || !l.Read(s) {
		l = &Ledger{Format: LedgerVersion}
	}
	if slices.Equal(l.tips, tips) {
		return l, nil
	}
	ok, err := m.extend(ctx, p, l, tips)
	if err == nil && !ok { // a lane was rewritten: from the start
		l = &Ledger{Format: LedgerVersion}
		_, err = m.extend(ctx, p, l, tips)
	}
	if err != nil {
		return nil, err
	}
	m.WriteCacheBytes(file, state.Encode(l.Code))
	return l, nil
}

// extend adds what came since the tips of l. It reports false if a lane does not go on from its tip; l is
// useless then.
func (m Ops) extend(ctx context.Context, p refs.Project, l *Ledger, now []refs.Tip) (bool, error) {
	newest, oldest := map[string]string{}, map[string]string{} // by device: commit of the first entry, parent of the last
	var fresh []refs.Entry
	for e, err := range m.Refs.Log(ctx, p, l.tips) {
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

// mergeEntries merges two logs, each newest first.
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

// Code writes the ledger; read reads it.
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

// codeEntry leaves out the project, which is known. Trailers are read into the room of those of e.
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

// Touching returns the entries whose commits brought one of the records: those of a commit have Lamport
// times above that of the commit before it in the lane.
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
