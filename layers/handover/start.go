package handover

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/transcript"
)

// Limits of the sections of a start, in lines and characters.
const (
	maxSet     = 12 // files
	maxRun     = 8  // commands
	maxTests   = 4
	failedBack = 5  // sessions whose failures are listed
	openBack   = 10 // sessions whose open items are listed

	capStatus   = 1500
	capOpen     = 600
	capFails    = 400
	capWants    = 400
	capBefore   = 900
	capMore     = 400 // of the status and of the sessions before, for each level of detail
	capFiles    = 800
	capCommands = 550

	showRequest  = 180
	showEarlier  = 120 // of an earlier exchange or session
	showLittle   = 70  // of the last of two requests of one line
	showTodo     = 100
	showWant     = 220
	showThen     = 160
	showQuestion = 160
)

// wantsTitle is the title of the words of the user.
const wantsTitle = "What the user wants, in their words"

// citing returns the source of a message.
func citing(session string, n int) string { return fmt.Sprintf("%s#%d", records.ShortID(session), n) }

// Start returns what a new session is told of earlier ones. Digests are sorted, the newest first. Detail is how much it is told of
// how exchanges ended: from 0 up to [MostDetail].
func Start(digests []Digest, detail int) []brief.Section {
	if len(digests) == 0 {
		return nil
	}
	last := lastWork(digests)
	limits := atStart[detail]
	now, waits := stands(digests[last], limits), open(digests[:min(last+openBack, len(digests))], last, limits)
	return []brief.Section{
		{Title: "Where things stand", Items: now, MaxUnits: capStatus + detail*capMore},
		{Title: "Open", Items: waits, MaxUnits: capOpen},
		{Title: "Fails here", Items: failsHere(digests), MaxUnits: capFails},
		{Title: wantsTitle, Items: wants(digests, slices.Concat(now, waits)), MaxUnits: capWants, Rank: 1},
		{Title: "Sessions before", Items: before(digests, last, limits.before), MaxUnits: capBefore + detail*capMore, Rank: 1},
		{Title: "Edited files", Items: workingSet(digests), MaxUnits: capFiles},
		{Title: "Commands and their last results", Items: commandItems(digests), MaxUnits: capCommands},
	}
}

// lastWork returns the newest session that did something.
func lastWork(digests []Digest) int {
	return max(0, slices.IndexFunc(digests, func(d Digest) bool { return slices.ContainsFunc(d.Turns, Turn.did) }))
}

// statusLimits are the limits of the status of a session: numbers of exchanges and todos, and bytes of the outcome of the last
// exchange, of those before, and of the sessions before.
type statusLimits struct {
	requests, todos, outcome, ending, before int
}

// MostDetail is the highest level of detail of [Start].
const MostDetail = 2

var (
	atStart = [MostDetail + 1]statusLimits{
		{3, 3, 270, 140, 150},
		{3, 3, 340, 220, 180},
		{3, 3, 400, 300, 220},
	}
	atCompact = statusLimits{5, 10, 270, 140, 150}
)

// stands returns the last exchanges of a session that did something, the newest first: each with its request and its
// outcome.
func stands(d Digest, limits statusLimits) (out []brief.Item) {
	list := recent(d.Turns, limits.requests)
	if n := len(d.Turns); len(list) == 0 && n > 0 && (d.Turns[n-1].Script || !greeting().MatchString(d.Turns[n-1].Asked.Text)) {
		list = d.Turns[n-1:]
	}
	for i, t := range list {
		lead, request, outcome := t.verb()+" last: ", showRequest, limits.outcome
		if i > 0 {
			lead, request, outcome = t.verb()+" before: ", showEarlier, limits.ending
			if between := list[i-1].Seq - t.Seq - 1; between > 0 {
				lead = t.verb() + " before (" + times(between, "request") + " between): "
			}
		}
		out = append(out, brief.Item{Text: strings.ToUpper(lead[:1]) + lead[1:] + t.request(request), Source: citing(d.Session, t.Asked.source()),
			Trust: t.by(), By: t.author(), Time: d.Last, Keys: []string{t.key(d.Session)}, Why: "an exchange that did something"})
		for _, w := range t.Then {
			out = append(out, brief.Item{Text: "Then " + w.text(showThen), Source: citing(d.Session, w.source()), Trust: brief.User, Time: d.Last,
				Child: true, Why: "a choice or a refusal"})
		}
		it := ending(d, t, outcome)
		it.Time, it.Child = d.Last, true
		out = append(out, it)
	}
	if name := branch(d.Branch); name != "" && name != "main" && name != "master" {
		out = append(out, brief.Item{Text: "[branch] " + name, Source: records.ShortID(d.Session), Trust: brief.Tool, Named: true,
			Time: d.Last, Why: "the branch at the end of the session"})
	}
	return out
}

