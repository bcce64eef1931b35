package versioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs/config"
)

type compressOptions struct {
	ratio    int
	tokens   int
	preset   string
	tiers    []string
	level    string
	distance int
	keepit   string
	skip     int
	after    string
	engine   EngineChoice
}

// Compress returns mem compress.
func Compress(e *app.Env) *cli.Command {
	var o compressOptions
	return &cli.Command{
		Name:      "compress",
		Usage:     "create a smaller version of a session",
		ArgsUsage: "<session|version>",
		Description: "--ratio, --tokens, --preset or --tier set the size; the default is the preset of the\n" +
			"settings. Pinned text (##keepit0.80##, \"mem help keepit\") is kept byte for byte if its\n" +
			"weight, here 0.80, reaches a threshold. It rises with the ratio and with the number of\n" +
			"sessions since: \"mem keepit preview\". The same recipe, or the same text, returns the\n" +
			"existing version. A version can be compressed again; ratios are relative to the original.\n" +
			"\"1.9:1 without tool output\" is the ratio to L1: most of a session is output of tools and\n" +
			"text of files, so a tenth of it is half of what was said and done.\n" +
			"--after compresses only the messages after those that a version covers.\n" +
			"A model writes the text of a part of the session and is then asked whether its messages\n" +
			"support it: two requests. What they contradict is left out and counted.",
		Flags: []cli.Flag{
			app.ParsedFlag(&o.ratio, "ratio,r", "compress at the ratio `N`: 10 or 10:1", parseRatio),
			app.ParsedFlag(&o.tokens, "tokens", "compress to at most `T` tokens, such as 3000 or 3k", app.ParseTokens),
			app.ChoiceFlag(&o.preset, "preset", "use the tiers of `NAME`: gentle, standard or aggressive", planning.Presets[:]...),
			app.RepeatedFlag(&o.tiers, "tier", "add a tier: `END:RATIO:LEVEL`, such as 25:10:moderate; repeat up to 100"),
			app.ChoiceFlag(&o.level, "aggressiveness,a", "compress at the aggressiveness `LEVEL`: minimal, moderate or aggressive",
				"minimal", "light", "moderate", "aggressive"),
			app.ParsedFlag(&o.distance, "distance", "decide what pinned text is kept as if `N` sessions were since; 1 is the newest",
				app.Positive("a distance", "5")),
			app.ChoiceFlag(&o.keepit, "keepit", "keep pinned text by `MODE`: decay, preserve-all or ignore", "decay",
				"preserve-all", "ignore"),
			app.ParsedFlag(&o.skip, "skip", "leave out the first `N` messages, except pinned text", app.NotNegative),
			app.StringFlag(&o.after, "after", "compress only the messages after those of the version `REV`, such as v002"),
			app.ChoiceFlag(&o.engine.Name, "engine",
				"use the engine `NAME`: extract, claude, anthropic, openai, command or replay",
				EngineNames()...),
			app.StringFlag(&o.engine.Model, "model", "use the model `NAME`"),
		},
		Action: app.Action(e, 1, 1, o.run),
	}
}

// parseRatio parses a ratio: 10, 10:1 or 10.0:1.
func parseRatio(s string) (int, error) {
	return app.Positive("a ratio", "10 or 10:1")(strings.TrimSuffix(strings.TrimSuffix(s, ":1"), ".0"))
}

// settings returns the settings of the compression.
func (o *compressOptions) settings() (planning.Settings, error) {
	s := planning.Settings{Ratio: o.ratio, Tokens: o.tokens, Preset: o.preset, Skip: o.skip,
		Keepit: planning.KeepitMode(o.keepit), Distance: o.distance}
	for _, t := range o.tiers {
		tier, err := planning.ParseTier(t)
		if err != nil {
			if slices.Contains(planning.Presets[:], t) {
				return s, app.WithHint(app.Usagef("%s is a preset, not one tier", t), "--preset "+t)
			}
			return s, app.WithHint(app.Usagef("%v", err),
				"a tier is END:RATIO:LEVEL, such as --tier 25:10:moderate --tier 100:3:minimal")
		}
		s.Tiers = append(s.Tiers, tier)
	}
	if o.level != "" {
		level, err := keepit.ParseLevel(o.level)
		if err != nil {
			return s, app.Usagef("%v", err)
		}
		s.Level = &level
	}
	return s, nil
}

