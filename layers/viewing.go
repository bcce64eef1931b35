package layers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/views"
	"github.com/memvcs/mem/layers/worktree"
)

// remembered gathers what the views of a project are made of.
func (m *Memory) remembered(ctx context.Context, p Project) (*views.Project, error) {
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	records, err := m.upper(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	v := &views.Project{Name: p.Name, Trusted: trust.Of}
	all, err := m.folded(ctx, p.ID, records)
	if err != nil {
		return nil, err
	}
	v.Facts, v.Concepts, v.Rules = all.Facts, all.Concepts, all.Rules
	v.Unassessed = max(0, factStatements(records)-v.Rules.Reflected)
	v.Label = func(c *concepts.Concept) string { return v.Concepts.Shown(c, m.repo.Device().ID) }
	for _, s := range st.Recent() {
		now := s.Now()
		if trust.Of(now.Stamp.Device) {
			v.Sessions = append(v.Sessions, views.Session{ID: s.ID, Name: ShortID(s.ID), Title: now.Scan.Title, Branch: now.Scan.Branch, Last: now.Scan.Last})
		}
	}
	return v, nil
}

// MemoryPage returns memory.md, the rolling summary of a project, at most budget tokens long; 0 is no limit.
func (m *Memory) MemoryPage(ctx context.Context, p Project, budget int) (views.Page, error) {
	v, err := m.remembered(ctx, p)
	if err != nil {
		return views.Page{}, err
	}
	return views.Memory(v, budget, tokens.For(m.opts.Model))
}

// An ExportFormat is a file of the seeds that a project is written as.
type ExportFormat string

// The formats of exports.
const (
	ExportFacts    ExportFormat = "facts"    // facts.json
	ExportConcepts ExportFormat = "concepts" // concepts.json
	ExportMemory   ExportFormat = "memory"   // memory.md, all of it
)

// FileName is what the seeds call the file.
func (f ExportFormat) FileName() string {
	if f == ExportMemory {
		return "memory.md"
	}
	return string(f) + ".json"
}

// Export returns what a project remembers as a file of the seeds.
func (m *Memory) Export(ctx context.Context, p Project, f ExportFormat) ([]byte, error) {
	v, err := m.remembered(ctx, p)
	if err != nil {
		return nil, err
	}
	var shape any
	switch f {
	case ExportFacts:
		shape = views.Facts(v)
	case ExportConcepts:
		shape = views.Concepts(v)
	default:
		page, err := views.Memory(v, 0, tokens.For(m.opts.Model))
		return []byte(page.Text), err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(shape)
	return b.Bytes(), err
}

// ExportTo writes an export into a file, or into a file of the seeds' name in a directory, whole or not at all (see [worktree.Tree]).
// It returns its size.
func (m *Memory) ExportTo(ctx context.Context, p Project, f ExportFormat, at Place, o CheckoutOptions) (size int, done CheckedOut, err error) {
	b, err := m.Export(ctx, p, f)
	if err != nil {
		return 0, done, err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
	dir, name := filepath.Split(at.Path)
	switch {
	case isDir(at.Path) || name == "":
		dir, name = at.Path, f.FileName()
	case worktree.IsOutlet(at.Path):
		if done.Files = []string{at.Path}; !o.DryRun {
			err = worktree.WriteOutlet(at.Path, write)
		}
		return len(b), done, err
	}
	done, err = m.writeTree(filepath.Clean(dir), o.Force, o.DryRun, func(t *worktree.Tree) ([]string, error) { return []string{name}, t.Stage(name, write) })
	return len(b), done, err
}
