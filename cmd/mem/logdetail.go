package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

// details are what log needs to know of operations besides their entries.
type details struct {
	e        *Env
	m        *layers.Memory
	ctx      context.Context
	works    map[string]*revision.Work       // by commit
	mentions map[string][]provenance.Mention // by commit, of the text that is looked for
}

// asks reports whether the options ask for more than entries.
func (o logOptions) asks() bool { return o.graph || o.stat || o.patch || o.search != "" }

// look reads what the options ask for of the projects of entries.
func (e *Env) look(ctx context.Context, m *layers.Memory, o logOptions, entries []refs.Entry, in logScope) (*details, error) {
	d := &details{e: e, m: m, ctx: ctx, works: map[string]*revision.Work{}, mentions: map[string][]provenance.Mention{}}
	if !o.asks() {
		return d, nil
	}
	done := map[refs.Project]bool{}
	for _, en := range entries {
		if done[en.Project] {
			continue
		}
		done[en.Project] = true
		p := state.Project{ID: en.Project, Name: in.names[en.Project]}
		works, err := m.Revision().Works(ctx, p)
		if err != nil {
			return nil, err
		}
		for commit, w := range works {
			if in.session != "" {
				w = w.Of(in.session)
			}
			d.works[commit] = w
		}
		if o.search == "" {
			continue
		}
		found, err := m.Provenance().Mentions(ctx, p, o.search)
		if err != nil {
			return nil, err
		}
		for commit, f := range found {
			d.mentions[commit] = slices.DeleteFunc(f, func(f provenance.Mention) bool {
				return in.session != "" && f.Session != "" && f.Session != in.session
			})
		}
	}
	return d, nil
}

// mentioned keeps the entries by which the text came or went.
func (d *details) mentioned(entries []refs.Entry) []refs.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(en refs.Entry) bool { return len(d.mentions[en.Commit]) == 0 })
}

// print prints the entries on a line each, with the graph beside them and the details below them.
func (d *details) print(o logOptions, entries []refs.Entry) error {
	var g graph
	below := drawn(entries, func(en refs.Entry) []string { return d.works[en.Commit].Parents })
	for _, en := range entries {
		beside := ""
		if o.graph {
			above, own := g.node(en.Commit, below[en.Commit], d.sign(en))
			if above != "" {
				d.e.printf("%s\n", above)
			}
			d.e.printf("%s ", own)
			beside = g.beside() + " "
		}
		when := ""
		if !o.oneline {
			when = "  " + d.when(en)
		}
		d.e.printf("%s %s%s\n", d.e.style().yellow(en.Commit[:7]), d.e.safe(en.Subject), d.e.style().dim(when))
		for _, line := range d.lines(o, en) {
			d.e.printf("%s%s\n", beside, line)
		}
		if o.patch {
			if err := d.patch(en); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *details) when(en refs.Entry) string {
	c := d.e.timeCell(en.Time)
	if d.e.Term.Stdout {
		return c.text()
	}
	return c.full
}

// sign is o for an operation that only took something in, * for one that made something.
func (d *details) sign(en refs.Entry) byte {
	if w := d.works[en.Commit]; len(w.Versions)+len(w.Compositions) == 0 {
		return 'o'
	}
	return '*'
}

// lines returns what stands below an entry.
func (d *details) lines(o logOptions, en refs.Entry) []string {
	var out []string
	style := d.e.style()
	for _, f := range d.mentions[en.Commit] {
		if f.Appeared {
			out = append(out, style.green(d.e.safe("  + appeared in "+f.Name)))
		} else {
			out = append(out, style.red(d.e.safe("  - vanished from "+f.Name)))
		}
	}
	if !o.stat {
		return out
	}
	for _, s := range statLines(d.works[en.Commit]) {
		out = append(out, d.e.safe("  "+s))
	}
	return out
}

// statLines says in numbers what an operation brought.
func statLines(w *revision.Work) []string {
	var out []string
	for _, c := range w.Captured {
		messages, values := c.Now.Scan.Messages, c.Now.Size
		if c.Before != nil {
			messages, values = messages-c.Before.Scan.Messages, values-c.Before.Size
		}
		line := fmt.Sprintf("%s  +%s, %s", shortID(c.Session.ID), count(messages, "message"), bytesText(values))
		if n := len(c.Now.Markers); n > 0 {
			line += ", " + count(n, "new keepit")
		}
		out = append(out, line)
	}
	for _, v := range w.Versions {
		line := fmt.Sprintf("%s  %s  %s -> %s tok (%.1f:1), keepits %d/%d, %s", label(v), modeOf(v), tokens.Commas(v.TokensIn), tokens.Commas(v.TokensOut), v.Ratio,
			v.Preserved, v.Preserved+v.Summarised, v.Engine)
		if v.Receipt.Requests > 0 {
			line += ", " + engines.FormatDollars(v.Receipt.Usage.Micros)
		}
		out = append(out, line)
	}
	for _, c := range w.Compositions {
		var parts []string
		for _, p := range c.Parts {
			parts = append(parts, fmt.Sprintf("%s:%s %s", shortID(p.Session), p.Label, tokens.Commas(p.Tokens)))
		}
		out = append(out, fmt.Sprintf("%s  %s of %s tok: %s", c.Name, tokens.Commas(c.Tokens), tokens.Commas(c.Budget), strings.Join(parts, ", ")))
	}
	return out
}

// patch prints what the versions and compositions of an operation changed.
func (d *details) patch(en refs.Entry) error {
	w := d.works[en.Commit]
	for _, v := range w.Versions {
		rev, err := d.m.Revision().RevOf(d.ctx, w.Project, v, nil)
		if err != nil {
			return err
		}
		before, err := d.m.Provenance().PreviousVersion(d.ctx, rev)
		if err == nil {
			err = d.difference(before, rev)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range w.Compositions {
		rev, err := d.m.Revision().RevOf(d.ctx, w.Project, nil, c)
		if err != nil {
			return err
		}
		before, err := d.m.Provenance().Before(d.ctx, rev)
		if err != nil {
			continue // its first state: there is nothing before it
		}
		if err := d.difference(before, rev); err != nil {
			return err
		}
	}
	return nil
}

func (d *details) difference(a, b state.Rev) error {
	c, err := d.m.Provenance().Compare(d.ctx, a, b)
	if err != nil {
		return err
	}
	d.e.printf("\n")
	d.e.diffHead(c)
	for _, g := range c.Groups {
		d.e.printf("\n")
		d.e.diffGroup(c, g, false)
	}
	d.e.printf("\n")
	return c.Err()
}
