package sessioncmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// showVersion prints the recipe and figures of a version, and the fates of the markers.
func showVersion(ctx context.Context, run app.Run, rev state.Rev) error {
	usedBy, from, to, err := versionUse(ctx, run, rev)
	if err != nil {
		return err
	}
	v := rev.Version
	app.HeadLine(run.Env, "version "+app.LabelFor(run.Env, v), rev.Session.Title())
	scan := rev.Session.Now().Scan
	of := ""
	if v.TokensL1 > 0 && v.Source == "" {
		of = fmt.Sprintf(" of the session%s, %.1f:1 without tool output", versioncmd.AskedOf(v), float64(v.TokensL1)/float64(max(1, v.TokensOut)))
	}
	if n := v.Preserved + v.Summarised; n > 0 {
		of += fmt.Sprintf(", %d of %d pinned texts kept", v.Preserved, n)
	}
	r, support := v.Receipt, versioncmd.Checked(v.Receipt)
	if r.Lines > 0 {
		support = strings.TrimSuffix(fmt.Sprintf("%d of %d lines of the model have no supporting message; %s", r.Baseless, r.Lines, support), "; ")
	}
	run.Describe("Hidden", app.If(v.Deleted, "not listed; \"mem undo\" restores it, \"mem log --undo\" lists what can be undone"),
		"Period", run.DateText(scan.First)+" to "+run.DateText(scan.Last), "Source", sourceOf(run.Env, v, from, to),
		"Result", fmt.Sprintf("%s tok, %s, %.1f:1%s", tokens.Commas(v.TokensOut), term.Count(v.MessagesOut, "message"), v.Ratio, of),
		"Cost", app.If(r.Requests > 0, fmt.Sprintf("%s, %s tok in, %s out, %s", term.Count(r.Requests, "request"),
			tokens.Commas(r.Usage.Input), tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))),
		"Support", support)
	for _, name := range usedBy {
		run.Describe("Used by", name)
	}
	usedLine(run.Env, v.Used)
	if run.Env.Opt.Verbose {
		recipeFields(run, rev)
	}
	fates, err := markers.Fates(ctx, run.DB, rev)
	app.Fields(run.Env, "Marker", app.Each(fates, fateRow))
	run.Printf("\n")
	return err
}

// recipeFields prints how a version was made and the hashes of it.
func recipeFields(run app.Run, rev state.Rev) {
	v := rev.Version
	key, evidence := v.Derivation.Key().String(), ""
	if run.Term.Stdout {
		key = key[:16]
	}
	if n := len(v.Derivation.Witnesses); n > 0 {
		evidence = term.Count(n, "object") + " of requests and answers, the first " + app.HashText(run.Env, v.Derivation.Witnesses[0])
	}
	run.Describe("Hash", app.HashText(run.Env, rev.Hash), "Date", run.DateText(v.Time),
		"Recipe", fmt.Sprintf("%s, markers %s at distance %d, skip %d", app.ModeOf(v), v.Settings.Keepit, v.Settings.Distance, v.Settings.Skip),
		"Key", fmt.Sprintf("%s of %s/%d", key, v.Derivation.Recipe.Step, v.Derivation.Recipe.Version),
		"Engine", v.Engine+", tokens "+v.Counter, "Evidence", evidence)
}

// sourceOf returns the input of a version.
func sourceOf(e *app.Env, v *records.Version, from, to int) string {
	of := fmt.Sprintf("%s, %s tok, %s", app.SessionID(e, v.Session), tokens.Commas(v.TokensIn),
		term.Count(v.MessagesIn, "message"))
	switch {
	case v.Source != "" && len(v.Derivation.Inputs) > 0:
		return fmt.Sprintf("%s:%s, of %s", app.SessionID(e, v.Session), v.Source, of)
	case v.Since != "":
		return fmt.Sprintf("%s, #%d-%d, since %s", of, from, to, v.Since)
	}
	return of
}

// fateRow returns the weight, fate, reason, message and text of a marker: "0.80", "kept", "threshold 0.65, margin
// 0.15", "#31", "text".
func fateRow(f markers.Judgement) []string {
	fate, why := "not protected", "threshold not recorded"
	if f.Kept {
		fate = "kept"
	}
	switch {
	case f.Skipped:
		fate, why = "skipped", "in a message that --skip left out"
	case f.Mark.Weight >= keepit.Pinned, f.Judged && f.Pinned():
		why = "pinned"
	case f.Judged:
		why = fmt.Sprintf("kept from %s on", keepit.Thousandths(f.Threshold))
	}
	return []string{f.Mark.Weight.String(), fate, why, fmt.Sprintf("#%d", f.Mark.Message),
		tokens.OneLine(f.Mark.Text, 60)}
}
