package handover

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/shell"
)

// open returns what waits: requests that were interrupted, plans that were refused, questions without an answer, items
// of the model's list, and tests that fail. Of the session shown it is told elsewhere where it stands.
func open(digests []Digest, shown int, limits statusLimits) (out []brief.Item) {
	for i, d := range digests {
		say := func(n int, trust brief.Trust, text, why string) {
			out = append(out, brief.Item{Text: text, Source: citing(d.Session, n), Trust: trust, Time: d.Last, Why: why})
		}
		rejected := 0
		k := len(d.Turns) - 1
		if k >= 0 && d.Turns[k].Stopped > 0 && i != shown && !settled(d.Turns[k].Asked.Text, digests[:i]) &&
			!ranSince(d.Turns[k].Asked.Text, digests[:i]) {
			t := d.Turns[k]
			p := slices.IndexFunc(d.Open, func(o Open) bool { return o.What == exchange.RefusedPlan && o.N > t.Asked.N })
			if p >= 0 && settled(d.Open[p].Text, digests[:i]) {
				continue // it was accepted in the end, for the next session
			}
			if p >= 0 {
				rejected = d.Open[p].N
				say(rejected, brief.Assistant, d.day(rejected)+t.verb()+" "+t.request(showEarlier)+"; the user rejected the plan "+
					plan(d.Open[p].Text, showEarlier)+reasonOf(d, rejected)+" and interrupted", "the model did not go on")
			} else {
				say(t.Stopped, brief.User, d.day(t.Stopped)+"interrupted by the user: "+t.request(showEarlier), "the model did not go on")
			}
			out[len(out)-1].Keys = []string{t.key(d.Session)}
		} else if k >= 0 && d.Turns[k].Asks != "" && d.Turns[k].Stopped == 0 && (i == 0 || i > shown && i <= shown+maxBefore && !settled(d.Turns[k].Asks, digests[:i])) {
			text := "Asked the user and got no answer: "
			if i > 0 {
				text = d.day(d.Turns[k].Answered.N) + "asked the user and got no answer: "
			}
			say(d.Turns[k].Answered.N, brief.Assistant, text+quoted(d.Turns[k].Asks, showQuestion), "the session ended with a question")
		}
		if i == shown && len(d.Changed) > 0 {
			say(slices.Max(d.Changed), brief.Assistant, "Not committed in the session: "+times(len(d.Changed), "file")+" changed, "+d.Uncommitted,
				"no later command commits")
		}
		todos := 0
		for _, o := range slices.Backward(d.Open) {
			switch {
			case o.N == rejected:
			case o.What == exchange.Todo:
				if todos++; todos <= limits.todos && i == 0 {
					say(o.N, brief.Assistant, "Open todo: "+quoted(o.Text, showTodo), "on the model's list and not completed")
				}
			case o.What == exchange.AcceptedPlan:
				if text := planned(digests[:i+1], o); text != "" && i < 2 {
					say(o.N, brief.Assistant, text, "the last plan that the user accepted")
				}
			case settled(o.Text, digests[:i]):
			default:
				what := exchange.Open{Kind: o.What}.Lead()
				switch {
				case o.What == exchange.RefusedPlan:
					if o.Text != "" {
						what += plan(o.Text, showQuestion)
					}
					if i != shown { // there it is told with the request
						what += reasonOf(d, o.N)
					}
				case o.Text != "":
					what += quoted(o.Text, showQuestion)
				}
				say(o.N, brief.Assistant, strings.TrimRight(what, ": "), "nothing later settles it")
			}
		}
	}
	return out
}

// reasonOf returns what the user typed when he refused the plan of a message, after a colon, or "".
func reasonOf(d Digest, n int) string {
	for _, w := range d.Wants {
		if w.Lead == refusedPlan && w.N >= n {
			return ": " + quoted(w.Text, showQuestion)
		}
	}
	return ""
}

// settled reports whether a later session did something about a text.
func settled(text string, later []Digest) bool {
	topic := exchange.Topic(text)
	return slices.ContainsFunc(later, func(d Digest) bool {
		return slices.ContainsFunc(d.Turns, func(t Turn) bool {
			return t.Stopped == 0 && t.Answered.N > 0 && exchange.Settles(topic, t.Asked.Text)
		})
	})
}

// ranSince reports whether a command that a request names did not fail in a later session. One without a verdict is
// known to have run only if it checks nothing, as a server.
func ranSince(request string, later []Digest) bool {
	return slices.ContainsFunc(later, func(d Digest) bool {
		return slices.ContainsFunc(d.Commands, func(c Command) bool {
			_, name := dirOf(c.Name)
			ran := c.End == Passed || c.End == Unknown && !shell.IsTester(name)
			return ran && strings.Contains(name, " ") && strings.Contains(" "+request+" ", name+" ")
		})
	})
}
