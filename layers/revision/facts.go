package revision

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/tidwall/gjson"
)

// Facts returns the facts of a project.
func Facts(ctx context.Context, db *state.DB, p refs.Project) (*facts.Set, error) {
	upper, err := db.Upper(ctx, p)
	if err != nil {
		return nil, err
	}
	return trust.KnownFacts(ctx, db, p, upper)
}

// A Quoted is a session in which evidence can be looked up.
type Quoted struct {
	Point   *records.Point
	Entries []refine.Entry // L1
	Text    *facts.Transcript

	typed, said string // see spoken
}

// Quotable reads the session at p: its L1, and the full content of the cited messages.
func Quotable(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point,
	cited map[int]bool) (*Quoted, error) {
	l1, err := originals.L1(ctx, db, project, p.Original, refine.Full)
	if err != nil {
		return nil, err
	}
	defer l1.Close()
	echo := s.Echoes(p)
	q := &Quoted{Point: p, Text: &facts.Transcript{}}
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return nil, err
		}
		q.Entries = append(q.Entries, e)
		for _, part := range PartsOf(e, echo[e.N]) {
			q.Text.Add(e.N, part)
		}
	}
	if len(cited) == 0 {
		return q, nil
	}
	err = originals.Stream(ctx, db, project, p.Original, func(r io.Reader) error { return q.read(r, cited) })
	return q, err
}

// PartsOf splits an entry of L1 by speaker.
func PartsOf(e refine.Entry, echo bool) []facts.Part {
	said := func(by facts.Speaker) []facts.Part { return []facts.Part{{Speaker: by, Text: e.Said}} }
	switch {
	case e.Prompt() && echo:
		return said(facts.ByEcho)
	case e.Name == "answer" && e.Prompt():
		var out []facts.Part
		for _, a := range e.Dialog {
			out = append(out, facts.Part{Speaker: facts.ByAssistant, Text: a.Question})
			for _, text := range []string{a.Answer, a.Notes} {
				out = append(out, facts.Part{Speaker: promptBy(e), Text: text})
			}
		}
		return out
	case e.Prompt():
		return typedParts(e)
	case e.Role == "user", e.Role == "assistant", e.Role == "summary":
		return said(facts.ByAssistant)
	case e.Role == "note" && e.Name == "command":
		return said(facts.ByCommand)
	case e.Role == "note" && e.Name == "plan":
		return said(facts.ByPlan)
	case e.Role != "tool":
		return []facts.Part{{Speaker: facts.ByTool, Text: e.Text()}}
	}
	call := e
	call.Result, call.Errors, call.Exit, call.Verdict = "", nil, 0, ""
	by := facts.ByCall
	if e.Name == "result" {
		by = facts.ByTool
	}
	out := []facts.Part{{Speaker: by, Text: call.Text()}}
	result := refine.Entry{Result: e.Result, Errors: e.Errors, Exit: e.Exit, Verdict: e.Verdict}
	return append(out, facts.Part{Speaker: facts.ByTool, Text: e.Result},
		facts.Part{Speaker: facts.ByTool, Text: result.Text()})
}

// typedParts returns what was typed of a prompt, and all of it, which counts as pasted if something was.
func typedParts(e refine.Entry) []facts.Part {
	kinds := transcript.LineKinds(e.Said)
	if kinds == nil {
		return []facts.Part{{Speaker: promptBy(e), Text: e.Said}}
	}
	var typed strings.Builder
	for i, line := range strings.Split(e.Said, "\n") {
		if kinds[i] != transcript.Pasted {
			typed.WriteString(line + "\n")
		}
	}
	return []facts.Part{{Speaker: promptBy(e), Text: typed.String()}, {Speaker: facts.ByPaste, Text: e.Said}}
}

// promptBy returns the speaker of the prompts and answers in an entry.
func promptBy(e refine.Entry) facts.Speaker {
	if e.Script {
		return facts.ByScript
	}
	return facts.ByUser
}

