package layers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/refine"
)

// A Format is a form in which a thing is written.
type Format string

// The formats.
const (
	Text     Format = "text"  // for a terminal or a model
	Markdown Format = "md"    //
	JSONL    Format = "jsonl" // as stored; of a composition, a transcript that Claude Code resumes
)

// ErrFormatless says that a thing cannot be written in a format.
var ErrFormatless = errors.New("cannot be written in this format")

// Write writes what rev names. The format "" is the natural one: the exact bytes of a session or original,
// JSON lines of L1, Markdown of versions and compositions, the content of an object.
func (m *Memory) Write(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	switch rev.Kind {
	case IsSession, IsOriginal:
		return m.writeOriginal(ctx, rev, f, w)
	case IsMessages:
		return m.writeMessages(ctx, rev, f, w)
	case IsL1:
		return m.writeL1(ctx, rev, f, w)
	case IsVersion:
		return m.writeVersion(ctx, rev, f, w)
	case IsComposition:
		return m.writeComposition(ctx, rev, f, w)
	case IsObject:
		return m.WriteObject(ctx, rev.Project.ID, rev.Hash, w)
	}
	return fmt.Errorf("%s: %w", rev.Kind, ErrFormatless)
}

func (m *Memory) writeOriginal(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == "" || f == JSONL {
		return m.WriteOriginal(ctx, rev.Project.ID, rev.Session, rev.Session.Now(), w)
	}
	segs, err := m.Conversation(ctx, rev.Project.ID, rev.Session.Now())
	if err != nil {
		return err
	}
	return writeSegments(segs, f, w)
}

func writeSegments(segs []compress.Segment, f Format, w io.Writer) error {
	text := compress.Markdown(segs)
	if f == Text {
		text = compress.Text(segs)
	}
	_, err := io.WriteString(w, text)
	return err
}

func (m *Memory) writeMessages(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == JSONL {
		return m.stream(ctx, rev.Project.ID, rev.Session.Now().Original, func(r io.Reader) error {
			return copyValues(r, rev.From, rev.To, w)
		})
	}
	segs, err := m.Conversation(ctx, rev.Project.ID, rev.Session.Now())
	if err != nil {
		return err
	}
	var some []compress.Segment
	for _, s := range segs {
		if n := s.Src[0][0]; n >= rev.From && n <= rev.To {
			some = append(some, s)
		}
	}
	return writeSegments(some, f, w)
}

func (m *Memory) writeL1(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	l1, err := m.l1(ctx, rev.Project.ID, rev.Session.Now().Original, refine.Full)
	if err != nil {
		return err
	}
	if f == "" || f == JSONL {
		_, err := w.Write(l1)
		return err
	}
	for e, err := range refine.Entries(bytes.NewReader(l1)) {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, e.Text()); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) writeVersion(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == JSONL {
		return m.WriteObject(ctx, rev.Project.ID, rev.Hash, w)
	}
	segs, err := m.VersionSegments(ctx, rev.Project.ID, rev.Version)
	if err != nil {
		return err
	}
	return writeSegments(segs, f, w)
}

func (m *Memory) writeComposition(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	c, err := m.Composed(ctx, rev)
	if err != nil {
		return err
	}
	if f == JSONL {
		_, err = w.Write(c.Transcript())
	} else {
		_, err = w.Write(c.Markdown())
	}
	return err
}

// Checkout writes what rev names into files and returns their paths. A composition becomes composed.md,
// composed.jsonl and composition.json in the directory path; a version becomes files of the seeds' names
// there. Where path names a file, or is to become one by its extension, that file is written in the format.
// Each file is written whole under another name first, so that none is ever half there.
func (m *Memory) Checkout(ctx context.Context, rev Rev, path string, f Format) ([]string, error) {
	if rev.Kind == IsComposition && !isFileName(path) {
		return m.checkoutComposition(ctx, rev, path, f)
	}
	if rev.Kind == IsVersion && !isFileName(path) {
		var out []string
		for _, form := range []Format{Markdown, JSONL} {
			if f != "" && f != form {
				continue
			}
			file := filepath.Join(path, rev.Version.FileName()+"."+string(form))
			out = append(out, file)
			if err := m.checkoutFile(ctx, rev, file, form); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if isDir(path) {
		name := rev.Hash.String()
		if rev.Session != nil {
			name = rev.Session.ID + ".jsonl"
		}
		path = filepath.Join(path, name)
	}
	if f == "" {
		f = formatOf(path)
	}
	return []string{path}, m.checkoutFile(ctx, rev, path, f)
}

// isFileName reports whether path is or should be a file.
func isFileName(path string) bool {
	if isDir(path) {
		return false
	}
	return formatOf(path) != "" || filepath.Ext(path) == ".json"
}

func formatOf(path string) Format {
	switch filepath.Ext(path) {
	case ".md":
		return Markdown
	case ".jsonl":
		return JSONL
	case ".txt":
		return Text
	}
	return ""
}

func (m *Memory) checkoutFile(ctx context.Context, rev Rev, path string, f Format) error {
	return writeWhole(path, func(w io.Writer) error { return m.Write(ctx, rev, f, w) })
}

func (m *Memory) checkoutComposition(ctx context.Context, rev Rev, dir string, f Format) ([]string, error) {
	c, err := m.Composed(ctx, rev)
	if err != nil {
		return nil, err
	}
	manifest, err := c.Manifest(compose.Meta{CreatedAt: rev.Composition.Time, OutputFile: filepath.Join(dir, "composed.md")})
	if err != nil {
		return nil, err
	}
	files := []struct {
		name string
		form Format
		body func() []byte
	}{
		{"composed.md", Markdown, c.Markdown}, {"composed.jsonl", JSONL, c.Transcript}, {"composition.json", "", func() []byte { return manifest }},
	}
	var out []string
	for _, file := range files {
		if f != "" && file.form != "" && f != file.form {
			continue
		}
		path := filepath.Join(dir, file.name)
		err := writeWhole(path, func(w io.Writer) error { _, err := w.Write(file.body()); return err })
		if err != nil {
			return out, err
		}
		out = append(out, path)
	}
	return out, nil
}

// writeWhole writes a file through a temporary one beside it, which is flushed to the disk and renamed.
func writeWhole(path string, f func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".mem-*")
	if err != nil {
		return err
	}
	err = f(tmp)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tmp.Name()))
	}
	return nil
}
