package layers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// Facts returns all that was established in the sessions of a project.
func (m *Memory) Facts(ctx context.Context, p refs.Project) (*facts.Set, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.knownFacts(ctx, p, records)
}

func foldFacts(records []upperRecord, trust Trust) (*facts.Set, error) {
	var mine []facts.Record
	for _, r := range records {
		mine = append(mine, facts.Record{Kind: r.Kind, Device: r.Stamp.Device, Body: r.Body})
	}
	return facts.Fold(mine, trust.Of)
}

// IsFactID reports whether s is written as the ID of a fact.
func IsFactID(s string) bool {
	rest, ok := strings.CutPrefix(s, "f:")
	return ok && rest != "" && strings.Trim(strings.ToLower(rest), "0123456789abcdef") == ""
}

// FactNamed returns the fact whose ID begins with id, of the scope's project or else of another one.
func (m *Memory) FactNamed(ctx context.Context, sc Scope, id string) (f facts.Fact, home Project, err error) {
	missing := error(&NotFoundError{What: "fact", Name: id})
	err = m.eachScoped(ctx, sc, func(p Project) (bool, error) {
		found, err := m.FindFact(ctx, p.ID, id)
		var none *NotFoundError
		if errors.As(err, &none) {
			return false, nil
		}
		f, home = found, p
		return true, err
	})
	if err == nil && home.ID == "" {
		err = missing
	}
	return f, home, err
}

// A quoted session is one that evidence can be looked up in.
type quoted struct {
	point   *Point
	entries []refine.Entry // L1
	text    *facts.Transcript
}

// quotable reads the session at p: L1, and of the cited messages all that is in them.
func (m *Memory) quotable(ctx context.Context, project refs.Project, s *Session, p *Point, cited map[int]bool) (*quoted, error) {
	l1, err := m.l1(ctx, project, p.Original, refine.Full)
	if err != nil {
		return nil, err
	}
	defer l1.Close()
	echo := echoed(s, p)
	q := &quoted{point: p, text: &facts.Transcript{}}
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return nil, err
		}
		q.entries = append(q.entries, e)
		for _, part := range partsOf(e, echo[e.N]) {
			q.text.Add(e.N, part)
		}
	}
	if len(cited) == 0 {
		return q, nil
	}
	err = m.stream(ctx, project, p.Original, func(r io.Reader) error { return q.read(r, cited) })
	return q, err
}

// echoed are the messages at p that another session or mem wrote first.
func echoed(s *Session, p *Point) map[int]bool {
	out := map[int]bool{}
	for _, q := range s.chain(p) {
		for _, n := range q.Echo {
			out[n] = true
		}
	}
	return out
}

// partsOf returns what an entry of L1 holds, by who said it.
func partsOf(e refine.Entry, echo bool) []facts.Part {
	said := func(by facts.Speaker) []facts.Part { return []facts.Part{{Speaker: by, Text: e.Said}} }
	switch {
	case e.Prompt() && echo:
		return said(facts.ByEcho)
	case e.Prompt():
		return said(promptBy(e))
	case e.Role == "user", e.Role == "assistant", e.Role == "summary":
		return said(facts.ByAssistant)
	case e.Role == "note" && e.Name == "command":
		return said(facts.ByCommand)
	case e.Role != "tool":
		return []facts.Part{{Speaker: facts.ByTool, Text: e.Text()}}
	}
	call := e
	call.Result, call.Errors, call.Exit = "", nil, 0
	by := facts.ByCall
	if e.Name == "result" {
		by = facts.ByTool
	}
	out := []facts.Part{{Speaker: by, Text: call.Text()}}
	if refusal, ok := strings.CutPrefix(e.Result, "refused by the user: "); ok {
		return append(out, facts.Part{Speaker: promptBy(e), Text: refusal})
	}
	if e.Name == "AskUserQuestion" { // "question"="answer"
		for i, s := range strings.Split(e.Result, `"="`) {
			if answer, _, ok := strings.Cut(s, `"`); ok && i > 0 {
				out = append(out, facts.Part{Speaker: promptBy(e), Text: answer})
			}
		}
		return append(out, facts.Part{Speaker: facts.ByCommand, Text: e.Result})
	}
	result := refine.Entry{Result: e.Result, Errors: e.Errors, Exit: e.Exit}
	return append(out, facts.Part{Speaker: facts.ByTool, Text: e.Result}, facts.Part{Speaker: facts.ByTool, Text: result.Text()})
}