// recent returns the last turns that did something, the newest first. If there are more than most, the last of them
// makes room for the turn with the most work, which tells what the session was about.
func recent(turns []Turn, most int) (out []Turn) {
	for i, t := range slices.Backward(turns) {
		if t.did() || t.Stopped > 0 || i == len(turns)-1 && t.waiting() {
			out = append(out, t)
		}
	}
	if len(out) <= most {
		return out
	}
	out = out[:most]
	if main := mainTurn(turns); main != nil && main.Asked.N < out[most-1].Asked.N {
		out[most-1] = *main
	}
	return out
}

// mainTurn returns the turn with an answer and the most work, of several the last, nil if there is none.
func mainTurn(turns []Turn) (main *Turn) {
	for i := range turns {
		if t := &turns[i]; t.did() && t.answered() && t.Stopped == 0 && (main == nil || t.Did >= main.Did) {
			main = t
		}
	}
	return main
}

// waiting reports whether the user asked something and got no answer.
func (t Turn) waiting() bool {
	return t.Answered.N == 0 && !t.Script && !greeting().MatchString(t.Asked.Text)
}

// greeting matches a request that asks for nothing: greetings, thanks and praise.
var greeting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*((hi|hello|hey|yo|hallo|there|again|claude|good|morning|evening|night|thanks?|thx|ty|you|so|very|much|` +
		`a|lot|ok|okay|great|perfect|nice|cool|awesome|lgtm|well|done|job|bye|test)\b\W*)*$`)
})

// author returns the author of the request if it is not the user, in the words of [transcript.Author].
func (t Turn) author() string {
	switch {
	case t.Plan != "":
		return transcript.ByPlan
	case t.Script:
		return transcript.ByScript
	}
	return ""
}

// by returns the trust of the request: a plan is the model's.
func (t Turn) by() brief.Trust {
	if t.Plan != "" || t.Script {
		return brief.Assistant
	}
	return brief.User
}

// key is the key of a turn that must not be delivered twice.
func (t Turn) key(session string) string { return fmt.Sprintf("%s#%d", session, t.Asked.N) }

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
				say(rejected, brief.Assistant, day(d)+t.verb()+" "+t.request(showEarlier)+"; the user rejected the plan "+
					plan(d.Open[p].Text, showEarlier)+reasonOf(d, rejected)+" and interrupted", "the model did not go on")
			} else {
				say(t.Stopped, brief.User, day(d)+"interrupted by the user: "+t.request(showEarlier), "the model did not go on")
			}
			out[len(out)-1].Keys = []string{t.key(d.Session)}
		} else if k >= 0 && d.Turns[k].Asks != "" && d.Turns[k].Stopped == 0 && (i == 0 || i > shown && i <= shown+maxBefore && !settled(d.Turns[k].Asks, digests[:i])) {
			text := "Asked the user and got no answer: "
			if i > 0 {
				text = day(d) + "asked the user and got no answer: "
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

// maxFails is the number of commands that are listed as failing. One that did not fail in the newForm newest sessions is
// listed only if it failed in more than half of those since it failed first.
const (
	maxFails = 4
	newForm  = 3
)

// A failing is a form that failed in earlier sessions and has not worked since.
type failing struct {
	Form
	session  string // the newest
	sessions int
	newest   int // how many sessions ago, 0 for the newest
	oldest   int
}

// failingForms returns the forms that failed and have not worked since, those of most sessions first.
func failingForms(digests []Digest) []failing {
	at := map[string]int{}
	worked := map[string]bool{}
	var out []failing
	for i, d := range digests[:min(len(digests), ageSessions)] {
		for _, f := range d.Broken {
			k, known := at[f.Key]
			switch {
			case known:
				out[k].sessions++
				out[k].oldest = i
				if out[k].Fix == "" {
					out[k].Fix = f.Fix
				}
				continue
			case worked[f.Key] || slices.ContainsFunc(digests[:i], func(later Digest) bool {
				_, is := slices.BinarySearch(later.Worked, hashKey(f.Key))
				return is
			}):
				worked[f.Key] = true
				continue
			}
			at[f.Key] = len(out)
			out = append(out, failing{f, d.Session, 1, i, i})
		}
	}
	slices.SortStableFunc(out, func(a, b failing) int {
		return cmp.Or(cmp.Compare(b.sessions, a.sessions), cmp.Compare(a.newest, b.newest))
	})
	return out
}

// text tells a form that fails.
func (f failing) text() string {
	text := fmt.Sprintf("`%s`: %s", f.Line, f.Why)
	if f.sessions > 1 {
		text += fmt.Sprintf(", in %d sessions", f.sessions)
	}
	if f.Fix != "" {
		text += fmt.Sprintf("; `%s` worked", f.Fix)
	}
	return text
}

func failsHere(digests []Digest) (out []brief.Item) {
	for _, f := range failingForms(digests) {
		if len(out) == maxFails {
			break
		}
		if f.newest >= newForm && 2*f.sessions <= f.oldest {
			continue
		}
		out = append(out, brief.Item{Text: f.text(), Source: citing(f.session, f.N), Trust: brief.Tool, Named: true,
			About: "fails: " + f.Key, Why: "failed for a reason of its form and was not seen to work since"})
	}
	return out
}

// maxWantsShown is the number of wants of the user that are listed.
const maxWantsShown = 5

// wantItems returns all that the user corrected, chose, refused and asked for from then on, the newest first.
func wantItems(digests []Digest) (out []brief.Item) {
	for _, d := range digests[:min(len(digests), ageSessions)] {
		list := slices.Clone(d.Wants)
		for _, s := range d.Lasting {
			list = append(list, Want{Said: s})
		}
		slices.SortStableFunc(list, func(a, b Want) int { return b.N - a.N })
		for _, w := range list[:min(len(list), maxActions-len(out))] {
			out = append(out, brief.Item{Text: w.text(showWant), Source: citing(d.Session, w.source()),
				Trust: brief.User, Time: d.Last, Why: "a correction, a choice or a refusal"})
		}
	}
	return out
}

// wants lists what the user said of how to work, the newest first, without what is shown already. What he asked, chose and
// corrected is done, or stands where its session stands.
func wants(digests []Digest, shown []brief.Item) (out []brief.Item) {
	for _, d := range digests[:min(len(digests), ageSessions)] {
		for _, w := range slices.Backward(d.Lasting) {
			if len(out) < maxWantsShown && !slices.ContainsFunc(shown, func(it brief.Item) bool { return strings.Contains(it.Text, w.Text) }) {
				out = append(out, brief.Item{Text: quoted(w.Text, showWant), Source: citing(d.Session, w.source()), Trust: brief.User,
					Time: d.Last, Why: "the user says for which cases it holds"})
			}
		}
	}
	return out
}

// text returns what the user did and said.
func (w Want) text(most int) string {
	switch {
	case w.To != "":
		return w.Lead + " " + quoted(w.Text, most) + " to " + quoted(w.To, most)
	case w.Lead != "":
		return w.Lead + ": " + quoted(w.Text, most)
	}
	return quoted(w.Text, most)
}

// maxBefore is the number of earlier sessions that are listed.
const maxBefore = 3

// before lists the sessions before the newest that did something, each with what it was about and how it ended. Only the
// last exchange tells that: a later one may have changed what an earlier one came to.
func before(digests []Digest, last, size int) (out []brief.Item) {
	for _, d := range digests[min(last+1, len(digests)):] {
		if about := mainTurn(d.Turns); about != nil && len(out) < maxBefore {
			it := sessionBefore(d, *about, digests[last].Branch, 2, size)
			for most := 1; most >= 0 && brief.Units(it.Text) > brief.MaxText; most-- {
				it = sessionBefore(d, *about, digests[last].Branch, most, showEarlier)
			}
			out = append(out, it)
		}
	}
	return out
}

// sessionBefore tells of a session whose main turn is about, with the last choices of the user in dialogs, most of them, and at
// most size bytes of its ending. The branch is named unless it is now.
func sessionBefore(d Digest, about Turn, now string, most, size int) brief.Item {
	acted := recent(d.Turns, len(d.Turns))
	commit := ""
	if t := acted[0]; len(acted) > 1 && t.Stopped == 0 && t.Working == 0 && housekeeping().MatchString(t.Asked.Text) {
		acted, commit = acted[1:], "; last "+t.verb()+" "+t.request(showLittle) // it changed nothing
		if d.Committed > t.Asked.N {
			commit = "; then committed, as asked"
		}
	}
	last, plan := acted[0], d.Turns[0]
	when := day(d)
	if name := branch(d.Branch); name != "" && d.Branch != now && when != "" {
		when = strings.TrimSuffix(when, ": ") + " [branch " + name + "]: "
	}
	text, end := about.verb()+" "+about.request(showEarlier), ending(d, last, size)
	if plan.Plan != "" && plan.Asked.N != about.Asked.N {
		text = "asked " + plan.request(showEarlier) + "; " + about.then(showEarlier)
	}
	for _, w := range chosen(d, most) {
		if w.N < about.Asked.N {
			when += w.text(showLittle) + "; "
		} else {
			text += "; " + w.text(showLittle)
		}
	}
	text = when + text
	later := last.Asked.N != about.Asked.N && last.request(maxAsked) != about.request(maxAsked)
	switch {
	case last.Stopped > 0: // it is among what is open
		text += "; a later request was interrupted by the user"
	case later:
		text += "; last " + last.verb() + " " + last.request(showLittle) + "; " + asClause(end.Text) + commit
	default:
		text += "; " + asClause(end.Text) + commit
	}
	if d.Uncommitted != "" {
		text += "; " + d.Uncommitted
	}
	return brief.Item{Text: text, Source: end.Source, Trust: end.Trust, Time: d.Last, Why: "a session before, with its last outcome"}
}

// chosen returns the last answers of the user in dialogs of a session.
func chosen(d Digest, most int) (out []Want) {
	for _, w := range slices.Backward(d.Wants) {
		if w.To != "" && len(out) < most {
			out = append(out, w)
		}
	}
	slices.Reverse(out)
	return out
}

// asClause returns how a turn ended as the end of a sentence.
func asClause(how string) string {
	how = strings.TrimSuffix(how, ".")
	if outcome, is := strings.CutPrefix(how, outcomeLead); is {
		return "ended with " + outcome
	}
	return strings.ToLower(how[:1]) + how[1:]
}

// day returns the day on which a session ended, to stand before a text.
func day(d Digest) string {
	if d.Last.IsZero() {
		return ""
	}
	return d.Last.UTC().Format("2006-01-02") + ": "
}

// answered reports whether the model answered a turn.
func (t Turn) answered() bool { return t.Answered.Text != "" || t.Settled != "" }

// Compaction returns what a compaction of the session loses: requests, todos, files, commands and failures.
func Compaction(d Digest) []brief.Section {
	one := []Digest{d}
	now, waits := stands(d, atCompact), open(one, 0, atCompact)
	return []brief.Section{
		{Title: "Where this session stands", Items: now},
		{Title: "Open", Items: waits},
		{Title: wantsTitle, Items: wants(one, slices.Concat(now, waits))},
		{Title: "Edited files", Items: workingSet(one)},
		{Title: "Commands and their last results", Items: commandItems(one), Rank: 1},
	}
}

// tag matches the tags of a marker with the blanks after them.
var tag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)##(keepit[0-9. ]*|/keepit)##\s*`)
})

