package versioncmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/layers/view"
)

// ComposeOptions are the options of mem compose.
type ComposeOptions struct {
	budget     int
	allocate   string
	auto       bool
	ratio      int      // preferred ratio, 0 for any
	freshness  int      // maximum distance that a version was made for, 0 for any
	recompress []string // revisions, or "all"
	engine     EngineChoice
}

// DefaultBudget is the default budget in tokens, as in the seeds' composition builder.
const DefaultBudget = 16_000

// autoSessions is the number of the newest sessions that --auto uses.
const autoSessions = 5

// Compose returns mem compose.
func Compose(e *app.Env) *cli.Command {
	o := ComposeOptions{budget: DefaultBudget, allocate: "equal"}
	return &cli.Command{
		Name:      "compose",
		Usage:     "build one context from several sessions under a token budget",
		ArgsUsage: "<name> <rev>[=TOKENS]...",
		Description: "Each session contributes its original if that fits its share of the budget, else the\n" +
			"version with the best score, else a new version. A named version is used as it is. The\n" +
			"result never exceeds the budget. \"mem checkout\" writes it to files. The revision -\n" +
			"reads revisions from standard input, one per line.",
		Flags: []cli.Flag{
			app.ParsedFlag(&o.budget, "budget", "use at most `T` tokens, such as 16k (the default)", app.ParseTokens),
			app.ChoiceFlag(&o.allocate, "allocate",
				"allocate the budget by `RULE`: equal, proportional, recency or inverse-recency",
				"equal", "proportional", "recency", "inverse-recency"),
			app.ParsedFlag(&o.ratio, "prefer-ratio", "prefer versions of about `N`:1", parseRatio),
			app.ParsedFlag(&o.freshness, "min-freshness",
				"use no version made for a distance of more than `N` sessions: 1 is current, 10 stale",
				app.Positive("a distance", "3")),
			app.BoolFlag(&o.auto, "auto", "use the newest sessions of the project if none are named"),
			app.ParsedFlag(&o.recompress, "recompress", "compress `REV` again even if a version fits; without a value, every part",
				appendTo(&o.recompress)).Optional("all"),
			app.ChoiceFlag(&o.engine.Name, "engine",
				"compress with the engine `NAME`: extract, claude, anthropic, openai, command or replay", EngineNames()...),
			app.StringFlag(&o.engine.Model, "model", "use the model `NAME`"),
		},
		Action: func(c *cli.Context) error {
			least := 2
			if o.auto {
				least = 1
			}
			if err := e.WantOperands(c, least, -1); err != nil {
				return err
			}
			revs, err := app.FromInput(e, e.Operands[1:])
			if err != nil {
				return err
			}
			return runCompose(c.Context, e, o, e.Operand(0), revs)
		},
	}
}

func runCompose(ctx context.Context, e *app.Env, o ComposeOptions, name string, revs []string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	strategy, err := compose.ParseStrategy(o.allocate)
	if err != nil {
		return app.Usagef("%v", err)
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		if err := NameIsFree(ctx, run, name, revs...); err != nil {
			return err
		}
		before, err := composedAs(ctx, run, name)
		if err != nil {
			return err
		}
		parts, err := ComposeParts(ctx, run, o, revs)
		if err != nil {
			return err
		}
		req := derive.ComposeRequest{Project: run.Project, Name: name, Parts: parts, Budget: o.budget, Strategy: strategy,
			Ratio: o.ratio, MaxDistance: o.freshness, DryRun: e.Opt.DryRun}
		if req.Engine, err = ComposeEngine(ctx, run, parts, o.engine); err != nil {
			return err
		}
		done, err := derive.Compose(ctx, run.DB, req)
		if err != nil {
			return ComposeError(err)
		}
		Auto(ctx, e, run.Memory, done.Project)
		for _, part := range parts {
			if part.Rev.Session.Deleted {
				e.Note("%s is hidden by mem rm; %s has its text", e.Safe(term.ShortID(part.Rev.Session.ID)), e.Safe(name))
			}
		}
		if f := done.Foreign; f != nil {
			e.Warn("with text of project %s in %s, project %s cannot be pushed or exported", f.From, name, f.With)
			e.Hint("%s", app.ShareHints(f)[0])
		}
		if e.Opt.JSON {
			return e.PrintJSON("compose", view.ComposedOf(req, done))
		}
		return printComposed(e, req, done, before)
	})
}

// composedAs returns the number of parts of the composition that has the name, 0 if none has it.
func composedAs(ctx context.Context, run app.Run, name string) (int, error) {
	rev, err := revision.Resolve(ctx, run.DB, run.Scope, name)
	var missing *state.NotFoundError
	var ambiguous *state.AmbiguousError
	switch {
	case errors.As(err, &missing), errors.As(err, &ambiguous):
		return 0, nil
	case err != nil || rev.Kind != state.IsComposition || rev.Composition.Name != name || rev.Composition.Deleted:
		return 0, err
	}
	return len(rev.Composition.Parts), nil
}

