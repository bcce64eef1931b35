package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Question asks whether the messages of a session support a fact, or the summary of an exchange.
type Question struct {
	ID     string           `json:"id"` // of the fact or exchange
	Kind   string           `json:"kind"`
	Text   string           `json:"text"`
	Reason string           `json:"reason,omitempty"`
	Quotes []facts.Evidence `json:"quotes"`
	Notes  []string         `json:"notes"`

	fact     *facts.Fact
	exchange *facts.Exchange
}

// A Questionnaire contains questions about one session, with the lines of the transcript that they need.
type Questionnaire struct {
	Session   *state.Session
	Questions []Question
	Left      int // questions that did not fit
	Lines     []DraftLine
	Tokens    int // estimate of the whole text

	q *revision.Quoted // the transcript
}

// QuestionOptions select questions.
type QuestionOptions struct {
	IDs       []string        // of facts and exchanges; empty for all that were not verified
	All       bool            // verified ones too
	Without   map[string]bool // ids that are left out
	MaxTokens int             // at least one question is included; 0 is no limit
}

// Questions returns the questions about the facts and summaries of a session.
func Questions(ctx context.Context, db *state.DB, p refs.Project, session string, o QuestionOptions) (*Questionnaire, error) {
	out := &Questionnaire{}
	set, err := revision.Facts(ctx, db, p)
	if err != nil {
		return nil, err
	}
	st, err := trust.State(ctx, db, p)
	if err != nil {
		return nil, err
	}
	if out.Session = st.Session(session); out.Session == nil {
		return nil, &state.NotFoundError{What: "session", Name: session}
	}
	all := slices.DeleteFunc(questionsIn(set, session, o), func(q Question) bool { return o.Without[q.ID] })
	if len(all) == 0 {
		return out, nil
	}
	last := slices.MaxFunc(all, func(a, b Question) int {
		return cmp.Or(a.exchange.Generation-b.exchange.Generation,
			a.exchange.To-b.exchange.To)
	}).exchange
	total := len(all)
	all = slices.DeleteFunc(all, func(q Question) bool { return q.exchange.Generation != last.Generation })
	var quoted []facts.Evidence
	for _, q := range all {
		quoted = append(quoted, q.Quotes...)
	}
	if out.q, err = transcriptOf(ctx, db, st, *last, quoted); err != nil {
		return nil, err
	}
	out.add(all, markers.Counter(db, out.q.Point), o.MaxTokens)
	out.Left = total - len(out.Questions)
	return out, nil
}

// Unverified returns the sessions of a project with facts or summaries that nobody was asked about, the newest first.
func Unverified(ctx context.Context, db *state.DB, p refs.Project) (out []string, err error) {
	set, err := revision.Facts(ctx, db, p)
	if err != nil {
		return nil, err
	}
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	for _, s := range st.Recent() {
		if len(questionsIn(set, s.ID, QuestionOptions{})) > 0 {
			out = append(out, s.ID)
		}
	}
	return out, nil
}

// questionsIn returns the selected questions about a session, in the order of its messages: one about each live fact with
// quotes, and one about each summary.
func questionsIn(set *facts.Set, session string, o QuestionOptions) (out []Question) {
	wanted := func(id string, v facts.Verdict) bool {
		if len(o.IDs) > 0 {
			return slices.Contains(o.IDs, id)
		}
		return o.All || v != facts.Verified
	}
	for i := range set.Exchanges {
		x := &set.Exchanges[i]
		if x.Session != session || x.Revoked != "" {
			continue
		}
		for k := range x.Facts {
			f := &x.Facts[k]
			if f.Live() && len(f.Evidence) > 0 && wanted(f.ID, f.Verdict) {
				out = append(out, Question{ID: f.ID, Kind: string(f.Kind), Text: f.Text, Reason: f.Reason, Quotes: f.Evidence,
					Notes: append([]string{}, f.Notes...), fact: f, exchange: x})
			}
		}
		if x.Summary != "" && wanted(x.ID, x.Verdict) {
			out = append(out, Question{ID: x.ID, Kind: "summary", Quotes: []facts.Evidence{}, Notes: []string{},
				Text: strings.TrimSpace(x.Summary + " " + x.Details), exchange: x})
		}
	}
	slices.SortStableFunc(out, func(a, b Question) int { return a.exchange.From - b.exchange.From })
	return out
}