// quoted returns a cut text in quotes, without the tags of markers: the pinned text is listed with its weight.
func quoted(s string, most int) string {
	if strings.Contains(s, "##") {
		s = tag().ReplaceAllString(s, "")
	}
	return fmt.Sprintf("“%s”", Cut(s, most))
}

// request returns the cut request of a turn in quotes; of a plan its heading, because plan mode writes the same words
// before each plan.
func (t Turn) request(most int) string {
	if t.Script {
		return "(a headless run)" // what a script sent is not quoted
	}
	if t.Plan != "" {
		return "to implement the plan " + plan(t.Plan, most)
	}
	if t.To != "" {
		return quoted(t.Asked.Text, most) + " to " + quoted(t.To, max(most, maxTo))
	}
	return "“" + cutAt(tag().ReplaceAllString(t.Asked.Text, ""), most, most*2/3) + "”" // what is asked often stands last
}

// then returns the request as one after another.
func (t Turn) then(most int) string {
	if t.To != "" {
		return "then answered " + t.request(most)
	}
	return "then " + t.request(most)
}

// verb says what the user did with a request.
func (t Turn) verb() string {
	if t.To != "" {
		return "answered"
	}
	return "asked"
}

// plan returns the cut heading of a plan in quotes.
func plan(heading string, most int) string {
	if rest, is := strings.CutPrefix(heading, "Plan"); is {
		heading = strings.TrimLeft(rest, " :-–—")
	}
	return quoted(heading, most)
}

