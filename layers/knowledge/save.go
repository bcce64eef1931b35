package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/knowledge/concepts"
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
	MaxFacts  int                   // per session; 0 is no limit
	Asked     string                // who answered the questions
	Local     map[string]facts.Fact // facts of earlier parts of the answer by their names in it; those of the input are added
	Engine    string                // author of the facts; "" if a person or Claude ran the command
	Witnesses [][]byte              // requests to the engine and its answers, saved even if every fact is rejected
	tips      []refs.Tip            // of the lanes before the request
	DryRun    bool
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
	Dropped   answers.Problems // other parts of the input that were dropped, each with path and reason
	Notes     answers.Problems // on exchanges
	Through   int              // the last distilled message
	Assigned  int              // exchanges that were assigned to a concept
	Verification
}

// Counts returns the numbers of accepted and rejected facts of all parts.
func (d Distillation) Counts() (accepted, rejected int) {
	for _, s := range d.Saved {
		accepted, rejected = accepted+s.Accepted(), rejected+s.Count(facts.Rejected)
	}
	return accepted, rejected
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
func (s SavedFacts) Partly() bool {
	return len(s.Dropped)+len(s.Refused) > 0 || s.Count(facts.Rejected) > 0
}

// ErrAllRejected means that all facts were rejected.
var ErrAllRejected = errors.New("no fact was saved")

// SaveFacts checks facts about the session that rev names, and saves the accepted ones with the answers about others and the
// concepts of the exchanges, in one commit. The result contains the reason of each rejection. If all facts are rejected,
// nothing is written and the error is [ErrAllRejected]; malformed input is a [*answers.Error]. The session may be nil if there are
// only answers.
func SaveFacts(ctx context.Context, db *state.DB, rev state.Rev, g facts.Input, o SaveOptions) (SavedFacts, error) {
	out := SavedFacts{Session: rev.Session, Verification: NewVerification()}
	var quoted []facts.Evidence
	for _, x := range g.Exchanges {
		for _, f := range x.Facts {
			quoted = append(quoted, f.Evidence...)
		}
	}
	core, err := openSaver(ctx, db, rev.Project.ID, rev.Session, quoted)
	if err != nil {
		return out, err
	}
	core.o = o
	s := batch{saver: core, local: o.Local, out: out}
	if s.local == nil {
		s.local = map[string]facts.Fact{}
	}
	if s.session != nil {
		s.add(g)
	}
	if err := s.answers(ctx, g.Answers); err != nil {
		return s.out, err
	}
	places, err := s.placements(ctx)
	if err == nil {
		err = s.problems.Err()
	}
	if err != nil {
		return s.out, err
	}
	if n := len(s.out.Facts); n > 0 && s.out.Count(facts.Rejected) == n && o.Engine == "" {
		return s.out, ErrAllRejected
	}
	if o.DryRun {
		return s.out, nil
	}
	s.exchanges = append(s.exchanges, s.out.Exchanges...)
	return s.out, s.write(ctx, s.message(g), s.out.Through, func(tx *refs.Tx) error {
		_, err := place(ctx, db, tx, s.p, places)
		return err
	})
}

// message returns the subject of the commit.
func (s *batch) message(g facts.Input) string {
	var parts []string
	if s.session != nil && (len(g.Exchanges) > 0 || len(g.Answers) == 0) {
		fresh := 0
		for _, f := range s.out.Facts {
			if f.Fact.Verdict != facts.Rejected && !f.Known {
				fresh++
			}
		}
		parts = append(parts, fmt.Sprintf("save %s  %d facts of %d exchanges, through #%d", records.ShortID(s.session.ID), fresh,
			len(s.out.Exchanges), s.out.Through))
	}
	if len(g.Answers) > 0 {
		of := ""
		if s.session != nil && len(parts) == 0 {
			of = records.ShortID(s.session.ID) + "  "
		}
		parts = append(parts, fmt.Sprintf("verify %s%d verified, %d reworded, %d removed  by %s", of, len(s.out.Verified),
			len(s.out.Reworded), len(s.out.Removed), s.o.Asked))
	}
	return "facts " + strings.Join(parts, "; ")
}

// add checks the exchanges of an input.
func (s *batch) add(g facts.Input) {
	s.factCount = len(liveOf(s.set, s.session.ID))
	if total := s.q.Point.Scan.Values; g.Through > total {
		s.problems.Add("through", "%d is behind the last message, %d", g.Through, total)
	}
	s.given, s.out.Through = g.Through, max(s.through(), g.Through)
	for i, x := range g.Exchanges {
		s.addExchange(i, x)
	}
	for _, f := range s.out.Facts {
		s.addJudgements(f)
	}
}

// placements returns what the concepts that exchanges name do. A new name that does not come from the session is dropped: later
// sessions read it.
func (s *batch) placements(ctx context.Context) (out []placement, err error) {
	if len(s.jobs) == 0 {
		return nil, nil
	}
	set, err := revision.Concepts(ctx, s.db, s.p)
	if err != nil {
		return nil, err
	}
	var open []*facts.Exchange
	for i := range s.out.Exchanges {
		open = append(open, &s.out.Exchanges[i])
	}
	names, err := revision.LoadNamer(ctx, s.db, s.p, s.session, open)
	if err != nil {
		return nil, err
	}
	for _, j := range s.jobs {
		to := Target{}
		at := slices.IndexFunc(out, func(o placement) bool { return o.to.New != nil && strings.EqualFold(o.to.New.Name, j.name) })
		c, err := revision.ConceptIn(s.db, set, j.name)
		switch {
		case err == nil && c.Live() && set.MembershipOf(j.exchange.ID, j.exchange.Session).Concept == c:
			continue
		case err == nil && c.Live():
			to.Concept, at = c, -1
		case concepts.IsLabel(j.name) || err == nil:
			s.out.Dropped.Add(j.at, "there is no concept `%s`", j.name)
			continue
		case at >= 0:
		case !names.Takes(j.name):
			s.out.Dropped.Add(j.at, "`%s` is not in the words of the session", j.name)
			continue
		default:
			to.New = &concepts.Definition{Name: j.name}
			if names.Takes(j.exchange.Topic) {
				to.New.Topic = j.exchange.Topic
			}
		}
		if at < 0 {
			at, out = len(out), append(out, placement{to: to})
		}
		out[at].members = append(out[at].members, Member{Exchange: &j.exchange}.key())
		s.out.Assigned++
	}
	return out, nil
}

// A saver is the only writer of facts: it checks facts of a session, or of none, and commits them with judgements.
type saver struct {
	db      *state.DB
	p       refs.Project
	o       SaveOptions
	set     *facts.Set
	session *state.Session   // nil for facts of no session
	q       *revision.Quoted // the session, nil for none

	exchanges  []facts.Exchange
	judgements []facts.Judgement
}

// openSaver returns a saver for a session, or for facts of no session if it is nil. The evidence is what will be checked.
func openSaver(ctx context.Context, db *state.DB, p refs.Project, session *state.Session, quoted []facts.Evidence) (saver, error) {
	s := saver{db: db, p: p}
	var err error
	if s.set, err = revision.Facts(ctx, db, p); err != nil || session == nil {
		return s, err
	}
	st, err := trust.State(ctx, db, p)
	if err != nil {
		return s, err
	}
	if s.session = st.Session(session.ID); s.session == nil {
		return s, &state.NotFoundError{What: "session", Name: session.ID}
	}
	s.q, err = revision.Quotable(ctx, db, p, s.session, s.session.Now(), cited(quoted))
	return s, err
}

// through returns the last distilled message of the session.
func (s *saver) through() int { return s.set.ThroughOf(s.session.ID, s.session.Now().Generation) }

// fact checks a fact as it was given.
func (s *saver) fact(g facts.InputFact) facts.Fact {
	f := facts.Fact{Kind: g.Kind, Text: g.Text, Reason: g.Reason, Evidence: g.Evidence, Keywords: g.Keywords}
	if s.session != nil {
		f.Session = s.session.ID
	}
	s.q.Check(&f)
	f.ID = f.Name()
	return f
}

// exchange returns the exchange of messages: with known, the shortest saved one that contains them, if there is one.
func (s *saver) exchange(span [2]int, known bool) facts.Exchange {
	now := s.session.Now()
	x := facts.Exchange{Session: s.session.ID, Generation: now.Generation, Original: now.Original, From: span[0], To: span[1]}
	var best *facts.Exchange
	for i := range s.set.Exchanges {
		old := &s.set.Exchanges[i]
		if old.Session == x.Session && old.Generation == x.Generation && old.From <= x.From && old.To >= x.To &&
			(best == nil || old.To-old.From < best.To-best.From) {
			best = old
		}
	}
	if known && best != nil {
		x = *best
		x.Facts = nil
		return x
	}
	x.L1Range, x.Time = s.q.Lines(x.From, x.To), s.q.When(x.To)
	return x
}

// judge adds the judgements on other facts that a new one makes. find resolves ids; failed is called with each that cannot
// be judged, with its field and number.
func (s *saver) judge(f facts.Fact, g facts.InputFact, find func(id string) (facts.Fact, error),
	failed func(field string, i int, err error)) {
	for _, l := range []struct {
		field, says string
		ids         []string
	}{{"supersedes", facts.Supersedes, g.Supersedes}, {"refutes", facts.Refutes, g.Refutes}, {"resolves", facts.Resolves, g.Resolves}} {
		for i, id := range l.ids {
			old, err := find(id)
			if err == nil {
				if why := objection(f, old, l.says); why != "" {
					err = &JudgementError{old, l.says, why}
				}
			}
			if err != nil {
				failed(l.field, i, err)
				continue
			}
			s.judgements = append(s.judgements, facts.Judgement{Fact: old.Key(), Says: l.says, Value: true, By: f.Key()})
		}
	}
}

// A JudgementError says why a new fact may not supersede, refute or resolve another one.
type JudgementError struct {
	Old  facts.Fact
	Says string // facts.Supersedes, facts.Refutes or facts.Resolves
	Why  string
}

func (e *JudgementError) Error() string { return e.Why }

// A NewFact is the input of [AddFact].
type NewFact struct {
	Given    facts.InputFact
	Session  *state.Session // nil if it has no evidence
	Replaces string         // ID of the fact that it edits
}

// AddFact adds one fact, checked like any other; a fact without evidence is only stated. The error is [ErrAllRejected] if
// the check rejects it, and a [*JudgementError] if it may not judge another fact.
func AddFact(ctx context.Context, db *state.DB, p state.Project, in NewFact, dryRun bool) (facts.Fact, error) {
	s, err := openSaver(ctx, db, p.ID, in.Session, in.Given.Evidence)
	if err != nil {
		return facts.Fact{}, err
	}
	f := s.fact(in.Given)
	f.Files = in.Given.Files
	if f.Verdict == facts.Rejected {
		return f, ErrAllRejected
	}
	x := facts.Exchange{}
	if in.Session != nil {
		x = s.exchange(spanOf(f.Evidence), true)
	}
	if f.Time.IsZero() {
		f.Time = db.Opts.Now().UTC().Truncate(time.Second)
	}
	if x.Time.IsZero() {
		x.Time = f.Time
	}
	old, known := s.set.Fact(f.Name())
	given, what := in.Given, "add"
	if in.Replaces != "" {
		what = "edit " + in.Replaces
		if !known || in.Replaces != old.ID { // the text is changed
			given.Supersedes = append(slices.Clone(given.Supersedes), in.Replaces)
		}
	}
	s.judge(f, given, func(id string) (facts.Fact, error) { return oneFact(s.set, id) }, func(field string, _ int, bad error) {
		var no *JudgementError
		if err == nil && errors.As(bad, &no) {
			err = bad
		} else if err == nil {
			err = fmt.Errorf("%s: %w", field, bad)
		}
	})
	if err != nil || dryRun {
		return f, err
	}
	if known && (!slices.Equal(old.Keywords, f.Keywords) || !slices.Equal(old.Files, f.Files)) && len(f.Keywords)+len(f.Files) > 0 {
		s.judgements = append(s.judgements, facts.Judgement{Fact: f.Key(), Says: facts.Describes, Value: true, Keywords: f.Keywords,
			Files: f.Files})
	}
	x.Facts = []facts.Fact{f}
	s.exchanges = []facts.Exchange{x}
	return f, s.write(ctx, "facts "+what+"  "+f.Name(), 0, nil)
}

// JudgeFacts records the same judgement on several facts. The field Fact of j is set for each.
func JudgeFacts(ctx context.Context, db *state.DB, p refs.Project, list []facts.Fact, j facts.Judgement, dryRun bool) error {
	if dryRun {
		return nil
	}
	what := "facts " + j.Says
	if j.Says == facts.Removes {
		what = "facts rm"
	}
	if !j.Value {
		what = "facts not " + j.Says
	}
	s := saver{db: db, p: p}
	for _, f := range list {
		what += " " + f.ID
		j.Fact = f.Key()
		s.judgements = append(s.judgements, j)
	}
	return s.write(ctx, what, 0, nil)
}

// A batch is an input that is saved.
type batch struct {
	saver
	local     map[string]facts.Fact // by their names in the input
	out       SavedFacts
	problems  answers.Problems
	given     int   // the last message that was read, 0 if the input does not say
	factCount int   // valid facts of the session, saved and new
	jobs      []job // of the exchanges
}

// A job is the name of a concept that an exchange gives.
type job struct {
	at, name string
	exchange facts.Exchange
}

// addExchange checks one exchange. A correction, which says nothing else about its messages, goes into the saved one.
func (s *batch) addExchange(i int, g facts.InputExchange) {
	at := fmt.Sprintf("exchanges[%d]", i)
	span, ok := s.span(at, g)
	if !ok {
		return
	}
	x := s.exchange(span, g.Summary+g.Details+g.Topic == "")
	if x.ID == "" {
		x.Summary, x.Details, x.Topic, x.Keywords = g.Summary, g.Details, g.Topic, g.Keywords
	}
	scene := s.q.Scene(x.From, x.To)
	if bad := answers.Missing(x.Summary+"\n"+x.Details, scene.Text); len(bad) > 0 {
		s.out.Notes.Add(at+".summary", "not in its messages %d to %d: `%s`", x.From, x.To, strings.Join(bad, "`, `"))
	}
	if shortTopic(x.Topic) {
		s.out.Notes.Add(at+".topic", "`%s` says little: 3 to 5 words are better", x.Topic)
	}
	x.Files = append(x.Files, s.namedFiles(at, g.Files, scene.Text)...)
	for k, given := range g.Facts {
		at := fmt.Sprintf("%s.facts[%d]", at, k)
		f := s.fact(given)
		_, known := s.set.Fact(f.ID)
		if !known && f.Verdict != facts.Rejected && s.o.MaxFacts > 0 && s.factCount >= s.o.MaxFacts {
			f.Verdict, f.Notes = facts.Rejected, []string{fmt.Sprintf("facts.maxPerSession is %d", s.o.MaxFacts)}
		}
		if f.Verdict != facts.Rejected {
			f.Files = s.namedFiles(at, given.Files, scene.Text+s.q.Text.Of(f.Evidence))
			x.Facts = append(x.Facts, f)
			if !known {
				s.factCount++
			}
		}
		if given.ID != "" {
			s.local[given.ID] = f
		}
		s.out.Facts = append(s.out.Facts, SavedFact{Path: at, Fact: f, Known: known, given: given})
	}
	if len(x.Facts) > 0 || len(g.Facts) == 0 {
		x.ID = x.Name()
		if s.given == 0 { // else messages after it were not read, whatever the exchange names
			s.out.Through = max(s.out.Through, x.To)
		}
		s.out.Exchanges = append(s.out.Exchanges, x)
		if name := oneLine(g.Concept); name != "" {
			s.jobs = append(s.jobs, job{at + ".concept", name, x})
		}
	}
}

// shortTopic reports whether a topic has one or two words, in a script that separates words by spaces.
func shortTopic(s string) bool {
	n := len(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '/' }))
	return n > 0 && n < 3 &&
		strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) })
}

