package mcpcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/sessioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// servable resolves a revision and returns an error if it must not be given to a session.
func servable(ctx context.Context, run app.Run, name string) (state.Rev, error) {
	rev, err := run.Resolve(ctx, name)
	if err != nil {
		return rev, err
	}
	return rev, checkAccess(ctx, run.Memory, rev, name)
}

// checkAccess returns an error for revoked, removed or retired data.
func checkAccess(ctx context.Context, m *layers.Memory, rev state.Rev, name string) error {
	if err := trust.MayUse(ctx, m.DB, rev); err != nil {
		return err
	}
	switch {
	case rev.Fact != nil || rev.Concept != nil || rev.Rule != nil:
		return mayServeKnown(ctx, m, rev, name)
	case rev.Session == nil:
		return nil
	case rev.Session.Deleted:
		return &state.NotFoundError{What: "session", Name: name}
	case rev.Version != nil && rev.Version.Deleted:
		return &state.NotFoundError{What: "version", Name: name}
	}
	return nil
}

func mayServeKnown(ctx context.Context, m *layers.Memory, rev state.Rev, name string) error {
	v, err := filterOf(ctx, m, rev.Project.ID)
	if err != nil {
		return err
	}
	ok := false
	switch {
	case rev.Fact != nil:
		ok = v.fact(*rev.Fact)
	case rev.Concept != nil:
		ok = v.concept(rev.Concept)
	case rev.Rule != nil:
		ok = rev.Rule.InForce()
	}
	if !ok {
		return &state.NotFoundError{What: string(rev.Kind), Name: name}
	}
	return nil
}

// A filter decides which data of a project is served: the same that search finds.
type filter struct{ st *state.State }

func filterOf(ctx context.Context, m *layers.Memory, p refs.Project) (v filter, err error) {
	v.st, err = trust.Outline(ctx, m.DB, p)
	return v, err
}

// session reports whether a session is listed.
func (v filter) session(id string) bool {
	s := v.st.Session(id)
	return s != nil && s.Shown()
}

// fact reports whether a fact is live and its session is listed.
func (v filter) fact(f facts.Fact) bool {
	return f.Live() && (f.Session == "" || v.session(f.Session))
}

func (v filter) concept(c *concepts.Concept) bool {
	listed := len(c.Sessions) == 0 || slices.ContainsFunc(c.Sessions, v.session)
	return c.Live() && listed
}

// turns calls f with the turns of a session, without the calls and results of revoked tools and hosts.
func turns(ctx context.Context, m *layers.Memory, rev state.Rev, f func(checkout.Turn) error) error {
	at := cmp.Or(rev.Point, rev.Session.Now()).Original
	hidden, err := trust.LeaveOut(ctx, m.DB, rev.Project.ID, rev.Session, at)
	if err != nil {
		return err
	}
	return checkout.Turns(ctx, m.DB, rev, rev.From, rev.To, func(t checkout.Turn) error {
		if (t.Author == "tool" || t.Author == "note") && !originals.Outside(t.Message, hidden) {
			return nil
		}
		return f(t)
	})
}

// Timeline lists messages or sessions.
func (s served) Timeline(ctx context.Context, in TimelineIn) (out TimelineOut, err error) {
	e, n := s.run(), min(max(cmp.Or(in.Count, 10), 1), 50)
	out.Moments = []Hit{}
	return out, app.WithMemory(ctx, e, func(run app.Run) error {
		if in.Ref == "" {
			st, err := trust.Outline(ctx, run.DB, run.Project.ID)
			if err != nil {
				return err
			}
			for _, x := range st.Recent()[:min(n, len(st.Recent()))] {
				out.Moments = append(out.Moments, Hit{Ref: term.ShortID(x.ID), Date: dayOf(x.Now().Scan.Last),
					Line: term.SanitizeLine(x.Title())})
			}
			if len(out.Moments) == 0 {
				out.Note, err = scope{own: run.Project}.note(ctx, run.Memory, "")
			}
			return err
		}
		rev, err := servable(ctx, run, in.Ref)
		if err != nil {
			return err
		}
		if rev.Session == nil {
			return app.Usagef("%s is a %s: want a session or a message", in.Ref, rev.Kind)
		}
		out.Moments, err = around(ctx, run.Memory, rev, n)
		return err
	})
}

