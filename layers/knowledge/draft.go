package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
)

// A FactDraft contains undistilled lines of the L1 of a session, and the facts that they may be about.
type FactDraft struct {
	Session  *state.Session
	From, To int // messages; To is 0 if there is nothing to do
	Total    int // messages of the session
	Tokens   int // estimate for Lines
	Printed  int // what MaxTokens limits: Tokens, with Whole also the instruction and the known facts
	Left     int // estimate for the lines after To
	Lines    []DraftLine
	Cut      bool         // it ends inside an exchange
	Open     []facts.Fact // known facts: open issues, related facts of other sessions, facts of this session
	Concepts []string     // the known concepts: label and name
}

// A DraftLine is a line of L1 as shown to a model or a person.
type DraftLine struct {
	N    int    `json:"n"`
	Who  string `json:"who"`
	Text string `json:"text"`
}

// DraftOptions are the options of [DraftFacts].
type DraftOptions struct {
	All       bool     // include distilled messages
	MaxTokens int      // estimated limit of Printed; the first exchange is included at least in part. 0 is no limit
	Whole     bool     // the limit is one of the text of [FactDraft.Instruction], not only of Lines
	After     int      // start after this message; 0 starts after the last distilled one
	KnownIDs  []string // with All: the only facts of this session that are shown as known
}

// The numbers of known facts in a draft: of open issues, of related facts of other sessions, and of all.
const (
	maxIssues  = 20
	maxRelated = 12
	maxKnown   = 40
)

// DraftFacts returns the undistilled lines of the session that rev names, without the messages that another session has
// (a fork begins with copies), unless o.All is set. A part ends with an exchange, unless the exchange is longer than the
// limit.
func DraftFacts(ctx context.Context, db *state.DB, rev state.Rev, o DraftOptions) (FactDraft, error) {
	d := FactDraft{Session: rev.Session}
	all, err := trust.Known(ctx, db, rev.Project.ID)
	if err != nil {
		return d, err
	}
	set := all.Facts
	d.Concepts = conceptNames(all.Concepts, rev.Session.ID, db.Refs.Device().ID, o)
	p := rev.Session.Now()
	d.Total = p.Scan.Values
	since := max(o.After, set.ThroughOf(rev.Session.ID, p.Generation))
	if o.All {
		since = o.After
	}
	l1, err := originals.L1(ctx, db, rev.Project.ID, p.Original, refine.Lean)
	if err != nil {
		return d, err
	}
	defer l1.Close()
	c, echo := markers.Counter(db, p), map[int]bool{}
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return d, err
	}
	if s := st.Session(rev.Session.ID); s != nil {
		echo = s.Echoes(p)
	}
	same := sessions.Copies{}
	if !o.All {
		if same, err = sessions.CopiesIn(ctx, db, rev.Project.ID, st); err != nil {
			return d, err
		}
	}
	known := knownFor(rev.Session.ID, set, o)
	var exchange []DraftLine
	most := o.MaxTokens
	if o.Whole {
		d.Printed = c.Estimate(int64(len(steps) + len(draftForm) + maxCommand + len(strings.Join(d.Concepts, "\n"))))
		most = max(most-known.reserve(c), 1)
	}
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return d, err
		}
		if e.Request() && len(exchange) > 0 {
			d.add(exchange, c, most)
			exchange = nil
		}
		if text := draftText(e); text != "" && e.N > since && !same[rev.Session.ID].Has(e.N) {
			exchange = append(exchange, DraftLine{e.N, speakerOf(e, echo[e.N]), text})
		}
	}
	d.add(exchange, c, most)
	if d.Left == 0 && !slices.ContainsFunc(d.Lines, func(l DraftLine) bool { return l.Who != "command" }) {
		d.From, d.To, d.Lines = 0, 0, nil // of "/exit" there is nothing to write
	}
	d.Open = known.related(d.Lines)
	if o.Whole {
		d.Printed += estimateKnown(c, d.Open)
	}
	if d.To > 0 && d.Left == 0 {
		d.To = d.Total // the messages after it have no text
	}
	return d, nil
}

// maxCommand is the size of the command in an instruction, and of the line before it.
const maxCommand = 300

// The lengths of what a draft shows of an entry, in characters.
const (
	maxCall    = 280 // of a command with its result, of a report, of a call that failed
	maxQuiet   = 140 // of an edit, and of a command that says nothing of how it ended
	maxPaste   = 400 // of pasted text in a prompt
	shortPaste = 3   // lines
)