// ComposeEngine returns a function that returns the engine for a part. An engine from the command line is set up at
// once, so that mistakes are reported even if nothing must be compressed.
func ComposeEngine(ctx context.Context, run app.Run, parts []derive.ComposePart,
	choice EngineChoice) (func(context.Context, state.Rev) (version.Summarizer, error), error) {
	if choice != (EngineChoice{}) && choice.Name != "replay" {
		if _, err := Engine(ctx, run, parts[0].Rev, choice); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, part state.Rev) (version.Summarizer, error) {
		part.Kind, part.Version = state.IsSession, nil
		return Engine(ctx, run, part, choice)
	}, nil
}

// CheckName returns a usage error for names that compositions cannot have.
func CheckName(name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune(":#@~=^\\", r) || unicode.IsSpace(r) || !unicode.IsGraphic(r)
	})
	if bad || strings.HasPrefix(name, "-") || name == "HEAD" || len(name) > 100 || path.Clean(name) != name ||
		!filepath.IsLocal(name) || name == "." || revision.IsLabel(name) {
		return app.WithHint(app.Usagef("%q cannot be the name of a composition", name),
			"use letters, digits, '-', '.' and '/', such as feature-x")
	}
	return nil
}

// NameIsFree returns a usage error for a name that is the start of a session's id, which it would hide. The hint has the
// other operands, revs, too.
func NameIsFree(ctx context.Context, run app.Run, name string, revs ...string) error {
	hidden, err := HidesSession(ctx, run, name)
	if err == nil && hidden {
		err = app.WithHint(app.Usagef("%q is the start of a session's id; it cannot be the name of a composition", name),
			term.Shell(append([]string{"mem", "compose", "NAME", name}, revs...)...))
	}
	return err
}

// HidesSession reports whether a composition with this name would hide a session, because the name is the start of its
// id.
func HidesSession(ctx context.Context, run app.Run, name string) (bool, error) {
	rev, err := revision.Resolve(ctx, run.DB, run.Scope, name)
	var missing *state.NotFoundError
	var ambiguous *state.AmbiguousError
	if errors.As(err, &missing) || errors.As(err, &ambiguous) {
		return false, nil
	}
	return err == nil && rev.Kind == state.IsSession && rev.How != "title", err
}

// appendTo returns a parser that adds to the list.
func appendTo(list *[]string) func(string) ([]string, error) {
	return func(s string) ([]string, error) { return append(*list, s), nil }
}

