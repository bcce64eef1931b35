package handover

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
)

// maxBefore is the number of earlier sessions that are listed.
const maxBefore = 3

// before lists the sessions before the newest that did something, each with what it was about and how it ended. Only the
// last exchange tells that: a later one may have changed what an earlier one came to. Its branches are no sessions before.
func before(digests []Digest, last, size int) (out []brief.Item) {
	for _, d := range digests[min(last+1, len(digests)):] {
		if about := mainTurn(d.Turns); about != nil && len(out) < maxBefore && !d.branchOf(digests[last]) {
			out = append(out, inOneLine("", d, *about, digests[last].Branch, size))
		}
	}
	return out
}

// branches tells how the session shown went on elsewhere, if it did: on another device, or in a fork.
func branches(digests []Digest, shown, size int) (out []brief.Item) {
	for _, d := range digests {
		acted := recent(d.Turns, 1)
		if len(acted) == 0 || len(out) == maxBranches || !d.branchOf(digests[shown]) {
			continue
		}
		it := inOneLine("This session also went on elsewhere, ", d, *cmp.Or(mainTurn(d.Turns), &acted[0]), digests[shown].Branch, size)
		it.Why = "another branch of the session, with its last outcome"
		out = append(out, it)
	}
	return out
}

// maxBranches is the number of branches that are listed.
const maxBranches = 2

// branchOf reports whether another session has the same beginning: it went on on another device, or one is a fork of the other.
func (d Digest) branchOf(o Digest) bool {
	file, _ := records.CutDevice(d.Session)
	other, _ := records.CutDevice(o.Session)
	return d.Session != o.Session && (file == other || d.Fork != "" && (d.Fork == other || d.Fork == o.Fork) || o.Fork != "" && o.Fork == file)
}

// inOneLine is [sessionBefore] after a lead, with as much as fits a line.
func inOneLine(lead string, d Digest, about Turn, now string, size int) brief.Item {
	it := sessionBefore(d, about, now, 2, size)
	for most := 1; most >= 0 && brief.Units(lead+it.Text) > brief.MaxText; most-- {
		it = sessionBefore(d, about, now, most, showEarlier)
	}
	it.Text = lead + it.Text
	return it
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
	when := d.day(max(last.Asked.N, last.Answered.N, last.Working))
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
	case last.Stopped > 0 && last.Asked.N != about.Asked.N: // it is among what is open
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

// day returns the day of message n, to stand before a text. It is not after the session's end, which no clock that is ahead moves.
func (d Digest) day(n int) string {
	if d.Last.IsZero() {
		return ""
	}
	end := d.Last.UTC().Format(time.DateOnly)
	for _, day := range slices.Backward(d.Days) {
		if day.N <= n {
			return min(day.Date, end) + ": "
		}
	}
	return end + ": "
}