// promptBy returns who types the prompts and answers of an entry.
func promptBy(e refine.Entry) facts.Speaker {
	if e.Script {
		return facts.ByScript
	}
	return facts.ByUser
}

// read adds what L1 leaves out of some messages: what tools returned, and all they were given.
func (q *quoted) read(r io.Reader, cited map[int]bool) error {
	last := 0
	for n := range cited {
		last = max(last, n)
	}
	for v, err := range transcript.Stream(r, hugeValue) {
		if err != nil {
			return err
		}
		if v.N > last {
			return nil
		}
		if !cited[v.N] || v.Opaque {
			continue
		}
		msg, err := transcript.Decode(v)
		if err != nil {
			continue // no record: L1 shows it as opaque, and it holds no words
		}
		for _, b := range msg.Blocks {
			switch {
			case b.Kind == transcript.ToolResult:
				q.text.Add(v.N, facts.Part{Speaker: facts.ByTool, Text: b.Text})
			case b.Kind == transcript.ToolUse:
				gjson.ParseBytes(b.Input).ForEach(func(_, value gjson.Result) bool {
					q.text.Add(v.N, facts.Part{Speaker: facts.ByCall, Text: value.String()})
					return true
				})
			case b.Kind == transcript.Text && msg.Role == "assistant":
				q.text.Add(v.N, facts.Part{Speaker: facts.ByAssistant, Text: b.Text})
			}
		}
	}
	return nil
}

