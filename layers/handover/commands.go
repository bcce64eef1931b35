package handover

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/shell"
)

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

// commandItems lists the commands that rank first, before those of which the end is unknown. That says nothing, unless it is
// known what the command stands for; and so does a part that passed of a command that is listed.
func commandItems(digests []Digest) (out []brief.Item) {
	all := Commands(digests)
	whole := map[string]bool{}
	for _, r := range all {
		whole[r.Name] = whole[r.Name] || r.Part == ""
	}
	all = slices.DeleteFunc(all, func(r Run) bool {
		return prepares(r.Name+" "+r.Args) || r.Part != "" && !r.broken() && whole[r.Name] ||
			r.End == Unknown && r.Task == ""
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

// broken reports whether a check failed, and nothing says or suggests that it passes since.
func (c Command) broken() bool { return c.End == Broke && c.Mended == "" && shell.IsTester(c.Name) }

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
	switch {
	case c.Mended != "":
		text += "; " + c.Mended
	case c.Later != "":
		text += "; later " + c.Later
	}
	return text
}
