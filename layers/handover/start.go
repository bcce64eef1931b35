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
	"github.com/memvcs/mem/layers/names"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/verdict"
)

// Limits of the sections of a start, in lines and characters.
const (
	maxSet     = 20 // files, including those that the last session changed
	maxRun     = 8  // commands
	maxTests   = 6
	failedBack = 5 // sessions whose failures are listed

	capStatus   = 1200
	capFiles    = 1300
	capCommands = 500

	showRequest = 100
	showOutcome = 150
	showTodo    = 80
)

// An ID shortens the ID of a session.
type ID func(session string) string

// at returns the source of a message.
func (id ID) at(session string, n int) string { return fmt.Sprintf("%s#%d", id(session), n) }

// Start returns the status, the working set and the commands. Digests are sorted, the newest first.
func Start(digests []Digest, id ID) []brief.Section {
	if len(digests) == 0 {
		return nil
	}
	ranked := Files(digests)
	status, shown := status(digests[0], atStart, id)
	status = append(status, failures(digests, id)...)
	return []brief.Section{
		{Title: "Where things stand", Items: status, MaxUnits: capStatus},
		{Title: "Working set (files of tool calls)", Items: workingSet(ranked, shown, id), MaxUnits: capFiles},
		{Title: "Commands and their last results", Items: commandItems(digests, id), MaxUnits: capCommands},
	}
}

// statusLimits are the limits of the status of a session.
type statusLimits struct {
	requests, changed, todos int
}

var (
	atStart   = statusLimits{requests: 2, changed: 8, todos: 3}
	atCompact = statusLimits{requests: 4, changed: 20, todos: 10}
)

// status returns the status of a session and the files that it names.
func status(d Digest, limits statusLimits, id ID) (out []brief.Item, shown map[string]bool) {
	say := func(it brief.Item) { it.Time = d.Last; out = append(out, it) }
	for i, t := range d.Turns {
		switch n := len(d.Turns); {
		case i == n-1:
			say(brief.Item{Text: "Asked last: " + t.request(showRequest), Source: id.at(d.Session, t.Asked.N),
				Trust: brief.User, Why: "the last request of the session"})
		case i == 0:
			say(brief.Item{Text: "Asked first: " + t.request(showRequest), Source: id.at(d.Session, t.Asked.N),
				Trust: brief.User, Why: "what the session was about"})
		case i > n-limits.requests:
			say(brief.Item{Text: "Asked: " + t.request(showRequest), Source: id.at(d.Session, t.Asked.N),
				Trust: brief.User, Why: "a late request of the session"})
		}
	}
	if n := len(d.Turns); n > 0 {
		say(ending(d, id))
	}
	shown = map[string]bool{}
	changed := slices.DeleteFunc(slices.Clone(d.Files), func(f File) bool { return f.Edits == 0 })
	slices.SortStableFunc(changed, func(a, b File) int { return cmp.Compare(b.Edited, a.Edited) })
	if n := len(changed); n > 0 {
		var paths []string
		for _, f := range changed[:min(n, limits.changed)] {
			paths, shown[f.Path] = append(paths, f.Path), true
		}
		text := "[files] changed: " + strings.Join(paths, ", ")
		if n > limits.changed {
			text += fmt.Sprintf(" and %d more", n-limits.changed)
		}
		say(brief.Item{Text: text, Source: id.at(d.Session, changed[0].Edited), Trust: brief.Assistant, Verbatim: true,
			Keys: paths, Why: "files that the session edited, the newest first"})
	}
	for i := len(d.Todos) - 1; i >= 0 && i >= len(d.Todos)-limits.todos; i-- {
		t := d.Todos[i]
		say(brief.Item{Text: "Open todo: " + quoted(t.Text, showTodo), Source: id.at(d.Session, t.N), Trust: brief.Assistant,
			Why: "on the model's list and not completed"})
	}
	if name := names.Branch(d.Branch); name != "" && name != "HEAD" {
		say(brief.Item{Text: "[branch] " + name, Source: id(d.Session), Trust: brief.Tool, Named: true,
			Why: "the branch at the end of the last session"})
	}
	return out, shown
}

