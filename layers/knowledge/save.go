package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/knowledge/claims"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// SaveOptions are the options of [SaveFacts].
type SaveOptions struct {
	MaxFacts   int        // per session; 0 is no limit
	Engine     string     // author of the facts; "" if a person or Claude ran the command
	Witnesses  [][]byte   // requests to the engine and its answers
	tips       []refs.Tip // of the lanes before the request
	AllowEmpty bool       // save the witnesses even if every fact was rejected
	DryRun     bool
}

// A SavedFact is the result for one fact.
type SavedFact struct {
	Path  string // of the fact in the input: exchanges[0].facts[2]
	Fact  facts.Fact
	Known bool // it was stored before

	given facts.InputFact
}

// SavedFacts is the result of [SaveFacts].
type SavedFacts struct {
	Session   *state.Session
	Exchanges []facts.Exchange // as saved, without rejected facts
	Facts     []SavedFact      // all facts, also the rejected ones
	Dropped   []string         // other parts of the input that were dropped, each with path and reason
	Notes     []string         // on exchanges
	Through   int              // the last distilled message
}

// Count returns the number of facts with a verdict.
func (s SavedFacts) Count(v facts.Verdict) int {
	n := 0
	for _, f := range s.Facts {
		if f.Fact.Verdict == v {
			n++
		}
	}
	return n
}

// Accepted returns the number of facts that were not rejected.
func (s SavedFacts) Accepted() int { return len(s.Facts) - s.Count(facts.Rejected) }

// Partly reports whether a part of the input was not saved.
func (s SavedFacts) Partly() bool { return len(s.Dropped) > 0 || s.Count(facts.Rejected) > 0 }

// ErrAllRejected means that all facts were rejected.
var ErrAllRejected = errors.New("no fact was saved")

// SaveFacts checks facts about the session that rev names and saves the accepted ones in one commit. The result
// contains the reason of each rejection. If all are rejected, nothing is written and the error is [ErrAllRejected];
// malformed input is a [*facts.InputError].
func SaveFacts(ctx context.Context, db *state.DB, rev state.Rev, g facts.Input, o SaveOptions) (SavedFacts, error) {
	s := saver{m: db, rev: rev, o: o, given: g, local: map[string]facts.Fact{}, out: SavedFacts{Session: rev.Session}}
	if err := s.prepare(ctx); err != nil {
		return s.out, err
	}
	for i, x := range g.Exchanges {
		s.addExchange(i, x)
	}
	for _, f := range s.out.Facts {
		s.addJudgements(f)
	}
	if len(s.problems) > 0 {
		return s.out, &facts.InputError{Problems: s.problems}
	}
	if n := len(s.out.Facts); n > 0 && s.out.Count(facts.Rejected) == n && !o.AllowEmpty {
		return s.out, ErrAllRejected
	}
	if o.DryRun {
		return s.out, nil
	}
	return s.out, s.write(ctx)
}

// A saver saves facts of a session.
type saver struct {
	m          *state.DB
	rev        state.Rev
	o          SaveOptions
	given      facts.Input
	local      map[string]facts.Fact // by their names in the input
	set        *facts.Set
	q          *revision.Quoted
	out        SavedFacts
	judgements []facts.Judgement
	problems   []string
	message    string // of the commit; empty for that of new facts
	factCount  int    // valid facts of the session, saved and new
}

// prepare loads the session and its known facts.
func (s *saver) prepare(ctx context.Context) (err error) {
	project := s.rev.Project.ID
	if s.set, err = revision.Facts(ctx, s.m, project); err != nil {
		return err
	}
	st, err := trust.State(ctx, s.m, project)
	if err != nil {
		return err
	}
	session := st.Session(s.rev.Session.ID)
	if session == nil {
		return &state.NotFoundError{What: "session", Name: s.rev.Session.ID}
	}
	quotes := map[int]bool{}
	for _, x := range s.given.Exchanges {
		for _, f := range x.Facts {
			citeMessages(quotes, f.Evidence)
		}
	}
	for f := range s.set.All() {
		if f.Session == session.ID && f.Live() {
			s.factCount++
		}
	}
	if s.q, err = revision.Quotable(ctx, s.m, project, session, session.Now(), quotes); err != nil {
		return err
	}
	total := s.q.Point.Scan.Values
	if s.given.Through > total {
		s.problems = append(s.problems, fmt.Sprintf("through: %d is behind the last message, %d", s.given.Through,
			total))
	}
	s.out.Through = max(s.set.ThroughOf(session.ID, s.q.Point.Generation), s.given.Through)
	return nil
}