// span returns the first and the last message of an exchange.
func (s *batch) span(at string, g facts.InputExchange) ([2]int, bool) {
	total := s.q.Point.Scan.Values
	switch {
	case g.Messages != [2]int{}:
		if g.Messages[1] > total {
			s.problems.Add(at+".messages", "%d is behind the last message, %d", g.Messages[1], total)
			return g.Messages, false
		}
		return g.Messages, true
	case g.L1Range != [2]int{}:
		span, ok := s.q.Messages(g.L1Range)
		if !ok {
			s.problems.Add(at+".l1_range", "L1 has %d lines", len(s.q.Entries))
		}
		return span, ok
	}
	var quoted []facts.Evidence
	for _, f := range g.Facts {
		quoted = append(quoted, f.Evidence...)
	}
	quoted = slices.DeleteFunc(quoted, func(e facts.Evidence) bool { return e.Message > total }) // the check reports them
	if len(quoted) == 0 {
		s.problems.Add(at+".messages", "missing: want the numbers of its first and last message")
		return [2]int{}, false
	}
	return spanOf(quoted), true
}

// spanOf returns the first and the last message that are quoted.
func spanOf(list []facts.Evidence) (span [2]int) {
	for _, e := range list {
		if span[0] == 0 || e.Message < span[0] {
			span[0] = e.Message
		}
		span[1] = max(span[1], e.Message)
	}
	return span
}

