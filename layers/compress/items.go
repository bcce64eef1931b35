package compress

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
)

// Items converts the entries of an L1 to items. echo reports whether the prompt of a message is a copy, which mem wrote
// or a fork copied: it does not count as typed. It may be nil.
func Items(entries iter.Seq2[refine.Entry, error], echo func(n int) bool) ([]Item, error) {
	xs, err := exchange.Of(entries, echo)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	var items []Item
	for i := range xs {
		items = append(items, itemsOf(&xs[i])...)
	}
	return items, nil
}

// Raw returns the plain tokens of all that a version of the items can keep.
func Raw(items []Item) int {
	var n atomic.Int64
	parallel(len(items), func(i int) { n.Add(int64(tokens.Raw(items[i].String()))) })
	return int(n.Load())
}

// itemsOf returns the items of an exchange, in the order of their messages.
func itemsOf(x *exchange.Exchange) []Item {
	var out []Item
	command := ""
	if x.By == exchange.Slash {
		command = oneLine(x.Request.Text, 80)
	}
	add := func(it Item) {
		if strings.TrimSpace(it.Text) != "" || it.Target != "" {
			it.X, it.Time, it.By = x.From, x.Start, command
			out = append(out, it)
		}
	}
	ask := Item{N: x.Request.N, Text: x.Request.Text}
	switch x.By {
	case exchange.User:
		ask.Kind = User
	case exchange.Script:
		ask.Kind = Script
	case exchange.Copy:
		ask.Kind, ask.Label = Recap, "copied"
	case exchange.Agent:
		ask.Kind = Recap
	}
	if x.By != exchange.Nobody && x.By != exchange.Slash {
		add(ask)
	}
	closing := closings(x)
	for _, s := range x.Summaries {
		add(Item{N: s.N, Kind: Recap, Text: s.Text, Label: summaryLabel(s)})
	}
	said := map[string]bool{}
	for _, s := range x.Texts {
		if len(s.Text) > 80 && said[s.Text] || s.Text == "No response requested." { // the client asked for it again
			continue
		}
		if strings.HasPrefix(s.Text, "API Error") {
			add(Item{N: s.N, Kind: Call, Text: s.Text, Label: "client"})
			continue
		}
		said[s.Text] = true
		add(Item{N: s.N, Kind: Assistant, Text: s.Text, Closing: closing[s.N]})
	}
	if len(x.Plans) > 1 {
		x.Plans = x.Plans[len(x.Plans)-1:] // the others are earlier forms of it
	}
	for _, s := range x.Plans {
		label := "plan"
		if slices.ContainsFunc(x.Refusals, func(r exchange.Refusal) bool { return r.Call == s.N }) {
			label = refusedPlan
		}
		add(Item{N: s.N, Kind: Assistant, Text: s.Text, Label: label})
	}
	whole := false
	for _, d := range x.Dialogs {
		kind := User
		if d.Script {
			kind = Script
		}
		add(Item{N: d.N, Kind: Assistant, Text: d.Question, Label: "asked"})
		if d.Said != "" {
			whole = strings.Contains(d.Said, "##keepit") // a marker counts in all that was said
		}
		switch {
		case whole:
			add(Item{N: d.N, Kind: kind, Text: d.Said})
		default:
			add(Item{N: d.N, Kind: kind, Text: d.Answer})
		}
	}
	for _, q := range x.Questions {
		add(Item{N: q.N, Kind: Assistant, Text: q.Text, Label: "asked"})
	}
	talked := false
	for _, r := range x.Refusals {
		text := refused(r)
		if plan := strings.HasSuffix(text, "accepting the plan"); plan && talked {
			text = ""
		} else {
			talked = talked || plan
		}
		add(Item{N: cmp.Or(r.Call, r.N), Kind: Call, Label: "answer", Text: text})
		kind := User
		if r.Script {
			kind = Script
		}
		add(Item{N: r.N, Kind: kind, Text: r.Reason})
	}
	for _, r := range x.Reports {
		if strings.HasPrefix(r.Text, "API Error") {
			continue // it did not work
		}
		add(Item{N: r.N, Kind: Recap, Text: r.Text, Label: "report of an agent: " + oneLine(r.Task, 80)})
	}
	for i, e := range x.Edits {
		if superseded(e, x.Edits[i+1:]) {
			e.Diff = ""
		}
		add(Item{N: e.N, Kind: Edit, Target: e.File, Line: e.Line, Diff: e.Diff, Added: e.Added,
			Removed: e.Removed, Text: strings.Join(e.Symbols, " ")})
	}
	for _, c := range x.Commands {
		add(Item{N: c.N, Kind: Command, Text: c.Cmd, Label: ending(c)})
	}
	for _, f := range x.Failures {
		add(Item{N: f.N, Kind: Failure, Text: strings.Join(f.Lines, "\n"), Label: f.Of, Target: f.Tool, Fixed: f.Fixed > 0})
	}
	for _, n := range x.Notes {
		if n.Name == "plan" {
			add(Item{N: n.N, Kind: Assistant, Text: n.Text, Label: "plan, accepted by the user"})
			continue
		}
		if len(x.Texts) == 0 && strings.Contains(n.Text, interrupted) {
			continue // it is said below
		}
		add(Item{N: n.N, Kind: Call, Text: strings.TrimSpace(n.Name + " " + n.Text)})
	}
	for _, c := range x.Calls {
		add(Item{N: c.N, Kind: Call, Target: c.Tool, Text: c.Target})
	}
	if len(x.Texts) == 0 && (x.By == exchange.User || x.By == exchange.Script) {
		add(Item{N: x.To, Kind: Call, Label: noAnswer, Text: unanswered(x)})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}

// Labels of items.
const (
	noAnswer    = "no answer"
	interrupted = "[Request interrupted"
	refusedPlan = "plan, refused by the user"
)

// unanswered says what is known of an exchange in which the assistant said nothing.
func unanswered(x *exchange.Exchange) string {
	switch {
	case slices.ContainsFunc(x.Notes, func(n exchange.Note) bool { return strings.Contains(n.Text, interrupted) }):
		return "the user interrupted"
	case len(x.Edits)+len(x.Commands)+len(x.Calls) > 0:
		return "in words; it used tools"
	}
	return "nothing followed"
}

// refused says what the user refused.
func refused(r exchange.Refusal) string {
	if strings.HasPrefix(r.Of, "ExitPlanMode") && r.Reason != "" {
		return "the user went on talking instead of accepting the plan"
	}
	return "the user refused: " + oneLine(r.Of, 100)
}

// superseded reports whether later edits replace the most of what an edit wrote.
func superseded(e exchange.Edit, later []exchange.Edit) bool {
	removed := map[string]bool{}
	for _, l := range later {
		if l.File != e.File {
			continue
		}
		for line := range strings.SplitSeq(l.Diff, "\n") {
			if gone, ok := strings.CutPrefix(line, "-"); ok {
				removed[strings.TrimSpace(gone)] = true
			}
		}
	}
	if len(removed) == 0 {
		return false
	}
	added, gone := 0, 0
	for line := range strings.SplitSeq(e.Diff, "\n") {
		text, ok := strings.CutPrefix(line, "+")
		if text = strings.TrimSpace(text); !ok || text == "" {
			continue
		}
		added++
		if removed[text] {
			gone++
		}
	}
	return gone > 0 && 3*gone >= added
}

// closings returns the messages with the last words of the assistant before the user speaks again.
func closings(x *exchange.Exchange) map[int]bool {
	last := map[int]bool{}
	mark := func(before int) {
		for i := len(x.Texts) - 1; i >= 0; i-- {
			if x.Texts[i].N < before {
				last[x.Texts[i].N] = true
				return
			}
		}
	}
	for _, d := range x.Dialogs {
		mark(d.N)
	}
	for _, r := range x.Refusals {
		mark(r.N)
	}
	mark(x.To + 1)
	return last
}

func summaryLabel(s exchange.Summary) string {
	if s.Covers == 0 {
		return "summary"
	}
	return fmt.Sprintf("summary of #%d..%d", max(1, s.N-s.Covers), s.N-1)
}

// ending says how a command ended, if that is known.
func ending(c exchange.Command) string {
	switch {
	case c.Exit != 0:
		return "exit " + strconv.Itoa(c.Exit)
	case c.Verdict == exchange.Failed:
		return "failed"
	case c.Verdict == exchange.Passed:
		return "passed"
	}
	return ""
}
