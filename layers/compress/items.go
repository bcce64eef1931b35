package compress

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
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
		items = append(items, itemsOf(&xs[i], i == 0, i+1 < len(xs) && xs[i+1].By == exchange.User)...)
	}
	withoutSuperseded(items)
	noted := map[string]bool{}
	items = slices.DeleteFunc(items, func(it Item) bool { // the client writes the name of a pull request again and again
		again := it.Kind == Call && it.Label == "" && it.Target == "" && noted[it.Text]
		noted[it.Text] = true
		return again
	})
	if end, ok := endItem(xs); ok {
		items = append(items, end)
	}
	return items, nil
}

// endItem returns how the session left the work.
func endItem(xs []exchange.Exchange) (Item, bool) {
	if len(xs) == 0 {
		return Item{}, false
	}
	e, last := exchange.EndingOf(xs), xs[len(xs)-1]
	var parts []string
	var src [][2]int
	at := func(n int) string { // the number is that of a heading
		src = append(src, [2]int{n, n})
		k := sort.Search(len(xs), func(k int) bool { return xs[k].From > n })
		return fmt.Sprintf(" (#%d)", xs[max(0, k-1)].From)
	}
	edited := 0 // the first message of the exchange with the last edit
	for _, x := range xs {
		if len(x.Edits) > 0 {
			edited = x.From
		}
	}
	if e.Commits > 0 {
		text := "last commit"
		if subject := e.Commit.Subject(); subject != "" {
			text += ` "` + oneLine(subject, 80) + `"`
		}
		text += at(e.Commit.N)
		switch {
		case e.Pushed && e.Push.N < e.Commit.N: // somebody says so, and nothing proves it
		case e.Push.N >= e.Commit.N:
			text += ", pushed" + at(e.Push.N)
		case e.Push.N > 0:
			text += "; no push seen after it, the last one before" + at(e.Push.N)
		default:
			text += "; no push seen"
		}
		parts = append(parts, text)
	}
	if len(e.Changed) > 0 {
		const most = 4
		files, text := e.Uncommitted(), "changed, and no commit seen: "
		switch {
		case len(files) == 0: // somebody says so, or it may be: nothing is known of these files
			files, text = e.Changed, "last changed: "
		case e.Commits > 0:
			text = "changed after the commit: "
		}
		var names []string
		for _, f := range files[max(0, len(files)-most):] {
			names = append(names, f.Path)
		}
		text += strings.Join(names, ", ")
		if more := len(files) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text+at(exchange.Edited(files)))
	}
	if e.Check.N >= edited && e.Check.N > 0 { // an earlier one says nothing about the end
		text := "last check: " + oneLine(shortCommand(e.Check.Cmd), 80) + " " + ending(e.Check) + at(e.Check.N)
		if exchange.Edited(e.Changed) > e.Check.N {
			text += ", before the last change"
		}
		parts = append(parts, text)
	}
	if n := len(e.Made); n > 0 {
		const most = 3
		text := "created: "
		for i, m := range e.Made[max(0, n-most):] {
			if i > 0 {
				text += ", "
			}
			text += oneLine(m.Text, 100) + at(m.N)
		}
		if n > most {
			text += fmt.Sprintf(" and %d before", n-most)
		}
		parts = append(parts, text)
	}
	switch {
	case e.Asked.N > 0:
		parts = append(parts, `asked and not answered: "`+oneLine(e.Asked.Text, 160)+`"`+at(e.Asked.N))
	case e.Waiting:
		parts = append(parts, "the last request has no answer"+at(last.From))
	}
	if len(parts) == 0 {
		return Item{}, false
	}
	slices.SortFunc(src, func(a, b [2]int) int { return a[0] - b[0] })
	return Item{N: last.To, X: last.From, Time: last.Start, Kind: Call, Label: atEnd, Text: strings.Join(parts, "; "),
		Src: merge(src)}, true
}

// Raw returns the plain tokens of all that a version of the items can keep.
func Raw(items []Item) (n int) {
	for _, it := range withoutRetold(items, 0) {
		n += tokens.Raw(it.String())
	}
	return n
}

