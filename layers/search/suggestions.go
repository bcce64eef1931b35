package search

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A SuggestRequest is what sessions are suggested for.
type SuggestRequest struct {
	Projects []refs.Project
	Files    []string
	Topics   []string
	Only     Only // sessions of projects that are not searched whole
	Budget   int  // tokens for all of them together
	Limit    int  // sessions at most
}

// A Suggested is a session, or a version of one, that fits a request.
type Suggested struct {
	Suggestion
	Rev     string // what compose takes
	Version string // label, "original", or "auto" for one that is to be made
	Tokens  int    // that it takes
}

// SuggestSessions returns the sessions that fit a request best, each as what fits the budget: its original, else its largest
// version that does and uses at least half of its share, else what a new version would get.
func SuggestSessions(ctx context.Context, db *state.DB, r SuggestRequest) ([]Suggested, error) {
	s, err := NewSearcher(ctx, db, r.Projects)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all, err := Suggest(s.corpora, Criteria{Files: r.Files, Topics: r.Topics, Only: r.Only, Now: db.Opts.Now().Unix()})
	if err != nil {
		return nil, err
	}
	all = all[:min(len(all), r.Limit)]
	left := r.Budget - r.Budget/20 - frameOf(all)
	var out []Suggested
	for i, x := range all {
		one, err := suggested(ctx, db, x, left, max(left/(len(all)-i), left/2))
		if err != nil {
			return nil, err
		}
		if one.Version == "auto" && one.Tokens < leastSuggested {
			break
		}
		left -= one.Tokens
		out = append(out, one)
	}
	return out, nil
}

// frameOf bounds the tokens that a composition of sessions needs for its headings, with a third more for models
// that count more.
func frameOf(all []Suggestion) int {
	var parts []compose.Part
	for _, x := range all {
		parts = append(parts, compose.Part{Session: x.Session.ID, Project: x.Project, Title: x.Session.Title,
			Date: time.Unix(x.Session.Last, 0).UTC()})
	}
	return compose.Reserve(tokens.For(""), "suggested", parts) * 4 / 3
}

// leastSuggested is the fewest tokens of a version. A session that has fewer is suggested whole.
const leastSuggested = 100

// leastUsed is the part of its share that a version must use, else a new version that keeps more is suggested: a half.
const leastUsed = 2

// suggested chooses what of a session is suggested: at most share tokens, or what there is in at most left of a
// session that is that small.
func suggested(ctx context.Context, db *state.DB, x Suggestion, left, share int) (Suggested, error) {
	out := Suggested{Suggestion: x, Version: "auto", Tokens: min(share, left)}
	st, err := trust.Outline(ctx, db, refs.Project(x.Project))
	if err != nil {
		return out, err
	}
	session := st.Session(x.Session.ID)
	name := records.ShortID(x.Session.ID)
	out.Rev = name + "=" + strconv.Itoa(out.Tokens)
	if session == nil {
		return out, nil
	}
	if n, _ := capture.TokensOf(db, refs.Project(x.Project), session); n > 0 && n <= share {
		out.Version, out.Tokens, out.Rev = "original", n, name+":original"
		return out, nil
	}
	versions := slices.DeleteFunc(st.VersionsOf(x.Session.ID), func(v *records.Version) bool {
		return v.Deleted || v.Revoked != "" || v.TokensOut > share || v.TokensOut < max(leastSuggested, share/leastUsed)
	})
	if len(versions) > 0 {
		v := slices.MaxFunc(versions, func(a, b *records.Version) int { return a.TokensOut - b.TokensOut })
		out.Version, out.Tokens, out.Rev = v.Name(), v.TokensOut, name+":"+v.Name()
	}
	return out, nil
}