// SetDefaults sets what a compression does not say from the settings of the memory.
func SetDefaults(conf *config.Config, s *planning.Settings) {
	s.Decay = app.DecayOf(conf)
	if s.Keepit == "" && !conf.Bool("defaults.keepitDecayEnabled") {
		s.Keepit = planning.PreserveAll
	}
	if s.Ratio == 0 && s.Tokens == 0 && s.Preset == "" && len(s.Tiers) == 0 {
		s.Preset = conf.String("defaults.compressionPreset")
	}
}

func (o *compressOptions) run(ctx context.Context, run app.Run) error {
	conf, err := run.Settings()
	if err != nil {
		return err
	}
	s, err := o.settings()
	if err != nil {
		return err
	}
	SetDefaults(conf, &s)
	rev, err := run.Resolve(ctx, run.Operand(0))
	if err != nil {
		return err
	}
	if rev.Session != nil {
		if s.Engine, err = Engine(ctx, run, rev, o.engine); err != nil {
			return err
		}
	}
	c, err := compressRev(ctx, run, rev, s, o.after)
	if err != nil {
		return compressError(err)
	}
	if run.Opt.JSON {
		return printCompressedJSON(run.Env, c)
	}
	return printCompressed(run.Env, c)
}

// compressRev compresses a session or version, or the messages of a session since a version.
func compressRev(ctx context.Context, run app.Run, rev state.Rev, s planning.Settings,
	since string) (derive.CompressResult, error) {
	if since == "" {
		return derive.Compress(ctx, run.DB, rev, s, run.Opt.DryRun)
	}
	if rev.Session == nil || rev.Kind == state.IsVersion {
		return derive.CompressResult{}, app.WithHint(app.Usagef("--after requires a session, and %s is a %s", rev.Name(),
			rev.Kind), "mem compress SESSION --after "+since)
	}
	if since == "latest" {
		since = rev.Session.ID + ":latest"
	}
	run.Last = rev.Session
	base, err := run.Resolve(ctx, since)
	if err != nil {
		return derive.CompressResult{}, err
	}
	if base.Kind != state.IsVersion {
		return derive.CompressResult{},
			app.WithHint(app.Usagef("--after requires a version, and %s is a %s", since, base.Kind),
				term.Shell("mem", "versions", term.ShortID(rev.Session.ID)))
	}
	return derive.CompressSince(ctx, run.DB, rev, base, s, run.Opt.DryRun)
}

// compressError adds hints and an exit status to an error of a compression.
func compressError(err error) error {
	var pins *planning.PinError
	var nothing *derive.UpToDateError
	var small *compress.SmallError
	switch {
	case errors.As(err, &nothing):
		return app.WithCode(app.ExitNo, err)
	case errors.Is(err, derive.ErrOtherSession):
		return app.WithCode(app.ExitUsage, app.WithHint(err, "name a version of the session itself: mem ls SESSION"))
	case errors.Is(err, derive.ErrOtherPast):
		return app.WithHint(err, "compress the whole session: leave out --after")
	case errors.As(err, &pins):
		return app.WithCode(app.ExitBudget, app.WithHint(err,
			"allow more tokens, or increase --distance so that more markers decay"))
	case errors.As(err, &small) && small.Least > 0:
		return app.WithCode(app.ExitBudget, app.WithHint(err,
			fmt.Sprintf("%d tokens are enough: --tokens %d", small.Least, small.Least)))
	case errors.Is(err, compress.ErrTooSmall):
		return app.WithCode(app.ExitBudget, app.WithHint(err, "allow more tokens or a smaller ratio"))
	case errors.Is(err, planning.ErrEmpty):
		return app.WithHint(err, "there must be messages left to compress")
	case errors.Is(err, planning.ErrSettings):
		return app.WithCode(app.ExitUsage, app.WithHint(err, "mem compress -h"))
	case errors.Is(err, records.ErrNotCompressible):
		return app.WithHint(err, "name a session or a version: mem compress SESSION")
	}
	return err
}

