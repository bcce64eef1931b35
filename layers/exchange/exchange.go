// Package exchange divides a session into exchanges: what the user typed, and all that happened before he typed again.
// The exchange is the unit of everything that is read: of compressions, the hand-over, hits of a search, titles and
// facts.
//
// The package is pure: [Of] reads the entries of an L1 and nothing else. An [Exchange] shares its texts with the
// entries. It names the message of each of its parts, so that everything in it can be looked up.
//
// What the user withdrew and the conversation of agents inside the session are not parts of an exchange; of an agent
// there is its report.
package exchange

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// Said is a text with the number of its message.
type Said struct {
	N    int
	Text string
}

// By is the author of a request.
type By uint8

// The authors.
const (
	User   By = iota // typed by the user
	Script           // sent by a script in a headless run
	Agent            // sent by another agent: the session is that of a subagent
	Slash            // a command of the client that starts work, such as /review; the request is its name with arguments
	Copy             // written by mem, or copied from the session that this one is a fork of: it does not count as typed
	Nobody           // what precedes the first prompt, or follows one that was forgotten
)

// String says who asked, for a heading.
func (b By) String() string {
	return [...]string{"user", "script", "agent", "command", "copy", "before the first prompt"}[b]
}

// An Exchange is a request and everything up to the next one.
type Exchange struct {
	From, To   int    // its first and last message
	Start, End string // the times of the first and the last message that have one, as in L1
	By         By
	Request    Said // the zero value with [Nobody]

	Texts     []Said   // of the assistant, in order; the last is the outcome
	Plans     []Said   // that the assistant proposed
	Accepted  int      // the message of the last of them that the user accepted, or 0
	Dialogs   []Dialog // in which the user answered
	Questions []Said   // that the user did not answer in a dialog
	Refusals  []Refusal
	Edits     []Edit
	Commands  []Command
	Failures  []Failure
	Reports   []Report  // of subagents
	Summaries []Summary // of compactions
	Notes     []Note    // of the client
	Calls     []Call    // of other tools: reads, searches, lists of tasks
	Opaque    []int     // unreadable records
}

// A Dialog is a question of the assistant with the user's answer.
type Dialog struct {
	N        int
	Question string
	Answer   string
	Said     string // of the first question of a message: the user's words in all of its answers
	Script   bool   // answered in a headless run
}

// A Refusal is a call of a tool that the user rejected.
type Refusal struct {
	N      int
	Of     string // the tool with its target or command
	What   string // heading of a plan, or the size and the symbols of a change; or ""
	Call   int    // the message of the call, or 0
	Reason string // what the user typed, or ""
	Told   string // the reason in the result of a tool of another program, which can write what it likes; or ""
	Script bool
	diff   string // of a change, as in [Edit]
}

// An Edit is a change of a file that was made.
type Edit struct {
	N              int
	File           string
	Line           int    // of the first change, or 0
	Added, Removed int    // lines
	Diff           string // the changed lines, each after "-" or "+"; "@@" is a gap
	Symbols        []string
}

// A Command is a command of a shell. Exit is its status, 0 if it is unknown.
type Command struct {
	N       int
	Cmd     string
	Exit    int
	Verdict Verdict
	Proof   string // the line of the output that proves the verdict, or ""
	Commits bool   // it made a commit, as its exit status or its output proves
	Pushes  bool   // it pushed, as one of them proves
}

// A Verdict says how a command ended.
type Verdict uint8

// The verdicts. Without proof there is none.
const (
	None Verdict = iota
	Passed
	Failed
)

// A Failure is a command or a call of a tool that failed.
type Failure struct {
	N     int
	Of    string   // the command, or the tool with its target
	Tool  string   // the name of the tool
	Lines []string // of the output
	Fixed int      // the message of the first later success of the same thing, or 0
}

// A Report is what a subagent reported when it was done.
type Report struct {
	N    int
	Task string // what it had been asked
	Text string
}

// A Summary is one of a compaction, about the messages before it.
type Summary struct {
	Said
	Covers int // the number of messages, from the end of the previous summary, that it stands for; 0 if there are none
}

// Label says what messages a summary stands for.
func (s Summary) Label() string {
	if s.Covers == 0 {
		return "summary"
	}
	return fmt.Sprintf("summary of #%d..%d", max(1, s.N-s.Covers), s.N-1)
}

