package compress

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
)

// Items converts the entries of an L1 to items. echo reports whether the prompt of a message is a copy, which mem wrote
// or a fork copied: it does not count as typed. It may be nil.
func Items(entries iter.Seq2[refine.Entry, error], echo func(n int) bool) ([]version.Item, error) {
	xs, err := exchange.Of(entries, echo)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	var items []version.Item
	for i := range xs {
		items = append(items, itemsOf(&xs[i], i == 0, i+1 < len(xs) && xs[i+1].By == exchange.User)...)
	}
	withoutSuperseded(items)
	items = withoutEarlier(items)
	if end, ok := endItem(xs); ok {
		items = append(items, end)
	}
	return items, nil
}

// withoutEarlier leaves out what comes again: plans that were not accepted and have a later form, of which what the user did stays,
// and the names of pull requests, which the client writes again and again.
func withoutEarlier(items []version.Item) (out []version.Item) {
	last, noted := map[string]*version.Item{}, map[string]bool{}
	for i := range items {
		if it := &items[i]; it.Kind == version.Assistant && it.Target != "" {
			last[it.Target] = it
		}
	}
	for i, it := range items {
		earlier := it.Kind == version.Assistant && it.Target != "" && it.N < last[it.Target].N
		refused := strings.HasSuffix(it.Label, refusedPlan)
		switch {
		case it.Label == version.Linked && noted[it.Text], earlier && it.Text == last[it.Target].Text:
			continue
		case earlier && (refused || strings.HasSuffix(it.Label, talkedPlan)):
			if i+1 < len(items) && items[i+1].N == it.N && items[i+1].Kind == version.Call {
				continue // it says what the user did
			}
			it.Kind, it.Label = version.Call, map[bool]string{true: version.Refused, false: version.NotYet}[refused]
			it.Text, it.Target = `the plan "`+it.Target+`"`, ""
		}
		noted[it.Text] = true
		out = append(out, it)
	}
	return out
}

// endItem returns how the session left the work.
func endItem(xs []exchange.Exchange) (version.Item, bool) {
	text, src := exchange.LeftAt(xs)
	if text == "" {
		return version.Item{}, false
	}
	last := xs[len(xs)-1]
	return version.Item{N: last.To, X: last.From, Time: last.Start, Kind: version.Call, Label: version.AtEnd, Text: text, Src: version.Runs(src...)}, true
}

// Raw returns the plain tokens of all that a version of the items can keep.
func Raw(items []version.Item) (n int) {
	for _, it := range withoutRetold(items, 0) {
		n += tokens.Raw(it.String())
	}
	return n
}

// withoutRetold returns the items without the summaries of compactions that retell only messages from first on: their
// exchanges are there themselves.
func withoutRetold(items []version.Item, first int) []version.Item {
	retells := func(it version.Item) bool {
		said := func(o version.Item) bool {
			return o.Kind == version.User || o.Kind == version.Assistant || o.Kind == version.Script
		}
		k := sort.Search(len(items), func(k int) bool { return items[k].N >= it.N-it.Covers })
		n := sort.Search(len(items), func(k int) bool { return items[k].N >= it.N })
		i := slices.IndexFunc(items[min(k, n):n], said)
		return it.Covers > 0 && i >= 0 && items[k+i].N >= first
	}
	if !slices.ContainsFunc(items, retells) {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), retells)
}