// printCompressedJSON prints the result of a compression. A version that was made from another one or continues it has the
// label of that; the tokens of L1 are those of the input, what a version can keep.
func printCompressedJSON(e *app.Env, c derive.CompressResult) error {
	v, from, to, hash := c.Version, 0, 0, ""
	if v.Since != "" {
		from, to = c.From, c.Point.Scan.Values
	}
	if !v.Derivation.Output.IsZero() {
		hash = v.Derivation.Output.String()
	}
	return e.PrintJSON("compress", nil, "session", v.Session, "version", v.Label, "source,omitempty", v.Source,
		"since,omitempty", v.Since, "from,omitempty", from, "to,omitempty", to, "input_tokens", v.TokensIn,
		"l1_tokens", v.TokensL1, "output_tokens", v.TokensOut, "ratio", v.Ratio, "input_messages", v.MessagesIn,
		"output_messages", v.MessagesOut, "budget", c.Plan.Budget, "keepit_preserved", v.Preserved,
		"keepit_summarised", v.Summarised, "keepit_skipped", skippedOf(c.Fates), "markers", view.FatesOf(c.Fates),
		"engine", v.Engine, "counter", v.Counter, "hash", hash, "recipe_key", v.Derivation.Key().String(),
		"existed", c.Existed, "dryRun", e.Opt.DryRun, "receipt,omitempty", c.Receipt)
}

func printCompressed(e *app.Env, c derive.CompressResult) error {
	v := c.Version
	switch {
	case e.Opt.DryRun:
		return printPreview(e, c)
	case c.Existed:
		e.Report("%s\n", existing(e, c))
	default:
		kept := ""
		if n := v.Preserved + v.Summarised; n > 0 {
			kept = fmt.Sprintf(", %d of %d pinned texts kept", v.Preserved, n)
		}
		e.Report("[%s] compress %s%s  %s -> %s tokens (%.1f:1%s)%s\n", e.Safe(c.Project.Name), e.Safe(app.Label(v)),
			e.Safe(rangeOf(c)), tokens.Commas(v.TokensIn), tokens.Commas(v.TokensOut), v.Ratio, ofL1(v), kept)
		if n := skippedOf(c.Fates); n > 0 {
			e.Warn("%s of skipped messages left out: %s", term.Count(n, "marker"), skippedText(c.Fates))
		}
		if least := usefulTokens; v.TokensOut < least && v.TokensIn > 2*least {
			e.Warn("%s tokens tell little of %s; a version of use has about %d: -r %d", tokens.Commas(v.TokensOut),
				term.Count(v.MessagesIn, "message"), least, v.TokensIn/least)
		}
		if why := Shortfall(c); why != "" {
			e.Report("  %s\n", why)
		}
		printReceipt(e, c.Receipt)
		printSupport(e, v)
		if e.Term.Stdout {
			e.Hint("read it with %q", "mem show "+app.Label(v))
		}
	}
	return nil
}

// usefulTokens is the size below which a version is little more than a heading and the start of a request.
const usefulTokens = 100

// ofL1 returns the ratio of a version to what L1 keeps of its input: ", 2.1:1 without tool output".
func ofL1(v *records.Version) string {
	if v.TokensL1 == 0 || v.Source != "" {
		return ""
	}
	of := fmt.Sprintf("%.1f:1", float64(v.TokensL1)/float64(max(1, v.TokensOut)))
	if of == fmt.Sprintf("%.1f:1", v.Ratio) {
		return ""
	}
	return ", " + of + " without tool output"
}

// AskedOf names the ratio that was asked for if it is not the one that was reached, and why that is far away.
func AskedOf(v *records.Version) string {
	asked := v.Settings.Ratio
	switch {
	case asked == 0 || int(v.Ratio+.5) == asked:
		return ""
	case v.Ratio < 1.1*float64(asked):
		return fmt.Sprintf(" (%d:1 asked)", asked)
	case !planning.IsExtract(v.Engine):
		return fmt.Sprintf(" (%d:1 asked: the model wrote less)", asked)
	case v.Settings.Aggressiveness == keepit.Aggressive.String():
		return fmt.Sprintf(" (%d:1 asked: code, reports of agents and announcements of steps are left out)", asked)
	}
	return fmt.Sprintf(" (%d:1 asked: the rest is code and long pastes)", asked)
}

