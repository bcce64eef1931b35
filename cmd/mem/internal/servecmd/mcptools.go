package servecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/mcp"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/sessioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// lineWidth is how many bytes of a text a line of an answer shows, about.
const lineWidth = 140

// Search answers as mem search does.
func (s served) Search(ctx context.Context, in mcp.SearchIn) (out mcp.SearchOut, err error) {
	e := s.run()
	e.Operands, e.Opt.AllProjects = []string{in.Query}, in.Projects == "all"
	if in.Projects != "" && in.Projects != "all" && in.Projects != "related" {
		return out, app.Usagef("projects cannot be %q: want all, related, or nothing", in.Projects)
	}
	q, err := sessioncmd.SearchQuery(e, sessioncmd.SearchOptions{Patterns: in.Regexp, Files: in.Files, Since: in.Since,
		Until: in.Until, Topic: in.Topic, Keepit: in.Keepit,
		Roles: in.Roles, In: in.In, Branch: in.Branch, By: string(search.ByMessage), Number: cmp.Or(in.Limit, 20)})
	if err != nil {
		return out, err
	}
	out.Hits = []mcp.Hit{}
	return out, names.WithStore(e, func(m *layers.Memory) error {
		projects, err := sessioncmd.SearchProjects(ctx, e, m, in.Projects == "related", &q)
		if err != nil {
			return err
		}
		hits, err := m.Search().Search(ctx, projects, q)
		if err != nil {
			return err
		}
		cut, p := search.NewSnippets(q), sessioncmd.HitPrinter{E: e}
		for _, h := range hits {
			out.Hits = append(out.Hits, mcp.Hit{Ref: sessioncmd.HitName(h), Who: p.Who(h), Date: dayOf(time.Unix(h.Doc.Time, 0)),
				Line: term.SanitizeLine(cut.Line(h.Doc.Text, lineWidth).Text)})
		}
		return nil
	})
}