func (s *saver) problem(at, format string, args ...any) {
	s.problems = append(s.problems, at+": "+fmt.Sprintf(format, args...))
}

func (s *saver) note(at, format string, args ...any) {
	s.out.Notes = append(s.out.Notes, at+": "+fmt.Sprintf(format, args...))
}

func (s *saver) drop(at, format string, args ...any) {
	s.out.Dropped = append(s.out.Dropped, at+": "+fmt.Sprintf(format, args...))
}

// addExchange checks one exchange.
func (s *saver) addExchange(i int, g facts.InputExchange) {
	at := fmt.Sprintf("exchanges[%d]", i)
	now := s.q.Point
	x := facts.Exchange{Session: s.out.Session.ID, Generation: now.Generation, Original: now.Original,
		Summary: g.Summary, Details: g.Details, Topic: g.Topic, Keywords: g.Keywords}
	span, ok := s.span(at, g)
	if !ok {
		return
	}
	if old := s.around(span, g); old != nil {
		x = *old
		x.Facts = nil
	} else {
		x.From, x.To = span[0], span[1]
		x.L1Range, x.Time = s.q.Lines(x.From, x.To), s.q.When(x.To)
	}
	scene := s.q.Scene(x.From, x.To)
	if bad := claims.Missing(x.Summary+"\n"+x.Details, scene.Text); len(bad) > 0 {
		s.note(at+".summary", "not in its messages %d to %d: `%s`", x.From, x.To, strings.Join(bad, "`, `"))
	}
	if shortTopic(x.Topic) {
		s.note(at+".topic", "`%s` says little: 3 to 5 words are better", x.Topic)
	}
	x.Files = append(x.Files, s.namedFiles(at, g.Files, scene.Text)...)
	for k, given := range g.Facts {
		at := fmt.Sprintf("%s.facts[%d]", at, k)
		f := facts.Fact{Session: x.Session, Kind: given.Kind, Text: given.Text, Reason: given.Reason,
			Evidence: given.Evidence, Keywords: given.Keywords}
		s.q.Check(&f)
		_, known := s.set.Fact(f.Name())
		if !known && f.Verdict != facts.Rejected && s.o.MaxFacts > 0 && s.factCount >= s.o.MaxFacts {
			f.Verdict, f.Notes = facts.Rejected, []string{fmt.Sprintf("facts.maxPerSession is %d", s.o.MaxFacts)}
		}
		f.ID = f.Name()
		if f.Verdict != facts.Rejected {
			f.Files = s.namedFiles(at, given.Files, scene.Text+s.quoted(f))
			x.Facts = append(x.Facts, f)
			if given.ID != "" {
				s.local[given.ID] = f
			}
			if !known {
				s.factCount++
			}
		}
		s.out.Facts = append(s.out.Facts, SavedFact{Path: at, Fact: f, Known: known, given: given})
	}
	if len(x.Facts) > 0 || len(g.Facts) == 0 {
		x.ID = x.Name()
		s.out.Through = max(s.out.Through, x.To)
		s.out.Exchanges = append(s.out.Exchanges, x)
	}
}

// shortTopic reports whether a topic has one or two words, in a script that separates words by spaces.
func shortTopic(s string) bool {
	n := len(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '/' }))
	return n > 0 && n < 3 &&
		strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) })
}

