package layers

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// Rules returns what a project knows for good.
func (m *Memory) Rules(ctx context.Context, p refs.Project) (*permanent.Set, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := m.folded(ctx, p, records)
	return all.Rules, err
}

func foldRules(records []upperRecord, known *facts.Set, trust Trust) (*permanent.Set, error) {
	return permanent.Fold(statements(records, permanent.Kind, permanent.KindAct, permanent.KindReflect), known, trust.Of, nil)
}

// factStatements counts the statements about facts. Records are only ever added, so there is something new to reflect on
// when there are more than the most that a reflection has seen, in whatever order they arrived.
func factStatements(records []upperRecord) int {
	n := 0
	for _, r := range records {
		if r.Kind == facts.KindExchange || r.Kind == facts.KindJudgement {
			n++
		}
	}
	return n
}

// ReflectionDue reports whether there are facts that no reflection has seen.
func (m *Memory) ReflectionDue(ctx context.Context, p refs.Project) (bool, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return false, err
	}
	return m.reflectionDue(records)
}

func (m *Memory) reflectionDue(records []upperRecord) (bool, error) {
	rules, err := foldRules(records, &facts.Set{}, Trust{own: m.repo.Device().ID})
	return err == nil && factStatements(records) > rules.Reflected, err
}

// A Reflected is what was found when somebody looked back.
type Reflected struct {
	Candidates []permanent.Candidate
	Facts      int // that stand
	Sessions   int // looked through
	Last       time.Time
}

// Reflect looks through all that a project knows for what may be worth keeping for good, or taking back, with evidence that
// is newer than since. Nothing is promoted by it; unless dryRun is set it is recorded that somebody has looked.
func (m *Memory) Reflect(ctx context.Context, p Project, since time.Time, dryRun bool) (Reflected, error) {
	var out Reflected
	records, err := m.upper(ctx, p.ID)
	if err != nil {
		return out, err
	}
	in, err := m.reflectionInput(ctx, p.ID, records)
	if err != nil {
		return out, err
	}
	out.Candidates = permanent.Candidates(in)
	if !since.IsZero() {
		out.Candidates = slices.DeleteFunc(out.Candidates, func(c permanent.Candidate) bool { return c.Newest.Before(since) && c.Kind != permanent.WasUnneeded })
	}
	out.Facts, out.Last = len(in.Facts.Live()), in.Rules.ReflectedAt
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return out, err
	}
	out.Sessions = len(st.Recent())
	if dryRun || st.Name == "" { // nothing was ever stored of the project
		return out, nil
	}
	seen := permanent.Reflection{Seen: factStatements(records), Candidates: len(out.Candidates)}
	return out, m.repo.Update(ctx, p.ID, fmt.Sprintf("reflect: %d candidates", len(out.Candidates)), func(tx *refs.Tx) error {
		tx.Trailer("Op", "reflect")
		_, err := tx.Add(permanent.KindReflect, seen)
		return err
	})
}

// reflectionInput gathers what candidates are found in.
func (m *Memory) reflectionInput(ctx context.Context, p refs.Project, records []upperRecord) (in permanent.Input, err error) {
	in.Now = m.opts.Now()
	all, err := m.folded(ctx, p, records)
	if err != nil {
		return in, err
	}
	in.Facts, in.Concepts, in.Rules = all.Facts, all.Concepts, all.Rules
	trust, err := m.Trust(ctx)
	if err != nil {
		return in, err
	}
	in.Trusted = trust.Of
	st, err := m.State(ctx, p)
	if err != nil {
		return in, err
	}
	in.Family = st.families()
	for _, s := range st.Recent() {
		if err := ctx.Err(); err != nil {
			return in, err
		}
		if !trust.Of(s.Now().Stamp.Device) {
			continue
		}
		found, err := m.signs(ctx, p, s)
		if err != nil {
			return in, fmt.Errorf("look through %s: %w", ShortID(s.ID), err)
		}
		if found, err = m.believed(ctx, st, s, found); err != nil {
			return in, err
		}
		in.Words, in.Trials = append(in.Words, found.Words...), append(in.Trials, found.Trials...)
	}
	return in, nil
}

// families returns a function that names the conversation of a session: sessions that hold the same typed message, as forks and
// resumed copies do, and the agents that a session started, are one.
func (st *State) families() func(string) string {
	parent := map[string]string{}
	root := func(s string) string {
		for parent[s] != "" {
			s = parent[s]
		}
		return s
	}
	join := func(a, b string) {
		if a, b = root(a), root(b); a != b {
			parent[max(a, b)] = min(a, b)
		}
	}
	first := map[transcript.Key]string{}
	for _, s := range st.Sessions {
		if up := s.Parent(); up != "" {
			join(s.ID, up)
		}
		for _, p := range s.Points {
			for _, t := range p.Typed {
				if other, ok := first[t.Key]; ok {
					join(s.ID, other)
				} else {
					first[t.Key] = s.ID
				}
			}
		}
	}
	return root
}

// signs are what one pass over the L1 of a session finds: what the user asked for in so many words, and what went well only
// after many attempts. They are kept in the cache.
type signs struct {
	Words  []permanent.Word
	Trials []permanent.Trial
}

// signsVersion changes with what is recognised; cached results of another version are not used.
const signsVersion = 3

func (m *Memory) signs(ctx context.Context, p refs.Project, s *Session) (signs, error) {
	now := s.Now()
	file := m.cachePath("signs", fmt.Sprintf("%s-%d-%d.json", now.Original, refine.Version, signsVersion))
	var out signs
	if readCache(file, &out) {
		m.touch(file)
		return s.own(out), nil
	}
	l1, err := m.l1(ctx, p, now.Original, refine.Full)
	if err != nil {
		return out, err
	}
	defer l1.Close()
	if out, err = signsOf(l1); err != nil {
		return out, err
	}
	m.writeCache(file, out)
	return s.own(out), nil
}

// own says of signs that they are the session's, but for what it only repeats: words in messages that another session or mem
// itself wrote first.
func (s *Session) own(in signs) signs {
	for i := range in.Words {
		in.Words[i].Session = s.ID
	}
	for i := range in.Trials {
		in.Trials[i].Session = s.ID
	}
	echo := map[int]bool{}
	for _, p := range s.chain(s.Now()) {
		for _, n := range p.Echo {
			echo[n] = true
		}
	}
	in.Words = slices.DeleteFunc(in.Words, func(w permanent.Word) bool { return echo[w.Message] })
	return in
}

func signsOf(l1 io.Reader) (out signs, err error) {
	var runs []permanent.Run
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return out, err
		}
		at, _ := time.Parse(time.RFC3339, e.TS) // a message without a time is as old as can be
		switch {
		case e.Typed():
			for _, s := range permanent.Stated(e.Said) {
				out.Words = append(out.Words, permanent.Word{Message: e.N, Quote: s.Text, Time: at})
			}
		case e.Cmd != "" && !e.Side:
			failed := e.Exit != 0 || len(e.Errors) > 0 || e.Result != "" && e.Result != "ok"
			runs = append(runs, permanent.Run{Message: e.N, Command: e.Cmd, Failed: failed, Time: at})
		}
	}
	out.Trials = permanent.Trials(runs)
	return out, nil
}
