package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/tokens"
)

// LeftAt says how a session left the work, and of which messages that is, in their order: the last commit, what changed after it,
// the last check, what was created, and what was asked and not answered. It is "" if there is none of that.
func LeftAt(xs []Exchange) (text string, src [][2]int) {
	if len(xs) == 0 {
		return "", nil
	}
	e := EndingOf(xs)
	var parts []string
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
			text += ` "` + tokens.Clip(subject, 80) + `"`
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
		const most = 5
		files, text := e.Uncommitted(), "changed, and no commit seen: "
		switch {
		case len(files) == 0: // somebody says so, or it may be: nothing is known of these files
			files, text = e.Changed, "last changed: "
		case e.Commits > 0:
			text = "changed after the commit: "
		}
		named := slices.Clone(files) // those with the most changed lines, of which the last
		slices.SortStableFunc(named, func(a, b File) int { return cmp.Or(b.Added+b.Removed-a.Added-a.Removed, b.Last-a.Last) })
		if len(named) > most+1 { // one more is named as well
			named = named[:most]
		}
		var names []string
		for _, f := range files {
			if slices.ContainsFunc(named, func(o File) bool { return o.Path == f.Path }) {
				names = append(names, f.Path)
			}
		}
		text += strings.Join(names, ", ")
		if more := len(files) - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text+at(Edited(files)))
	}
	if e.Check.N >= edited && e.Check.N > 0 { // an earlier one says nothing about the end
		text := "last check: " + tokens.Clip(shell.Short(e.Check.Cmd), 80) + " " + e.Check.Ended() + at(e.Check.N)
		switch {
		case Edited(e.Changed) > e.Check.N:
			text += ", before the last change"
		case e.Check.Verdict == Failed && e.Check.N < e.Commit.N: // a hook of git may have checked it again
			text += ", before the commit"
		}
		if e.Red.N >= edited && e.Red.N > 0 {
			text += ", but " + tokens.Clip(shell.Short(e.Red.Cmd), 80) + " failed before it" + at(e.Red.N) + " and nothing that covers it passed"
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
			text += tokens.Clip(m.Text, 100) + at(m.N)
		}
		if n > most {
			text += fmt.Sprintf(" and %d before", n-most)
		}
		parts = append(parts, text)
	}
	switch {
	case e.Asked.N > 0:
		parts = append(parts, `asked and not answered: "`+tokens.Clip(e.Asked.Text, 160)+`"`+at(e.Asked.N))
	case e.Planned.N > 0:
		text := "the last answer is a plan"
		if e.Refused {
			text += " that the user refused"
		}
		parts = append(parts, text+at(e.Planned.N))
	case e.Waiting:
		parts = append(parts, "the last request has no answer"+at(xs[len(xs)-1].From))
	}
	slices.SortFunc(src, func(a, b [2]int) int { return a[0] - b[0] })
	return strings.Join(parts, "; "), src
}

// Ended says how a command of an exchange ended, if that is known, and whether another one that does the same, and more, passed later.
func (x *Exchange) Ended(c Command) string {
	label := c.Ended()
	i := sort.Search(len(x.Failures), func(i int) bool { return x.Failures[i].N >= c.N })
	for i < len(x.Failures) && x.Failures[i].N == c.N && x.Failures[i].Of != c.Cmd {
		i++
	}
	if i == len(x.Failures) || x.Failures[i].N != c.N {
		return label
	}
	if label == "" {
		label = "failed" // as its output says
	}
	if x.Failures[i].Fixed == 0 || shell.IsMisuse(c.Cmd, x.Failures[i].Lines) {
		return label
	}
	const far = 100 // commands
	k := sort.Search(len(x.Commands), func(k int) bool { return x.Commands[k].N > c.N })
	other := false // another command passed, and this one is not run again
	for _, o := range x.Commands[k:min(k+far, len(x.Commands))] {
		if o.Ended() != "" && shell.Short(o.Cmd) == shell.Short(c.Cmd) {
			return label
		}
		other = other || o.N == x.Failures[i].Fixed
	}
	if other {
		label += ", then passed"
	}
	return label
}

// Then joins what became of the runs of a command: of many runs the first and the last count.
func Then(before, next string) string {
	const then = ", then "
	ways := strings.Split(strings.TrimPrefix(before+then+next, then), then)
	if n := len(ways); n > 3 {
		ways = []string{strings.TrimSuffix(ways[0], ", …") + ", …", ways[n-1]}
	}
	return strings.Join(ways, then)
}

// Ended says how a command ended, if that is known.
func (c Command) Ended() string {
	switch {
	case c.Exit != 0 && c.Commits:
		return "committed, exit " + strconv.Itoa(c.Exit)
	case c.Exit != 0:
		return "exit " + strconv.Itoa(c.Exit)
	case c.Verdict == Failed:
		return "failed"
	case c.Verdict == Passed:
		return "passed"
	}
	return ""
}