// around returns the saved exchange to which a correction belongs: the shortest one that contains the messages, if the
// input says nothing else about them.
func (s *saver) around(span [2]int, g facts.InputExchange) (best *facts.Exchange) {
	if g.Summary != "" || g.Details != "" || g.Topic != "" {
		return nil
	}
	for i := range s.set.Exchanges {
		x := &s.set.Exchanges[i]
		if x.Session == s.out.Session.ID && x.Generation == s.q.Point.Generation &&
			x.From <= span[0] && x.To >= span[1] && (best == nil || x.To-x.From < best.To-best.From) {
			best = x
		}
	}
	return best
}

// span returns the first and the last message of an exchange.
func (s *saver) span(at string, g facts.InputExchange) ([2]int, bool) {
	total := s.q.Point.Scan.Values
	switch {
	case g.Messages != [2]int{}:
		if g.Messages[1] > total {
			s.problem(at+".messages", "%d is behind the last message, %d", g.Messages[1], total)
			return g.Messages, false
		}
		return g.Messages, true
	case g.L1Range != [2]int{}:
		span, ok := s.q.Messages(g.L1Range)
		if !ok {
			s.problem(at+".l1_range", "L1 has %d lines", len(s.q.Entries))
		}
		return span, ok
	}
	span := [2]int{0, 0}
	for _, f := range g.Facts {
		for _, e := range f.Evidence {
			if e.Message > total {
				continue // the check reports it
			}
			if span[0] == 0 || e.Message < span[0] {
				span[0] = e.Message
			}
			span[1] = max(span[1], e.Message)
		}
	}
	if span[0] == 0 {
		s.problem(at+".messages", "missing: want the numbers of its first and last message")
	}
	return span, span[0] > 0
}

func (s *saver) quoted(f facts.Fact) string {
	var b strings.Builder
	for _, e := range f.Evidence {
		for _, p := range s.q.Text.Parts[e.Message] {
			b.WriteString("\n" + p.Text)
		}
	}
	return b.String()
}

