package main

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

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

type composeOptions struct {
	budget     int
	allocate   string
	auto       bool
	ratio      int      // preferred, 0 = any
	freshness  int      // distance that a version may have been made for at most, 0 = any
	recompress []string // revisions, or "all"
	engine     engineChoice
}

// defaultBudget is that of the seeds' composition builder.
const defaultBudget = 16_000

// autoSessions is how many of the newest sessions --auto takes when none are named.
const autoSessions = 5

// compose is the command that makes one context of several sessions.
func (e *Env) compose() *cli.Command {
	o := composeOptions{budget: defaultBudget, allocate: "equal"}
	return &cli.Command{
		Name:      "compose",
		Usage:     "build one context from several sessions under a token budget",
		ArgsUsage: "<name> <rev>[=TOKENS]...",
		Description: "A session takes its original if that fits its share, else the version of the best score, else a new one. A\n" +
			"version that is named is taken as it is. The whole never exceeds the budget. Write it out with \"mem checkout\".\n" +
			"The revision - stands for those on standard input, one a line.",
		Flags: []*cli.Flag{
			cli.Parsed(&o.budget, "budget", "use at most `T` tokens, such as 16k (the default)", parseTokens),
			cli.Choice(&o.allocate, "allocate", "share the budget by `RULE`: equal, proportional, recency or inverse-recency", "equal", "proportional", "recency", "inverse-recency"),
			cli.Parsed(&o.ratio, "prefer-ratio", "prefer versions of about `N`:1", parseRatio),
			cli.Parsed(&o.freshness, "min-freshness", "take no version made for a distance of more than `N` sessions: 1 is current, 10 stale", positive("a distance", "3")),
			cli.Bool(&o.auto, "auto", "take the newest sessions of the project when none are named"),
			cli.Parsed(&o.recompress, "recompress", "compress `REV` anew whatever versions exist; without a value, every part", appendTo(&o.recompress)).Optional("all"),
			cli.Choice(&o.engine.name, "engine", "let `NAME` compress what must be: extract, claude, anthropic, openai, command or replay", engineNames()...),
			cli.String(&o.engine.model, "model", "let the engine ask the model `NAME`"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			least := 2
			if o.auto {
				least = 1
			}
			if err := e.wantOperands(c, least, -1); err != nil {
				return err
			}
			revs, err := e.fromInput(e.operands[1:])
			if err != nil {
				return err
			}
			return e.runCompose(ctx, o, e.operand(0), revs)
		},
	}
}

func (e *Env) runCompose(ctx context.Context, o composeOptions, name string, revs []string) error {
	if err := checkName(name); err != nil {
		return err
	}
	strategy, err := compose.ParseStrategy(o.allocate)
	if err != nil {
		return usagef("%v", err)
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		if err := e.nameIsFree(ctx, m, sc, name); err != nil {
			return err
		}
		parts, err := e.composeParts(ctx, m, sc, o, revs)
		if err != nil {
			return err
		}
		req := derive.ComposeRequest{Project: sc.Project, Name: name, Parts: parts, Budget: o.budget, Strategy: strategy, Ratio: o.ratio, Stalest: o.freshness, DryRun: e.opt.dryRun}
		if req.Engine, err = e.composeEngine(ctx, m, parts, o.engine); err != nil {
			return err
		}
		done, err := m.Derive().Compose(ctx, req)
		if err != nil {
			return composeError(err)
		}
		e.autoTier(ctx, m, done.Project)
		if e.opt.json {
			return e.printJSON("compose", e.composeAnswer(req, done))
		}
		return e.printComposed(req, done)
	})
}

// composeEngine returns what finds the engine of a part. One that was named on the command line is set up at once, so
// that a mistake shows even if nothing must be compressed.
func (e *Env) composeEngine(ctx context.Context, m *layers.Memory, parts []derive.ComposePart, choice engineChoice) (func(context.Context, state.Rev) (compress.Summarizer, error), error) {
	if choice != (engineChoice{}) && choice.name != "replay" {
		if _, err := e.engine(ctx, m, parts[0].Rev, choice); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, part state.Rev) (compress.Summarizer, error) {
		part.Kind, part.Version = state.IsSession, nil
		return e.engine(ctx, m, part, choice)
	}, nil
}

// checkName refuses names of compositions that could be taken for something else.
func checkName(name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune(":#@~=^\\", r) || unicode.IsSpace(r) || !unicode.IsGraphic(r)
	})
	if bad || strings.HasPrefix(name, "-") || name == "HEAD" || len(name) > 100 || path.Clean(name) != name || !filepath.IsLocal(name) || name == "." || revision.IsLabel(name) {
		return withHint(usagef("%q cannot be the name of a composition", name), "use letters, digits, '-', '.' and '/', such as feature-x")
	}
	return nil
}

