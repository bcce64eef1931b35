package exportcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/disk"
)

// writeHTML writes a session, version or composition as one page, to a file or standard output.
func (o *exportOptions) writeHTML(ctx context.Context, run app.Run) error {
	name, out, force := o.html, o.out, o.force
	rev, err := run.Resolve(ctx, name)
	if err != nil {
		return err
	}
	if err := trust.MayUse(ctx, run.DB, rev); err != nil && !force {
		return err
	} else if err != nil {
		run.Warn("%v", err)
	}
	page, err := htmlPage(ctx, run.Memory, rev)
	if err != nil {
		return fmt.Errorf("export %s: %w", name, err)
	}
	if out = app.OutName(out); out == "" || out == "-" {
		return printHTML(run.Env, page)
	}
	path, err := app.OutPath(run.Env, out)
	if err != nil {
		return err
	}
	stage := func(t *disk.Tree) ([]string, error) {
		return []string{filepath.Base(path)}, t.Stage(filepath.Base(path), page.Write)
	}
	done, err := capture.WriteTree(run.DB, filepath.Dir(path), force, run.Opt.DryRun, stage)
	if err != nil {
		return err
	}
	app.NoteCreated(run.Env, done.Created)
	return printExported(run.Env, done.Files[0], app.Object{"format", "html", "file", done.Files[0], "dryRun", run.Opt.DryRun})
}

// printHTML prints a page to standard output.
func printHTML(e *app.Env, page Page) error {
	if !e.Opt.JSON {
		return page.Write(app.Stdout(e))
	}
	var b strings.Builder
	if err := page.Write(&b); err != nil {
		return err
	}
	return e.PrintJSON("export", nil, "format", "html", "dryRun", e.Opt.DryRun, "text", b.String())
}

// htmlPage returns the page of a revision: the refined transcript of a session, else Markdown.
func htmlPage(ctx context.Context, m *layers.Memory, rev state.Rev) (p Page, err error) {
	p = Page{Kind: string(rev.Kind), Project: rev.Project.Name}
	if rev.Session != nil {
		p.Title, p.Name = rev.Session.Title(), rev.Session.ID
		if first := rev.Session.Now().Scan.First; !first.IsZero() {
			p.First = first.UTC().Format("2 January 2006")
		}
	}
	var b bytes.Buffer
	switch rev.Kind {
	case state.IsSession, state.IsOriginal, state.IsL1:
		p.Kind = "session"
		rev.Kind = state.IsL1
		if err = checkout.Write(ctx, m.DB, rev, checkout.JSONL, &b); err != nil {
			return p, err
		}
		for entry, err := range refine.Entries(io.Reader(&b)) {
			if err != nil {
				return p, err
			}
			p.Entries = append(p.Entries, entry)
		}
		return p, nil
	case state.IsVersion:
		p.Name = app.Label(rev.Version)
	case state.IsComposition:
		p.Title, p.Name = rev.Composition.Name, rev.Composition.Name
	}
	err = checkout.Write(ctx, m.DB, rev, checkout.Markdown, &b)
	p.Text = b.String()
	return p, err
}
