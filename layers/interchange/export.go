package interchange

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/disk"
)

// remembered gathers the input of the views of a project.
func remembered(ctx context.Context, db *state.DB, p state.Project) (*Project, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	all, err := trust.Known(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	v := &Project{Name: p.Name, Facts: all.Facts, Concepts: all.Concepts, Rules: all.Rules, Unassessed: all.Unreflected()}
	v.Label = func(c *concepts.Concept) string { return v.Concepts.DisplayLabel(c, db.Refs.Device().ID) }
	for _, s := range st.Recent() {
		now := s.Now()
		v.Sessions = append(v.Sessions, Session{ID: s.ID, Name: records.ShortID(s.ID), Title: s.Title(),
			Branch: now.Scan.Branch, Last: now.Scan.Last})
	}
	return v, nil
}

// MemoryPage returns memory.md, the rolling summary of a project, at most budget tokens long; 0 is no limit.
func MemoryPage(ctx context.Context, db *state.DB, p state.Project, budget int) (Page, error) {
	v, err := remembered(ctx, db, p)
	if err != nil {
		return Page{}, err
	}
	return Memory(v, budget, tokens.For(db.Opts.Model))
}

// A Format is a file format for the knowledge of a project.
type Format string

// The formats of exports.
const (
	FormatFacts    Format = "facts"    // facts.json
	FormatConcepts Format = "concepts" // concepts.json
	FormatSemantic Format = "semantic" // semantic.json: facts and rules as semantic memories
	FormatMemory   Format = "memory"   // memory.md, all of it
	FormatProject  Format = "project"  // project.md
)

// IsText reports whether the format is Markdown rather than JSON.
func (f Format) IsText() bool { return f == FormatMemory || f == FormatProject }

// FileName is the default name of the file.
func (f Format) FileName() string {
	if f.IsText() {
		return string(f) + ".md"
	}
	return string(f) + ".json"
}

// Encode returns the knowledge of a project in a format.
func Encode(ctx context.Context, db *state.DB, p state.Project, f Format) ([]byte, error) {
	v, err := remembered(ctx, db, p)
	if err != nil {
		return nil, err
	}
	var shape any
	switch f {
	case FormatFacts:
		shape = Facts(v)
	case FormatConcepts:
		shape = Concepts(v)
	case FormatSemantic:
		name, err := messageNames(ctx, db, p.ID, CitedMessages(v))
		if err != nil {
			return nil, err
		}
		shape = Semantic(v, name)
	case FormatProject:
		return []byte(Description(v)), nil
	default:
		page, err := Memory(v, 0, tokens.For(db.Opts.Model))
		return []byte(page.Text), err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(shape)
	return b.Bytes(), err
}

// Write writes an export to a file, or to a file with the default name in a directory, whole or not at all (see
// [disk.Tree]). It returns the size.
func Write(ctx context.Context, db *state.DB, p state.Project, f Format, at checkout.Place,
	o checkout.CheckoutOptions) (size int, done capture.CheckedOut, err error) {
	b, err := Encode(ctx, db, p, f)
	if err != nil {
		return 0, done, err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
	dir, name := filepath.Split(at.Path)
	switch {
	case capture.IsDir(at.Path) || name == "":
		dir, name = at.Path, f.FileName()
	case disk.IsOutlet(at.Path):
		if done.Files = []string{at.Path}; !o.DryRun {
			err = disk.WriteOutlet(at.Path, write)
		}
		return len(b), done, err
	}
	done, err = capture.WriteTree(db, filepath.Clean(dir), o.Force, o.DryRun,
		func(t *disk.Tree) ([]string, error) { return []string{name}, t.Stage(name, write) })
	return len(b), done, err
}