// A Note was written by the client; Name says what it is.
type Note struct {
	N    int
	Name string
	Text string
}

// A Call is a call of a tool that changes nothing.
type Call struct {
	N      int
	Tool   string
	Target string
}

// Outcome returns the last text of the assistant. It is the zero value if there is none.
func (x *Exchange) Outcome() Said {
	if len(x.Texts) == 0 {
		return Said{}
	}
	return x.Texts[len(x.Texts)-1]
}

// A File is a file that an exchange changed.
type File struct {
	Path           string
	Added, Removed int
	First, Last    int  // messages of its first and last edit
	Made           bool // by the first edit, as far as that can be told
}

// Files returns the changed files in the order of their first edits.
func (x *Exchange) Files() []File {
	var out []File
	at := map[string]int{}
	for _, e := range x.Edits {
		i, known := at[e.File]
		if !known {
			i = len(out)
			at[e.File] = i
			out = append(out, File{Path: e.File, First: e.N, Made: e.Line == 0 && e.Removed == 0})
		}
		f := &out[i]
		f.Last = e.N
		f.Added += e.Added
		f.Removed += e.Removed
	}
	return out
}

// Open returns the failures that nothing fixed.
func (x *Exchange) Open() []Failure {
	var out []Failure
	for _, f := range x.Failures {
		if f.Fixed == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Of returns the exchanges of a session, in order. echo reports whether the prompt of a message is a copy; it may be nil.
func Of(entries iter.Seq2[refine.Entry, error], echo func(n int) bool) ([]Exchange, error) {
	b := builder{echo: echo}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		b.entry(e)
	}
	b.fix()
	return b.out, nil
}

type builder struct {
	echo    func(n int) bool
	out     []Exchange
	summary int // last message that a summary covers
	runs    []run
}

// housekeeping are the commands that start no work.
var housekeeping = set("/exit /quit /clear /compact /model /cost /status /help /login /logout /mcp /resume /config /context /doctor " +
	"/memory /permissions /agents /hooks /ide /vim /theme /usage /stats /export /add-dir /bug /feedback /release-notes " +
	"/remote-env /rename /rewind /terminal-setup /statusline /output-style /plugin /fast /effort /sandbox /tasks /todos")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Begins reports whether an exchange begins with an entry, and who asks; first: no other entry precedes it. It is the one
// place that divides a session. Copies are asked for by the user, and it does not look at what was rewound.
func Begins(e *refine.Entry, first bool) (by By, ok bool) {
	switch {
	case e.Role == "user" && strings.TrimSpace(e.Said) == "":
		return 0, false
	case e.Request() && e.Script:
		return Script, true
	case e.Request():
		return User, true
	case e.Role == "note" && e.Name == "command":
		return Slash, !housekeeping[strings.Fields(e.Said + " -")[0]]
	case e.Role == "note" && e.Name == "forgotten": // its answer is not that to the request before
		return Nobody, true
	case e.Role == "user" && e.Side: // of an agent: in its own session, the first is the request
		return Agent, first
	}
	return 0, false
}

func (b *builder) entry(e refine.Entry) {
	by, begins := Begins(&e, len(b.out) == 0)
	switch {
	case e.Rewound, e.Role == "user" && strings.TrimSpace(e.Said) == "":
		return
	case begins && by == Nobody:
		b.out = append(b.out, Exchange{From: e.N, By: Nobody})
		b.reach(&b.out[len(b.out)-1], e)
		return
	case begins && e.Request() && b.echo != nil && b.echo(e.N):
		b.begin(e, Copy)
		return
	case begins:
		b.begin(e, by)
		return
	case e.Side && e.Role != "tool": // what an agent says is in its report; what it does is work of the exchange
		return
	}
	if len(b.out) == 0 {
		b.out = append(b.out, Exchange{From: e.N, By: Nobody})
	}
	x := &b.out[len(b.out)-1]
	b.reach(x, e)
	switch e.Role {
	case "user":
		b.reply(x, e)
	case "assistant":
		if strings.TrimSpace(e.Said) != "" {
			x.Texts = append(x.Texts, Said{e.N, e.Said})
		}
	case "summary":
		if e.Name == "boundary" || strings.TrimSpace(e.Said) == "" {
			return
		}
		x.Summaries = append(x.Summaries, Summary{Said{e.N, withoutInstructions(e.Said)}, max(0, e.N-1-b.summary)})
		b.summary = e.N
	case "note":
		b.ended(e)
		x.Notes = append(x.Notes, Note{e.N, e.Name, strings.TrimSpace(e.Target + " " + e.Said)})
	case "opaque":
		x.Opaque = append(x.Opaque, e.N)
	case "tool":
		b.tool(x, e)
	}
}

// instructions are the beginnings of the lines with which the client ends a summary: it tells the model to go on, and
// where the transcript is. Nobody said them.
var instructions = []string{"Please continue the conversation from where we left", "Continue the conversation from where it left off",
	"If you need specific details from before compaction", "Recent messages are preserved verbatim."}

// withoutInstructions returns a summary without what the client wrote around it.
func withoutInstructions(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "This session is being continued from a previous conversation") {
		_, rest, _ := strings.Cut(text, "\n")
		if rest = strings.TrimSpace(rest); rest != "" {
			text = rest
		}
	}
	for {
		k := strings.LastIndexByte(text, '\n') + 1
		if k == 0 || !slices.ContainsFunc(instructions, func(s string) bool { return strings.HasPrefix(text[k:], s) }) {
			return text
		}
		text = strings.TrimRight(text[:k], " \t\r\n")
	}
}

