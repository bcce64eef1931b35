package handover

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Ranked is a file with what is known of it over all sessions.
type Ranked struct {
	Path         string
	Score        float64
	Edits, Reads int
	Sessions     int
	Session      string // that touched it last
	N            int    // message of it
	Edited       bool   // by that session
	Time         time.Time
	Symbols      []string
}

// How files are weighed. The figures were tuned on bench/next.
const (
	fadePerSession = 0.88 // what a session is worth beside the one after it
	readWeight     = 1.0
	editWeight     = 2.0
	touchGrowth    = 0.0 // for each doubling of touches in a session
	ageSessions    = 60  // sessions further back say nothing more
	togetherWeight = 0.0 // of files edited together with those of the last sessions
	lateWeight     = 0.0 // of a file touched at the end of its session, beside one touched at its start
	togetherBack   = 2   // sessions that count as the last ones
)

// Files ranks the files of all sessions, those first that the next one most likely works on. Digests are the newest first.
func Files(digests []Digest) []Ranked {
	at := map[string]int{}
	var out []Ranked
	for back, d := range digests {
		if back == ageSessions {
			break
		}
		fade := math.Pow(fadePerSession, float64(back))
		for _, f := range d.Files {
			i, known := at[f.Path]
			if !known {
				i = len(out)
				at[f.Path] = i
				out = append(out, Ranked{Path: f.Path, Session: d.Session, N: f.N, Edited: f.Edits > 0, Time: d.Last})
			}
			r := &out[i]
			r.Score += fade * f.weight() * (1 + lateWeight*late(d, f))
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
	together(digests, at, out)
	sortRanked(out)
	return out
}

func sortRanked(list []Ranked) {
	slices.SortFunc(list, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time), cmp.Compare(b.N, a.N), cmp.Compare(a.Path, b.Path))
	})
}

// weight is what a file is worth in its session.
func (f File) weight() float64 {
	w := readWeight
	if f.Edits > 0 {
		w = editWeight
	}
	return w * (1 + touchGrowth*math.Log2(float64(max(1, f.Edits+f.Reads))))
}

// late says how far into the session a file was touched last: 0 at its start, 1 at its end.
func late(d Digest, f File) float64 {
	end := 1
	for _, g := range d.Files {
		end = max(end, g.N)
	}
	return float64(f.N) / float64(end)
}

// together raises files that earlier sessions edited along with those that the last ones edited.
func together(digests []Digest, at map[string]int, out []Ranked) {
	now := map[string]bool{}
	for _, d := range digests[:min(togetherBack, len(digests))] {
		for _, f := range d.Files {
			if f.Edits > 0 {
				now[f.Path] = true
			}
		}
	}
	if len(now) == 0 {
		return
	}
	for _, d := range digests[min(togetherBack, len(digests)):min(ageSessions, len(digests))] {
		common, edited := 0, 0
		for _, f := range d.Files {
			if f.Edits > 0 {
				edited++
				if now[f.Path] {
					common++
				}
			}
		}
		if common == 0 {
			continue
		}
		share := float64(common) / math.Sqrt(float64(edited)*float64(len(now)))
		for _, f := range d.Files {
			if f.Edits > 0 {
				out[at[f.Path]].Score += togetherWeight * share
			}
		}
	}
}
