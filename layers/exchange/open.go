package exchange

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
)

// A Kind says what an [Open] is.
type Kind string

// The kinds. An accepted plan and a refused call are not open; they are what became of the last plan, and what the user
// rejected.
const (
	RefusedPlan  Kind = "plan"
	Interrupted  Kind = "request"  // and the model did not go on
	Unanswered   Kind = "question" // of a dialog
	Asked        Kind = "asked"    // the session ended with a question
	Todo         Kind = "todo"     // on the model's list and not completed
	AcceptedPlan Kind = "accepted" // the last one
	RefusedCall  Kind = "refused"  // with the reason that the user typed
)

// An Open is something that a session left open, or that the user rejected.
type Open struct {
	N    int // message
	Kind Kind
	// heading of a plan, request, question or todo; the tool with its target, and the reason of the user, of a refused call
	Text, Reason string
	Started      bool   // a todo that is in progress
	Time         string // of the message, as in L1
}

// Lead says what o is, before its text.
func (o Open) Lead() string {
	switch o.Kind {
	case RefusedPlan:
		return "Plan that the user rejected: "
	case Interrupted:
		return "Interrupted by the user: "
	case Unanswered:
		return "Question without an answer: "
	case Asked:
		return "Asked the user and got no answer: "
	case Todo:
		return "Open todo: "
	case AcceptedPlan:
		return "Plan that the user accepted: "
	case RefusedCall:
		return "The user refused: "
	}
	return ""
}

// A Pending collects what a session leaves open from the entries of its L1, in order. The zero value is empty.
type Pending struct {
	list    []Open // plans, questions and refused calls
	todos   []Open // all, completed ones too
	state   []string
	at      map[string]int // the first of todos with a text
	created int            // calls of TaskCreate
	request Open           // the last request
	stopped bool           // it was interrupted
	asked   Open           // the question that the last text of the model ends with
	refusal int            // 1 + the place in list of the last refused call, whose reason may follow
}

// Add adds an entry. Conversations of agents and what the user withdrew count for nothing.
func (p *Pending) Add(e *refine.Entry) {
	if e.Rewound || e.Side {
		return
	}
	switch {
	case e.Role == "tool":
		p.tool(e)
	case e.Request() && !e.Script && strings.TrimSpace(e.Said) != "":
		p.begin(Open{N: e.N, Kind: Interrupted, Text: e.Said, Time: e.TS})
	case e.Request(), e.Role == "note" && e.Name == "forgotten":
		p.begin(Open{})
	case e.Role == "note" && e.Name == "plan":
		p.begin(Open{N: e.N, Kind: Interrupted, Text: PlanHeading(e.Said), Time: e.TS})
	case e.Role == "note" && strings.HasPrefix(e.Said, "[Request interrupted by user"):
		p.stopped = true
	case e.Role == "user" && e.Name == "refusal" && !e.Script:
		p.reason(e)
	case e.Role == "user" && e.Name == "answer":
		p.asked = Open{}
	case e.Role == "assistant" && strings.TrimSpace(e.Said) != "":
		p.stopped, p.asked = false, Open{}
		if q := lastQuestion(e.Said); q != "" {
			p.asked = Open{N: e.N, Kind: Asked, Text: q, Time: e.TS}
		}
	}
}

// begin starts an exchange: whoever types the next request has dealt with the question before it.
func (p *Pending) begin(request Open) {
	p.request, p.stopped, p.asked = request, false, Open{}
	p.list = slices.DeleteFunc(p.list, func(o Open) bool { return o.Kind == Unanswered })
	p.refusal = 0
}

func (p *Pending) tool(e *refine.Entry) {
	reason, refused := strings.CutPrefix(e.Result, "refused by the user")
	reason = strings.TrimSpace(strings.TrimLeft(reason, ": "))
	p.asked = Open{}
	switch e.Name {
	case "ExitPlanMode":
		p.planned(e, refused, reason)
		return
	case "AskUserQuestion":
		if e.Result == "" || refused && reason == "" {
			p.list = append(p.list, Open{N: e.N, Kind: Unanswered, Text: e.Target, Time: e.TS})
		}
		return
	case "TodoWrite":
		p.write(e)
	case "TaskCreate":
		p.created++
		p.set(e.Target, "pending", e, true)
	case "TaskUpdate":
		id, state, _ := strings.Cut(strings.TrimPrefix(e.Target, "#"), " ")
		if n, err := strconv.Atoi(id); err == nil && n >= 1 && n <= p.created && p.created == len(p.todos) && state != "" {
			p.state[n-1], p.todos[n-1].N, p.todos[n-1].Time = state, e.N, e.TS
		}
	}
	if refused {
		of := strings.TrimSpace(e.Name + " " + e.Target)
		if e.Cmd != "" {
			of = e.Cmd
		}
		p.list = append(p.list, Open{N: e.N, Kind: RefusedCall, Text: of, Reason: reason, Time: e.TS})
		p.refusal = len(p.list)
	}
}

