package mcpcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/searchcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

// lineWidth is the approximate length in bytes of a text in a line of an answer.
const lineWidth = 140

// mostHits is the maximum number of hits of a search.
const mostHits = 100

// Search answers as mem search does.
func (s served) Search(ctx context.Context, in SearchIn) (out SearchOut, err error) {
	e := s.run()
	since, until, err := timesOf(e, in.Since, in.Until)
	if err != nil {
		return out, err
	}
	var weights func(int) bool
	if in.Keepit != "" {
		if weights, err = searchcmd.ParseWeights(in.Keepit); err != nil {
			return out, app.Usagef("keepit: %v", err)
		}
	}
	q, err := searchcmd.Query(e, in.Query, searchcmd.Options{Patterns: in.Regexp, Files: in.Files, Since: since, Until: until, Topic: in.Topic, Keepit: weights,
		Roles: in.Roles, In: in.In, Branch: in.Branch, By: string(search.ByMessage), Number: min(cmp.Or(in.Limit, 10), mostHits),
		Open: in.Open})
	if err != nil {
		return out, err
	}
	out.Hits = []Hit{}
	return out, app.WithStore(e, func(m *layers.Memory) error {
		sc, err := scopeOf(ctx, e, m, in.Projects)
		if err != nil {
			return err
		}
		q.Filter.Only = sc.only
		found, err := search.Find(ctx, m.DB, sc.projects, q)
		if err != nil {
			return err
		}
		for _, h := range found.Hits {
			x := view.HitOf(h)
			out.Hits = append(out.Hits, Hit{Ref: refOf(h), Who: term.SanitizeLine(x.Who()), Date: dayOf(h.Time()),
				Request: term.SanitizeLine(h.Request), Line: term.SanitizeLine(h.Passage.Text), Changed: x.Changed})
		}
		if out.Note = term.SanitizeLine(strings.Join(found.Notes(""), ". ")); len(found.Hits) == 0 && out.Note == "" {
			out.Note, err = sc.note(ctx, m, "nothing is found")
		}
		return err
	})
}

// timesOf parses the range of a search.
func timesOf(e *app.Env, from, to string) (since, until time.Time, err error) {
	if from != "" {
		since, err = e.ParseSince(from)
	}
	if to != "" && err == nil {
		until, err = e.ParseUntil(to)
	}
	return since, until, err
}

// refOf returns the name of a hit for the tool show. The label of a concept is only valid in its own project.
func refOf(h search.Hit) string {
	if h.Doc.Class == index.Concept {
		return h.Doc.ID
	}
	return view.RefOf(h)
}

// dayOf returns the day of a time, "" for the zero time.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// AddKeepit answers as mem keepit add does.
func (s served) AddKeepit(ctx context.Context, in KeepitIn) (out KeepitOut, err error) {
	e, w := s.run(), keepit.Weight(80)
	if in.Weight != "" {
		if w, err = keepit.ParseTyped(in.Weight); err != nil {
			return out, err
		}
	}
	return out, app.WithMemory(ctx, e, func(run app.Run) error {
		rev, err := servable(ctx, run, in.Ref)
		if err != nil {
			return err
		}
		if rev.Kind != state.IsMessages || rev.From != rev.To {
			return app.Usagef("%s is not a message: want one such as 6ecd8c99#12", in.Ref)
		}
		k, err := markers.AddKeepit(ctx, run.DB, rev, in.Text, w, markers.Edit{})
		if errors.Is(err, markers.ErrNotTyped) {
			return fmt.Errorf("%w: only text that the user typed can be pinned", err)
		}
		if err != nil {
			return err
		}
		out = KeepitOut{ID: k.ID, Ref: fmt.Sprintf("%s#%d", term.ShortID(rev.Session.ID), k.Mark.Message),
			Weight: k.Mark.Weight.String(), Text: term.Sanitize(k.Mark.Text)}
		return nil
	})
}

// Suggest answers as mem suggest does.
func (s served) Suggest(ctx context.Context, in SuggestIn) (out SuggestOut, err error) {
	e := s.run()
	out.Suggestions = []Suggestion{}
	return out, app.WithStore(e, func(m *layers.Memory) error {
		sc, err := scopeOf(ctx, e, m, in.Projects)
		if err != nil {
			return err
		}
		all, err := search.SuggestSessions(ctx, m.DB, search.SuggestRequest{Projects: sc.projects, Only: sc.only, Files: in.Files,
			Topics: in.Topics, Budget: cmp.Or(in.Budget, 8000), Limit: max(cmp.Or(in.Limit, 5), 1)})
		if err != nil {
			return err
		}
		for _, x := range all {
			out.Suggestions = append(out.Suggestions, Suggestion{Rev: x.Rev, Score: x.Score, Topics: x.Topics,
				Files: x.Files, Tokens: x.Tokens, Title: term.SanitizeLine(x.Session.Title)})
		}
		if len(all) == 0 {
			out.Note, err = sc.note(ctx, m, "no matching sessions; without files and topics the newest are suggested")
		}
		return err
	})
}

// Compose answers as mem compose does; unless save is set, as mem compose --dry-run.
func (s served) Compose(ctx context.Context, in ComposeIn, save bool) (out ComposeOut, err error) {
	e := s.run()
	e.Opt.DryRun = !save
	if err := versioncmd.CheckName(in.Name); err != nil {
		return out, err
	}
	strategy, err := compose.ParseStrategy("equal")
	if err != nil || len(in.Revs) == 0 {
		return out, errors.Join(err, app.Usagef("name at least one session or version in revs"))
	}
	return out, app.WithMemory(ctx, e, func(run app.Run) error {
		if err := versioncmd.NameIsFree(ctx, run, in.Name); err != nil {
			return err
		}
		parts, err := versioncmd.ComposeParts(ctx, run, versioncmd.ComposeOptions{}, in.Revs)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := checkAccess(ctx, run.Memory, p.Rev, p.Rev.Name()); err != nil {
				return err
			}
		}
		req := derive.ComposeRequest{Project: run.Project, Name: in.Name, Parts: parts,
			Budget: cmp.Or(in.Budget, versioncmd.DefaultBudget), Strategy: strategy, DryRun: !save}
		if req.Engine, err = versioncmd.ComposeEngine(ctx, run, parts, versioncmd.EngineChoice{}); err != nil {
			return err
		}
		done, err := derive.Compose(ctx, run.DB, req)
		if err != nil {
			return versioncmd.ComposeError(err)
		}
		a := view.ComposedOf(req, done)
		out = ComposeOut{Name: a.Name, Tokens: a.Tokens, Parts: []Part{}, Saved: save}
		for _, p := range a.Parts {
			out.Parts = append(out.Parts, Part{Session: term.ShortID(p.Session), Title: p.Title, Pick: p.Version, Tokens: p.Tokens,
				Why: p.Why})
		}
		return nil
	})
}