// errEnough ends the reading of a session.
var errEnough = errors.New("enough messages")

// around lists the messages of rev with n messages before and after them; of a session its first 2n messages. Lines
// that are no messages do not count.
func around(ctx context.Context, m *layers.Memory, rev state.Rev, n int) ([]Hit, error) {
	from, to, most := rev.From, rev.To, n
	if rev.Kind != state.IsMessages {
		from, to, most = 0, 0, 2*n
	}
	rev.From, rev.To = 1, cmp.Or(rev.Point, rev.Session.Now()).Scan.Values
	list, before, after := []Hit{}, 0, 0
	err := turns(ctx, m, rev, func(t checkout.Turn) error {
		switch {
		case t.Message < from && before == most:
			list = slices.Delete(list, 0, 1)
		case t.Message < from:
			before++
		case t.Message > to && after == most:
			return errEnough
		case t.Message > to:
			after++
		}
		list = append(list, Hit{Ref: fmt.Sprintf("%s#%d", term.ShortID(rev.Session.ID), t.Message),
			Who: t.Author, Line: term.SanitizeLine(tokens.OneLine(t.Text, lineWidth))})
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, err
}

// Show prints a page of a text.
func (s served) Show(ctx context.Context, in ShowIn) (out ShowOut, err error) {
	e := s.run()
	return out, app.WithMemory(ctx, e, func(run app.Run) error {
		rev, err := servable(ctx, run, withoutShare(in.Ref))
		if err != nil {
			return err
		}
		kind, b := rev.Kind, strings.Builder{}
		switch rev.Kind {
		case state.IsCommit, state.IsObject:
			return app.Usagef("%s is a %s, which is not served", in.Ref, rev.Kind)
		case state.IsSession, state.IsOriginal, state.IsEarlier, state.IsL1:
			kind = state.IsMessages
			rev.From, rev.To = 1, cmp.Or(rev.Point, rev.Session.Now()).Scan.Values
			err = turns(ctx, run.Memory, rev, sessioncmd.TurnWriter(&b))
		case state.IsMessages:
			err = turns(ctx, run.Memory, rev, sessioncmd.TurnWriter(&b))
		case state.IsVersion, state.IsComposition:
			err = checkout.Write(ctx, run.DB, rev, checkout.Markdown, &b)
		default:
			err = writeKnown(ctx, run.Memory, rev, &b)
		}
		if err != nil {
			return err
		}
		out.Ref, out.Kind = in.Ref, string(kind)
		out.Text, out.Next = Page(term.Sanitize(b.String()), in.Offset)
		switch {
		case out.Text != "":
		case b.Len() > 0:
			out.Note = "the text ends before this offset"
		case kind == state.IsMessages:
			out.Note = "these lines of the session have no text"
		default:
			out.Note = "it has no text"
		}
		return nil
	})
}

// withoutShare returns a name without the tokens that suggest adds to it: 6ecd8c99=400 is 6ecd8c99.
func withoutShare(name string) string {
	if i := strings.LastIndexByte(name, '='); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i]
		}
	}
	return name
}