// reply adds the answers in a dialog, or the reason of the refusal before it.
func (b *builder) reply(x *Exchange, e refine.Entry) {
	said := e.Said
	for _, a := range e.Dialog {
		answer := a.Answer
		if a.Notes != "" {
			answer = strings.TrimSpace(answer + "\n" + a.Notes)
		}
		x.Dialogs = append(x.Dialogs, Dialog{e.N, a.Question, answer, said, e.Script})
		said = ""
	}
	if e.Name != "refusal" {
		return
	}
	if n := len(x.Refusals); n > 0 && x.Refusals[n-1].Reason == "" { // that of the call
		x.Refusals[n-1].N, x.Refusals[n-1].Reason, x.Refusals[n-1].Script = e.N, e.Said, e.Script
		return
	}
	x.Refusals = append(x.Refusals, Refusal{N: e.N, Of: e.Target, Reason: e.Said, Script: e.Script})
}

func (b *builder) begin(e refine.Entry, by By) {
	b.out = append(b.out, Exchange{From: e.N, By: by, Request: Said{e.N, e.Said}})
	b.reach(&b.out[len(b.out)-1], e)
}

// reach extends an exchange to an entry.
func (b *builder) reach(x *Exchange, e refine.Entry) {
	x.To = max(x.To, e.N)
	if e.TS == "" {
		return
	}
	if x.Start == "" {
		x.Start = e.TS
	}
	x.End = e.TS
}

// fileTools are the tools that change a file.
var fileTools = map[string]bool{"Edit": true, "MultiEdit": true, "Write": true, "NotebookEdit": true}

func (b *builder) tool(x *Exchange, e refine.Entry) {
	of := strings.TrimSpace(e.Name + " " + e.Target)
	if e.Cmd != "" {
		of = e.Cmd
	}
	if e.Said != "" {
		x.Plans = append(x.Plans, Said{e.N, e.Said})
		if e.Result == "ok" {
			x.Accepted = e.N
		}
	}
	switch {
	case strings.HasPrefix(e.Result, "refused by the user"):
		x.Refusals = append(x.Refusals, Refusal{N: e.N, Of: of, Call: e.N, What: refusedPart(e), Told: strings.Join(e.Errors, "\n"), diff: e.Diff})
		return
	case e.Name == "AskUserQuestion":
		x.Questions = append(x.Questions, Said{e.N, e.Target})
		return
	case e.Name == "Task", e.Name == "Agent":
		result, _, _ := strings.Cut(e.Result, "<usage>")                                  // what the client counted
		if result = unbroken(strings.TrimSpace(result)); result != "" && result != "ok" { // that of one in the background comes later
			x.Reports = append(x.Reports, Report{e.N, e.Target, result})
		}
		return
	}
	if cancelled(e.Result) && (e.Cmd == "" || e.Exit == 0) {
		return
	}
	failed := fails(e)
	switch {
	case e.Cmd != "":
		c := Command{N: e.N, Cmd: e.Cmd, Exit: e.Exit, Verdict: verdictOf(e), Proof: e.Proof}
		if strings.Contains(e.Cmd, "git") {
			c.Commits, c.Pushes = done(e, "commit"), done(e, "push")
		}
		x.Commands = append(x.Commands, c)
		for _, file := range written(e.Cmd, e.Dir) {
			if !failed && !cancelled(e.Result) {
				x.Edits = append(x.Edits, Edit{N: e.N, File: file})
			}
		}
	case fileTools[e.Name] || e.Diff != "":
		if failed {
			break
		}
		file, line := place(e.Target)
		added, removed := count(e.Diff)
		x.Edits = append(x.Edits, Edit{e.N, file, line, added, removed, e.Diff, e.Symbols})
	case e.Name != "result":
		x.Calls = append(x.Calls, Call{e.N, e.Name, e.Target})
	}
	b.ran(len(b.out)-1, x, e, of, failed)
}