// itemsOf returns the items of an exchange, in the order of their messages. first: it is the first one; goesOn: the user
// typed the next one.
func itemsOf(x *exchange.Exchange, first, goesOn bool) []version.Item {
	var out []version.Item
	command := ""
	switch {
	case x.By == exchange.Slash:
		command = tokens.Clip(x.Request.Text, 240)
	case x.By == exchange.Nobody && first && !slices.ContainsFunc(x.Notes, func(n exchange.Note) bool { return n.Name == "plan" }):
		command = x.By.String()
	case x.By == exchange.Nobody && !first:
		command = "after a forgotten prompt"
	}
	add := func(it version.Item) {
		if strings.TrimSpace(it.Text) != "" || it.Target != "" {
			it.X, it.Time, it.By = x.From, x.Start, command
			out = append(out, it)
		}
	}
	ask := version.Item{N: x.Request.N, Text: x.Request.Text}
	switch x.By {
	case exchange.User:
		ask.Kind = version.User
	case exchange.Script:
		ask.Kind = version.Script
	case exchange.Copy:
		ask.Kind, ask.Label = version.Recap, "copied"
	case exchange.Agent:
		ask.Kind, ask.Label = version.Recap, version.Task
	}
	if x.By != exchange.Nobody && x.By != exchange.Slash {
		add(ask)
	}
	closing := x.Closings()
	refusedLast := slices.ContainsFunc(x.Refusals, func(r exchange.Refusal) bool { return x.StopsAt(r.N) })
	for _, s := range x.Summaries {
		add(version.Item{N: s.N, Kind: version.Recap, Text: s.Text, Label: s.Label(), Covers: s.Covers})
	}
	said, replaced := map[string]bool{}, x.Replaced()
	for _, s := range x.Texts {
		if len(s.Text) > 80 && said[s.Text] { // the client asked for it again
			continue
		}
		said[s.Text] = true
		add(version.Item{N: s.N, Kind: version.Assistant, Text: s.Text, Closing: closing[s.N], Replaced: replaced[s.N]})
	}
	x.Plans = x.Plans[max(0, len(x.Plans)-1):] // the others are earlier forms of it
	over := func(r exchange.Refusal) bool { return r.Reason == "" && x.StopsAt(r.N) }
	for _, s := range x.Plans {
		label := "plan"
		title, text := exchange.PlanTitle(s.Text)
		if title != "" {
			label += ` "` + title + `"`
		}
		if i := slices.IndexFunc(x.Refusals, func(r exchange.Refusal) bool { return r.Call == s.N }); i >= 0 {
			label += map[bool]string{true: refusedPlan, false: talkedPlan}[over(x.Refusals[i])]
		} else if s.N == x.Accepted {
			label += ", " + transcript.Accepted
		}
		add(version.Item{N: s.N, Kind: version.Assistant, Target: title, Text: text, Label: label})
	}
	whole := false
	for _, d := range x.Dialogs {
		kind := version.User
		if d.Script {
			kind = version.Script
		}
		add(version.Item{N: d.N, Kind: version.Assistant, Text: d.Question, Label: "asked"})
		if d.Said != "" {
			whole = strings.Contains(d.Said, "##keepit") // a marker counts in all that was said
		}
		switch {
		case whole:
			add(version.Item{N: d.N, Kind: kind, Text: d.Said})
		default:
			add(version.Item{N: d.N, Kind: kind, Text: d.Answer})
		}
	}
	for _, q := range x.Questions {
		add(version.Item{N: q.N, Kind: version.Assistant, Text: q.Text, Label: "asked"})
	}
	for _, r := range x.Refusals {
		label := version.Refused
		if n := len(x.Plans); n > 0 && x.Plans[n-1].N == r.Call && r.Reason == "" && r.Told == "" {
			continue // the plan says so
		}
		if strings.HasPrefix(r.Of, "ExitPlanMode") && !over(r) {
			label = version.NotYet
		}
		add(version.Item{N: cmp.Or(r.Call, r.N), Kind: version.Call, Label: label, Text: r.Says(goesOn && x.StopsAt(r.N)) + x.Later(r)})
		kind := version.User
		if r.Script {
			kind = version.Script
		}
		add(version.Item{N: r.N, Kind: kind, Text: r.Reason})
	}
	for _, r := range x.Reports {
		if strings.HasPrefix(r.Text, "API Error") {
			continue // it did not work
		}
		add(version.Item{N: r.N, Kind: version.Recap, Text: r.Text, Label: "report of an agent: " + tokens.Clip(r.Task, 80)})
	}
	gone := x.Gone()
	for _, e := range x.Edits {
		if gone[e.File] || len(x.Plans) > 0 && exchange.OfClient(e.File) && strings.Contains(e.File, "plans") {
			continue // the plan is there
		}
		add(version.Item{N: e.N, Kind: version.Edit, Target: e.File, Line: e.Line, Diff: e.Diff, Added: e.Added,
			Removed: e.Removed})
	}
	check := 0 // the last command of which it is known how it ended
	for _, c := range x.Commands {
		if c.Ended() != "" {
			check = c.N
		}
	}
	for _, c := range x.Commands {
		add(version.Item{N: c.N, Kind: version.Command, Text: c.Cmd, Label: x.Ended(c), Closing: c.N == check})
	}
	for _, f := range x.Failures {
		switch f.Tool {
		case "Bash", "PowerShell":
			if f.Fixed > 0 && !does().MatchString(f.Of) || looks().MatchString(shell.Short(f.Of)) || shell.IsMisuse(f.Of, f.Lines) {
				continue // a wrong path or command, put right
			}
		case "result":
		default:
			continue // a call that the client refused says nothing about the project
		}
		if slices.ContainsFunc(x.Commands, func(c exchange.Command) bool { return c.N == f.N && c.Exit == 0 }) { // its output says so
			f.Of = shell.Unfiltered(f.Of)
		}
		add(version.Item{N: f.N, Kind: version.Failure, Text: strings.Join(f.Lines, "\n"), Label: f.Of, Fixed: f.Fixed})
	}
	for _, n := range x.Notes {
		if n.Name == "plan" {
			add(version.Item{N: n.N, Kind: version.Assistant, Text: n.Text, Label: transcript.PlanLabel})
			continue
		}
		if n.Name == "client" {
			add(version.Item{N: n.N, Kind: version.Call, Text: tokens.Clip(n.Text, 200), Label: version.Client})
			continue
		}
		if len(x.Texts) == 0 && n.Interrupts() {
			continue // it is said below
		}
		if n.Interrupts() {
			if refusedLast {
				continue
			}
			add(version.Item{N: n.N, Kind: version.Call, Label: version.Stopped, Text: "by the user"})
			continue
		}
		if n.Name == "pull request" {
			add(version.Item{N: n.N, Kind: version.Call, Label: version.Linked, Text: n.Text})
		}
	}
	for _, c := range x.Calls {
		add(version.Item{N: c.N, Kind: version.Call, Target: c.Tool, Text: c.Target})
	}
	for _, m := range x.Made() {
		add(version.Item{N: m.N, Kind: version.Call, Label: version.Created, Text: tokens.Clip(m.Text, 160)})
	}
	if len(x.Texts)+len(x.Plans) == 0 && !refusedLast && (x.By == exchange.User || x.By == exchange.Script) {
		add(version.Item{N: x.To, Kind: version.Call, Label: version.NoAnswer, Text: x.Unanswered()})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}

const (
	refusedPlan = ", refused by the user"
	talkedPlan  = ", not accepted yet by the user" // he said more, or it went on
)

// withoutSuperseded leaves out the changes that add a line which a later edit of the session removes: a reader would take it
// for what stands there.
func withoutSuperseded(items []version.Item) {
	const least = 12 // bytes of a line: a brace stands in many places
	removed := map[string]bool{}
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		lines := strings.Split(it.Diff, "\n")
		it.Partial = it.Kind == version.Edit && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "+") && removed[it.Target+strings.TrimSpace(l[1:])] })
		if it.Partial {
			it.Diff = ""
		}
		for _, l := range lines {
			if it.Kind == version.Edit && strings.HasPrefix(l, "-") && len(strings.TrimSpace(l[1:])) >= least {
				removed[it.Target+strings.TrimSpace(l[1:])] = true
			}
		}
	}
}