// add adds the questions that fit, each with its lines of the transcript.
func (n *Questionnaire) add(all []Question, c tokens.Counter, most int) {
	q, echo := n.q, n.Session.Echoes(n.q.Point)
	shown := map[int]DraftLine{} // by index in L1
	n.Tokens = c.Estimate(int64(len(answers.Instructions) + len(answerForm) + maxCommand))
	for i, x := range all {
		size := len(x.text())
		fresh := map[int]DraftLine{}
		for _, k := range around(q.Entries, x) {
			line := DraftLine{q.Entries[k].N, speakerOf(q.Entries[k], echo[q.Entries[k].N]), excerpt(q, k, x.Quotes)}
			if old, ok := shown[k]; ok && len(old.Text) >= len(line.Text) {
				continue
			}
			fresh[k] = line
			size += len(line.Text) + len(shown[k].Text) + 20
		}
		if most > 0 && i > 0 && n.Tokens+c.Estimate(int64(size)) > most {
			break
		}
		maps.Copy(shown, fresh)
		n.Tokens += c.Estimate(int64(size))
		n.Questions = append(n.Questions, x)
	}
	for k := range q.Entries {
		if line, ok := shown[k]; ok {
			n.Lines = append(n.Lines, line)
		}
	}
}

// around returns the lines of L1 that a reader needs to answer a question: the quoted messages, what was said before and
// after each, what the calls next to it came to, the request, and what the user said next; for a summary the requests and the last words of its exchange.
func around(entries []refine.Entry, x Question) (out []int) {
	put := func(i int) {
		if i >= 0 && i < len(entries) && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	said := func(e refine.Entry) bool {
		return e.Prompt() || e.Role == "assistant" || e.Role == "user" || e.Role == "note" && e.Name == "plan"
	}
	// next returns the first line after i, in steps of by, that ok accepts.
	next := func(i, by int, ok func(refine.Entry) bool) int {
		for i += by; i >= 0 && i < len(entries) && !ok(entries[i]); i += by {
		}
		return i
	}
	if x.fact == nil {
		for i, e := range entries {
			if e.N < x.exchange.From || e.N > x.exchange.To {
				continue
			}
			last := next(i, 1, said)
			if e.Prompt() || e.Role == "assistant" && (last >= len(entries) || entries[last].Prompt() || entries[last].N > x.exchange.To) {
				put(i)
			}
		}
		const most = 12
		if len(out) > most {
			out = append(out[:most/2], out[len(out)-most/2:]...)
		}
		return out
	}
	for _, quote := range x.Quotes {
		for i, e := range entries {
			if e.N != quote.Message {
				continue
			}
			put(i)
			put(next(i, -1, said))
			put(next(i, -1, refine.Entry.Prompt))
			put(next(i, 1, said))
			put(next(i, 1, refine.Entry.Prompt))
			if e.Role == "assistant" { // the calls before and after it with their results
				const most = 2
				for k, n := i-1, 0; k >= 0 && n < most && !said(entries[k]); k-- {
					if draftText(entries[k]) != "" {
						put(k)
						n++
					}
				}
				for k := i + 1; k < len(entries) && k <= i+most && !said(entries[k]); k++ {
					put(k)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// The lengths of excerpts in characters: of a quoted message on each side of the quote, and of another message.
const (
	besideQuote = 500
	besideLine  = 280
)

// excerpt returns the text of a line around the quotes of a question.
func excerpt(q *revision.Quoted, k int, quotes []facts.Evidence) string {
	e := q.Entries[k]
	text := e.Text()
	from, to := len(text), 0
	for _, v := range quotes {
		if v.Message != e.N {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(v.Quote), "\n")
		if i := strings.Index(text, line); i >= 0 {
			from, to = min(from, i), max(to, min(len(text), i+len(v.Quote)))
		}
	}
	switch {
	case from < to:
		return cutText(text, from-besideQuote, to+besideQuote)
	case slices.ContainsFunc(quotes, func(v facts.Evidence) bool { return v.Message == e.N }):
		return cutText(text, 0, 2*besideQuote)
	case e.Role == "assistant" && len(text) > besideLine: // the end says what came of it
		return cutText(text, 0, besideLine/2) + " " + cutText(text, len(text)-besideLine/2, len(text))
	}
	return cutText(text, 0, besideLine)
}

// cutText returns a part of a text with marks where something was cut.
func cutText(s string, from, to int) string {
	from, to = max(from, 0), min(to, len(s))
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	out := s[from:to]
	if from > 0 {
		out = "… " + out
	}
	if to < len(s) {
		out += " …"
	}
	return out
}

// text returns the messages and the sentences.
func (n *Questionnaire) text() string {
	var lines, sentences strings.Builder
	for _, l := range n.Lines {
		fmt.Fprintf(&lines, "#%d %s: %s\n", l.N, l.Who, l.Text)
	}
	for _, q := range n.Questions {
		sentences.WriteString(q.text())
	}
	return answers.Fenced("messages", lines.String()) + "\n" + answers.Fenced("sentences", sentences.String())
}

// text returns the question: the sentence with its quotes and what code did not find.
func (q Question) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", q.ID, q.Kind, oneLine(q.Text))
	if q.Reason != "" {
		fmt.Fprintf(&b, "  because: %s\n", oneLine(q.Reason))
	}
	if q.fact == nil {
		fmt.Fprintf(&b, "  of the messages #%d to #%d\n", q.exchange.From, q.exchange.To)
	}
	for _, e := range q.Quotes {
		fmt.Fprintf(&b, "  #%d %s: \"%s\"\n", e.Message, e.By, oneLine(e.Quote))
	}
	for _, s := range q.Notes {
		fmt.Fprintf(&b, "  note: %s\n", oneLine(s))
	}
	return b.String()
}

// IDs returns the ids of the facts and exchanges that are asked about.
func (n *Questionnaire) IDs() (out []string) {
	for _, q := range n.Questions {
		out = append(out, q.ID)
	}
	return out
}

// A Verification is what became of answers.
type Verification struct {
	Verified []string     `json:"verified"` // ids
	Reworded []facts.Fact `json:"reworded"` // the new facts
	Removed  []string     `json:"removed"`
	Refused  []string     `json:"refused"` // answers that cannot be saved, with the reason
}

// NewVerification returns one without results.
func NewVerification() Verification {
	return Verification{Verified: []string{}, Reworded: []facts.Fact{}, Removed: []string{}, Refused: []string{}}
}

// Add adds the results of other answers.
func (v *Verification) Add(o Verification) {
	v.Verified, v.Reworded = append(v.Verified, o.Verified...), append(v.Reworded, o.Reworded...)
	v.Removed, v.Refused = append(v.Removed, o.Removed...), append(v.Refused, o.Refused...)
}

// answers adds the records of answers about facts of any session of the project.
func (s *batch) answers(ctx context.Context, list []answers.Answer) error {
	groups := map[string][]answers.Answer{}
	var sessions []string
	for i, a := range list {
		id, ok := "", false
		for _, x := range s.set.Exchanges {
			if x.ID == a.ID || slices.ContainsFunc(x.Facts, func(f facts.Fact) bool { return f.ID == a.ID }) {
				id, ok = x.Session, true
			}
		}
		if !ok {
			s.problems.Add(fmt.Sprintf("answers[%d].id", i), "no question is about `%s`", answers.Printable(a.ID))
			continue
		}
		if groups[id] == nil {
			sessions = append(sessions, id)
		}
		groups[id] = append(groups[id], a)
	}
	for _, id := range sessions {
		var ids []string
		for _, a := range groups[id] {
			ids = append(ids, a.ID)
		}
		n, err := Questions(ctx, s.db, s.p, id, QuestionOptions{IDs: ids})
		if err != nil {
			return err
		}
		of := saver{db: s.db, p: s.p, set: s.set, session: n.Session, q: n.q, o: s.o}
		for _, a := range groups[id] {
			if i := slices.IndexFunc(n.Questions, func(q Question) bool { return q.ID == a.ID }); i >= 0 {
				of.answer(&s.out.Verification, n.Questions[i], a)
			} else {
				s.out.Refused = append(s.out.Refused, a.ID+": it was removed or replaced")
			}
		}
		s.exchanges, s.judgements = append(s.exchanges, of.exchanges...), append(s.judgements, of.judgements...)
	}
	return nil
}

// answer adds the records of one answer.
func (s *saver) answer(v *Verification, q Question, a answers.Answer) {
	key := q.exchange.Key()
	if q.fact != nil {
		key = q.fact.Key()
	}
	yes := facts.Judgement{Fact: key, Says: facts.Verifies, Value: true, Asked: s.o.Asked, Reason: a.Why}
	switch {
	case a.Answer == answers.Supported:
		v.Verified = append(v.Verified, q.ID)
	case a.Answer == answers.Not:
		v.Removed = append(v.Removed, q.ID)
		yes.Says = facts.Removes
	case q.fact == nil:
		v.Verified = append(v.Verified, q.ID)
		yes.Text = a.Text
	default:
		s.reword(v, q, a, yes)
		return
	}
	s.judgements = append(s.judgements, yes)
}

// reword adds a fact with the better wording, which takes the place of the old one.
func (s *saver) reword(v *Verification, q Question, a answers.Answer, yes facts.Judgement) {
	f := *q.fact
	made := s.fact(facts.InputFact{Kind: f.Kind, Text: a.Text, Evidence: f.Evidence, Keywords: f.Keywords})
	made.Files, made.Time = f.Files, f.Time
	if made.Verdict == facts.Rejected || made.Key() == f.Key() {
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %s", q.ID, strings.Join(made.Notes, "; ")))
		return
	}
	v.Reworded = append(v.Reworded, made)
	yes.Fact = made.Key()
	x := *q.exchange
	x.Facts = []facts.Fact{made}
	s.exchanges = append(s.exchanges, x)
	s.judgements = append(s.judgements, yes,
		facts.Judgement{Fact: f.Key(), Says: facts.Supersedes, Value: true, By: made.Key(), Asked: yes.Asked, Reason: a.Why})
}
