package exportcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"

	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/worktree"
)

// An htmlAnswer is the JSON form of an exported page.
type htmlAnswer struct {
	Format string `json:"format"`
	File   string `json:"file,omitempty"`
	DryRun bool   `json:"dryRun"`
	Text   string `json:"text,omitempty"` // the page, without a file
}

// writeHTML writes a session, version or composition as one page, to a file or standard output.
func writeHTML(ctx context.Context, e *app.Env, name, out string, force bool) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return err
		}
		if err := trust.MayUse(ctx, run.DB, rev); err != nil && !force {
			return err
		} else if err != nil {
			e.Warn("%v", err)
		}
		page, err := htmlPage(ctx, run.Memory, rev)
		if err != nil {
			return names.StoreError(fmt.Errorf("export %s: %w", name, err))
		}
		if out = app.OutName(out); out == "" || out == "-" {
			return printHTML(e, page)
		}
		path, err := app.OutPath(e, out)
		if err != nil {
			return err
		}
		stage := func(t *worktree.Tree) ([]string, error) {
			return []string{filepath.Base(path)}, t.Stage(filepath.Base(path), page.Write)
		}
		done, err := capture.WriteTree(run.DB, filepath.Dir(path), force, e.Opt.DryRun, stage)
		if err != nil {
			return app.FileError(err)
		}
		app.NoteCreated(e, done.Created)
		if e.Opt.JSON {
			return e.PrintJSON("export", htmlAnswer{Format: "html", File: done.Files[0], DryRun: e.Opt.DryRun})
		}
		if e.Opt.DryRun {
			e.Note("would write:")
		}
		e.Printf("%s\n", e.Safe(done.Files[0]))
		return nil
	})
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
	return e.PrintJSON("export", htmlAnswer{Format: "html", DryRun: e.Opt.DryRun, Text: b.String()})
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
		p.Name = names.Label(rev.Version)
	case state.IsComposition:
		p.Title, p.Name = rev.Composition.Name, rev.Composition.Name
	}
	err = checkout.Write(ctx, m.DB, rev, checkout.Markdown, &b)
	p.Text = b.String()
	return p, err
}