// namedFiles returns the files that occur in a text and drops the others.
func (s *batch) namedFiles(at string, list []string, text string) []string {
	var out []string
	for i, f := range list {
		name := f[strings.LastIndexAny(f, `/\`)+1:]
		if f != "" && strings.Contains(text, f) || name != "" && strings.Contains(text, name) {
			out = append(out, f)
			continue
		}
		s.out.Dropped.Add(fmt.Sprintf("%s.files[%d]", at, i), "`%s` is not in its messages", f)
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
	case says != facts.Resolves && f.Session != old.Session && !f.Time.IsZero() && f.Time.Before(old.Time):
		return fmt.Sprintf("%s was said later, on %s", old.ID, old.Time.Format(time.DateTime))
	case f.Trust < old.Trust && (says != facts.Resolves || f.Trust < facts.Assistant):
		return fmt.Sprintf("the %[2]s said %[1]s; the quotes of this fact are from the %[3]s", old.ID, old.Trust,
			f.Trust)
	}
	return ""
}

// addJudgements adds the judgements on other facts that a new one makes.
func (s *batch) addJudgements(f SavedFact) {
	if f.Fact.Verdict == facts.Rejected {
		return
	}
	s.judge(f.Fact, f.given, func(id string) (facts.Fact, error) {
		old, ok := s.local[id]
		switch {
		case ok && old.Verdict == facts.Rejected:
			return old, &JudgementError{Why: "`" + id + "` was rejected"}
		case ok:
			return old, nil
		}
		return oneFact(s.set, id)
	}, func(field string, i int, err error) {
		at := fmt.Sprintf("%s.%s[%d]", f.Path, field, i)
		var no *JudgementError
		if errors.As(err, &no) {
			s.out.Dropped.Add(at, "%v", err)
			return
		}
		s.problems.Add(at, "%v", err)
	})
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

// write commits exchanges and judgements, what extra adds, the requests to a model and its answers, and that the session was
// distilled through a message, if that is new.
func (s *saver) write(ctx context.Context, message string, through int, extra func(*refs.Tx) error) error {
	done := facts.Distilled{Engine: s.o.Engine}
	known := 0
	if s.session != nil {
		known = s.through()
		done.Session, done.Generation, done.Through = s.session.ID, s.session.Now().Generation, max(through, known)
	}
	return commit(ctx, s.db, s.p, message, s.o.Witnesses, s.o.tips, func(tx *refs.Tx, witnesses []objects.Hash) error {
		done.Witnesses = witnesses
		if s.session != nil {
			tx.Trailer("Session", done.Session)
		}
		for _, x := range s.exchanges {
			if s.isSaved(x) {
				continue
			}
			if !x.Original.IsZero() {
				if err := originals.CheckInputs(ctx, tx, x.Original); err != nil {
					return err
				}
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
		if extra != nil {
			if err := extra(tx); err != nil {
				return err
			}
		}
		if done.Through == known && len(done.Witnesses) == 0 {
			return nil
		}
		_, err := tx.Add(facts.KindDistilled, done)
		return err
	})
}

// add commits records of a kind.
func add[T any](ctx context.Context, db *state.DB, p refs.Project, message, kind string, bodies ...T) error {
	return commit(ctx, db, p, message, nil, nil, func(tx *refs.Tx, _ []objects.Hash) error {
		for _, b := range bodies {
			if _, err := tx.Add(kind, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// commit commits what put adds, with the requests to a model and its answers, unless text was forgotten since the lanes
// had the tips. The first word of the message is the Op trailer.
func commit(ctx context.Context, db *state.DB, p refs.Project, message string, witnesses [][]byte, tips []refs.Tip,
	put func(tx *refs.Tx, witnesses []objects.Hash) error) error {
	stage, err := db.Refs.Stage(ctx)
	if err != nil {
		return err
	}
	defer stage.Close()
	var stored []objects.Hash
	for _, b := range witnesses {
		h, err := stage.Put(b)
		if err != nil {
			return err
		}
		stored = append(stored, h)
	}
	return db.Refs.Update(ctx, p, message, func(tx *refs.Tx) error {
		if len(stored) > 0 {
			if err := originals.CheckQuestion(ctx, tx, tips); err != nil {
				return err
			}
			if err := tx.Adopt(stage); err != nil {
				return err
			}
		}
		op, _, _ := strings.Cut(message, " ")
		tx.Trailer("Op", strings.TrimSuffix(op, ":"))
		return put(tx, stored)
	})
}

// isSaved reports whether an exchange and all its facts are stored.
func (s *saver) isSaved(x facts.Exchange) bool {
	return slices.ContainsFunc(s.set.Exchanges, func(k facts.Exchange) bool { return k.Key() == x.Key() }) &&
		!slices.ContainsFunc(x.Facts, func(f facts.Fact) bool {
			old, ok := s.set.Fact(f.Name())
			return !ok || old.Removed
		})
}