// CallName returns a call without what names the server of its tool and the members of its input.
func CallName(call string) string {
	if after, is := strings.CutPrefix(call, "mcp__"); is {
		if _, tool, found := strings.Cut(after, "__"); found {
			call = tool
		}
	}
	call, _, _ = strings.Cut(call, " {\"")
	return strings.TrimSpace(call)
}

// refusedPart says what a refused call was about, or "".
func refusedPart(e refine.Entry) string {
	if e.Name == "ExitPlanMode" {
		return PlanHeading(e.Said)
	}
	added, removed := count(e.Diff)
	return size(added, removed, e.Symbols)
}

// Names adds the names of code in a text to names, which may be nil; see [Tells].
func Names(names map[string]bool, text string) map[string]bool {
	if names == nil {
		names = map[string]bool{}
	}
	for _, name := range identifier().FindAllString(text, -1) {
		names[name] = true
	}
	return names
}

// Tells returns how much changed lines, each after "-" or "+", tell beside what was said of them, about 1: little if most of them only
// moved, more if they have names that were said.
func Tells(diff string, said map[string]bool) float64 {
	const most, moved = 3, .4 // names; share of lines that are new
	sides := map[string]int{} // on which sides a line is, without spaces
	lines := 0
	for line := range strings.Lines(diff) {
		if text := strings.Join(strings.Fields(line[1:]), ""); text != "" && line[0] != '@' {
			lines++
			sides[text] |= map[byte]int{'-': 1, '+': 2}[line[0]]
		}
	}
	named, fresh := map[string]bool{}, 0
	for text, side := range sides {
		if side == 3 {
			continue
		}
		fresh++
		for name := range Names(nil, text) {
			if said[name] {
				named[name] = true
			}
		}
	}
	if float64(fresh) < moved*float64(lines) {
		return .1
	}
	return .7 + .3*float64(min(most, len(named)))
}

// identifier matches names in code that no prose has: of two words, or with a sign in them.
var identifier = pattern(`\b[a-zA-Z]+([a-z][A-Z]|_|\d)\w+`)

// size returns the size of a change and the first of its symbols, or "".
func size(added, removed int, symbols []string) string {
	if added+removed == 0 {
		return ""
	}
	what := fmt.Sprintf("+%d −%d", added, removed)
	for _, s := range symbols[:min(3, len(symbols))] {
		if !strings.ContainsAny(s, "$ ") {
			what += ", " + s
		}
	}
	return what
}

// StopsAt reports whether nothing was done in an exchange after a message: what the user typed next says why.
func (x *Exchange) StopsAt(n int) bool {
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

// Later says whether what the user refused was done later in the exchange, or something else with the same file.
func (x *Exchange) Later(r Refusal) string {
	_, target, _ := strings.Cut(r.Of, " ")
	file, _, _ := strings.Cut(target, ":")
	text := ""
	for _, e := range x.Edits {
		switch {
		case e.N <= r.N || e.File != file:
		case e.Diff == r.diff:
			return "; done later"
		default:
			text = "; the file was changed later"
		}
	}
	if slices.ContainsFunc(x.Commands, func(c Command) bool {
		return c.N > r.N && c.Exit == 0 && c.Verdict != Failed && shell.Short(c.Cmd) == shell.Short(r.Of)
	}) {
		return "; done later"
	}
	return text
}

// unbroken returns a text that L1 cut, up to the end of its last whole line outside a block of code, with a mark.
func unbroken(text string) string {
	if !strings.HasSuffix(text, "…") {
		return text
	}
	end, open := 0, false
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		said := strings.TrimSpace(line)
		if strings.HasPrefix(said, "```") {
			open = !open
		}
		if at < len(text) && !open && said != "" && !strings.HasSuffix(said, ":") && !strings.HasPrefix(said, "#") {
			end = at
		}
	}
	if end == 0 {
		return text
	}
	return strings.TrimRight(text[:end], "\n") + " …"
}