// writeKnown writes a fact, the facts of a session, a rule, or a concept with its facts.
func writeKnown(ctx context.Context, m *layers.Memory, rev state.Rev, w io.Writer) error {
	v, err := filterOf(ctx, m, rev.Project.ID)
	if err != nil {
		return err
	}
	set, err := revision.Facts(ctx, m.DB, rev.Project.ID)
	if err != nil {
		return err
	}
	var lines []string
	var list []facts.Fact
	switch {
	case rev.Rule != nil:
		lines = []string{rev.Rule.Type + ": " + rev.Rule.Text, rev.Rule.Problem}
		for _, id := range rev.Rule.Evidence {
			if f, ok := set.Fact(id); ok {
				list = append(list, f)
			}
		}
	case rev.Concept != nil:
		lines = []string{rev.Concept.Name, rev.Concept.Topic}
		if rev.Concept.Doubt == "" {
			lines = append(lines, rev.Concept.Summary)
		}
		for i := range set.Exchanges {
			if x := &set.Exchanges[i]; slices.Contains(rev.Concept.Exchanges, x.ID) {
				list = append(list, x.Facts...)
			}
		}
	case rev.Fact != nil:
		list = []facts.Fact{*rev.Fact}
	default:
		for _, x := range set.LiveExchanges(rev.Session.ID) {
			list = append(list, x.Facts...)
		}
	}
	for _, f := range list {
		if v.fact(f) {
			lines = append(lines, knowledgecmd.Line(f))
		}
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	_, err = io.WriteString(w, strings.Join(append(lines, ""), "\n"))
	return err
}

// Facts answers as mem facts list and search do, without facts that must not be served.
func (s served) Facts(ctx context.Context, in FactsIn) (out FactsOut, err error) {
	e, o := s.run(), knowledgecmd.FactOptions{Open: in.Open}
	if len(in.Kinds) > 0 {
		if o.Kinds, err = knowledgecmd.ParseKinds(strings.Join(in.Kinds, ",")); err != nil {
			return out, err
		}
	}
	out.Facts = []Fact{}
	return out, app.WithMemory(ctx, e, func(run app.Run) error {
		project, session := run.Project.ID, ""
		if in.Session != "" {
			rev, err := servable(ctx, run, in.Session)
			if err != nil {
				return err
			}
			if rev.Session == nil {
				return app.Usagef("%s is a %s, not a session", in.Session, rev.Kind)
			}
			project, session = rev.Project.ID, rev.Session.ID
		}
		v, err := filterOf(ctx, run.Memory, project)
		if err != nil {
			return err
		}
		set, err := revision.Facts(ctx, run.DB, project)
		if err != nil {
			return err
		}
		wants := func(f facts.Fact) bool {
			return o.Wants(f) && v.fact(f) && (session == "" || f.Session == session)
		}
		list := slices.Collect(set.All())
		slices.SortStableFunc(list, func(a, b *facts.Fact) int { return b.Time.Compare(a.Time) })
		if in.Query != "" {
			q := search.Query{Words: in.Query, Filter: search.Filter{Classes: []index.Class{index.Fact}}}
			found, err := search.Find(ctx, run.DB, []refs.Project{project}, q)
			if err != nil {
				return err
			}
			list = nil
			for _, h := range found.Hits {
				if f, ok := set.Fact(h.Doc.ID); ok {
					list = append(list, &f)
				}
			}
		}
		for _, f := range list {
			if wants(*f) && len(out.Facts) < cmp.Or(in.Limit, 20) {
				out.Facts = append(out.Facts, servedFact(*f))
			}
		}
		if len(out.Facts) == 0 {
			out.Note, err = scope{own: run.Project}.note(ctx, run.Memory, "no such facts; search also finds messages")
		}
		return err
	})
}

func servedFact(f facts.Fact) Fact {
	x := Fact{ID: f.ID, Kind: string(f.Kind), Verdict: knowledgecmd.FateOf(f), Text: term.SanitizeLine(cmp.Or(f.Shown(), f.Text))}
	if f.VerifiedBy != "" {
		x.By, x.At = term.SanitizeLine(f.VerifiedBy), f.VerifiedAt.UTC().Format(time.RFC3339)
	}
	if f.Session != "" {
		x.Ref = term.ShortID(f.Session)
		if len(f.Evidence) > 0 {
			x.Ref = fmt.Sprintf("%s#%d", x.Ref, f.Evidence[0].Message)
		}
	}
	return x
}
