package handover

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/transcript"
)

// turns makes the turns of exchanges. What a session says before its first request, and after one that was forgotten, belongs
// to none.
func (s *summary) turns(xs []exchange.Exchange) {
	asked := "" // the question with which the exchange before ended
	for i := range xs {
		x := &xs[i]
		t, ok := s.request(x)
		if !ok {
			if n := len(s.d.Turns); n > 0 && i > 0 { // what follows may answer the question
				s.d.Turns[n-1].Asks = ""
			}
			asked = ""
			continue
		}
		if n := len(s.d.Turns); n > 0 && x.By == exchange.User {
			if text := correctedIn(x.Request.Text); text != "" {
				s.want(Want{Said: s.said(x.Request.N, Cut(text, maxWant))})
			}
			if i > 0 {
				t.To = Cut(chosenItems(t.Asked.Text, xs[i-1].Outcome().Text), maxChosen)
			}
			if t.To == "" && len(strings.Fields(t.Asked.Text)) <= maxReply {
				t.To = askedIn(asked, maxTo)
			}
		}
		asked = s.work(&t, x)
		for _, n := range s.gone {
			if n > max(t.Asked.N, t.Answered.N) && (i == len(xs)-1 || n < xs[i+1].From) {
				t.Gone = n
			}
		}
		if x.By == exchange.Slash && t.Did == 0 && t.Answered.N == 0 {
			continue // it only changed how the client works
		}
		if len(s.d.Turns) == maxTurns { // keep the first request
			s.d.Turns = slices.Delete(s.d.Turns, 1, 2)
		}
		s.requests++
		t.Seq = s.requests
		s.d.Turns = append(s.d.Turns, t)
	}
}

// said returns a text with the message to cite.
func (s *summary) said(n int, text string) Said { return Said{N: n, Text: text, At: s.at[n]} }

// request begins the turn of an exchange.
func (s *summary) request(x *exchange.Exchange) (t Turn, ok bool) {
	switch x.By {
	case exchange.User, exchange.Slash:
		text := x.Request.Text
		return Turn{Asked: s.said(x.Request.N, Cut(Own(text), maxAsked)), Plan: Cut(transcript.PlanHeading(strings.TrimSpace(text)), maxAsked)}, true
	case exchange.Script:
		return Turn{Script: true, Asked: Said{N: x.Request.N}}, true
	case exchange.Nobody:
		for _, n := range x.Notes {
			if n.Name == "plan" { // the client sends back a plan that the user accepted
				return Turn{Asked: s.said(n.N, planHeading(n.Text)), Plan: planHeading(n.Text)}, true
			}
		}
	}
	return t, false
}