// outcomeLead is before the outcome of a turn.
const outcomeLead = "Outcome: "

// ending returns how a turn ended, at most so long. Only the last one of a session can have ended during the work.
func ending(d Digest, t Turn, most int) brief.Item {
	it := brief.Item{Text: outcomeLead + outcome(t.Answered.Text, most), Trust: brief.Assistant,
		Source: citing(d.Session, t.Answered.N), Why: "the model's own last words"}
	switch {
	case t.Stopped > 0:
		it.Text, it.Source = "Interrupted by the user.", citing(d.Session, t.Stopped)
		it.Trust, it.Why = brief.User, "the model did not go on"
	case t.Answered.Text == "" && t.Settled != "":
		it.Text, it.Why = outcomeLead+t.Settled+".", "a fact tells it"
	case t.Answered.Text == "" && t.Answered.N > 0:
		it.Text, it.Why = "Ended with a text that a tool had printed.", "the model only repeated the output of a tool"
	case t.Answered.Text == "":
		it.Text, it.Source = "Ended before an answer.", citing(d.Session, max(t.Asked.N, t.Working))
		it.Why = "the model wrote no text after the request"
	case t.Working > 0 && t.Seq < d.Turns[len(d.Turns)-1].Seq:
		if it.Text = "No answer before the next request"; announces(t.Answered.Text) {
			it.Text += "."
		} else {
			it.Text += "; the last words were: " + outcome(t.Answered.Text, most)
		}
		it.Why = "the user wrote while the model worked"
	case t.Working > 0:
		it.Text = "Ended during the work, after: " + outcome(t.Answered.Text, most)
		it.Why = "the model's last words, before its last tool call"
	case announces(t.Answered.Text) && !strings.Contains(t.Answered.Text, missing) && !strings.Contains(t.Answered.Text, "```"):
		it.Text = "No answer; the last words were: " + outcome(t.Answered.Text, most)
		it.Why = "the model only said what it would do"
	}
	return it
}