// withoutRetold returns the items without the summaries of compactions that retell only messages from first on: their
// exchanges are there themselves.
func withoutRetold(items []Item, first int) []Item {
	retells := func(it Item) bool {
		said := func(o Item) bool { return o.Kind == User || o.Kind == Assistant || o.Kind == Script }
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
func itemsOf(x *exchange.Exchange, first, goesOn bool) []Item {
	var out []Item
	command := ""
	switch {
	case x.By == exchange.Slash:
		command = oneLine(x.Request.Text, 240)
	case x.By == exchange.Nobody && first && !slices.ContainsFunc(x.Notes, func(n exchange.Note) bool { return n.Name == "plan" }):
		command = x.By.String()
	case x.By == exchange.Nobody && !first:
		command = "after a forgotten prompt"
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
		ask.Kind, ask.Label = Recap, task
	}
	if x.By != exchange.Nobody && x.By != exchange.Slash {
		add(ask)
	}
	closing := closings(x)
	refusedLast := slices.ContainsFunc(x.Refusals, func(r exchange.Refusal) bool { return stopsAt(x, r.N) })
	for _, s := range x.Summaries {
		add(Item{N: s.N, Kind: Recap, Text: s.Text, Label: summaryLabel(s), Covers: s.Covers})
	}
	said := map[string]bool{}
	for _, s := range x.Texts {
		if len(s.Text) > 80 && said[s.Text] { // the client asked for it again
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
	for _, r := range x.Refusals {
		label := refused
		if strings.HasPrefix(r.Of, "ExitPlanMode") {
			label = notYet
		}
		add(Item{N: cmp.Or(r.Call, r.N), Kind: Call, Label: label, Text: refusal(r, goesOn && stopsAt(x, r.N)) + later(x, r)})
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
	for _, e := range x.Edits {
		add(Item{N: e.N, Kind: Edit, Target: e.File, Line: e.Line, Diff: e.Diff, Added: e.Added,
			Removed: e.Removed})
	}
	for _, c := range x.Commands {
		add(Item{N: c.N, Kind: Command, Text: c.Cmd, Label: ending(c)})
	}
	for _, f := range x.Failures {
		switch f.Tool {
		case "Bash", "PowerShell":
			if f.Fixed > 0 && !does().MatchString(f.Of) || looks().MatchString(shortCommand(f.Of)) {
				continue // a wrong path, put right
			}
		case "result":
		default:
			continue // a call that the client refused says nothing about the project
		}
		add(Item{N: f.N, Kind: Failure, Text: strings.Join(f.Lines, "\n"), Label: f.Of, Fixed: f.Fixed})
	}
	for _, n := range x.Notes {
		if n.Name == "plan" {
			add(Item{N: n.N, Kind: Assistant, Text: n.Text, Label: transcript.PlanLabel})
			continue
		}
		if n.Name == "client" {
			add(Item{N: n.N, Kind: Call, Text: oneLine(n.Text, 200), Label: client})
			continue
		}
		if len(x.Texts) == 0 && strings.Contains(n.Text, interrupted) {
			continue // it is said below
		}
		if strings.Contains(n.Text, interrupted) {
			if refusedLast {
				continue
			}
			add(Item{N: n.N, Kind: Call, Label: stopped, Text: "by the user"})
			continue
		}
		if n.Name == "pull request" {
			add(Item{N: n.N, Kind: Call, Text: n.Name + " " + n.Text})
		}
	}
	for _, c := range x.Calls {
		add(Item{N: c.N, Kind: Call, Target: c.Tool, Text: c.Target})
	}
	for _, m := range x.Made() {
		add(Item{N: m.N, Kind: Call, Label: created, Text: oneLine(m.Text, 160)})
	}
	if len(x.Texts) == 0 && !refusedLast && (x.By == exchange.User || x.By == exchange.Script) {
		add(Item{N: x.To, Kind: Call, Label: noAnswer, Text: unanswered(x)})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}

// Labels of items. Under the first ones mem says something of its own, which is written within the brackets.
const (
	task      = "asked by another agent" // the request of a session that is an agent's
	noAnswer  = "no answer in words"
	ignored   = "no answer" // to the question at the end of a text
	refused   = "refused by the user"
	notYet    = "not accepted yet by the user" // a plan: he goes on to talk about it
	client    = "the client"
	atEnd     = "at the end"
	stopped   = "interrupted" // the work, between two texts of the assistant
	created   = "created"     // by a call: an issue, a pull request
	leftPaste = "pasted"      // by the user: it is left out between what he typed

	interrupted = "[Request interrupted"
	refusedPlan = "plan, not accepted yet by the user"
)

// remark reports whether mem says something of its own under a label.
func remark(label string) bool {
	return label == noAnswer || label == ignored || label == refused || label == notYet || label == client || label == atEnd || label == stopped ||
		label == created || label == leftPaste
}

// Gathered reports whether mem gathered the text of s from messages of an exchange: a list, a change, a failure or a remark.
func (s Segment) Gathered() bool {
	switch kind, _, _ := strings.Cut(s.Label, " "); {
	case s.Role != "tool":
		return false
	case kind == "files", kind == "commands", kind == "changes", kind == "failed":
		return true
	}
	return s.Remark()
}

// Remark reports whether the text of s is mem's own.
func (s Segment) Remark() bool { return remark(s.Label) }

// unanswered says what is known of an exchange in which the assistant said nothing.
func unanswered(x *exchange.Exchange) string {
	switch {
	case slices.ContainsFunc(x.Notes, func(n exchange.Note) bool { return strings.Contains(n.Text, interrupted) }):
		return "the user interrupted"
	case len(x.Edits)+len(x.Commands)+len(x.Calls) > 0:
		return "only calls of tools followed"
	}
	return "nothing followed"
}

// callName returns a call without what names the server of its tool and the members of its input.
func callName(call string) string {
	if after, is := strings.CutPrefix(call, "mcp__"); is {
		if _, tool, found := strings.Cut(after, "__"); found {
			call = tool
		}
	}
	call, _, _ = strings.Cut(call, " {\"")
	return strings.TrimSpace(call)
}

// stopsAt reports whether nothing was done in an exchange after a message: what the user typed next says why.
func stopsAt(x *exchange.Exchange, n int) bool {
	last := x.Outcome().N
	for _, e := range x.Edits {
		last = max(last, e.N)
	}
	for _, c := range x.Commands {
		last = max(last, c.N)
	}
	for _, c := range x.Calls {
		last = max(last, c.N)
	}
	return last <= n
}

// refusal says what the user refused; stopped: nothing followed.
func refusal(r exchange.Refusal, stopped bool) string {
	text := oneLine(shortCommand(callName(r.Of)), 100)
	switch {
	case strings.HasPrefix(r.Of, "ExitPlanMode"):
		text = "the plan"
		if r.What != "" {
			text += ` "` + oneLine(r.What, 80) + `"`
		}
	case r.What != "":
		text += " (" + oneLine(r.What, 120) + ")"
	}
	switch {
	case r.Reason == "" && r.Told != "":
		text += "; its result gives the reason: " + oneLine(r.Told, 400)
	case r.Reason == "" && !stopped:
		text += "; no reason given"
	}
	return text
}

// later says whether what the user refused was done later in the exchange.
func later(x *exchange.Exchange, r exchange.Refusal) string {
	_, target, _ := strings.Cut(r.Of, " ")
	file, _, _ := strings.Cut(target, ":")
	edited := slices.ContainsFunc(x.Edits, func(e exchange.Edit) bool { return e.N > r.N && e.File == file })
	ran := slices.ContainsFunc(x.Commands, func(c exchange.Command) bool {
		return c.N > r.N && c.Exit == 0 && c.Verdict != exchange.Failed && shortCommand(c.Cmd) == shortCommand(r.Of)
	})
	if edited || ran {
		return "; done later"
	}
	return ""
}

// withoutSuperseded leaves out the changes that add a line which a later edit of the session removes: a reader would take it
// for what stands there.
func withoutSuperseded(items []Item) {
	const least = 12 // bytes of a line: a brace stands in many places
	removed := map[string]bool{}
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		lines := strings.Split(it.Diff, "\n")
		it.Partial = it.Kind == Edit && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "+") && removed[it.Target+strings.TrimSpace(l[1:])] })
		if it.Partial {
			it.Diff = ""
		}
		for _, l := range lines {
			if it.Kind == Edit && strings.HasPrefix(l, "-") && len(strings.TrimSpace(l[1:])) >= least {
				removed[it.Target+strings.TrimSpace(l[1:])] = true
			}
		}
	}
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