// when returns the time of a message.
func (q *quoted) when(message int) time.Time {
	var ts string
	for _, e := range q.entries {
		if e.N > message {
			break
		}
		if e.TS != "" {
			ts = e.TS
		}
	}
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// lines returns the lines of L1 that messages have.
func (q *quoted) lines(from, to int) (out [2]int) {
	for i, e := range q.entries {
		if e.N >= from && e.N <= to {
			if out[0] == 0 {
				out[0] = i + 1
			}
			out[1] = i + 1
		}
	}
	return out
}

// messages returns the messages of lines of L1.
func (q *quoted) messages(lines [2]int) (out [2]int, ok bool) {
	if lines[0] < 1 || lines[1] > len(q.entries) || lines[0] > lines[1] {
		return out, false
	}
	return [2]int{q.entries[lines[0]-1].N, q.entries[lines[1]-1].N}, true
}

// check checks a fact that is not part of any session if q is nil.
func (q *quoted) check(f *facts.Fact) {
	t := &facts.Transcript{}
	if q != nil {
		t = q.text
		for _, e := range f.Evidence {
			if when := q.when(e.Message); when.After(f.Time) {
				f.Time = when
			}
		}
	}
	facts.Check(f, t)
}

// cited are the messages that facts quote.
func cited(list []facts.Fact) map[int]bool {
	out := map[int]bool{}
	for _, f := range list {
		for _, e := range f.Evidence {
			out[e.Message] = true
		}
	}
	return out
}

// A CheckedFact is a fact with what a check on this machine finds.
type CheckedFact struct {
	Fact    facts.Fact // as it was stored
	Now     facts.Fact // with the verdict of now
	Problem string     // why it could not be checked
}

// Worse reports whether the fact is not what it was stored as.
func (c CheckedFact) Worse() bool {
	return c.Problem != "" || c.Fact.Verdict != c.Now.Verdict || c.Fact.Trust != c.Now.Trust
}

// VerifyFacts checks facts of a project once more, against the clean transcripts: all that stand if list is empty.
func (m *Memory) VerifyFacts(ctx context.Context, project refs.Project, list []facts.Fact) ([]CheckedFact, error) {
	set, err := m.Facts(ctx, project)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = set.Live()
	}
	st, err := m.State(ctx, project)
	if err != nil {
		return nil, err
	}
	homes := map[string]facts.Exchange{}
	for _, x := range set.Exchanges {
		homes[x.ID] = x
	}
	groups := map[string][]int{} // by what they are checked against
	var order []string
	for i, f := range list {
		key := f.Session + " " + homes[f.Exchange].Original.String()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	out := make([]CheckedFact, len(list))
	for _, key := range order {
		var some []facts.Fact
		for _, i := range groups[key] {
			some = append(some, list[i])
		}
		q, problem := m.witness(ctx, st, homes[some[0].Exchange], cited(some))
		if errors.Is(problem, context.Canceled) {
			return nil, problem
		}
		for _, i := range groups[key] {
			out[i] = CheckedFact{Fact: list[i], Now: list[i]}
			if problem != nil {
				out[i].Problem = problem.Error()
				continue
			}
			q.check(&out[i].Now)
		}
	}
	return out, nil
}

// witness reads the transcript that the facts of an exchange were checked against; nil if they are of no session.
func (m *Memory) witness(ctx context.Context, st *State, x facts.Exchange, cited map[int]bool) (*quoted, error) {
	if x.Session == "" {
		return nil, nil
	}
	s := st.session(x.Session)
	if s == nil {
		return nil, &NotFoundError{What: "session", Name: x.Session}
	}
	p := s.point(x.Original)
	if p == nil {
		return nil, fmt.Errorf("session %s has never been as it was when the fact was saved", ShortID(s.ID))
	}
	return m.quotable(ctx, st.Project, s, p, cited)
}

// Evidence returns who says each quote of a fact, in its order; "" for one that is not there.
func (m *Memory) Evidence(ctx context.Context, project refs.Project, f facts.Fact) ([]string, error) {
	out := make([]string, len(f.Evidence))
	set, err := m.Facts(ctx, project)
	if err != nil {
		return out, err
	}
	st, err := m.State(ctx, project)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(set.Exchanges, func(x facts.Exchange) bool { return x.ID == f.Exchange })
	if i < 0 {
		return out, nil
	}
	q, err := m.witness(ctx, st, set.Exchanges[i], cited([]facts.Fact{f}))
	if err != nil || q == nil {
		return out, err
	}
	for i, e := range f.Evidence {
		if who, ok := q.text.Who(e); ok {
			out[i] = who.String()
		}
	}
	return out, nil
}

// resolveFact finds a fact by the start of its ID.
func (m *Memory) resolveFact(ctx context.Context, sc Scope, id string) (Rev, error) {
	f, p, err := m.FactNamed(ctx, sc, id)
	if err != nil {
		return Rev{}, err
	}
	return Rev{Kind: IsFact, Project: p, Fact: &f, How: "fact"}, nil
}

// writeL2 writes facts: as JSON lines one exchange each, or for people.
func (m *Memory) writeL2(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	var list []facts.Exchange
	if rev.Fact != nil {
		list = []facts.Exchange{{Session: rev.Fact.Session, Facts: []facts.Fact{*rev.Fact}}}
	} else {
		set, err := m.Facts(ctx, rev.Project.ID)
		if err != nil {
			return err
		}
		list = set.Of(rev.Session.ID)
	}
	if f == JSONL || f == "" {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, x := range list {
			if err := enc.Encode(x); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	for i, x := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		writeExchange(&b, x, f == Markdown)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeExchange writes an exchange with its facts and where their evidence is.
func writeExchange(b *strings.Builder, x facts.Exchange, md bool) {
	head, item := "", "  "
	if md {
		head, item = "## ", "- "
	}
	if x.ID != "" {
		fmt.Fprintf(b, "%s%s  #%d..%d  %s\n", head, x.ID, x.From, x.To, cmp.Or(x.Topic, x.Summary))
	}
	if x.Summary != "" && x.Topic != "" {
		fmt.Fprintf(b, "%s%s\n", strings.TrimSuffix(item, "- "), x.Summary)
	}
	for _, f := range x.Facts {
		mark := ""
		if f.Verdict != facts.Verified {
			mark = " (" + string(f.Verdict) + ")"
		}
		fmt.Fprintf(b, "%s%s %s%s: %s", item, f.ID, f.Kind, mark, f.Text)
		for i, e := range f.Evidence {
			fmt.Fprintf(b, "%s%s#%d", [...]string{" [", ", "}[min(i, 1)], ShortID(f.Session), e.Message)
		}
		if len(f.Evidence) > 0 {
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
}