// leastEdited is the number of edited files below which files that were only read are listed, too.
const leastEdited = 4

// workingSet lists the files that rank first, grouped by session, the newest first, each group with its day and its last
// touch. Of the other files of a session it tells the number, also of those that stand with another session.
func workingSet(digests []Digest) (out []brief.Item) {
	ranked := Files(digests)
	edited := slices.DeleteFunc(slices.Clone(ranked), func(r Ranked) bool { return r.Edits == 0 })
	if len(edited) >= leastEdited {
		ranked = edited
	}
	ranked = ranked[:min(maxSet, len(ranked))]
	for _, d := range digests {
		for _, verb := range []string{"", "only read "} {
			it, last := brief.Item{Trust: brief.Assistant, Time: d.Last, Named: true, Verbatim: true, Short: true}, 0
			for _, r := range ranked {
				if r.Session != d.Session || r.Edits > 0 != (verb == "") {
					continue
				}
				it.Keys, last = append(it.Keys, r.Path), max(last, r.N)
				it.Why += fmt.Sprintf("%s: %s, %s, %s; ", r.Path, times(r.Edits, "edit"), times(r.Reads, "read"), times(r.Sessions, "session"))
			}
			if len(it.Keys) == 0 {
				continue
			}
			more := -len(it.Keys)
			for _, f := range d.Files {
				if f.Edits > 0 == (verb == "") {
					more++
				}
			}
			it.Source = citing(d.Session, last)
			if it.Text = day(d) + verb + strings.Join(it.Keys, ", "); more > 0 {
				it.Text += fmt.Sprintf(" and %d more", more)
			}
			out = append(out, it)
		}
	}
	return out
}

