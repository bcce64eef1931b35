package ledger

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Cursor iterates over a log. It holds one decoded entry at a time, because a decoded log of ten thousand
// operations takes megabytes.
type Cursor struct {
	at    *refs.Entry // valid until next
	Place int         // among the merged logs

	c    records.Codec // at the next stored entry
	left int           // stored entries left
	e    refs.Entry
	rest []refs.Entry // decoded entries left
}

// Read decodes an encoded ledger and reports whether it is valid.
func (l *Ledger) Read(s string) bool {
	c := state.NewDecoder(s)
	if l.codeHead(c); c.Failed {
		return false
	}
	l.n, _ = c.Length()
	l.stored, l.Falls = c, true
	all := l.cursor("", 0)
	for last := &(refs.Entry{}); all.next(); {
		l.Falls = l.Falls && (all.left == l.n-1 || !all.at.Time.After(last.Time))
		last.Time = all.at.Time
	}
	return all.left == 0 && all.c.Done()
}

// cursor returns a cursor before the n newest stored entries, or before all if n is 0.
func (l *Ledger) cursor(p refs.Project, n int) *Cursor {
	k := &Cursor{c: *l.stored, left: l.n, e: refs.Entry{Project: p}}
	if n > 0 {
		k.left = min(n, l.n)
	}
	return k
}

// Newest returns the first n entries, all if n is 0.
func Newest(entries []refs.Entry, n int) []refs.Entry {
	if n > 0 && n < len(entries) {
		return entries[:n]
	}
	return entries
}

// next advances to the next entry and reports whether there is one.
func (k *Cursor) next() bool {
	switch {
	case len(k.rest) > 0:
		k.at, k.rest = &k.rest[0], k.rest[1:]
		return true
	case k.left == 0:
		return false
	}
	codeEntry(&k.c, &k.e)
	if k.c.Failed {
		return false
	}
	k.at, k.left = &k.e, k.left-1
	return true
}

// Newest returns the n newest entries of a project, all if n is 0.
func (l *Ledger) Newest(p refs.Project, n int) []refs.Entry {
	if l.stored == nil {
		return Newest(l.Entries, n)
	}
	k := l.cursor(p, n)
	out := make([]refs.Entry, 0, k.left)
	var trailers []string // shared by many entries
	for k.next() {
		e := *k.at
		if cap(trailers)-len(trailers) < len(e.Trailers) {
			trailers = make([]string, 0, max(1<<10, len(e.Trailers)))
		}
		trailers = append(trailers, e.Trailers...)
		e.Trailers = slices.Clip(trailers[len(trailers)-len(e.Trailers):])
		out = append(out, e)
	}
	return out
}

// Entries yields the result of [Log]. An entry and its trailers are valid until the next one is yielded.
func Entries(ctx context.Context, db *state.DB, p refs.Project, n int) (iter.Seq[*refs.Entry], error) {
	k, err := cursor(ctx, db, p, n, false)
	return Together([]*Cursor{k}), err
}

// EntriesByTime yields the newest n operations of each project, or all if n is 0, the latest first and equal times
// in the order of the projects. An entry is valid as in [Entries].
func EntriesByTime(ctx context.Context, db *state.DB, projects []state.Project, n int) (iter.Seq[*refs.Entry], error) {
	var logs []*Cursor
	for i, p := range projects {
		k, err := cursor(ctx, db, p.ID, n, true)
		if err != nil {
			return nil, err
		}
		k.Place = i
		logs = append(logs, k)
	}
	return Together(logs), nil
}

// cursor returns a cursor before the n newest operations of a project, or before all if n is 0, in the order of the
// log or by time. The orders only differ if a clock was wrong.
func cursor(ctx context.Context, db *state.DB, p refs.Project, n int, byTime bool) (*Cursor, error) {
	if n > 0 && n <= fewEntries {
		entries, err := Log(ctx, db, p, n)
		return decodedCursor(entries, byTime), err
	}
	l, err := ledger(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return l.By(p, n, byTime), nil
}

func (l *Ledger) By(p refs.Project, n int, byTime bool) *Cursor {
	if l.stored == nil || byTime && !l.Falls {
		return decodedCursor(l.Newest(p, n), byTime)
	}
	return l.cursor(p, n)
}

func decodedCursor(entries []refs.Entry, byTime bool) *Cursor {
	if byTime {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, func(a, b refs.Entry) int { return b.Time.Compare(a.Time) })
	}
	return &Cursor{rest: entries}
}

// Together merges logs that are sorted by time. It can be iterated once. A single log is yielded unchanged.
func Together(logs []*Cursor) iter.Seq[*refs.Entry] {
	order := func(a, b *Cursor) int {
		return cmp.Or(b.at.Time.Compare(a.at.Time), cmp.Compare(a.Place, b.Place))
	}
	return func(yield func(*refs.Entry) bool) {
		logs = slices.DeleteFunc(logs, func(k *Cursor) bool { return !k.next() })
		slices.SortFunc(logs, order)
		for len(logs) > 0 {
			first := logs[0]
			if !yield(first.at) {
				return
			}
			if !first.next() {
				logs = logs[1:]
				continue
			}
			i, _ := slices.BinarySearchFunc(logs[1:], first, order)
			copy(logs, logs[1:1+i])
			logs[i] = first
		}
	}
}
