package compress

import (
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
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
		said[s.Text] = true
		add(Item{N: s.N, Kind: Assistant, Text: s.Text, Closing: closing[s.N]})
	}
	for _, s := range x.Plans {
		add(Item{N: s.N, Kind: Assistant, Text: s.Text})
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
	for _, r := range x.Refusals {
		add(Item{N: r.N, Kind: Call, Label: "answer", Text: "the user refused: " + oneLine(r.Of, 80)})
		kind := User
		if r.Script {
			kind = Script
		}
		add(Item{N: r.N, Kind: kind, Text: r.Reason})
	}
	for _, r := range x.Reports {
		add(Item{N: r.N, Kind: Recap, Text: r.Text, Label: "report of an agent: " + oneLine(r.Task, 80)})
	}
	for _, e := range x.Edits {
		add(Item{N: e.N, Kind: Edit, Target: e.File, Line: e.Line, Diff: e.Diff, Added: e.Added,
			Removed: e.Removed, Text: strings.Join(e.Symbols, " ")})
	}
	for _, c := range x.Commands {
		add(Item{N: c.N, Kind: Command, Text: c.Cmd, Label: ending(c)})
	}
	for _, f := range x.Failures {
		add(Item{N: f.N, Kind: Failure, Text: strings.Join(f.Lines, "\n"), Label: f.Of, Target: f.Tool, Fixed: f.Fixed > 0,
			Line: f.Fixed})
	}
	for _, n := range x.Notes {
		if n.Name == "plan" {
			add(Item{N: n.N, Kind: Assistant, Text: n.Text, Label: "plan, accepted by the user"})
			continue
		}
		add(Item{N: n.N, Kind: Call, Text: strings.TrimSpace(n.Name + " " + n.Text)})
	}
	for _, c := range x.Calls {
		add(Item{N: c.N, Kind: Call, Target: c.Tool, Text: c.Target})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
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