// planned adds a proposed plan: one that was refused is open until another is accepted.
func (p *Pending) planned(e *refine.Entry, refused bool, reason string) {
	p.list = slices.DeleteFunc(p.list, func(o Open) bool { return o.Kind == RefusedPlan || o.Kind == AcceptedPlan })
	p.refusal = 0
	o := Open{N: e.N, Kind: AcceptedPlan, Text: PlanHeading(e.Said), Time: e.TS}
	switch {
	case refused:
		o.Reason = reason
		o.Kind = RefusedPlan
	case e.Result == "" || strings.TrimSpace(e.Said) == "":
		return
	}
	if p.list = append(p.list, o); refused {
		p.refusal = len(p.list)
	}
}

// reason adds what the user typed when he refused the call before.
func (p *Pending) reason(e *refine.Entry) {
	if p.refusal > 0 {
		p.list[p.refusal-1].Reason = e.Said
		return
	}
	p.list = append(p.list, Open{N: e.N, Kind: RefusedCall, Text: e.Target, Reason: e.Said, Time: e.TS})
}

// write adds a change of the todo list.
func (p *Pending) write(e *refine.Entry) {
	if p.startsList(e.Target) {
		p.todos, p.state, p.at = nil, nil, nil
	}
	for line := range strings.Lines(e.Target) {
		if state, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			switch state {
			case "pending", "in_progress", "completed", "cancelled", "dropped":
				p.set(text, state, e, false)
			}
		}
	}
}

// startsList reports whether a change of the todo list starts a new list: it has several items, none of them known.
func (p *Pending) startsList(change string) bool {
	n := 0
	for line := range strings.Lines(change) {
		_, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if _, known := p.at[text]; ok && known {
			return false
		}
		n++
	}
	return n > 1
}

// set sets the state of a todo. A task may have the text of another one.
func (p *Pending) set(text, state string, e *refine.Entry, another bool) {
	i, known := p.at[text]
	if !known || another {
		i = len(p.todos)
		p.todos, p.state = append(p.todos, Open{Kind: Todo, Text: text}), append(p.state, "")
	}
	if p.at == nil {
		p.at = map[string]int{}
	}
	if !known {
		p.at[text] = i
	}
	p.state[i], p.todos[i].N, p.todos[i].Time = state, e.N, e.TS
}

// List returns what the session left open, and its refused calls with a reason, in the order of their messages.
func (p *Pending) List() (out []Open) {
	for _, o := range p.list {
		if o.Kind != RefusedCall || o.Reason != "" {
			out = append(out, o)
		}
	}
	for i, o := range p.todos {
		if o.Started = p.state[i] == "in_progress"; o.Started || p.state[i] == "pending" {
			out = append(out, o)
		}
	}
	switch {
	case p.stopped && p.request.N > 0:
		out = append(out, p.request)
	case p.asked.N > 0:
		out = append(out, p.asked)
	}
	slices.SortStableFunc(out, func(a, b Open) int { return a.N - b.N })
	return out
}

// courtesy matches the end of a text that offers help or asks for the next request: it leaves nothing open.
var courtesy = pattern(`(?i)(^|[.!?,:\n–—-]\s*|\b(so|and|now) )(how|what|where) (can|may|could|shall|should) (i|we) (help|assist|do|work on|start|begin)\b[^.!?\n]{0,40}\?$|` +
	`(^|[.!?,\n]\s*|\b(is there|need|want|help with|do) )(anything|something) else\b[^.!?\n]{0,60}\?$|\bwhat('s| is) next\?$|\bwhat (would|do) you (like|want)( me)?( to)? (do|work on|tackle|start with|explore|see)\b( next| now| today| first)*\?$|` +
	`\b(kann|darf) ich\b[^.!?\n]{0,20}\b(helfen|(für|fuer) (dich|sie) tun)\?$`)

// Asks reports whether a text of the model ends with a question to the user that he has to answer: not with an offer to help.
func Asks(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "*_` ")
	return (strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")) && !courtesy().MatchString(text)
}

// lastQuestion returns the question to the user that a text of the model ends with, or "".
func lastQuestion(text string) string {
	if !Asks(text) {
		return ""
	}
	text = strings.TrimRight(strings.TrimSpace(text), "*_` ")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	for _, end := range []string{". ", "! ", "? "} {
		if k := strings.LastIndex(line, end); k >= 0 {
			line = line[k+len(end):]
		}
	}
	return strings.TrimLeft(line, "-*_# ")
}

// PlanTitle divides a plan into its title, as a label can have it, and the text below it. The title is "" if it has none but "Plan".
func PlanTitle(plan string) (title, text string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(plan), "\n")
	name, is := strings.CutPrefix(first, "# ")
	if !is {
		return "", plan
	}
	title = transcript.WithoutPlan(strings.TrimSpace(name))
	return tokens.Clip(strings.NewReplacer("[", "(", "]", ")", `"`, "'").Replace(title), 80), rest
}

// PlanHeading returns the heading of a plan, or its first line.
func PlanHeading(plan string) string {
	plan = strings.TrimSpace(plan)
	heading := transcript.PlanHeading(plan)
	if heading == "" {
		heading, _, _ = strings.Cut(strings.TrimLeft(plan, "# "), "\n")
	}
	return cmp.Or(transcript.WithoutPlan(heading), heading)
}