// namedFiles returns the files that occur in a text and drops the others.
func (s *saver) namedFiles(at string, list []string, text string) []string {
	var out []string
	for i, f := range list {
		name := f[strings.LastIndexAny(f, `/\`)+1:]
		if f != "" && strings.Contains(text, f) || name != "" && strings.Contains(text, name) {
			out = append(out, f)
			continue
		}
		s.drop(fmt.Sprintf("%s.files[%d]", at, i), "`%s` is not in its messages", f)
	}
	return out
}

// objection returns why fact f may not supersede, refute or resolve old, "" if it may. A fact without evidence does not
// overrule one with evidence, and the word of a tool or the model does not overrule what the user typed.
func objection(f, old facts.Fact, says string) string {
	switch {
	case says == facts.Resolves && old.Kind != facts.Issue:
		return fmt.Sprintf("%s is not an issue but a %s", old.ID, old.Kind)
	case old.Key() == f.Key():
		return old.ID + " is the fact itself"
	case len(f.Evidence) == 0 && len(old.Evidence) > 0:
		return fmt.Sprintf("%s has evidence, and a fact without evidence does not make it %s", old.ID, says)
	case f.Trust < old.Trust && (says != facts.Resolves || f.Trust < facts.Assistant):
		return fmt.Sprintf("the %[2]s said %[1]s; the quotes of this fact are from the %[3]s", old.ID, old.Trust,
			f.Trust)
	}
	return ""
}

// A link lists the facts that a new fact supersedes, refutes or resolves.
type link struct {
	field, says string
	ids         []string
}

func links(g facts.InputFact) []link {
	return []link{{"supersedes", facts.Supersedes, g.Supersedes}, {"refutes", facts.Refutes, g.Refutes},
		{"resolves", facts.Resolves, g.Resolves}}
}

// addJudgements adds the judgements on other facts that a new one makes.
func (s *saver) addJudgements(f SavedFact) {
	if f.Fact.Verdict == facts.Rejected {
		return
	}
	for _, l := range links(f.given) {
		for i, id := range l.ids {
			at := fmt.Sprintf("%s.%s[%d]", f.Path, l.field, i)
			old, ok := s.local[id]
			if !ok {
				var err error
				if old, err = oneFact(s.set, id); err != nil {
					s.problem(at, "%v", err)
					continue
				}
			}
			if why := objection(f.Fact, old, l.says); why != "" {
				s.drop(at, "%s", why)
				continue
			}
			s.judgements = append(s.judgements, facts.Judgement{Fact: old.Key(), Says: l.says, Value: true,
				By: f.Fact.Key()})
		}
	}
}

// oneFact returns the only fact whose ID starts with id.
func oneFact(set *facts.Set, id string) (facts.Fact, error) {
	if !IsFactID(id) || len(id) < len("f:")+4 {
		return facts.Fact{}, fmt.Errorf("`%s` is not an ID of a fact, such as f:1a2b3c4d", id)
	}
	switch all := set.Find(id); len(all) {
	case 0:
		return facts.Fact{}, fmt.Errorf("there is no fact %s", id)
	case 1:
		return all[0], nil
	default:
		return facts.Fact{}, fmt.Errorf("%s begins the IDs of %d facts", id, len(all))
	}
}

// write commits the result.
func (s *saver) write(ctx context.Context) error {
	now := s.q.Point
	stage, err := s.m.Refs.Stage(ctx)
	if err != nil {
		return err
	}
	defer stage.Close()
	done := facts.Distilled{Session: s.out.Session.ID, Generation: now.Generation, Through: s.out.Through,
		Engine: s.o.Engine}
	if done.Witnesses, err = stageAll(stage, s.o.Witnesses); err != nil {
		return err
	}
	fresh := 0
	for _, f := range s.out.Facts {
		if f.Fact.Verdict != facts.Rejected && !f.Known {
			fresh++
		}
	}
	message := fmt.Sprintf("facts save %s  %d facts of %d exchanges, through #%d", records.ShortID(done.Session), fresh,
		len(s.out.Exchanges), done.Through)
	if s.message != "" {
		message = s.message
	}
	return s.m.Refs.Update(ctx, s.rev.Project.ID, message, func(tx *refs.Tx) error {
		if err := adoptWitnesses(ctx, tx, stage, done.Witnesses, s.o.tips); err != nil {
			return err
		}
		tx.Trailer("Op", "facts")
		tx.Trailer("Session", done.Session)
		for _, x := range s.out.Exchanges {
			if s.isSaved(x) {
				continue
			}
			if err := originals.CheckInputs(ctx, tx, x.Original); err != nil {
				return err
			}
			if _, err := tx.Add(facts.KindExchange, x.Bare()); err != nil {
				return err
			}
		}
		for _, j := range s.judgements {
			if _, err := tx.Add(facts.KindJudgement, j); err != nil {
				return err
			}
		}
		if done.Through == s.set.ThroughOf(done.Session, done.Generation) && len(done.Witnesses) == 0 {
			return nil
		}
		_, err := tx.Add(facts.KindDistilled, done)
		return err
	})
}

// stageAll stores texts in a stage and returns their hashes.
func stageAll(stage *refs.Stage, texts [][]byte) (out []objects.Hash, err error) {
	for _, b := range texts {
		if _, err := stage.Put(b); err != nil {
			return nil, err
		}
		out = append(out, objects.Sum(b))
	}
	return out, nil
}

// adoptWitnesses moves staged witnesses into a transaction, unless text was forgotten since the lanes had the tips.
func adoptWitnesses(ctx context.Context, tx *refs.Tx, stage *refs.Stage, witnesses []objects.Hash,
	tips []refs.Tip) error {
	if len(witnesses) == 0 {
		return nil
	}
	if err := originals.CheckQuestion(ctx, tx, tips); err != nil {
		return err
	}
	return tx.Adopt(stage)
}

// isSaved reports whether an exchange and all its facts are stored.
func (s *saver) isSaved(x facts.Exchange) bool {
	return slices.ContainsFunc(s.set.Exchanges, func(k facts.Exchange) bool { return k.Key() == x.Key() }) &&
		!slices.ContainsFunc(x.Facts, func(f facts.Fact) bool {
			old, ok := s.set.Fact(f.Name())
			return !ok || old.Removed
		})
}