func times(n int, what string) string { return records.Numbered(n, what, what+"s") }

// A Run is a command with its history over all sessions.
type Run struct {
	Command
	Session string
	Back    int // sessions ago
	Score   float64
	Total   int
}

// Weights of commands.
const (
	fadeCommand = 0.7
	manyRuns    = 3   // more runs in a session do not count
	buildBonus  = 1.5 // of a command that builds, tests or checks
)

// Commands ranks the commands of all sessions, each with its newest run: an older verdict says nothing of it.
func Commands(digests []Digest) []Run {
	at := map[string]int{}
	var out []Run
	for back, d := range digests[:min(ageSessions, len(digests))] {
		fade := math.Pow(fadeCommand, float64(back))
		for _, c := range d.Commands {
			if since := c.passedSince(digests[:back]); since != "" {
				c.clear(since)
			}
			i, known := at[c.Name+"\n"+c.Part]
			if !known {
				i = len(out)
				at[c.Name+"\n"+c.Part] = i
				out = append(out, Run{Command: c, Session: d.Session, Back: back})
			}
			r := &out[i]
			r.Task = cmp.Or(r.Task, c.Task)
			r.Total += c.Runs
			w := fade * float64(min(c.Runs, manyRuns))
			if shell.IsTester(c.Name) {
				w *= buildBonus
			}
			r.Score += w
		}
	}
	slices.SortStableFunc(out, func(a, b Run) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// commandItems lists the commands that rank first, before those of which the end is unknown. Of one that checks nothing
// that says nothing, and so does a part that passed of a command that is listed.
func commandItems(digests []Digest) (out []brief.Item) {
	all := Commands(digests)
	whole := map[string]bool{}
	for _, r := range all {
		whole[r.Name] = whole[r.Name] || r.Part == ""
	}
	all = slices.DeleteFunc(all, func(r Run) bool {
		return prepares(r.Name+" "+r.Args) || r.Part != "" && !r.broken() && whole[r.Name] ||
			r.End == Unknown && r.Task == "" && !shell.IsTester(r.Name)
	})
	slices.SortStableFunc(all, func(a, b Run) int { return urgency(a) - urgency(b) })
	for _, r := range all[:min(maxRun, len(all))] {
		text := r.Name
		if with := cmp.Or(r.Part, r.Args); with != "" {
			text += " " + with
		}
		if r.Task != "" && r.Task != shell.Several {
			text += " = " + r.Task
		}
		out = append(out, brief.Item{Text: text + result(r.Command), Source: citing(r.Session, r.N), Trust: brief.Assistant,
			Short: true, About: "runs: " + r.Name, Why: times(r.Total, "run")})
	}
	return out
}

// prepares reports whether a command prepares or looks at something and checks nothing.
func prepares(line string) bool {
	return preparing().MatchString(line) && !shell.IsTester(line)
}

var preparing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(go tool|go get|go mod download|cache|codegen|migrate|deps)\b`)
})

// urgency sorts what still fails before the rest, and last what has no verdict.
func urgency(r Run) int {
	switch {
	case r.broken() && r.Back < failedBack:
		return 0
	case r.End == Unknown:
		return 2
	}
	return 1
}

// broken reports whether a check failed, and nothing says that it passes since.
func (c Command) broken() bool { return c.End == Broke && shell.IsTester(c.Name) }

// passedSince returns what says in later sessions, the newest first, that a check that failed passes.
func (c Command) passedSince(later []Digest) string {
	if c.End != Broke {
		return ""
	}
	dir, own := dirOf(c.Name)
	for _, d := range slices.Backward(later) {
		for _, o := range d.Commands {
			if of, other := dirOf(o.Name); o.End == Passed && o.Later == "" && of == dir && (o.checksAll(other, own) || o.repeats(c)) {
				return o.shown(other) + " passed since"
			}
		}
		if c.saidToPass(d.Passes) {
			return saidSince
		}
	}
	return ""
}

// result returns the outcome of a command as text.
func result(c Command) string {
	switch c.End {
	case Passed:
		return ": " + cmp.Or(c.Later, "passed")
	case Unknown:
		return ": no result seen"
	}
	text := ": failed"
	if c.Exit != 0 {
		text += fmt.Sprintf(", exit %d", c.Exit)
	}
	switch more := c.Tests - len(c.Failed); {
	case len(c.Failed) > 0 && more > 0:
		text += fmt.Sprintf(" (%s and %d more)", strings.Join(c.Failed, ", "), more)
	case len(c.Failed) > 0:
		text += " (" + strings.Join(c.Failed, ", ") + ")"
	case c.Tests > 0:
		text += " (" + times(c.Tests, "test") + ")"
	}
	if c.Later != "" {
		text += "; later " + c.Later
	}
	return text
}

// Rebase returns the digest with file names relative to a directory above or below that of the session. For any other
// directory, such as another worktree, the names stay.
func (d Digest) Rebase(dir string) Digest {
	from, to := path.Clean(slashed(d.Dir)), path.Clean(slashed(dir))
	if d.Dir == "" || dir == "" || from == to {
		return d
	}
	below, isBelow := strings.CutPrefix(from, to+"/")
	above, isAbove := strings.CutPrefix(to, from+"/")
	if !isBelow && !isAbove || strings.Contains(below, "worktrees/") {
		return d
	}
	var files []File
	for _, f := range d.Files {
		if isBelow {
			f.Path = below + "/" + f.Path
		} else if rest, ok := strings.CutPrefix(f.Path, above+"/"); ok {
			f.Path = rest
		} else {
			continue // outside the directory
		}
		files = append(files, f)
	}
	d.Files = files
	d.Commands = slices.Clone(d.Commands)
	for i := range d.Commands {
		if isBelow {
			dir, command := dirOf(d.Commands[i].Name)
			d.Commands[i].Name = in(path.Join(below, dir), command)
		} else {
			d.Commands[i].Name = under(above, d.Commands[i].Name)
		}
	}
	return d
}