// Compaction returns what a compaction of the session loses: requests, todos, files, commands and failures.
func Compaction(d Digest, id ID) []brief.Section {
	status, _ := status(d, atCompact, id)
	status = append(status, failures([]Digest{d}, id)...)
	return []brief.Section{
		{Title: "Where this session stands", Items: status},
		{Title: "Commands and their last results", Items: commandItems([]Digest{d}, id), Rank: 1},
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
	if t.Plan != "" {
		return "implement the plan " + quoted(t.Plan, most)
	}
	return quoted(t.Asked.Text, most)
}

// ending returns how the last turn of a session ended. An answer to an earlier request is not quoted, because the last
// request may have made it wrong.
func ending(d Digest, id ID) brief.Item {
	last := d.Turns[len(d.Turns)-1]
	it := brief.Item{Text: "Ended with: " + quoted(last.Answered.Text, showOutcome), Trust: brief.Assistant,
		Source: id.at(d.Session, last.Answered.N), Why: "the model's own last words"}
	switch {
	case last.Answered.Text == "" && last.Answered.N > 0:
		it.Text, it.Why = "Ended with a text that a tool had printed.", "the model only repeated the output of a tool"
	case last.Answered.Text == "":
		it.Text, it.Source = "Ended before an answer.", id.at(d.Session, max(last.Asked.N, d.Working))
		it.Why = "the model wrote no text after the last request"
	case d.Working > 0:
		it.Text = "Ended during the work, after: " + quoted(last.Answered.Text, showOutcome)
		it.Why = "the model's last words, before its last tool call"
	}
	return it
}

// failures lists tests and commands that failed in a session, and neither it nor a later one says that they pass.
func failures(digests []Digest, id ID) (out []brief.Item) {
	for i, d := range digests[:min(failedBack, len(digests))] {
		var open []Failure
		for _, f := range d.Failed {
			if !slices.ContainsFunc(digests[:i], func(later Digest) bool { return later.Cleared.ends(f) }) {
				open = append(open, f)
			}
		}
		for _, command := range commandsOf(open) {
			var tests []string
			n, all := 0, 0
			for _, f := range open {
				if f.Command != command {
					continue
				}
				n = max(n, f.N)
				if f.Test != "" {
					all++
				}
				if name := names.Test(f.Test); name != "" {
					tests = append(tests, name)
				}
			}
			it := brief.Item{Text: "[failed] " + command, Source: id.at(d.Session, n), Trust: brief.Tool, Named: true,
				Time: d.Last, Why: "failed last and was not seen to pass"}
			if len(tests) > 0 {
				shown := tests[:min(len(tests), maxTests)]
				it.Text = "[failed] " + strings.Join(shown, ", ")
				if more := all - len(shown); more > 0 {
					it.Text += fmt.Sprintf(" and %d more", more)
				}
				it.Text += " in " + command
			}
			out = append(out, it)
		}
	}
	return out
}

// commandsOf returns the commands of failures, in order.
func commandsOf(list []Failure) (out []string) {
	for _, f := range list {
		if !slices.Contains(out, f.Command) {
			out = append(out, f.Command)
		}
	}
	return out
}

// workingSet lists the files that rank first, without shown ones, grouped by session and by edited or read.
func workingSet(ranked []Ranked, shown map[string]bool, id ID) (out []brief.Item) {
	type group struct {
		session string
		edited  bool
	}
	at := map[group]int{}
	var texts []string
	room := maxSet - len(shown)
	for _, r := range ranked {
		if room == 0 {
			break
		}
		if shown[r.Path] {
			continue
		}
		room--
		g := group{r.Session, r.Edited}
		i, known := at[g]
		if !known {
			i = len(out)
			at[g] = i
			out = append(out, brief.Item{Source: id(r.Session), Trust: brief.Assistant, Time: r.Time, Named: true,
				Verbatim: true, Short: true})
			texts = append(texts, "[files] "+map[bool]string{true: "edited: ", false: "read: "}[r.Edited])
		} else {
			texts[i] += ", "
		}
		texts[i] += fmt.Sprintf("%s#%d", r.Path, r.N)
		out[i].Keys = append(out[i].Keys, r.Path)
		out[i].Why += fmt.Sprintf("%s: %s, %s, %s; ", r.Path, times(r.Edits, "edit"), times(r.Reads, "read"),
			times(r.Sessions, "session"))
	}
	for i := range out {
		out[i].Text = texts[i]
	}
	return out
}

func times(n int, what string) string { return records.Numbered(n, what, what+"s") }

// A Run is a command with its history over all sessions.
type Run struct {
	Command
	Session string
	Score   float64
	Total   int
}

// Weights of commands.
const (
	fadeCommand = 0.7
	manyRuns    = 3   // more runs in a session do not count
	buildBonus  = 1.5 // of a command that builds, tests or checks
)

// Commands ranks the commands of all sessions.
func Commands(digests []Digest) []Run {
	at := map[string]int{}
	var out []Run
	for back, d := range digests[:min(ageSessions, len(digests))] {
		fade := math.Pow(fadeCommand, float64(back))
		for _, c := range d.Commands {
			i, known := at[c.Name]
			if !known {
				i = len(out)
				at[c.Name] = i
				out = append(out, Run{Command: c, Session: d.Session})
			}
			r := &out[i]
			if r.End == Unknown && c.End != Unknown {
				r.Command, r.Session = c, d.Session
			}
			r.Total += c.Runs
			w := fade * float64(min(c.Runs, manyRuns))
			if verdict.Tests(c.Name) {
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

func commandItems(digests []Digest, id ID) (out []brief.Item) {
	all := Commands(digests)
	for _, r := range all[:min(maxRun, len(all))] {
		text := r.Name
		if r.Args != "" {
			text += " " + r.Args
		}
		out = append(out, brief.Item{Text: text + ended(r.Command), Source: id.at(r.Session, r.N), Trust: brief.Assistant,
			Short: true, Why: times(r.Total, "run")})
	}
	return out
}

// ended returns the outcome of a command as text.
func ended(c Command) string {
	switch {
	case c.End == Passed:
		return ": ok"
	case c.End == Broke && c.Exit != 0:
		return fmt.Sprintf(": failed, exit %d", c.Exit)
	case c.End == Broke:
		return ": failed"
	}
	return ""
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
	if !isBelow && !isAbove {
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
	return d
}