// draftText returns what a draft shows of an entry: what was said, whole but for pastes; what a call changed, ran or
// reported, in short; nothing of reads, of notes of the client, of the conversation of agents, of summaries of
// compactions, which repeat what precedes them, and of what the user withdrew.
func draftText(e refine.Entry) string {
	switch {
	case e.Rewound, e.Side, e.Role == "summary", e.Role == "opaque":
		return ""
	case e.Prompt():
		return withoutPastes(e.Text())
	case e.Role == "note" && e.Name != "command" && e.Name != "plan" && e.Name != "message":
		return ""
	case e.Role != "tool":
		return e.Text()
	case e.Cmd == "" && e.Diff == "" && len(e.Errors) == 0 && (e.Result == "" || e.Result == "ok"):
		return ""
	}
	if e.Diff != "" || e.Cmd != "" && e.Verdict == "" && e.Exit == 0 && len(e.Errors) == 0 {
		return tokens.Shorten(e.Text(), maxQuiet)
	}
	return tokens.Shorten(e.Text(), maxCall)
}

// withoutPastes shortens pasted lines to the first ones of each run.
func withoutPastes(text string) string {
	kinds := transcript.LineKinds(text)
	if kinds == nil {
		return text
	}
	var b strings.Builder
	run, size, left := 0, 0, 0
	for i, line := range strings.Split(text, "\n") {
		if kinds[i] != transcript.Pasted {
			run, size = 0, 0
		} else if run, size = run+1, size+len(line); run > shortPaste || size > maxPaste {
			left++
			continue
		}
		if left > 0 {
			fmt.Fprintf(&b, "[%d pasted lines]\n", left)
			left = 0
		}
		b.WriteString(tokens.Shorten(line, 4*maxPaste) + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "[%d pasted lines]\n", left)
	}
	return strings.TrimRight(b.String(), "\n")
}

// add adds the lines of an exchange if they fit into a limit of tokens. After one that does not fit, none is added. Of a
// first exchange that is longer than the limit, the messages that fit are added, and at least one.
func (d *FactDraft) add(exchange []DraftLine, c tokens.Counter, most int) {
	estimate := func(list []DraftLine) int {
		size := 0
		for _, l := range list {
			size += len(l.Text) + len(l.Who) + len(strconv.Itoa(l.N)) + len("# : \n")
		}
		return c.Estimate(int64(size))
	}
	fits := func(list []DraftLine) bool { return most == 0 || d.Printed+estimate(list) <= most }
	n := 0 // lines that are added
	switch {
	case d.Left > 0:
	case fits(exchange):
		n = len(exchange)
	case len(d.Lines) == 0:
		for end := 1; end <= len(exchange); end++ {
			if end < len(exchange) && exchange[end].N == exchange[end-1].N {
				continue // the message goes on
			}
			if n > 0 && !fits(exchange[:end]) {
				break
			}
			n = end
		}
		d.Cut = n < len(exchange)
	}
	d.Left += estimate(exchange[n:])
	if n == 0 {
		return
	}
	if d.From == 0 {
		d.From = exchange[0].N
	}
	d.To, d.Lines = exchange[n-1].N, append(d.Lines, exchange[:n]...)
	d.Tokens, d.Printed = d.Tokens+estimate(exchange[:n]), d.Printed+estimate(exchange[:n])
}

// known are the facts that a draft may show, the newest first.
type known struct{ issues, others, own []facts.Fact }

