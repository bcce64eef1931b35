package historycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

// details are the data of operations for log that their entries do not contain.
type details struct {
	app.Run
	LogScope
	works    map[string]*revision.Operation  // by commit
	mentions map[string][]provenance.Mention // by commit, of the text that is looked for
}

// look reads the details that the options select.
func (d *details) look(ctx context.Context, o LogOptions, entries []refs.Entry) error {
	d.works, d.mentions = map[string]*revision.Operation{}, map[string][]provenance.Mention{}
	done := map[refs.Project]bool{}
	for _, en := range entries {
		if done[en.Project] {
			continue
		}
		done[en.Project] = true
		p := state.Project{ID: en.Project, Name: d.Names[en.Project]}
		works, err := revision.Operations(ctx, d.DB, p)
		if err != nil {
			return err
		}
		for commit, w := range works {
			if d.session != "" {
				w = w.Of(d.session)
			}
			d.works[commit] = w
		}
		if o.Search == "" {
			continue
		}
		found, err := provenance.Mentions(ctx, d.DB, p, o.Search)
		if err != nil {
			return err
		}
		for commit, f := range found {
			d.mentions[commit] = slices.DeleteFunc(f, func(f provenance.Mention) bool {
				return d.session != "" && f.Session != "" && f.Session != d.session
			})
		}
	}
	return nil
}

// print prints each entry on a line, with the graph on the left and the details below.
func (d *details) print(ctx context.Context, o LogOptions, entries []refs.Entry) error {
	var g Graph
	below := shownParents(entries, func(en refs.Entry) []string { return d.works[en.Commit].Parents })
	for _, en := range entries {
		beside, own := "", ""
		if o.Graph {
			var above string
			if above, own = g.Node(en.Commit, below[en.Commit], d.sign(en)); above != "" {
				d.Printf("%s\n", above)
			}
			own += " "
			beside = g.indent() + " "
		}
		when := app.If(!o.Oneline, "  "+d.when(en))
		commit := en.Commit
		if d.Term.Stdout || o.Oneline {
			commit = commit[:shortCommit]
		}
		subject := d.cut(d.Safe(d.subject(d.Env, &en)), own, when, commit+" ")
		d.Printf("%s%s %s%s\n", own, d.Style().Yellow(commit), subject, d.Style().Dim(when))
		for _, line := range d.lines(o, en) {
			d.Printf("%s%s\n", beside, line.paint(d.cut(line.text, beside)))
		}
		if o.Patch {
			if err := d.patch(ctx, en); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut shortens text so that it fits the terminal next to other texts.
func (d *details) cut(text string, others ...string) string {
	width := d.Width()
	if width <= 0 {
		return text
	}
	for _, s := range others {
		width -= app.Columns(s)
	}
	return app.Cut(text, max(width, leastText))
}

// leastText is the width that a text is not cut below, in columns.
const leastText = 16

func (d *details) when(en refs.Entry) string {
	c := d.TimeCell(en.Time)
	if d.Term.Stdout {
		return c.Text()
	}
	return c.Full
}

// sign returns "o" for an operation that only captured something, "*" for one that derived something.
func (d *details) sign(en refs.Entry) byte {
	if w := d.works[en.Commit]; len(w.Versions)+len(w.Compositions) == 0 {
		return 'o'
	}
	return '*'
}

// A detailLine is a line below an entry and its colour.
type detailLine struct {
	text  string
	paint func(string) string
}

// lines returns the details below an entry.
func (d *details) lines(o LogOptions, en refs.Entry) (out []detailLine) {
	style := d.Style()
	for _, f := range d.mentions[en.Commit] {
		if f.Appeared {
			out = append(out, detailLine{d.Safe("  + appeared in " + app.SessionName(d.Env, f.Name, f.Session)), style.Green})
		} else {
			out = append(out, detailLine{d.Safe("  - vanished from " + app.SessionName(d.Env, f.Name, f.Session)), style.Red})
		}
	}
	if !o.Stat {
		return out
	}
	for _, s := range statLines(d.Term.Stdout, d.works[en.Commit]) {
		out = append(out, detailLine{d.Safe("  " + s), func(s string) string { return s }})
	}
	return out
}

// statLines returns the figures of an operation, with short ids for people and whole ones for scripts.
func statLines(people bool, w *revision.Operation) []string {
	var out []string
	name := func(id string) string {
		if people {
			return term.ShortID(id)
		}
		return id
	}
	for _, c := range w.Captured {
		messages, values := c.Now.Scan.Messages, c.Now.Size
		if c.Before != nil {
			messages, values = messages-c.Before.Scan.Messages, values-c.Before.Size
		}
		line := fmt.Sprintf("%s  +%s, %s", name(c.Session.ID), term.Count(messages, "message"),
			app.BytesText(values))
		if n := len(c.Now.Markers); n > 0 {
			line += ", " + term.Count(n, "new pinned text")
		}
		out = append(out, line)
	}
	for _, v := range w.Versions {
		line := fmt.Sprintf("%s  %s  %s -> %s tok (%.1f:1), markers %d/%d, %s", name(v.Session)+":"+v.Name(),
			app.ModeOf(v), tokens.Commas(v.TokensIn), tokens.Commas(v.TokensOut), v.Ratio,
			v.Preserved, v.Preserved+v.Summarised, v.Engine)
		if v.Receipt.Requests > 0 {
			line += ", " + engines.FormatDollars(v.Receipt.Usage.Micros)
		}
		out = append(out, line)
	}
	for _, c := range w.Compositions {
		var parts []string
		for _, p := range c.Parts {
			parts = append(parts, fmt.Sprintf("%s:%s %s", name(p.Session), p.Label,
				tokens.Commas(p.Tokens)))
		}
		out = append(out, fmt.Sprintf("%s  %s of %s tok: %s", c.Name, tokens.Commas(c.Tokens), tokens.Commas(c.Budget),
			strings.Join(parts, ", ")))
	}
	return out
}

// patch prints the text differences of the versions and compositions of an operation.
func (d *details) patch(ctx context.Context, en refs.Entry) error {
	w := d.works[en.Commit]
	for _, v := range w.Versions {
		rev, err := revision.RevOf(ctx, d.DB, w.Project, v, nil)
		if err != nil {
			return err
		}
		before, err := provenance.PreviousVersion(ctx, d.DB, rev)
		if err == nil {
			err = d.difference(ctx, before, rev)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range w.Compositions {
		rev, err := revision.RevOf(ctx, d.DB, w.Project, nil, c)
		if err != nil {
			return err
		}
		before, err := provenance.Before(ctx, d.DB, rev)
		if err != nil {
			continue // its first state: there is nothing before it
		}
		if err := d.difference(ctx, before, rev); err != nil {
			return err
		}
	}
	return nil
}

func (d *details) difference(ctx context.Context, a, b state.Rev) error {
	c, err := provenance.Compare(ctx, d.DB, a, b)
	if err != nil {
		return err
	}
	d.Printf("\n")
	Head(d.Env, c)
	for _, g := range c.Groups {
		d.Printf("\n")
		Group(d.Env, c, g, false)
	}
	d.Printf("\n")
	return nil
}
