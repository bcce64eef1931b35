package stats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Spent is what the API answers of one day, session, model or project used.
type Spent struct {
	Name       string   `json:"name"`
	Title      string   `json:"title,omitempty"` // of a session
	Answers    int      `json:"answers"`         // of the API, each once
	Input      int64    `json:"inputTokens"`     // without those of the cache
	Output     int64    `json:"outputTokens"`
	CacheWrite int64    `json:"cacheWriteTokens"`
	CacheRead  int64    `json:"cacheReadTokens"`
	Searches   int64    `json:"webSearches"`
	Micros     int64    `json:"usdMicros"` // of the models with a known price
	Unpriced   []string `json:"unpriced"`  // models without a known price
}

// A Spending is the usage of sessions as their transcripts state it.
type Spending struct {
	By     string  `json:"by"`
	Prices string  `json:"prices"` // when the prices were published
	Rows   []Spent `json:"rows"`
	Total  Spent   `json:"total"`
}

// The ways to add up a [Spending].
const (
	ByDay     = "day"
	ByMonth   = "month"
	BySession = "session"
	ByModel   = "model"
	ByProject = "project"
)

// SpendingOptions are the options of [ReadSpending].
type SpendingOptions struct {
	By           string
	Since, Until time.Time      // of the answers; zero is no limit
	Zone         *time.Location // of days and months
}

// ReadSpending adds up the usage in the transcripts of projects. An answer of the API counts once, although the client writes
// a record for each of its blocks and forks copy them: in the oldest session that contains it. A subagent counts as its
// session. What the user withdrew was paid for, and counts.
func ReadSpending(ctx context.Context, db *state.DB, projects []state.Project, o SpendingOptions) (Spending, error) {
	out := Spending{By: o.By, Prices: engines.PricesDate, Rows: []Spent{}, Total: Spent{Name: "total", Unpriced: []string{}}}
	rows := map[string]*Spent{}
	seen := map[string]bool{}
	for _, p := range projects {
		st, err := trust.Outline(ctx, db, p.ID)
		if err != nil {
			return out, err
		}
		for batch := range slices.Chunk(oldestFirst(st), 1024) {
			read, err := readAll(ctx, db, p, batch)
			if err != nil {
				return out, err
			}
			for i, s := range batch {
				top := s
				if parent := st.Session(s.Parent()); parent != nil {
					top = parent
				}
				for _, a := range read[i] {
					if seen[a.ID] {
						continue
					}
					seen[a.ID] = true
					if !o.Since.IsZero() && a.Time.Before(o.Since) || !o.Until.IsZero() && !a.Time.Before(o.Until) {
						continue
					}
					name, title := o.name(a, p, top)
					if rows[name] == nil {
						rows[name] = &Spent{Name: name, Title: title, Unpriced: []string{}}
					}
					rows[name].add(a)
					out.Total.add(a)
				}
			}
		}
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, *r)
	}
	slices.SortFunc(out.Rows, func(a, b Spent) int {
		if o.By == ByDay || o.By == ByMonth {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.Micros, a.Micros), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// name returns the name and the title of the row of an answer.
func (o SpendingOptions) name(a answer, p state.Project, top *state.Session) (name, title string) {
	switch o.By {
	case ByMonth:
		return a.Time.In(o.Zone).Format(monthForm), ""
	case BySession:
		return top.ID, top.Title()
	case ByModel:
		return cmp.Or(a.Model, "unknown"), ""
	case ByProject:
		return p.Name, ""
	}
	return a.Time.In(o.Zone).Format(time.DateOnly), ""
}

// readAll returns the answers in each of some sessions, on all cores. A worker reads them in one view of the project, so that it
// reads the directories of the lanes once.
func readAll(ctx context.Context, db *state.DB, p state.Project, sessions []*state.Session) ([][]answer, error) {
	read, failed := make([][]answer, len(sessions)), make([]error, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	state.Parallel(len(failed), len(failed), func(w int) {
		failed[w] = db.Refs.View(ctx, p.ID, func(tx *refs.Tx) (err error) {
			for i := next.Add(1) - 1; err == nil && i < int64(len(sessions)); i = next.Add(1) - 1 {
				if read[i], err = answers(ctx, db, tx, sessions[i].Now()); err == nil {
					err = ctx.Err()
				}
			}
			return err
		})
	})
	return read, errors.Join(failed...)
}

// oldestFirst returns the sessions that count, subagents included, the oldest first.
func oldestFirst(st *state.State) (out []*state.Session) {
	for _, s := range st.Sessions {
		if s.Shown() {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *state.Session) int {
		return cmp.Or(a.Now().Scan.First.Compare(b.Now().Scan.First), strings.Compare(a.ID, b.ID))
	})
	return out
}

// An answer is the usage of one answer of the API.
type answer struct {
	ID, Model string
	Time      time.Time
	Usage     transcript.Usage
}

// add adds an answer to a row.
func (r *Spent) add(a answer) {
	u := a.Usage
	r.Answers++
	r.Input += u.Input
	r.Output += u.Output
	r.CacheWrite += u.CacheWrite
	r.CacheRead += u.CacheRead
	r.Searches += u.Searches
	micros, ok := costOf(a)
	if !ok && !slices.Contains(r.Unpriced, cmp.Or(a.Model, "unknown")) {
		r.Unpriced = append(r.Unpriced, cmp.Or(a.Model, "unknown"))
		slices.Sort(r.Unpriced)
	}
	r.Micros += micros
}

// searchMicros is the price of a search of the web in millionths of a dollar.
const searchMicros = 10_000

// costOf returns the list price of an answer in millionths of a dollar: writing to the cache costs 1.25 times the input,
// for an hour twice, and reading from it a tenth.
func costOf(a answer) (micros int64, ok bool) {
	price, ok := engines.ListPrice(a.Model)
	if !ok {
		return 0, false
	}
	u := a.Usage
	input := 20*u.Input + 25*(u.CacheWrite-u.CacheHour) + 40*u.CacheHour + 2*u.CacheRead
	return (input*price.Input+20*u.Output*price.Output+10_000_000)/20_000_000 + u.Searches*searchMicros, true
}

// usageVersion changes when the cached answers of a transcript do.
const usageVersion = 2

// answers returns the usage of the answers in a transcript at a growth point, in order, each once with its last record.
func answers(ctx context.Context, db *state.DB, tx *refs.Tx, at *records.Point) (out []answer, err error) {
	file := db.CachePath("usage", at.Original.String())
	if state.ReadCache(file, usageVersion, &out) {
		return out, nil
	}
	r, err := tx.Get(ctx, at.Original)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if out, err = readAnswers(r); err == nil {
		db.WriteCache(file, usageVersion, &out)
	}
	return out, err
}

func readAnswers(r io.Reader) (out []answer, err error) {
	index := map[string]int{}
	for v, err := range transcript.Stream(r, originals.HugeValue) {
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(v.Raw, []byte(`"usage"`)) {
			continue // most bytes are results of tools
		}
		msg, err := transcript.Decode(v)
		if v.Opaque || err != nil || msg.Type != "assistant" || msg.Usage == (transcript.Usage{}) {
			continue // of no answer
		}
		id := cmp.Or(msg.ID, msg.UUID, objects.Sum(v.Raw).String())
		i, again := index[id]
		if !again {
			i = len(out)
			index[id], out = i, append(out, answer{ID: id, Time: msg.Time})
		}
		out[i].Model, out[i].Usage = msg.Model, msg.Usage
	}
	return out, nil
}