// read adds content of the cited messages that L1 omits: results and full input of tools.
func (q *Quoted) read(r io.Reader, cited map[int]bool) error {
	last := 0
	for n := range cited {
		last = max(last, n)
	}
	for v, err := range transcript.Stream(r, originals.HugeValue) {
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
			continue // not a record: it has no text
		}
		for _, b := range msg.Blocks {
			switch {
			case b.Kind == transcript.ToolResult:
				q.Text.Add(v.N, facts.Part{Speaker: facts.ByTool, Text: b.Text})
			case b.Kind == transcript.ToolUse:
				gjson.ParseBytes(b.Input).ForEach(func(_, value gjson.Result) bool {
					q.Text.Add(v.N, facts.Part{Speaker: facts.ByCall, Text: value.String()})
					return true
				})
			case b.Kind == transcript.Text && msg.Synthetic():
				q.Text.Add(v.N, facts.Part{Speaker: facts.ByTool, Text: b.Text})
			case b.Kind == transcript.Text && msg.Role == "assistant":
				q.Text.Add(v.N, facts.Part{Speaker: facts.ByAssistant, Text: b.Text})
			case b.Kind == transcript.Text && slices.ContainsFunc(q.Text.Parts[v.N], func(p facts.Part) bool {
				return p.Speaker == facts.ByPlan // the client's words around it
			}):
				q.Text.Add(v.N, facts.Part{Speaker: facts.ByTool, Text: b.Text})
			}
		}
	}
	return nil
}

// When returns the time of a message.
func (q *Quoted) When(message int) time.Time {
	var ts string
	for _, e := range q.Entries {
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

// Lines returns the lines of messages in L1.
func (q *Quoted) Lines(from, to int) (out [2]int) {
	for i, e := range q.Entries {
		if e.N >= from && e.N <= to {
			if out[0] == 0 {
				out[0] = i + 1
			}
			out[1] = i + 1
		}
	}
	return out
}

// Messages returns the messages of lines in L1.
func (q *Quoted) Messages(lines [2]int) (out [2]int, ok bool) {
	if lines[0] < 1 || lines[1] > len(q.Entries) || lines[0] > lines[1] {
		return out, false
	}
	return [2]int{q.Entries[lines[0]-1].N, q.Entries[lines[1]-1].N}, true
}

// ExchangeOf returns the first and the last message of the exchange around messages. What precedes the first request, such as
// a plan that is carried out, is an exchange too.
func (q *Quoted) ExchangeOf(from, to int) (first, last int) {
	first, last = 1, q.Point.Scan.Values
	for _, e := range q.Entries {
		switch {
		case !e.Request():
		case e.N <= from:
			first = e.N
		case e.N > to:
			return first, e.N - 1
		}
	}
	return first, last
}

// Scene returns what a check looks at besides the quotes: the messages from first to last.
func (q *Quoted) Scene(first, last int) facts.Scene {
	var text strings.Builder
	out := facts.Scene{}
	for _, e := range q.Entries {
		if e.N >= first && e.N <= last {
			text.WriteString(e.Text() + "\n")
			out.Passed = out.Passed || passed(e)
		}
	}
	if q.said == "" {
		q.typed, q.said = q.spoken()
	}
	out.Text, out.Typed, out.Said = text.String(), q.typed, q.said
	return out
}

// spoken returns what the user typed in the session, and what the user or the model said.
func (q *Quoted) spoken() (typed, said string) {
	var t, s strings.Builder
	for _, n := range slices.Sorted(maps.Keys(q.Text.Parts)) {
		for _, p := range q.Text.Parts[n] {
			trust := p.Speaker.Trust("")
			if trust == facts.User {
				t.WriteString(p.Text + "\n")
			}
			if trust >= facts.Assistant {
				s.WriteString(p.Text + "\n")
			}
		}
	}
	return t.String(), s.String()
}

// passed reports whether an entry is a command that is proved to have passed.
func passed(e refine.Entry) bool { return e.Verdict == "passed" }

// Check checks a fact against the messages that it quotes and their exchange. A nil q checks a fact without a session.
func (q *Quoted) Check(f *facts.Fact) {
	if q == nil || len(f.Evidence) == 0 {
		facts.Check(f, &facts.Transcript{}, facts.Scene{})
		return
	}
	from, to := f.Evidence[0].Message, 0
	for _, e := range f.Evidence {
		from, to = min(from, e.Message), max(to, e.Message)
	}
	first, last := q.ExchangeOf(from, to)
	scene := q.Scene(first, last)
	for _, e := range f.Evidence {
		if when := q.When(e.Message); when.After(f.Time) {
			f.Time = when
		}
	}
	facts.Check(f, q.Text, scene)
}