// nameIsFree refuses a name that stands for a session: it would hide that.
func (e *Env) nameIsFree(ctx context.Context, m *layers.Memory, sc state.Scope, name string) error {
	rev, err := m.Revision().Resolve(ctx, sc, name)
	var missing *state.NotFoundError
	var ambiguous *state.AmbiguousError
	switch {
	case errors.As(err, &missing), errors.As(err, &ambiguous):
		return nil
	case err != nil:
		return err
	case rev.Kind == state.IsSession && rev.How != "title":
		return withHint(usagef("%q is the start of a session's id; it cannot be the name of a composition", name), shell("mem", "compose", "NAME", name))
	}
	return nil
}

// appendTo returns a parser that adds to the list.
func appendTo(list *[]string) func(string) ([]string, error) {
	return func(s string) ([]string, error) { return append(*list, s), nil }
}

// composeParts resolves the operands REV[=TOKENS].
func (e *Env) composeParts(ctx context.Context, m *layers.Memory, sc state.Scope, o composeOptions, revs []string) ([]derive.ComposePart, error) {
	if len(revs) == 0 {
		st, err := m.Trusted().State(ctx, sc.Project.ID)
		if err != nil {
			return nil, err
		}
		trust, err := m.Trust(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range st.Recent() {
			if trust.Of(s.Now().Stamp.Device) && len(revs) < autoSessions {
				revs = append([]string{s.ID}, revs...) // oldest first
			}
		}
		if len(revs) == 0 {
			return nil, withHint(fatalf("the project %s has no sessions in memory", sc.Project.Name), "mem import")
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
			n, err := parseTokens(share)
			if err != nil {
				return nil, usagef("%s: %v", operand, err)
			}
			part.Share = n
		}
		r, err := e.resolve(ctx, m, sc, rev)
		if err != nil {
			return nil, err
		}
		if r.Session == nil || r.Kind != state.IsSession && r.Kind != state.IsOriginal && r.Kind != state.IsVersion {
			return nil, withHint(fatalf("%s is no session or version", rev), "name sessions, or versions such as abc1:v001")
		}
		for _, other := range parts {
			if other.Rev.Session.ID == r.Session.ID && other.Rev.Hash == r.Hash {
				return nil, withHint(usagef("%s is the same as an earlier part, %s", rev, shortID(r.Session.ID)), "name each session once, or other versions of it")
			}
		}
		sc.Last, part.Rev = r.Session, r
		parts = append(parts, part)
	}
	return parts, nil
}

// checkRecompress refuses to compress anew what is no part.
func checkRecompress(list, revs []string) error {
	for _, s := range list {
		if !slices.ContainsFunc(revs, func(operand string) bool {
			rev, _, _ := strings.Cut(operand, "=")
			return matchesAny(rev, []string{s})
		}) {
			return withHint(usagef("option --recompress names %q, which is no part", s), "name a part as you wrote it, or all parts by --recompress alone")
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

func composeError(err error) error {
	var budget *compose.BudgetError
	if errors.As(err, &budget) && budget.Frame == 0 { // of the share of one part
		return withCode(exitBudget, withHint(err, fmt.Sprintf("mem compose ... SESSION=%d", budget.Need)))
	}
	if errors.As(err, &budget) {
		return withCode(exitBudget, withHint(err, fmt.Sprintf("mem compose ... --budget %d", budget.Need)))
	}
	var pins *compress.PinError
	if errors.As(err, &pins) {
		return withCode(exitBudget, withHint(err, fmt.Sprintf("mem compose ... SESSION=%d", pins.Need)))
	}
	if errors.Is(err, derive.ErrNoParts) {
		return withCode(exitUsage, err)
	}
	return compressError(err)
}

// A composeAnswer is a composition as compose --json prints it.
type composeAnswer struct {
	Project string          `json:"project"`
	Name    string          `json:"name"`
	Budget  int             `json:"budget"`
	Tokens  int             `json:"tokens"`
	Frame   int             `json:"frame"` // of the tokens: headings, sources and tags
	Counter string          `json:"counter"`
	Hash    string          `json:"hash"`
	Parts   []composePicked `json:"parts"`
	Existed bool            `json:"existed"`
	DryRun  bool            `json:"dry_run"`

	Receipt engines.Receipt `json:"receipt,omitzero"`
}

type composePicked struct {
	Session string `json:"session"`
	Pick    string `json:"pick"`
	Tokens  int    `json:"tokens"`
	Share   int    `json:"share"`
	Score   string `json:"score"`
	Why     string `json:"why"`
}

func (e *Env) composeAnswer(req derive.ComposeRequest, d derive.Composed) composeAnswer {
	a := composeAnswer{Frame: frameTokens(d), Project: d.Project.Name, Name: req.Name, Budget: req.Budget, Tokens: d.Plan.Total, Parts: []composePicked{}, Existed: d.Existed, DryRun: e.opt.dryRun, Receipt: d.Receipt}
	if d.Composition != nil {
		a.Tokens, a.Counter, a.Hash = d.Composition.Tokens, d.Composition.Counter, d.Composition.Derivation.Output.String()
	}
	for i, p := range d.Plan.Picks {
		a.Parts = append(a.Parts, composePicked{p.Session, pickLabel(d, i), pickTokens(d, i), p.Share, score(p.Score), p.Why})
	}
	return a
}

// why tells why a part was picked; what would be done has been done by the time that is printed.
func (e *Env) why(p compose.Pick) string {
	if e.opt.dryRun {
		return p.Why
	}
	return strings.Replace(p.Why, "would compress", "compressed", 1)
}

// pickLabel returns what part i became: a version that was made has its label by now.
func pickLabel(d derive.Composed, i int) string {
	if d.Composition != nil && i < len(d.Composition.Parts) {
		return d.Composition.Parts[i].Label
	}
	return d.Plan.Picks[i].Label()
}

func pickTokens(d derive.Composed, i int) int {
	if d.Composition != nil && i < len(d.Composition.Parts) {
		return d.Composition.Parts[i].Tokens
	}
	return d.Plan.Picks[i].Tokens - d.Plan.Picks[i].Tags
}

// frameTokens returns the tokens of a composition that belong to no part.
func frameTokens(d derive.Composed) int {
	n := d.Plan.Total
	if d.Composition != nil {
		n = d.Composition.Tokens
	}
	for i := range d.Plan.Picks {
		n -= pickTokens(d, i)
	}
	return n
}

func score(thousandths int) string {
	if thousandths < 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', 2, 64)
}

func (e *Env) printComposed(req derive.ComposeRequest, d derive.Composed) error {
	if e.opt.quiet && !e.opt.dryRun {
		return nil
	}
	t := e.table(column{name: "#", right: true}, column{name: "SESSION"}, column{name: "PICK"}, column{name: "TOKENS", right: true},
		column{name: "SHARE", right: true}, column{name: "SCORE", right: true}, column{name: "WHY", shrinks: true})
	for i, p := range d.Plan.Picks {
		t.row(cell{full: strconv.Itoa(i + 1)}, cell{full: p.Session, short: shortID(p.Session)}, cell{full: pickLabel(d, i)},
			cell{full: strconv.Itoa(pickTokens(d, i)), short: tokens.Commas(pickTokens(d, i))}, cell{full: strconv.Itoa(p.Share), short: tokens.Commas(p.Share)},
			cell{full: score(p.Score)}, cell{full: e.why(p)})
	}
	frame := frameTokens(d)
	why := "headings, sources, tags"
	if d.Recount > 0 {
		why += fmt.Sprintf("; %s because a newer model counts more", tokens.Commas(d.Recount))
	}
	t.row(cell{full: "-"}, cell{full: "frame"}, cell{full: "-"}, cell{full: strconv.Itoa(frame), short: tokens.Commas(frame)},
		cell{full: "-"}, cell{full: "-"}, cell{full: why})
	if err := t.flush(); err != nil {
		return err
	}
	verb, total := "composed", d.Plan.Total
	switch {
	case e.opt.dryRun:
		verb = "would compose"
	case d.Existed:
		verb, total = "unchanged:", d.Composition.Tokens
	default:
		total = d.Composition.Tokens
	}
	e.did("[%s] %s %s  ~%s of %s tokens, %d part%s\n", e.safe(d.Project.Name), verb, e.safe(req.Name), tokens.Commas(total), tokens.Commas(req.Budget), len(req.Parts), plural(len(req.Parts)))
	switch r := d.Receipt; {
	case e.opt.dryRun && r.Requests > 0:
		e.printf("  %s, about %s tokens in and %s out, %s\n", count(r.Requests, "request"), tokens.Commas(r.Usage.Input), tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
	case !e.opt.dryRun:
		e.printReceipt(r)
	}
	if !e.opt.dryRun {
		e.hint("write it out with \"%s -o DIR\"", shell("mem", "checkout", req.Name))
	}
	return nil
}