// knownFor returns the known facts for a draft of a session: the open issues, the decisions and preferences of other
// sessions, and the facts of the session itself.
func knownFor(session string, set *facts.Set, o DraftOptions) (k known) {
	for f := range set.All() {
		switch {
		case !f.Current():
		case f.Session == session:
			if !o.All || slices.Contains(o.KnownIDs, f.ID) {
				k.own = append(k.own, *f)
			}
		case f.Open():
			k.issues = append(k.issues, *f)
		case f.Kind == facts.Decision || f.Kind == facts.Preference:
			k.others = append(k.others, *f)
		}
	}
	newest := func(list []facts.Fact) []facts.Fact {
		slices.SortStableFunc(list, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
		return facts.Distinct(list)
	}
	k.issues, k.others = newest(k.issues), newest(k.others)
	k.own = k.own[max(0, len(k.own)-maxKnown):]
	return k
}

// reserve returns the tokens that the known facts of a draft may need.
func (k known) reserve(c tokens.Counter) int {
	longest := slices.SortedFunc(slices.Values(k.others), func(a, b facts.Fact) int { return len(b.Text) - len(a.Text) })
	return estimateKnown(c, slices.Concat(k.issues[:min(len(k.issues), maxIssues)], longest[:min(len(longest), maxRelated)], k.own))
}

// estimateKnown returns the tokens of known facts.
func estimateKnown(c tokens.Counter, list []facts.Fact) int {
	size := 0
	for _, f := range list {
		size += len(f.Text) + 24
	}
	return c.Estimate(int64(size))
}

// related returns the known facts to show with lines: the issues, those that have most to do with the lines first; the
// decisions and preferences that have something to do with them; and the facts of the session.
func (k known) related(lines []DraftLine) []facts.Fact {
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.Text + "\n")
	}
	weight := weights(append(slices.Clone(k.issues), k.others...), text.String())
	most := func(list []facts.Fact, n int) []facts.Fact {
		list = slices.SortedStableFunc(slices.Values(list), func(a, b facts.Fact) int { return weight[b.ID] - weight[a.ID] })
		return list[:min(len(list), n)]
	}
	others := slices.DeleteFunc(most(k.others, maxRelated), func(f facts.Fact) bool { return weight[f.ID] == 0 })
	out := append(most(k.issues, maxIssues), others...)
	return append(out, k.own[max(0, len(k.own)-maxKnown+len(out)):]...)
}

// nameWeight is the weight of a file or an identifier that a fact and a text share.
const nameWeight = 3000

// weights returns how much facts have to do with a text, in thousandths: a name that they share, and each word of the fact
// or its keywords in the text, which counts the less the more facts have it. A decision can change without its file being
// named: "invoices in cents" is about "Invoices are stored in euros".
func weights(list []facts.Fact, text string) map[string]int {
	lower, said := strings.ToLower(text), permanent.Terms(text)
	words, have := make([][]string, len(list)), map[string]int{}
	for i, f := range list {
		words[i] = permanent.Terms(strings.Join(append([]string{f.Text}, f.Keywords...), "\n"))
		for _, w := range words[i] {
			have[w]++
		}
	}
	out := map[string]int{}
	for i, f := range list {
		for _, name := range f.Names() {
			if strings.Contains(lower, name) {
				out[f.ID] += nameWeight
			}
		}
		for _, w := range words[i] {
			if _, ok := slices.BinarySearch(said, w); ok && len(w) > 3 {
				out[f.ID] += nameWeight / 3 / have[w]
			}
		}
	}
	return out
}

// speakerOf returns the label of the speaker of a line of L1.
func speakerOf(e refine.Entry, echo bool) string {
	switch {
	case e.Prompt() && echo:
		return "echo"
	case e.Role == "note" && e.Name == "command":
		return e.Name
	}
	return e.Author()
}

// text returns what is known, and the transcript.
func (d FactDraft) text() string {
	var known, lines strings.Builder
	for _, f := range d.Open {
		fmt.Fprintf(&known, "%s %s: %s\n", f.ID, f.Kind, f.Text)
	}
	for _, c := range d.Concepts {
		known.WriteString(c + "\n")
	}
	for _, l := range d.Lines {
		fmt.Fprintf(&lines, "#%d %s: %s\n", l.N, l.Who, l.Text)
	}
	head := ""
	if known.Len() > 0 {
		head = "Known already. Is an issue solved now, a decision changed?\n" + answers.Fenced("known", known.String()) + "\n"
	}
	return head + answers.Fenced("transcript", lines.String())
}

// maxConcepts is the number of concepts in a draft.
const maxConcepts = 25

// conceptNames returns the labels and names of the concepts that were last changed. With o.All, concepts that only this session
// has are not known before it is read.
func conceptNames(set *concepts.Set, session, device string, o DraftOptions) (out []string) {
	list := slices.DeleteFunc(set.Live(), func(c *concepts.Concept) bool {
		return o.All && !slices.ContainsFunc(c.Sessions, func(s string) bool { return s != session }) &&
			!slices.ContainsFunc(c.Exchanges, func(x string) bool { return slices.Contains(o.KnownIDs, x) })
	})
	newest := slices.SortedStableFunc(slices.Values(list), func(a, b *concepts.Concept) int { return b.Updated.Compare(a.Updated) })
	for _, c := range list {
		if slices.Contains(newest[:min(len(newest), maxConcepts)], c) {
			out = append(out, set.DisplayLabel(c, device)+" concept: "+oneLine(c.Name))
		}
	}
	return out
}