// Shortfall says that a version is much smaller than asked, and why; "" if it is not.
func Shortfall(c derive.CompressResult) string {
	v, wanted := c.Version, c.Plan.Budget
	if 10*v.TokensOut >= 9*wanted || v.Source != "" { // a version has no more than it has
		return ""
	}
	return fmt.Sprintf("%s of the %s tokens that were asked for: %s", tokens.Commas(v.TokensOut), tokens.Commas(wanted), whyShort(c))
}

// whyShort says why a version is smaller than asked.
func whyShort(c derive.CompressResult) string {
	switch {
	case c.Receipt.Contradicted > 0:
		return "what the source contradicts is left out"
	case !planning.IsExtract(c.Version.Engine):
		return "the model wrote less"
	case c.Whole && len(c.Plan.Tiers) > 1:
		return "its older parts are without code, reports of agents and announcements of steps; -r 10 keeps more"
	case c.Whole && c.Plan.Tiers[0].Level == keepit.Aggressive:
		return "code, reports of agents and announcements of steps are left out; -a moderate keeps more"
	case c.Whole && c.Plan.Tiers[0].Level == keepit.Moderate:
		return "the rest is code and long pastes; -a minimal keeps more code"
	case c.Whole:
		return "there is nothing else worth reading"
	}
	return "the next passage does not fit, and passages are not cut"
}

// printSupport prints how many lines that a model wrote have no source.
func printSupport(e *app.Env, v *records.Version) {
	if r := v.Receipt; r.Baseless > 0 {
		e.Report("  lines of the model without a supporting message: %d of %d (mem blame %s)\n", r.Baseless,
			r.Lines, e.Safe(app.Label(v)))
	}
}

// existing describes the version that already exists, and why it is not made again.
func existing(e *app.Env, c derive.CompressResult) string {
	v := c.Version
	why := "already exists (same recipe)"
	if c.SameText {
		why = "has the same text, no other version is stored"
		if 3*v.TokensOut < 2*c.Plan.Budget {
			why += " (" + whyShort(c) + ")"
		}
	}
	return fmt.Sprintf("%s %s: %s -> %s tokens (%.1f:1)", e.Safe(app.Label(v)), why,
		tokens.Commas(v.TokensIn), tokens.Commas(v.TokensOut), v.Ratio)
}

