package knowledge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs"
)

// FindCandidate returns the candidate with an id such as p:9f2c61ab.
func FindCandidate(ctx context.Context, db *state.DB, p state.Project, name string) (permanent.Candidate, error) {
	found, err := Reflect(ctx, db, p, time.Time{}, true)
	if err != nil {
		return permanent.Candidate{}, err
	}
	var ids []string
	for _, c := range found.Candidates {
		if c.ID == name {
			return c, nil
		}
		ids = append(ids, c.ID)
	}
	return permanent.Candidate{}, &state.NotFoundError{What: "candidate", Name: name, Candidates: ids}
}

// ErrNotSaid means that a message does not contain the statement for which it is cited.
var ErrNotSaid = errors.New("the message does not say that")

// UserQuote returns the sentences of the user's message that rev names which state text, or, if mention is set, are about
// it. The error is [markers.ErrNotTyped] if the user did not type the message in this session first, and [ErrNotSaid] if
// it is in other words or about something else.
func UserQuote(ctx context.Context, db *state.DB, rev state.Rev, text string, mention bool) (permanent.Quote, error) {
	w, said, err := typedIn(ctx, db, rev)
	if err != nil {
		return w, err
	}
	w.Text = permanent.Verbatim(said, text)
	ok := w.Text != ""
	if !ok && mention {
		w.Text, ok = permanent.Mentions(said, text)
	}
	if !ok {
		return w, fmt.Errorf("message %d of %s: %w", rev.From, records.ShortID(rev.Session.ID), ErrNotSaid)
	}
	return w, nil
}

// markerTag matches the tags of markers, which are no words of a sentence.
var markerTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)##(?:keepit[0-9. ]*|/keepit)##\s*`) })

// typedIn returns what the user typed in a message, without the tags of markers, and a quote of it without text.
func typedIn(ctx context.Context, db *state.DB, rev state.Rev) (permanent.Quote, string, error) {
	w := permanent.Quote{Session: rev.Session.ID, Message: rev.From}
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return w, "", err
	}
	s := st.Session(rev.Session.ID)
	if s == nil {
		return w, "", &state.NotFoundError{What: "session", Name: rev.Session.ID}
	}
	items, err := markers.Items(ctx, db, rev.Project.ID, s, s.Now())
	if err != nil {
		return w, "", err
	}
	said := ""
	for _, it := range items {
		if it.N == rev.From && it.Kind == version.User && s.Parent() == "" {
			said += markerTag().ReplaceAllString(it.Text, "") + "\n"
		}
	}
	if said == "" {
		return w, "", fmt.Errorf("message %d of %s: %w", rev.From, records.ShortID(s.ID), markers.ErrNotTyped)
	}
	return w, said, nil
}

// FromUser adds a message of the user to the definition of a rule, as its evidence. If the rule consists of sentences of
// the message, it is the user's and active. Otherwise it is derived and only proposed, and only the user can promote it:
// code cannot tell whether the message means the same.
func FromUser(ctx context.Context, db *state.DB, rev state.Rev, made *permanent.Definition) error {
	w, said, err := typedIn(ctx, db, rev)
	if err != nil {
		return err
	}
	if w.Text = permanent.Verbatim(said, made.Text); w.Text != "" && permanent.Within(said, made.Problem) {
		made.State, made.Trust, made.Confidence = permanent.Active, facts.User, 100
	} else {
		made.Derived, made.State, made.Trust = true, permanent.Proposed, facts.Tool
	}
	if w.Text == "" {
		w.Text = tokens.Shorten(strings.TrimSpace(said), maxRuleQuote)
	}
	made.Quotes = append(made.Quotes, w)
	return nil
}

// maxRuleQuote is the length of the quote of a rule that is in other words, in characters.
const maxRuleQuote = 400

// AddRule creates a rule and returns it.
func AddRule(ctx context.Context, db *state.DB, p state.Project, made permanent.Definition, dryRun bool) (*permanent.Rule,
	error) {
	if dryRun {
		known, err := revision.Facts(ctx, db, p.ID)
		if err != nil {
			return nil, err
		}
		return permanent.Preview(made, known, db.Opts.Now()), nil
	}
	id := ""
	err := db.Refs.Update(ctx, p.ID, "rule: "+tokens.OneLine(made.Text, 60), func(tx *refs.Tx) error {
		tx.Trailer("Op", "rule")
		if len(tx.Tips()) == 0 {
			if _, err := tx.Add(records.KindProject, records.ProjectBody{Identity: p.Identity, Name: p.Name}); err != nil {
				return err
			}
		}
		r, err := tx.Add(permanent.Kind, made)
		id = r.ID.String()
		return err
	})
	if err != nil {
		return nil, err
	}
	set, err := revision.Rules(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	return set.Rule(id), nil
}

// ErrUsersRule means that the user stated a rule, so that only the user can remove it.
var ErrUsersRule = errors.New("the user stated it: only the user can remove it")

// ErrNeedsUser means that only the user can promote a rule.
var ErrNeedsUser = errors.New("the user must confirm it")

// Allowed returns an error if an act on a rule needs the user and somebody else acts: [ErrNeedsUser] or [ErrUsersRule].
func Allowed(r *permanent.Rule, a permanent.Act) error {
	switch {
	case a.ByUser || a.Quote != nil:
	case a.Act == permanent.Promote && r.Trust < facts.Assistant:
		why := "only tools, files, the web or scripts support it"
		if r.Derived {
			why = "its words are not those of its evidence"
		}
		return fmt.Errorf("%s: %s: %w", r.ID, why, ErrNeedsUser)
	case a.Act == permanent.Retire && r.Stated:
		return fmt.Errorf("%s: %w", r.ID, ErrUsersRule)
	}
	return nil
}

// Act applies an act to a rule and returns the changed rule. An act that is not [Allowed] changes nothing.
func Act(ctx context.Context, db *state.DB, p state.Project, r *permanent.Rule, a permanent.Act,
	dryRun bool) (*permanent.Rule, error) {
	if err := Allowed(r, a); err != nil {
		return nil, err
	}
	a.Rule = r.Record
	if !dryRun {
		if err := add(ctx, db, p.ID, a.Act+" "+r.ID, permanent.KindAct, a); err != nil {
			return nil, err
		}
		set, err := revision.Rules(ctx, db, p.ID)
		if err != nil {
			return nil, err
		}
		r = set.Rule(r.Record)
	}
	return r, nil
}

// DismissCandidate hides a candidate for good.
func DismissCandidate(ctx context.Context, db *state.DB, p state.Project, c permanent.Candidate, a permanent.Act) error {
	a.Rule, a.Act = c.ID, permanent.Dismiss
	return add(ctx, db, p.ID, "dismiss "+c.ID, permanent.KindAct, a)
}

// RuleOf returns the rule that a candidate proposes. Its confidence grows with the number of independent sessions.
func RuleOf(c permanent.Candidate) permanent.Definition {
	made := permanent.Definition{
		Type: c.Type, Text: c.Text, Quotes: c.Quotes, Trust: c.Trust,
		Confidence: min(90, 60+10*len(c.Sessions)), State: permanent.Active, Candidate: c.ID, Reason: c.Why,
	}
	if c.Stated {
		made.Confidence = 100
	}
	return made
}
