package knowledgecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

func runFactsShow(ctx context.Context, run app.Run) error {
	name := run.Operand(0)
	if knowledge.IsFactID(name) {
		f, p, err := oneFact(ctx, run, name)
		if err != nil {
			return err
		}
		run.Project = p
		return ShowFact(ctx, run, f)
	}
	rev, err := run.ResolveSession(ctx, name)
	if err != nil {
		return err
	}
	return ShowDistilled(ctx, run, rev)
}

// ShowFact prints a fact with its evidence.
func ShowFact(ctx context.Context, run app.Run, f facts.Fact) error {
	if run.Opt.JSON {
		return run.PrintJSON("facts.show", f)
	}
	app.HeadLine(run.Env, "fact "+f.ID, string(f.Kind)+"  "+FateOf(f))
	run.Describe("Text", f.Text, "Reason", f.Reason)
	for _, n := range f.Notes {
		run.Describe("Note", n)
	}
	run.Describe("Verified", app.If(f.VerifiedBy != "", "by "+f.VerifiedBy+", "+run.DateText(f.VerifiedAt)),
		"Trust", f.Trust.String(), "Confirmed", app.If(f.Confirmed, "by the user"), "Hidden", f.Revoked)
	for _, v := range f.Evidence {
		run.Describe("Evidence", fmt.Sprintf("%s#%d  %s: %s", term.ShortID(f.Session), v.Message, v.By, quoteText(v.Quote)))
	}
	run.Describe("Keywords", strings.Join(f.Keywords, ", "), "Files", strings.Join(f.Files, ", "), "Superseded", f.SupersededBy,
		"Refuted", byWhom(f.Refuted, f.RefutedBy), "Resolved", byWhom(f.Resolved, f.ResolvedBy), "Resolution", f.Resolution,
		"Date", run.DateText(f.Time))
	return nil
}

func byWhom(is bool, by string) string { return cmp.Or(by, app.If(is, "by hand")) }

func quoteText(s string) string { return `"` + strings.Join(strings.Fields(s), " ") + `"` }

// ShowDistilled prints the exchanges of a session with their facts.
func ShowDistilled(ctx context.Context, run app.Run, rev state.Rev) error {
	set, err := revision.Facts(ctx, run.DB, rev.Project.ID)
	if err != nil {
		return err
	}
	list := set.LiveExchanges(rev.Session.ID)
	if run.Opt.JSON {
		return run.PrintJSON("facts.show", nil, "sessionId", rev.Session.ID,
			"through", set.ThroughOf(rev.Session.ID, rev.Session.Now().Generation),
			"exchanges", append([]facts.Exchange{}, list...))
	}
	if len(list) == 0 {
		run.Note("%s has no facts yet", term.ShortID(rev.Session.ID))
		run.Hint("%s", term.Shell("mem", "facts", "draft", term.ShortID(rev.Session.ID)))
		return nil
	}
	var w io.Writer = run.Out
	if run.Term.Stdout {
		w = &term.SafeWriter{W: run.Out}
	}
	return checkout.Write(ctx, run.DB, state.Rev{Kind: state.IsL2, Project: rev.Project, Session: rev.Session},
		checkout.Text, w)
}