// dayOf writes the day of a time, nothing for one that is not known.
func dayOf(t time.Time) string {
	if t.IsZero() || t.Unix() <= 0 {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// Timeline lists messages or sessions.
func (s served) Timeline(ctx context.Context, in mcp.TimelineIn) (out mcp.TimelineOut, err error) {
	e, n := s.run(), min(max(cmp.Or(in.Count, 10), 1), 50)
	out.Moments = []mcp.Moment{}
	return out, names.WithMemory(ctx, e, func(m *layers.Memory, sc state.Scope) error {
		if in.Ref == "" {
			st, err := m.Trusted().Outline(ctx, sc.Project.ID)
			if err != nil {
				return err
			}
			for _, x := range st.Recent()[:min(n, len(st.Recent()))] {
				out.Moments = append(out.Moments, mcp.Moment{Ref: term.ShortID(x.ID), Date: dayOf(x.Now().Scan.Last),
					Line: term.SanitizeLine(x.Title())})
			}
			return nil
		}
		rev, err := servable(ctx, e, m, sc, in.Ref)
		if err != nil {
			return err
		}
		if rev.Session == nil {
			return app.Usagef("%s is a %s: want a session or a message", in.Ref, rev.Kind)
		}
		from, to := 1, 2*n
		if rev.Kind == state.IsMessages {
			from, to = rev.From-n, rev.To+n
		}
		return m.Checkout().Turns(ctx, rev, from, to, func(t checkout.Turn) error {
			out.Moments = append(out.Moments, mcp.Moment{Ref: fmt.Sprintf("%s#%d", term.ShortID(rev.Session.ID), t.Message),
				Who: t.Role, Line: term.SanitizeLine(term.FirstWords(t.Text, lineWidth))})
			return nil
		})
	})
}

// servable finds what a revision names and refuses what must not be handed to a session.
func servable(ctx context.Context, e *app.Env, m *layers.Memory, sc state.Scope, name string) (state.Rev, error) {
	rev, err := names.Resolve(ctx, e, m, sc, name)
	if err != nil {
		return rev, err
	}
	return rev, mayServe(ctx, m, rev, name)
}

// mayServe refuses what must not be handed to a session: what is revoked, removed, or of a device that is not trusted.
func mayServe(ctx context.Context, m *layers.Memory, rev state.Rev, name string) error {
	if err := m.Trusted().MayHand(ctx, rev); err != nil || rev.Session == nil {
		return err
	}
	switch {
	case rev.Session.Guest != "":
		return fmt.Errorf("%s: %w", name, trust.ErrUntrusted)
	case rev.Session.Deleted:
		return &state.NotFoundError{What: "session", Name: name}
	}
	return nil
}

// Show prints a page of a text.
func (s served) Show(ctx context.Context, in mcp.ShowIn) (out mcp.ShowOut, err error) {
	e := s.run()
	return out, names.WithMemory(ctx, e, func(m *layers.Memory, sc state.Scope) error {
		rev, err := servable(ctx, e, m, sc, in.Ref)
		if err != nil {
			return err
		}
		var b strings.Builder
		switch rev.Kind {
		case state.IsCommit, state.IsObject:
			return app.Usagef("%s is a %s, which is not served", in.Ref, rev.Kind)
		case state.IsSession, state.IsOriginal, state.IsEarlier:
			rev.Kind, rev.From, rev.To = state.IsMessages, 1, cmp.Or(rev.Point, rev.Session.Now()).Scan.Messages
			err = sessioncmd.WriteTurns(ctx, m, rev, &b)
		case state.IsMessages:
			err = sessioncmd.WriteTurns(ctx, m, rev, &b)
		case state.IsVersion, state.IsComposition:
			err = m.Checkout().Write(ctx, rev, "md", &b)
		default:
			err = m.Checkout().Write(ctx, rev, checkout.Text, &b)
		}
		if err != nil {
			return err
		}
		out.Ref, out.Kind = in.Ref, string(rev.Kind)
		out.Text, out.Next = mcp.Page(term.Sanitize(b.String()), in.Offset)
		return nil
	})
}

// Facts answers as mem facts list and search do, without facts of devices that are not trusted.
func (s served) Facts(ctx context.Context, in mcp.FactsIn) (out mcp.FactsOut, err error) {
	e, o := s.run(), knowledgecmd.FactsOptions{Open: in.Open}
	if len(in.Kinds) > 0 {
		if o.Kinds, err = knowledgecmd.ParseKinds(strings.Join(in.Kinds, ",")); err != nil {
			return out, err
		}
	}
	out.Facts = []mcp.Fact{}
	return out, names.WithMemory(ctx, e, func(m *layers.Memory, sc state.Scope) error {
		strangers, err := names.Strangers(ctx, e, m)
		if err != nil {
			return err
		}
		project, session := sc.Project.ID, ""
		if in.Session != "" {
			rev, err := servable(ctx, e, m, sc, in.Session)
			if err != nil {
				return err
			}
			if rev.Session == nil {
				return app.Usagef("%s is a %s, not a session", in.Session, rev.Kind)
			}
			project, session = rev.Project.ID, rev.Session.ID
		}
		set, err := m.Revision().Facts(ctx, project)
		if err != nil {
			return err
		}
		wants := func(f facts.Fact) bool {
			return o.Wants(f) && strangers.Of(f.Device) == "" && (session == "" || f.Session == session)
		}
		for _, f := range choose(set, in.Query, wants, cmp.Or(in.Limit, 20)) {
			out.Facts = append(out.Facts, servedFact(f))
		}
		return nil
	})
}

// choose returns the best facts for a query, or the newest.
func choose(set *facts.Set, query string, wants func(facts.Fact) bool, limit int) (list []facts.Fact) {
	if query != "" {
		hits := set.Search(query, wants)
		slices.SortStableFunc(hits, func(a, b facts.Hit) int { return a.Compare(b) })
		for _, h := range hits {
			list = append(list, h.Fact)
		}
	} else {
		for f := range set.All() {
			if wants(*f) {
				list = append(list, *f)
			}
		}
		slices.SortStableFunc(list, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
	}
	return list[:min(len(list), max(limit, 0))]
}

func servedFact(f facts.Fact) mcp.Fact {
	x := mcp.Fact{ID: f.ID, Kind: string(f.Kind), Verdict: knowledgecmd.FateOf(f), Text: term.SanitizeLine(f.Text)}
	if f.Session != "" {
		x.Ref = term.ShortID(f.Session)
		if len(f.Evidence) > 0 {
			x.Ref = fmt.Sprintf("%s#%d", x.Ref, f.Evidence[0].Message)
		}
	}
	return x
}

// AddKeepit answers as mem keepit add does.
func (s served) AddKeepit(ctx context.Context, in mcp.KeepitIn) (out mcp.KeepitOut, err error) {
	e, w := s.run(), keepit.Weight(80)
	if in.Weight != "" {
		if w, err = keepit.ParseTyped(in.Weight); err != nil {
			return out, err
		}
	}
	return out, names.WithMemory(ctx, e, func(m *layers.Memory, sc state.Scope) error {
		rev, err := servable(ctx, e, m, sc, in.Ref)
		if err != nil {
			return err
		}
		if rev.Kind != state.IsMessages || rev.From != rev.To {
			return app.Usagef("%s is not a message: want one such as 6ecd8c99#12", in.Ref)
		}
		k, err := m.Markers().AddKeepit(ctx, rev, in.Text, w, false)
		if errors.Is(err, markers.ErrNotTyped) {
			return fmt.Errorf("%w: only text that the user typed can be marked", err)
		}
		if err != nil {
			return err
		}
		out = mcp.KeepitOut{ID: k.ID, Ref: fmt.Sprintf("%s#%d", term.ShortID(rev.Session.ID), k.Mark.Message),
			Weight: k.Mark.Weight.String(), Text: term.Sanitize(k.Mark.Text)}
		return nil
	})
}

// Suggest answers as mem suggest does.
func (s served) Suggest(ctx context.Context, in mcp.SuggestIn) (out mcp.SuggestOut, err error) {
	e := s.run()
	out.Suggestions = []mcp.Suggestion{}
	return out, names.WithStore(e, func(m *layers.Memory) error {
		projects, err := sessioncmd.SearchScope(ctx, e, m)
		if err != nil {
			return err
		}
		all, err := m.Search().Suggest(ctx, search.SuggestRequest{Projects: projects, Files: in.Files, Topics: in.Topics,
			Budget: cmp.Or(in.Budget, 8000), Limit: max(cmp.Or(in.Limit, 5), 1)})
		for _, x := range all {
			out.Suggestions = append(out.Suggestions, mcp.Suggestion{Rev: x.Rev, Score: x.Score, Topics: x.Topics,
				Files: x.Files, Tokens: x.Tokens, Title: term.SanitizeLine(x.Session.Title)})
		}
		return err
	})
}

// Compose answers as mem compose does; unless save is set, as mem compose --dry-run.
func (s served) Compose(ctx context.Context, in mcp.ComposeIn, save bool) (out mcp.ComposeOut, err error) {
	e := s.run()
	e.Opt.DryRun = !save
	if err := versioncmd.CheckName(in.Name); err != nil {
		return out, err
	}
	strategy, err := compose.ParseStrategy("equal")
	if err != nil || len(in.Revs) == 0 {
		return out, errors.Join(err, app.Usagef("name at least one session or version in revs"))
	}
	return out, names.WithMemory(ctx, e, func(m *layers.Memory, sc state.Scope) error {
		if err := versioncmd.NameIsFree(ctx, e, m, sc, in.Name); err != nil {
			return err
		}
		parts, err := versioncmd.ComposeParts(ctx, e, m, sc, versioncmd.ComposeOptions{}, in.Revs)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := mayServe(ctx, m, p.Rev, p.Rev.Name()); err != nil {
				return err
			}
		}
		req := derive.ComposeRequest{Project: sc.Project, Name: in.Name, Parts: parts,
			Budget: cmp.Or(in.Budget, versioncmd.DefaultBudget), Strategy: strategy, DryRun: !save}
		if req.Engine, err = versioncmd.ComposeEngine(ctx, e, m, parts, versioncmd.EngineChoice{}); err != nil {
			return err
		}
		done, err := m.Derive().Compose(ctx, req)
		if err != nil {
			return versioncmd.ComposeError(err)
		}
		a := versioncmd.ComposeAnswer(e, req, done)
		out = mcp.ComposeOut{Name: a.Name, Tokens: a.Tokens, Parts: []mcp.Part{}, Saved: save}
		for _, p := range a.Parts {
			out.Parts = append(out.Parts, mcp.Part{Session: term.ShortID(p.Session), Pick: p.Pick, Tokens: p.Tokens, Why: p.Why})
		}
		return nil
	})
}
