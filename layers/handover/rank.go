package handover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/brief"
)

// A Ranked is a file with its history over all sessions.
type Ranked struct {
	Path         string
	Score        float64
	Edits, Reads int
	Sessions     int
	Session      string // that touched it last
	N            int    // the message: of its last edit, of its last read if it has none
	Time         time.Time
	Symbols      []string
}

// A session that touched a file counts 1 for the newest, 1/2 for the one before it, 1/3 and so on; twice if it edited the
// file. The sum falls fast enough for the work in progress and slowly enough for the files that a project returns to.
const (
	editWeight  = 2
	ageSessions = 60 // older sessions do not count
)

// Files ranks the files of all sessions by how likely the next session works on them. Digests are sorted, the newest
// first.
func Files(digests []Digest) []Ranked {
	at := map[string]int{}
	var out []Ranked
	for back, d := range digests {
		if back == ageSessions {
			break
		}
		touch := 1 / float64(1+back)
		for _, f := range d.Files {
			i, known := at[f.Path]
			if !known {
				i = len(out)
				at[f.Path] = i
				out = append(out, Ranked{Path: f.Path, Session: d.Session, N: f.N, Time: d.Last})
			}
			r := &out[i]
			if f.Edits > 0 && r.Edits == 0 { // the newest edit, not a later read
				r.Session, r.N, r.Time = d.Session, f.Edited, d.Last
			}
			if f.Edits > 0 {
				r.Score += editWeight * touch
			} else {
				r.Score += touch
			}
			r.Edits += f.Edits
			r.Reads += f.Reads
			r.Sessions++
			for _, sym := range f.Symbols {
				if len(r.Symbols) < maxSymbols && !slices.Contains(r.Symbols, sym) {
					r.Symbols = append(r.Symbols, sym)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time), cmp.Compare(b.N, a.N),
			cmp.Compare(a.Path, b.Path))
	})
	return out
}

// leastEdited is the number of edited files below which files that were only read are listed, too.
const leastEdited = 4

// workingSet lists the files that rank first, grouped by session, the newest first, each group with its day and its last
// touch. Of the other files of a session it tells the number, also of those that stand with another session.
func workingSet(digests []Digest) (out []brief.Item) {
	ranked := Files(digests)
	edited := slices.DeleteFunc(slices.Clone(ranked), func(r Ranked) bool { return r.Edits == 0 })
	if len(edited) >= leastEdited {
		ranked = edited
	}
	ranked = ranked[:min(maxSet, len(ranked))]
	for _, d := range digests {
		for _, verb := range []string{"", "only read "} {
			it, last := brief.Item{Trust: brief.Assistant, Time: d.Last, Named: true, Verbatim: true, Short: true}, 0
			for _, r := range ranked {
				if r.Session != d.Session || r.Edits > 0 != (verb == "") {
					continue
				}
				it.Keys, last = append(it.Keys, r.Path), max(last, r.N)
				it.Why += fmt.Sprintf("%s: %s, %s, %s; ", r.Path, times(r.Edits, "edit"), times(r.Reads, "read"), times(r.Sessions, "session"))
			}
			if len(it.Keys) == 0 {
				continue
			}
			more := -len(it.Keys)
			for _, f := range d.Files {
				if f.Edits > 0 == (verb == "") {
					more++
				}
			}
			it.Source = citing(d.Session, last)
			if it.Text = d.day(last) + verb + strings.Join(it.Keys, ", "); more > 0 {
				it.Text += fmt.Sprintf(" and %d more", more)
			}
			out = append(out, it)
		}
	}
	return out
}
