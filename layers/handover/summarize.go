package handover

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// Limits of a digest.
const (
	maxTurns    = 24
	maxAsked    = 400
	maxAnswered = 900
	maxFiles    = 120
	maxCommands = 40
	maxSelects  = 60
	maxSymbols  = 12
	maxTodo     = 160
	maxMarked   = 40
	maxWants    = 12
	maxWant     = 240
	maxQuestion = 160
	maxThen     = 2
	maxPlan     = 120
	maxTo       = 110
	maxChosen   = 180 // of the items that a request names by their numbers
	maxReply    = 4   // words of a request that says nothing without the question that it answers
)

// Summarize makes a digest from the entries of a session's L1. Marked are messages with an added marker, which is not in their
// text, and gone are those that were forgotten, sorted.
func Summarize(entries iter.Seq2[refine.Entry, error], marked, gone []int) (Digest, error) {
	s := &summary{files: map[string]int{}, commands: map[string]int{}, at: map[int]int{}, marked: marked, gone: gone,
		forms: forms{worked: map[int]bool{}}}
	xs, err := exchange.Of(func(yield func(refine.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				s.open.Add(&e)
				s.entry(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}, nil)
	if err != nil {
		return Digest{}, err
	}
	s.turns(xs)
	s.touched(xs)
	s.mended(xs)
	end := exchange.EndingOf(xs)
	s.d.Committed = end.Commit.N
	for _, f := range end.Uncommitted() {
		s.d.Uncommitted = "no commit seen"
		if end.Commits > 0 {
			s.d.Uncommitted = "changed after the commit"
		}
		s.d.Changed = append(s.d.Changed, f.Last)
	}
	return s.finish(), nil
}

// A summary builds a digest.
type summary struct {
	d        Digest
	files    map[string]int
	commands map[string]int
	open     exchange.Pending
	marked   []int
	gone     []int
	forms    forms

	requests int
	at       map[int]int // of messages whose words are in another one
	accepted []int       // messages with plans that the user accepted
}

func (s *summary) entry(e refine.Entry) {
	if e.At > 0 {
		s.at[e.N] = e.At
	}
	if at, err := time.Parse(time.RFC3339, e.TS); err == nil {
		date := at.UTC().Format(time.DateOnly)
		if n := len(s.d.Days); n == 0 || date > s.d.Days[n-1].Date {
			s.d.Days = append(s.d.Days, Day{e.N, date})
		}
	}
	switch {
	case e.Rewound:
	case e.Role == "tool" && e.Cmd != "":
		s.ran(e)
	case e.Name == "ExitPlanMode" && e.Result != "" && !strings.HasPrefix(e.Result, "refused by the user"):
		s.accepted = append(s.accepted, e.N)
	case e.Typed() && e.Name != "answer":
		if text := lastingIn(e.Said); text != "" {
			s.d.Lasting = append(s.d.Lasting[max(0, len(s.d.Lasting)-maxWants+1):], s.said(e.N, Cut(text, maxWant)))
		}
		if e.Request() && (strings.Contains(e.Said, "##keepit") || slices.Contains(s.marked, e.N)) && len(s.d.Marked) < maxMarked {
			s.d.Marked = append(s.d.Marked, s.said(e.N, strings.Clone(e.Said)))
		}
	case e.Role == "note" && e.Name == "notice" && e.Cmd != "": // it ended in the background
		s.ran(e)
	case e.Role == "assistant" && !e.Side:
		s.reported(e.Said)
	}
}

// planHeading returns the cut heading of a plan, or its first line, without URLs: the model may have copied it.
func planHeading(plan string) string { return withoutHosts(Cut(exchange.PlanHeading(plan), maxPlan)) }

// slashed returns a path with slashes, also one of Windows that is read on another system.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// touched records the files that exchanges edited and read.
func (s *summary) touched(xs []exchange.Exchange) {
	for _, x := range xs {
		for _, e := range x.Edits {
			if f := s.file(e.File, e.N); f != nil {
				f.Edits, f.Edited = f.Edits+1, e.N
				for _, symbol := range e.Symbols {
					if len(f.Symbols) < maxSymbols && brief.IsSafeWord(symbol) && !slices.Contains(f.Symbols, symbol) {
						f.Symbols = append(f.Symbols, symbol)
					}
				}
			}
		}
		for _, c := range x.Calls {
			if slices.ContainsFunc(x.Failures, func(f exchange.Failure) bool { return f.N == c.N }) {
				continue
			}
			if f := s.file(readIn(c), c.N); f != nil {
				f.Reads++
			}
		}
	}
}

// readIn returns the file that a call reads or searches, "" if it is another call or searches several.
func readIn(c exchange.Call) string {
	switch c.Tool {
	case "Read", "LS":
		return c.Target
	case "Grep", "Glob":
		if i := strings.LastIndex(c.Target, " in "); i >= 0 {
			where, _, _ := strings.Cut(c.Target[i+4:], " ")
			if strings.Contains(baseOf(where), ".") && !strings.Contains(where, "*") {
				return where
			}
		}
	}
	return ""
}

// file returns the file with a path, which message n touched, nil if it is outside the project or may not be told.
func (s *summary) file(p string, n int) *File {
	p = brief.SafeFile(slashed(p))
	if p == "" || exchange.Outside(p) {
		return nil
	}
	i, known := s.files[p]
	if !known {
		i = len(s.d.Files)
		s.files[p] = i
		s.d.Files = append(s.d.Files, File{Path: p})
	}
	f := &s.d.Files[i]
	f.N = max(f.N, n)
	return f
}

var outcomes = map[shell.Verdict]Outcome{shell.Passed: Passed, shell.Failed: Broke}

// part returns the arguments of a command that select some of the tests, with the places of these, in names.
func part(c shell.Command) string {
	selects := c.Selects()
	if len(selects) == 0 || !shell.IsTester(c.Name) {
		return ""
	}
	var out []string
	for _, a := range c.Args {
		is := slices.Contains(selects, a)
		if !is && (strings.HasPrefix(a, "-") || !strings.Contains(a, "/")) {
			continue
		}
		alternatives := strings.FieldsFunc(a, func(r rune) bool { return strings.ContainsRune("|^$()", r) })
		known := slices.DeleteFunc(slices.Clone(alternatives), func(s string) bool { return !brief.IsSafeWord(s) })
		if a = strings.Join(known, ","); len(known) == 0 || len(known) < len(alternatives) {
			a = strings.TrimPrefix(a+",…", ",")
		}
		out = append(out, a)
	}
	shown := strings.Join(out, " ")
	if brief.SafeCommand(strings.Fields(strings.ReplaceAll(shown, ",…", "")), maxSelects) != strings.ReplaceAll(shown, ",…", "") {
		return "(a part)"
	}
	return strings.ReplaceAll(shown, ",", "|")
}

func (s *summary) command(e refine.Entry, c shell.Command, end Outcome) {
	of := part(c)
	i, known := s.commands[c.Name+"\n"+of]
	if !known {
		i = s.placeForCommand()
		s.commands[c.Name+"\n"+of] = i
		s.d.Commands[i] = Command{Name: c.Name, Part: of}
	}
	x := &s.d.Commands[i]
	x.Runs++
	x.N, x.Args = e.N, brief.SafeArgs(c.Args)
	switch {
	case end == Unknown && x.End == Broke:
		x.Later = "run again, no result seen"
	case end == Broke:
		x.End, x.Exit, x.Later, x.Since, s.d.Passes = Broke, e.Exit, "", e.N, nil
		x.failed(e.Failed)
	default:
		x.End, x.Exit, x.Later = end, e.Exit, ""
	}
	if end == Passed && !c.Excludes() {
		s.passed(*x, e.Passed)
	}
	_, own := dirOf(c.Name)
	for _, t := range e.Tasks {
		name, task, _ := strings.Cut(t, " = ")
		w := strings.Fields(task)
		if name == own && (task == shell.Several || len(w) > 1 && brief.SafeCommand(w, maxShown) == strings.Join(w, " ")) {
			x.Task = strings.Join(w, " ")
		}
	}
}

// placeForCommand returns the index for a new command. If there are many, it is that of the command with the fewest runs,
// of several the one that ran first.
func (s *summary) placeForCommand() int {
	if len(s.d.Commands) < maxCommands {
		s.d.Commands = append(s.d.Commands, Command{})
		return len(s.d.Commands) - 1
	}
	least := 0
	for i, c := range s.d.Commands {
		now := s.d.Commands[least]
		if cmp.Or(cmp.Compare(c.Runs, now.Runs), cmp.Compare(c.N, now.N)) < 0 {
			least = i
		}
	}
	delete(s.commands, s.d.Commands[least].Name+"\n"+s.d.Commands[least].Part)
	return least
}

func (s *summary) finish() Digest {
	s.d.Broken = s.forms.broken
	s.d.Worked = slices.Sorted(maps.Keys(s.forms.worked))
	for _, o := range s.open.List() {
		switch o.Kind {
		case exchange.RefusedPlan, exchange.AcceptedPlan:
			s.d.Open = append(s.d.Open, Open{N: o.N, What: o.Kind, Text: withoutHosts(Cut(o.Text, maxPlan))})
		case exchange.Unanswered:
			s.d.Open = append(s.d.Open, Open{N: o.N, What: o.Kind, Text: Cut(o.Text, maxWant)})
		case exchange.Todo:
			s.d.Open = append(s.d.Open, Open{N: o.N, What: o.Kind, Text: withoutHosts(Cut(o.Text, maxTodo))})
		}
	}
	if n := len(s.d.Files) - maxFiles; n > 0 { // keep those touched last, and all that were edited: they are counted
		slices.SortStableFunc(s.d.Files, func(a, b File) int { return a.N - b.N })
		s.d.Files = slices.DeleteFunc(s.d.Files, func(f File) bool {
			n--
			return n >= 0 && f.Edits == 0
		})
	}
	return s.d
}
