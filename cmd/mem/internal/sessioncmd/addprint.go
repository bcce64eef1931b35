package sessioncmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// printAdded prints the captured sessions, the errors of others, and those of files that are no sessions.
func printAdded(e *app.Env, op string, added []capture.Added, failed, ignored []error) error {
	if e.Opt.JSON {
		return e.PrintJSON(op, nil, "dryRun", e.Opt.DryRun, "added", app.Each(added, addedObject),
			"errors", app.Each(failed, error.Error), "ignored,omitempty", app.Each(ignored, error.Error))
	}
	many := len(added) > 20 && !e.Opt.Verbose
	for _, a := range added {
		if same := a.Change == "unchanged" || a.Change == "forgotten"; !many && (!same || a.Shown || len(added) == 1) {
			printAddedSession(e, a)
		}
	}
	if many {
		printAddedProjects(e, op, added)
	}
	if len(added) != 1 || len(failed) > 0 {
		printAddedTotal(e, op, added, len(failed), len(ignored), many)
	}
	printErrors(e, e.StderrStyle().Red("error:"), failed)
	if !e.Opt.Quiet {
		printErrors(e, "ignored:", ignored)
	}
	return nil
}

// printErrors prints the first errors, with -v all of them, each after a word.
func printErrors(e *app.Env, word string, list []error) {
	for i, err := range list {
		if i == maxFailures && !e.Opt.Verbose {
			e.Message("%s %d more (-v lists all)", word, len(list)-i)
			break
		}
		e.Message("%s %v", word, err)
	}
}

// maxFailures is the number of failed sessions that are listed without -v.
const maxFailures = 20

// addedObject returns the JSON form of a session that was added. Its tokens are null if they have not been counted.
func addedObject(a capture.Added) app.Object {
	now, tokens := a.Now, &a.Tokens
	if !a.Counted {
		tokens = nil
	}
	return app.Object{"sessionId", a.Session, "otherFileOf,omitempty", a.OtherOf, "change", a.Change, "project", a.Project.Name,
		"title", now.Scan.Title, "messages", now.Scan.Messages, "values", now.Scan.Values, "opaque", now.Scan.Opaque,
		"markers", newMarkers(a), "bytes", now.Size + a.Tail, "newBytes", a.NewBytes, "tailBytes", a.Tail, "files", a.Files,
		"tokens", tokens, "original", now.Original.String(), "storedBytes", a.Stored, "commit", a.Commit, "tooLong", a.Long,
		"rewound", a.Rewound, "leftOut,omitempty", a.LeftOut, "hidden,omitempty", a.Hidden, "shown,omitempty", a.Shown}
}

// newMarkers counts the markers in the added part.
func newMarkers(a capture.Added) int {
	if a.Change == "unchanged" {
		return 0
	}
	return len(a.Now.Markers)
}

// printAddedSession prints one session for people.
func printAddedSession(e *app.Env, a capture.Added) {
	id := term.ShortID(a.Session)
	switch {
	case a.Hidden:
		e.Note("%s is hidden, and stays so", id)
		e.Hint("to show it again: %s", term.Shell("mem", "add", id))
		return
	case a.Change == "unchanged" && !a.Shown:
		e.Note("%s is unchanged", id)
		return
	case a.Shown && e.Opt.DryRun:
		e.Note("%s is hidden: it would be shown again", id)
	case a.Shown:
		e.Note("%s was hidden: it is shown again", id)
	}
	if a.Change == "unchanged" {
		return
	}
	if a.Change == "forgotten" {
		e.Note("%s was forgotten: it is not captured again", id)
		return
	}
	verb := e.Verb("", "would ") + map[string]string{"new": "add", "grown": "grow", "rewritten": "rewrite"}[a.Change]
	title := app.If(a.Now.Scan.Title != "", " "+term.Quoted(a.Now.Scan.Title))
	at := app.If(a.Commit != "", " "+a.Commit[:min(7, len(a.Commit))])
	e.Report("[%s%s] %s %s%s\n", term.SanitizeLine(a.Project.Name), at, verb, term.SanitizeLine(id), title)
	scan := a.Now.Scan
	line := fmt.Sprintf(" %s, %s tokens", term.Count(scan.Messages, "message"), tokensText(a.Tokens, a.Counted))
	if a.Change == "grown" {
		line = fmt.Sprintf(" +%s, %s in all", a.Growth(), term.Count(scan.Messages, "message"))
	}
	if !scan.First.IsZero() {
		line += ", " + e.SpanText(scan.First, scan.Last)
	}
	if scan.Branch != "" {
		line += ", branch " + scan.Branch
	}
	if a.Rewound > 0 {
		line += ", " + term.Count(a.Rewound, "turn") + " rewound"
	}
	e.Report("%s\n", term.SanitizeLine(line))
	e.Report(" %s of transcript%s\n", app.BytesText(a.Now.Size+a.Tail), storedText(a.Stored))
	if a.OtherOf != "" {
		e.Report(" not %s: its file %s has other turns\n", term.ShortID(a.OtherOf), e.Safe(a.Path))
	}
	if n := len(a.Now.Markers); n > 0 {
		e.Report(" %d new pinned text%s: %s\n", n, term.Plural(n), weights(a.Now.Markers))
	}
	if a.LeftOut > 0 {
		e.Report(" left out: %s\n", leftOut(a.LeftOut))
	}
	warnAdded(e, a)
}

// leftOut describes lines of a file that were forgotten before, here or on another device.
func leftOut(n int) string {
	return term.Count(n, "line") + " forgotten before, here or on another device"
}