// work adds to a turn what the model did and answered, and what the user said meanwhile: the answer is what follows the last
// of that. It returns the question of the last text.
func (s *summary) work(t *Turn, x *exchange.Exchange) (asked string) {
	calls := x.Work()
	between := func(from, to int) (n int) {
		for _, c := range calls {
			if c > from && c < to {
				n++
			}
		}
		return n
	}
	t.Did = len(calls)
	after := 0
	for _, w := range s.replies(x) {
		t.Then, after = append(t.Then[max(0, len(t.Then)-maxThen+1):], w), w.N
		if !question(w.Text) {
			s.want(w)
		}
	}
	said := exchange.Said{} // the last text
	last, size := 0, 0      // of the answer
	texts := slices.DeleteFunc(slices.Clone(x.Texts), func(text exchange.Said) bool { return text.N < after })
	for _, said = range texts {
		noticed := 0 // the last message since the answer in which the client told of something; no file was changed after it
		for _, n := range x.Notes {
			if n.Noticed() && last < n.N && n.N < said.N {
				noticed = n.N
			}
		}
		if slices.ContainsFunc(x.Edits, func(e exchange.Edit) bool { return noticed < e.N && e.N < said.N }) {
			noticed = 0
		}
		switch {
		case t.Long && between(last, said.N) == 0 && 3*len(said.Text) < size, // a remark on something else
			t.Long && noticed > 0 && between(noticed, said.N) <= aLook && len(said.Text) < size, // on a task that ended in the background
			t.Answered.N > 0 && announces(said.Text) && !announces(t.Answered.Text),
			t.Answered.N > 0 && noticed > 0 && waits(said.Text) && !waits(t.Answered.Text):
			continue
		}
		t.Answered, t.Long = Said{N: said.N, Text: Gist(said.Text, maxAnswered)}, len(said.Text) > longAnswer
		last, size = said.N, len(said.Text)
	}
	if strings.HasSuffix(strings.TrimRight(said.Text, " \n*_"), ":") {
		t.Working = said.N // it was about to do something
	}
	over := slices.ContainsFunc(x.Notes, func(n exchange.Note) bool { // there was an answer then: what follows is about the note
		return n.Noticed() && slices.ContainsFunc(texts, func(text exchange.Said) bool { return text.N < n.N && between(text.N, n.N) == 0 })
	})
	if n := len(calls); n > 0 && calls[n-1] > max(said.N, after) && !over {
		t.Working = calls[n-1]
	}
	if asked = lastQuestion(said.Text); exchange.Asks(said.Text) && t.Working == 0 {
		t.Asks = asked
	}
	for _, r := range x.Refusals {
		if r.Reason == "" && r.Call > max(said.N, after) && !over {
			t.Working = max(t.Working, r.Call)
		}
	}
	for _, n := range x.Notes {
		if n.N > max(said.N, t.Working) && strings.HasPrefix(n.Text, "[Request interrupted by user") {
			t.Stopped = n.N
		}
	}
	return asked
}

// longAnswer is the size of an answer that counts as work, and aLook the number of calls that look at a task that ended.
const (
	longAnswer = 400
	aLook      = 2
)

// did reports whether the turn did something: a greeting and its answer did not. A short request, such as "ship it",
// may be answered without a call.
func (t Turn) did() bool {
	asks := len(strings.Fields(t.Asked.Text)) > 2 && len(ParsePrompt(t.Asked.Text).words) > 0
	return t.Did > 0 || t.Long || (asks || t.Answered.N > 0) && !greeting().MatchString(t.Asked.Text)
}

// replies returns what the user said in an exchange: answers in dialogs and the reasons of refusals, in order.
func (s *summary) replies(x *exchange.Exchange) (out []Want) {
	for _, d := range x.Dialogs {
		if !d.Script {
			out = append(out, Want{Said: s.said(d.N, Cut(d.Answer, maxWant)), Lead: "answered", To: Cut(d.Question, maxQuestion)})
		}
	}
	for _, r := range x.Refusals {
		if r.Script || strings.TrimSpace(r.Reason) == "" {
			continue
		}
		w := Want{Said: s.said(r.N, Cut(strings.TrimSpace(r.Reason), maxWant)), Lead: "refused " + refusedName(r.Of)}
		if w.Lead == refusedPlan && slices.ContainsFunc(s.accepted, func(n int) bool { return r.N < n && n <= x.To }) {
			w.Lead = "asked for a change of the plan, and then accepted it"
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Want) int { return a.N - b.N })
	return slices.DeleteFunc(out, func(w Want) bool { return w.Text == "" })
}

// want records words of the user that say what he wants.
func (s *summary) want(w Want) { s.d.Wants = append(s.d.Wants[max(0, len(s.d.Wants)-maxWants+1):], w) }

// refusedPlan is the lead of the reason of a plan that the user refused.
const refusedPlan = "refused a plan"

// refusedName returns the name of the tool of a refused call.
func refusedName(target string) string {
	name, _, _ := strings.Cut(target, " ")
	switch {
	case name == "ExitPlanMode":
		return "a plan"
	case brief.IsSafeWord(name):
		return name
	}
	return "a call"
}