// ComposeParts resolves the operands REV[=TOKENS].
func ComposeParts(ctx context.Context, run app.Run, o ComposeOptions, revs []string) ([]derive.ComposePart, error) {
	if len(revs) == 0 {
		st, err := trust.State(ctx, run.DB, run.Project.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range st.Recent() {
			if len(revs) < autoSessions {
				revs = append([]string{s.ID}, revs...) // oldest first
			}
		}
		if len(revs) == 0 {
			return nil, app.WithHint(fmt.Errorf("the project %s has no sessions in memory", run.Project.Name), "mem import")
		}
	}
	if err := checkRecompress(o.recompress, revs); err != nil {
		return nil, err
	}
	var parts []derive.ComposePart
	for _, operand := range revs {
		rev, share, hasShare := strings.Cut(operand, "=")
		part := derive.ComposePart{Recompress: matchesAny(rev, o.recompress)}
		if hasShare {
			n, err := app.ParseTokens(share)
			if err != nil {
				return nil, app.Usagef("%s: %v", operand, err)
			}
			part.Share = n
		}
		r, err := run.Resolve(ctx, rev)
		if err != nil {
			return nil, err
		}
		if r.Session == nil || r.Kind != state.IsSession && r.Kind != state.IsOriginal && r.Kind != state.IsVersion {
			return nil, app.WithHint(fmt.Errorf("%s is not a session or version", rev),
				"name sessions, or versions such as abc1:v001")
		}
		run.Last, part.Rev = r.Session, r
		parts = append(parts, part)
	}
	return parts, nil
}

// checkRecompress returns an error for revisions of --recompress that are not parts.
func checkRecompress(list, revs []string) error {
	for _, s := range list {
		if !slices.ContainsFunc(revs, func(operand string) bool {
			rev, _, _ := strings.Cut(operand, "=")
			return matchesAny(rev, []string{s})
		}) {
			return app.WithHint(app.Usagef("option --recompress names %q, which is not a part", s),
				"name a part as you wrote it, or all parts by --recompress alone")
		}
	}
	return nil
}

func matchesAny(rev string, list []string) bool {
	for _, s := range list {
		if s == rev || s == "all" {
			return true
		}
	}
	return false
}

func ComposeError(err error) error {
	var budget *compose.BudgetError
	if errors.As(err, &budget) && budget.Frame == 0 { // of the share of one part
		return app.WithCode(app.ExitBudget, app.WithHint(err, fmt.Sprintf("mem compose ... SESSION=%d", budget.Need)))
	}
	if errors.As(err, &budget) {
		return app.WithCode(app.ExitBudget, app.WithHint(err, fmt.Sprintf("mem compose ... --budget %d", budget.Need)))
	}
	var pins *planning.PinError
	if errors.As(err, &pins) {
		return app.WithCode(app.ExitBudget, app.WithHint(err, fmt.Sprintf("mem compose ... SESSION=%d", pins.Need)))
	}
	if errors.Is(err, derive.ErrNoParts) || errors.Is(err, derive.ErrRepeated) {
		return app.WithCode(app.ExitUsage, err)
	}
	return compressError(err)
}

// why returns the reason for the choice of a part, in the past tense unless it is a dry run.
func why(e *app.Env, reason string) string {
	if e.Opt.DryRun {
		return reason
	}
	return strings.Replace(reason, "would compress", "compressed", 1)
}

func score(part view.ComposedPart) string {
	if part.Score == nil {
		return "-"
	}
	return strconv.FormatFloat(*part.Score, 'f', 2, 64)
}

// printComposed prints a composition; before is the number of parts of the one that it replaces.
func printComposed(e *app.Env, req derive.ComposeRequest, d derive.ComposeResult, before int) error {
	if e.Opt.Quiet && !e.Opt.DryRun {
		return nil
	}
	t := e.Table(app.Column{Name: "#", Right: true}, "SESSION", "PICK", app.Column{Name: "TOKENS", Right: true},
		app.Column{Name: "SHARE OF BUDGET", Right: true}, app.Column{Name: "SCORE", Right: true, Script: true},
		app.Column{Name: "WHY", Shrinks: true})
	composed := view.ComposedOf(req, d)
	for i, p := range composed.Parts {
		t.Row(i+1, app.Cell{Full: p.Session, Short: term.ShortID(p.Session)}, p.Version,
			app.Cell{Full: strconv.Itoa(p.Tokens), Short: tokens.Commas(p.Tokens)},
			app.Cell{Full: strconv.Itoa(p.Share), Short: tokens.Commas(p.Share)}, score(p), why(e, p.Why))
	}
	why := "with sources and tags"
	if d.Recount > 0 {
		why += fmt.Sprintf("; %s because a newer model counts more", tokens.Commas(d.Recount))
	}
	t.Row("-", "headings", "-", app.Cell{Full: strconv.Itoa(composed.Frame), Short: tokens.Commas(composed.Frame)}, "-", "-",
		why)
	if err := t.Flush(); err != nil {
		return err
	}
	verb, total := "composed", d.Plan.Total
	switch {
	case e.Opt.DryRun:
		verb = "would compose"
	case d.Existed:
		verb, total = "unchanged:", d.Composition.Tokens
	default:
		total = d.Composition.Tokens
	}
	what := term.Count(len(d.Plan.Picks), "part")
	e.Report("[%s] %s %s  ~%s of %s tokens, %s\n", e.Safe(d.Project.Name), verb, e.Safe(req.Name), tokens.Commas(total),
		tokens.Commas(req.Budget), what)
	if len(d.Made) > 0 {
		e.Report("  made %s for it, because no version of that size was there\n", e.Safe(strings.Join(d.Made, ", ")))
	}
	if left := req.Budget - total; 4*left > req.Budget && slices.ContainsFunc(d.Plan.Picks, func(p compose.Pick) bool {
		return p.Kind == compose.PickVersion && p.Score >= 0 && 2*p.Tokens < p.Share
	}) {
		e.Hint("%s tokens of the budget are unused, because smaller versions were there; to make larger ones for it: --recompress",
			tokens.Commas(left))
	}
	for _, id := range d.Copies {
		e.Report(" left out %s: the other parts have all of its messages\n", e.Safe(term.ShortID(id)))
	}
	switch r := d.Receipt; {
	case e.Opt.DryRun && r.Requests > 0:
		e.Printf("  %s, about %s tokens in and %s out, %s\n", term.Count(r.Requests, "request"), tokens.Commas(r.Usage.Input),
			tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
	case !e.Opt.DryRun:
		printReceipt(e, r)
	}
	if before > 0 && !d.Existed {
		verb := e.Verb("replaced", "would replace")
		e.Note("%s the composition %s of %s, which stays as %s", verb, req.Name, term.Count(before, "part"), req.Name+"@{1}")
	}
	if !e.Opt.DryRun {
		e.Hint("to start a session with it: %s -o DIR, then claude --resume DIR/composed.jsonl --fork-session",
			term.Shell("mem", "checkout", req.Name))
	}
	return nil
}