// warnAdded warns of problems in an added session.
func warnAdded(e *app.Env, a capture.Added) {
	id, scan := term.ShortID(a.Session), a.Now.Scan
	if n := len(a.Malformed); n > 0 {
		more := app.If(n > 1, fmt.Sprintf(" and %d more", n-1))
		e.Warn("%s in #%d of %s%s is not a keepit marker: two decimals are required, such as ##keepit0.80##",
			term.Quoted(a.Malformed[0].Tag), a.Malformed[0].Message, id, more)
	}
	if scan.Opaque > 0 {
		e.Warn("%d of %d lines of %s are not JSON; they are stored unchanged", scan.Opaque, scan.Values, id)
	}
	if a.Long > 0 {
		e.Warn("%s of %s: %s", term.Count(a.Long, "new line"), id, tooLong)
	}
	if a.Tail > 0 {
		e.Detail("%d bytes at the end are an incomplete line; they are stored too", a.Tail)
	}
	if a.Change == "rewritten" {
		e.Warn("%s was rewritten before its old end; both are kept", id)
		e.Hint("%s", term.Shell("mem", "show", id)+" prints the names of its earlier states")
	}
}

// tooLong describes the treatment of lines longer than [transcript.Longest].
const tooLong = "over 16 MiB long, stored unchanged, but not part of versions, L1 and counts"

// storedText returns the size of the new data in the store.
func storedText(n int64) string { return app.If(n > 0, ", "+app.BytesText(n)+" stored") }

// weights returns the numbers of markers by weight, the heaviest first.
func weights(marks []records.Mark) string {
	var parts []string
	for w := 100; w >= 0; w-- {
		n := 0
		for _, k := range marks {
			if int(k.Weight) == w {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d.%02d", n, w/100, w%100))
		}
	}
	return strings.Join(parts, ", ")
}

// printAddedProjects prints many sessions for people, a line for each project.
func printAddedProjects(e *app.Env, op string, added []capture.Added) {
	type sum struct {
		fresh, grown, subagents int
		bytes                   int64
		marks                   int
	}
	var order []state.Project
	sums := map[refs.Project]*sum{}
	for _, a := range added {
		if a.Change == "unchanged" || a.Change == "forgotten" {
			continue
		}
		s := sums[a.Project.ID]
		if s == nil {
			s = &sum{}
			sums[a.Project.ID] = s
			order = append(order, a.Project)
		}
		switch {
		case a.Change != "new":
			s.grown++
		case ofSubagent(a):
			s.subagents++
		default:
			s.fresh++
		}
		s.bytes += a.NewBytes
		s.marks += newMarkers(a)
	}
	verb := e.Verb(op, "would "+op)
	for _, p := range order {
		s := sums[p.ID]
		var what []string
		for _, part := range []struct {
			n    int
			what string
		}{{s.fresh, "new session"}, {s.subagents, "new subagent"}, {s.grown, "changed session"},
			{s.marks, "new pinned text"}} {
			if part.n > 0 {
				what = append(what, term.Count(part.n, part.what))
			}
		}
		e.Report("[%s] %s %s, %s\n", term.SanitizeLine(app.DistinctName(p, order)), verb, strings.Join(what, ", "),
			app.BytesText(s.bytes))
	}
}

// ofSubagent reports whether a session is that of a subagent.
func ofSubagent(a capture.Added) bool { return cmp.Or(a.Now.Parent, a.Now.Scan.Parent()) != "" }

// printAddedTotal prints the totals of all sessions for people; of many, also how much could not be read. Claude Code does
// not list sessions without a message.
func printAddedTotal(e *app.Env, op string, added []capture.Added, failed, ignored int, many bool) {
	var bytes, stored int64
	opaque, long, unchanged, hidden, forgotten, subagents, same, empty, left := 0, 0, 0, 0, 0, 0, 0, 0, 0
	for _, a := range added {
		bytes += a.NewBytes
		stored += a.Stored
		opaque += a.Now.Scan.Opaque
		long += a.Long
		left += a.LeftOut
		switch {
		case a.Hidden:
			hidden++
			continue
		case a.Change == "forgotten":
			forgotten++
			continue
		case a.Change == "unchanged" && ofSubagent(a):
			same++
		case a.Change == "unchanged":
			unchanged++
		case ofSubagent(a):
			subagents++
		}
		if a.Now.Scan.Messages == 0 {
			empty++
		}
	}
	verb := e.Verb(op, "would "+op)
	if len(added)+failed == 0 {
		e.Note("nothing to %s", op)
		return
	}
	changed, also := len(added)-unchanged-same-hidden-forgotten-subagents, app.If(same > 0, fmt.Sprintf(" and %d of subagents", same))
	also += " unchanged"
	for _, part := range []struct {
		n    int
		what string
	}{{empty, "without a message"}, {hidden, "hidden"}, {forgotten, "forgotten"}, {ignored, "ignored"}, {failed, "failed"}} {
		if part.n > 0 {
			also += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	e.Report("%s: %s new or changed, %d%s, %s%s\n", verb, term.Sessions(changed, subagents), unchanged, also,
		app.BytesText(bytes), storedText(stored))
	if opaque > 0 && many {
		e.Warn("not JSON, stored as is: %s (-v prints where)", term.Count(opaque, "line"))
	}
	if left > 0 && many {
		e.Note("left out: %s (-v prints of which sessions)", leftOut(left))
	}
	if long > 0 && many {
		e.Warn("%s: %s (-v prints where)", term.Count(long, "new line"), tooLong)
	}
}