// printPreview prints the expected result and cost of a compression, or the existing version, and the fate of each
// marker.
func printPreview(e *app.Env, c derive.CompressResult) error {
	v := c.Version
	if c.Existed {
		e.Printf("%s\n", existing(e, c))
	} else {
		e.Printf("Would compress %s%s (~%s tokens, %s)\n", e.Safe(term.ShortID(v.Session)), e.Safe(rangeOf(c)),
			tokens.Commas(v.TokensIn), term.Count(v.MessagesIn, "message"))
	}
	e.Printf("  recipe     %s, engine %s\n", e.Safe(app.ModeOf(v)), v.Engine)
	for _, p := range c.Plan.Tiers {
		if len(c.Plan.Tiers) > 1 && p.To >= p.From {
			e.Printf("  tier       messages %d-%d, %s tokens, %s%s\n", p.From, p.To, tokens.Commas(p.Budget), p.Level,
				tierThreshold(c.Fates, p.From, p.To))
		}
	}
	if r := c.Receipt; r.Requests > 0 {
		e.Printf("  requests   %d, about %s tokens in and %s out, %s\n", r.Requests, tokens.Commas(r.Usage.Input),
			tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
	} else {
		e.Printf("  requests   none, no cost\n")
	}
	if !c.Existed {
		if len(c.Segments) == 0 { // a model writes it
			e.Printf("  result     at most %s tokens, about %.0f:1\n", tokens.Commas(c.Plan.Budget), v.Ratio)
		} else {
			e.Printf("  result     %s tokens of at most %s, %.1f:1\n", tokens.Commas(v.TokensOut), tokens.Commas(c.Plan.Budget), v.Ratio)
			e.Printf("  keeps      %s\n", contents(c.Segments))
		}
	}
	if len(c.Fates) == 0 {
		return nil
	}
	switch mode := planning.KeepitMode(v.Settings.Keepit); {
	case mode == planning.PreserveAll:
		e.Printf("  threshold  none: every marker is kept\n")
	case mode == planning.Ignore:
		e.Printf("  threshold  none: no marker is kept\n")
	case len(c.Plan.Tiers) == 1:
		judged := slices.IndexFunc(c.Fates, func(f planning.Fate) bool { return !f.Skipped })
		if judged < 0 {
			e.Printf("  threshold  none: every marker is in a message that --skip leaves out\n")
			break
		}
		e.Printf("  threshold  %s\n", thresholdText(c.Fates[judged].Pressure))
	}
	e.Printf("\n")
	if err := fateTable(e, c.Fates); err != nil {
		return err
	}
	e.Printf("\n%s\n", keptLine(v.Preserved, v.Summarised, skippedOf(c.Fates)))
	return nil
}

// contents says what a version has.
func contents(segs []version.Segment) string {
	var exchanges, user, said, code, lists int
	for _, s := range segs {
		switch {
		case s.Role == "heading":
			exchanges++
		case s.Code != "":
			code++
		case s.Role == "user", s.Role == "script":
			user++
		case s.Role == "assistant":
			said++
		default:
			lists++
		}
	}
	return fmt.Sprintf("%s: texts of the user %d, of the assistant %d, blocks of code %d, lists and remarks %d",
		term.Count(exchanges, "exchange"), user, said, code, lists)
}

// rangeOf returns the input of a version that is not a whole session: " (#177-240, since v002)", " (of v001)".
func rangeOf(c derive.CompressResult) string {
	switch v := c.Version; {
	case v.Source != "":
		return " (of " + v.Source + ")"
	case v.Since != "":
		return fmt.Sprintf(" (#%d-%d, since %s)", c.From, c.Point.Scan.Values, v.Since)
	}
	return ""
}

// skippedText lists the heaviest markers in messages that --skip leaves out.
func skippedText(fates []planning.Fate) string {
	var out []string
	for _, f := range slices.SortedStableFunc(slices.Values(fates), func(a, b planning.Fate) int {
		return cmp.Compare(b.Mark.Weight, a.Mark.Weight)
	}) {
		if f.Skipped && len(out) < 3 {
			out = append(out, fmt.Sprintf("%s in #%d", f.Mark.Weight, f.Mark.Message))
		}
	}
	if n := skippedOf(fates) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}

// tierThreshold returns the threshold of a tier with markers, else "".
func tierThreshold(fates []planning.Fate, from, to int) string {
	for _, f := range fates {
		if f.Mark.Message >= from && f.Mark.Message <= to {
			return ", marker threshold " + keepit.Thousandths(f.Threshold)
		}
	}
	return ""
}

// printReceipt prints the cost of a model, and how many of its answers were rejected.
func printReceipt(e *app.Env, r engines.Receipt) {
	if r.Requests == 0 {
		return
	}
	e.Report("  %s, %s tokens in and %s out, %s", term.Count(r.Requests, "request"), tokens.Commas(r.Usage.Input),
		tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
	for _, n := range []struct {
		of   int
		what string
	}{{r.Retried, "asked again"}, {r.Replaced, "left to extract"}, {r.Trimmed, "too long and cut"}} {
		if n.of > 0 {
			e.Report("; %d of %d windows %s", n.of, r.Windows, n.what)
		}
	}
	e.Report("\n")
	if s := Checked(r); s != "" {
		e.Report("  %s\n", s)
	}
}

// Checked says that no answer of a model could be used, and what became of the lines that its messages do not support,
// "" if they support all of them.
func Checked(r engines.Receipt) string {
	var out []string
	if r.Windows > 0 && r.Replaced == r.Windows {
		out = append(out, "no answer of the model could be used: extract wrote the whole version")
	}
	for _, n := range []struct {
		of        int
		one, many string
	}{
		{r.Contradicted, "contradicted the source and was left out", "contradicted the source and were left out"},
		{r.Reworded, "was reworded", "were reworded"},
		{r.Unchecked, "was not checked: the model gave no readable answer about it", "were not checked: the model gave no readable answer about them"},
	} {
		switch n.of {
		case 0:
		case 1:
			out = append(out, "1 line "+n.one)
		default:
			out = append(out, term.Count(n.of, "line")+" "+n.many)
		}
	}
	return strings.Join(out, ", ")
}

// skippedOf counts the markers in messages that --skip leaves out.
func skippedOf(fates []planning.Fate) (n int) {
	for _, f := range fates {
		if f.Skipped {
			n++
		}
	}
	return n
}