// ended sets the verdict of a command that ended in the background, of which the client tells in e.
func (b *builder) ended(e refine.Entry) {
	if e.Cmd == "" {
		return
	}
	for k := range b.out {
		list := b.out[len(b.out)-1-k].Commands
		for i := range list {
			if c := &list[len(list)-1-i]; c.Cmd == e.Cmd && c.Verdict == None {
				c.Exit, c.Verdict = e.Exit, verdictOf(e)
				return
			}
		}
	}
}

// verdictOf returns the verdict of a command. Without proof there is none.
func verdictOf(e refine.Entry) Verdict {
	switch e.Verdict {
	case "passed":
		return Passed
	case "failed":
		return Failed
	}
	return None
}

// fails reports whether a call failed. Lines of an output that look like errors prove nothing for a command: a diff, a
// log and a test print them too. They count where the exit status says nothing and they say that the command itself ended.
func fails(e refine.Entry) bool {
	switch {
	case cancelled(e.Result):
		return false
	case e.Exit != 0 || e.Result != "" && e.Result != "ok":
		return true
	case e.Cmd == "":
		return len(e.Errors) > 0
	case e.Verdict != "":
		return e.Verdict == "failed"
	case len(e.Errors) == 0 || succeeded(e, func([]string) bool { return true }) || fellBack(e.Cmd):
		return false
	}
	first := strings.ToLower(strings.TrimSpace(e.Errors[0]))
	return strings.HasPrefix(first, "error: ") || strings.HasPrefix(first, "fatal: ")
}

// fellBack reports whether a shell line ends with another command for the case that the one before it fails, which the exit
// status of the line is of: not with one that only hides or tells that.
func fellBack(line string) bool {
	list := shell.Parse(line)
	n := len(list)
	if n < 2 || list[n-2].Next != "||" {
		return false
	}
	w := list[n-1].Program()
	return len(w) > 0 && !slices.Contains([]string{"true", ":", "echo", "printf", "exit"}, w[0])
}

// cancelled reports whether the client did not run a call, because one beside it failed, or the user stopped it.
func cancelled(result string) bool {
	if rest, ok := strings.CutPrefix(result, "Exit code "); ok {
		_, result, _ = strings.Cut(rest, "\n")
	}
	return strings.HasPrefix(result, "[Request interrupted by user") || strings.HasPrefix(result, "Sibling tool call errored") || strings.HasPrefix(result, "Cancelled: parallel tool call")
}

// succeeded reports whether the exit status of a shell line proves that a command of it that is meant succeeded, and
// that there is one. Reading commands are not asked.
func succeeded(e refine.Entry, means func(words []string) bool) bool {
	if e.Exit != 0 || e.Result != "ok" {
		return false
	}
	list := shell.Parse(e.Cmd)
	if shell.Answers(list) {
		return false
	}
	ok, _ := shell.Settles(list)
	found := false
	for i, s := range list {
		if w := s.Program(); len(w) > 0 && means(w) {
			if !ok[i] {
				return false
			}
			found = true
		}
	}
	return found
}

// done reports whether a subcommand of git in a shell line is proven to have succeeded, by its output or the exit status.
func done(e refine.Entry, subcommand string) bool {
	return slices.Contains(e.Done, "git "+subcommand) || e.Verdict != "failed" && succeeded(e, git(subcommand))
}

// place divides a target "file:line".
func place(target string) (file string, line int) {
	k := strings.LastIndexByte(target, ':')
	if k <= 0 || k == len(target)-1 || strings.Trim(target[k+1:], "0123456789") != "" {
		return target, 0
	}
	line, _ = strconv.Atoi(target[k+1:]) // 0: a number too great for a line is none
	return target[:k], line
}

func count(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
