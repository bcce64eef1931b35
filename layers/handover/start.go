package handover

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
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

// Start returns what a new session is told of earlier ones. Digests are sorted, the newest first. Detail is how much it is told of
// how exchanges ended: from 0 up to [MostDetail].
func Start(digests []Digest, detail int) []brief.Section {
	if len(digests) == 0 {
		return nil
	}
	last := lastWork(digests)
	limits := atStart[detail]
	now := slices.Concat(stands(digests[last], limits), branches(digests, last, limits.before))
	waits := open(digests[:min(last+openBack, len(digests))], last, limits)
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
