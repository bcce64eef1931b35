package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// A Format is a form in which a thing is written.
type Format string

// The formats.
const (
	Text     Format = "text"  // for a terminal or a model
	Markdown Format = "md"    //
	JSONL    Format = "jsonl" // as stored; of a composition, a transcript that Claude Code resumes
	Lean     Format = "lean"  // of L1: JSON lines with diffs, commands and errors cut short
)

// ErrFormatless says that what a name stands for cannot be written.
var ErrFormatless = errors.New("has no content to write")

// Write writes what rev names. Of a session whose exact bytes are here only up to an earlier growth point it
// writes those and then returns a [*BehindError]. The format "" is the natural one: the exact bytes of a session or original,
// JSON lines of L1, Markdown of versions and compositions, the content of an object.
func (m *Memory) Write(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == Lean && rev.Kind != IsL1 {
		return fmt.Errorf("a %s has no lean form: %w", rev.Kind, ErrLayer)
	}
	w = whileOn{ctx, w}
	switch rev.Kind {
	case IsSession, IsOriginal:
		return m.writeOriginal(ctx, rev, f, w)
	case IsEarlier:
		return m.writeEarlier(ctx, rev, f, w)
	case IsMessages:
		return m.writeMessages(ctx, rev, f, w)
	case IsL1:
		return m.writeL1(ctx, rev, f, w)
	case IsL2, IsFact:
		return m.writeL2(ctx, rev, f, w)
	case IsVersion:
		return m.writeVersion(ctx, rev, f, w)
	case IsComposition:
		return m.writeComposition(ctx, rev, f, w)
	case IsObject:
		return m.WriteObject(ctx, rev.Project.ID, rev.Hash, w)
	}
	return fmt.Errorf("a %s %w", rev.Kind, ErrFormatless)
}

func (m *Memory) writeOriginal(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == "" || f == JSONL {
		return m.writeExact(ctx, rev, w)
	}
	return m.writeConversation(ctx, rev, f, 1, math.MaxInt, w)
}

func (m *Memory) writeEarlier(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	if f == "" || f == JSONL {
		return m.WriteOriginal(ctx, rev.Project.ID, rev.Session, rev.Point, w)
	}
	return m.writeConversation(ctx, rev, f, 1, math.MaxInt, w)
}

// writeConversation writes what was said from one message to another, each segment as it is read.
func (m *Memory) writeConversation(ctx context.Context, rev Rev, f Format, from, to int, w io.Writer) error {
	return m.writeSaid(ctx, rev.Project.ID, cmp.Or(rev.Point, rev.Session.Now()), f, from, to, w)
}

func (m *Memory) writeSaid(ctx context.Context, project refs.Project, p *Point, f Format, from, to int, w io.Writer) error {
	between := ""
	return m.eachSaid(ctx, project, p, nil, (&conversation{}).said, func(s compress.Segment) error {
		if n := s.Src[0][0]; n < from || n > to {
			return nil
		}
		if _, err := io.WriteString(w, between+compress.Text([]compress.Segment{s})); err != nil {
			return err
		}
		if f != Text {
			between = "\n" // as [compress.Markdown] has it
		}
		return nil
	})
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
	return m.writeConversation(ctx, rev, f, rev.From, rev.To, w)
}

func (m *Memory) writeL1(ctx context.Context, rev Rev, f Format, w io.Writer) error {
	mode := refine.Full
	if f == Lean {
		mode = refine.Lean
	}
	l1, err := m.l1(ctx, rev.Project.ID, rev.Session.Now().Original, mode)
	if err != nil {
		return err
	}
	defer l1.Close()
	if f == "" || f == JSONL || f == Lean {
		_, err := io.Copy(w, l1)
		return err
	}
	for e, err := range refine.Entries(l1) {
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

// An Output is a file that a checkout writes.
type Output struct {
	Path     string
	Format   Format
	manifest bool // composition.json
}

// Outputs returns the files that [Memory.Checkout] writes. A composition becomes composed.md, composed.jsonl
// and composition.json in the directory path; a version becomes files of the seeds' names there; anything
// else one file, named after what it is. Where path names a file, or is to become one by its extension,
// that file is written, in the format or else that of the extension; what ends in a separator is a directory; an original is always its exact bytes
// unless a format is given.
func Outputs(rev Rev, path string, f Format) ([]Output, error) {
	if rev.Kind == IsCommit || rev.Kind == IsConcept || rev.Kind == IsRule {
		return nil, fmt.Errorf("a %s %w", rev.Kind, ErrFormatless)
	}
	several := rev.Kind == IsComposition || rev.Kind == IsVersion
	if several && !isFileName(path) {
		return outputsIn(rev, path, f), nil
	}
	if isDir(path) || os.IsPathSeparator(path[len(path)-1]) {
		path = filepath.Join(path, fileName(rev, f))
	}
	exact := rev.Kind == IsSession || rev.Kind == IsOriginal || rev.Kind == IsEarlier
	if f == "" && !exact {
		f = formatOf(path)
	}
	manifest := rev.Kind == IsComposition && f == "" && filepath.Ext(path) == ".json"
	return []Output{{path, f, manifest}}, nil
}

// outputsIn returns the files of a version or composition in the directory dir.
func outputsIn(rev Rev, dir string, f Format) []Output {
	base := "composed"
	if rev.Kind == IsVersion {
		base = rev.Version.FileName()
	}
	var out []Output
	for _, form := range []Format{Markdown, JSONL, Text} {
		if f == form || f == "" && form != Text {
			out = append(out, Output{Path: filepath.Join(dir, base+extension(form)), Format: form})
		}
	}
	if rev.Kind == IsComposition {
		out = append(out, Output{Path: filepath.Join(dir, "composition.json"), manifest: true})
	}
	return out
}

// fileName is what a thing is called in a directory.
func fileName(rev Rev, f Format) string {
	switch rev.Kind {
	case IsSession, IsOriginal:
		return rev.Session.ID + extension(cmp.Or(f, JSONL))
	case IsEarlier:
		return rev.Session.ID + "_" + rev.earlierName() + extension(cmp.Or(f, JSONL))
	case IsL1:
		return rev.Session.ID + "_L1" + extension(cmp.Or(f, JSONL))
	case IsMessages:
		return fmt.Sprintf("%s_%d-%d%s", rev.Session.ID, rev.From, rev.To, extension(cmp.Or(f, Markdown)))
	}
	return rev.Hash.String()
}

// isFileName reports whether path is or should be a file.
func isFileName(path string) bool {
	if fi, err := os.Stat(path); err == nil {
		return !fi.IsDir()
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

func extension(f Format) string {
	if f == Text {
		return ".txt"
	}
	return "." + string(f)
}

// Checkout writes what rev names into the files that [Outputs] says. Each file is
// written whole under another name first, so that none is ever half there. With a [*BehindError] the file is
// written too, with the exact bytes that there are.
func (m *Memory) Checkout(ctx context.Context, rev Rev, path string, f Format) error {
	outputs, err := Outputs(rev, path, f)
	if err != nil {
		return err
	}
	var behind *BehindError
	for _, o := range outputs {
		err := writeWhole(o.Path, func(w io.Writer) error {
			if o.manifest {
				return m.writeManifest(ctx, rev, filepath.Dir(o.Path), w)
			}
			err := m.Write(ctx, rev, o.Format, w)
			if errors.As(err, &behind) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if behind != nil {
		return behind
	}
	return nil
}

// ErrFileName says that an overflow file has a name that is no place to write to. It may come from another device.
var ErrFileName = errors.New("no name of a file")

// CheckoutFiles writes the exact bytes of the overflow files of the session that rev names into the directory where Claude Code looks
// for them beside the session's file path, which ends in ".jsonl", each whole or not at all, and returns their paths. With dryRun it writes nothing. The
// error wraps [ErrWithheld] if the exact bytes of one are on another device only.
func (m *Memory) CheckoutFiles(ctx context.Context, rev Rev, path string, dryRun bool) ([]string, error) {
	p, err := m.Exact(ctx, rev.Project.ID, rev.Session)
	if p == nil && errors.Is(err, ErrWithheld) {
		p, err = rev.Session.Now(), nil // the files may be here all the same
	}
	if p == nil {
		return nil, err
	}
	var out []string
	var failed []error
	for _, f := range p.Files {
		if !filepath.IsLocal(f.Name) || f.Name != filepath.Base(f.Name) || f.Name == "." {
			return out, fmt.Errorf("overflow file %q: %w", f.Name, ErrFileName)
		}
		to := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "tool-results", f.Name)
		if !dryRun {
			err := writeWhole(to, func(w io.Writer) error { return m.WriteFile(ctx, rev.Project.ID, rev.Session, p, f, whileOn{ctx, w}) })
			if errors.Is(err, ErrWithheld) {
				failed = append(failed, err)
				continue
			}
			if err != nil {
				return out, err
			}
		}
		out = append(out, to)
	}
	return out, errors.Join(failed...)
}

// writeManifest writes the composition.json of a composition that is written to dir.
func (m *Memory) writeManifest(ctx context.Context, rev Rev, dir string, w io.Writer) error {
	c, err := m.Composed(ctx, rev)
	if err != nil {
		return err
	}
	manifest, err := c.Manifest(compose.Meta{CreatedAt: rev.Composition.Time, OutputFile: filepath.Join(dir, "composed.md")})
	if err != nil {
		return err
	}
	_, err = w.Write(manifest)
	return err
}

// writeWhole writes a file through a temporary one beside it, which is flushed to the disk and renamed; then its name is, with those of
// directories that were made for it. A device or a pipe is written to as it is: its name is not a file's to take.
func writeWhole(path string, f func(io.Writer) error) error {
	if outlet(path) {
		return writeInto(path, f)
	}
	dir := filepath.Dir(path)
	named := []string{dir} // directories in which there is something new
	for at := dir; parent(at) != ""; at = parent(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		named = append(named, parent(at))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".mem-*")
	if err != nil {
		return err
	}
	if err = f(tmp); err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tmp.Name()))
	}
	for _, dir := range named {
		if err := pack.SyncDir(dir); err != nil && !unsyncable(err) {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// unsyncable reports whether a directory could not be flushed because it is no such one: some file systems of others know no way to, and
// one that may be written to need not be readable.
func unsyncable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// A whileOn writes as long as nobody has cancelled: what is long takes its time.
type whileOn struct {
	ctx context.Context
	w   io.Writer
}

func (o whileOn) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.w.Write(p)
}

// outlet reports whether path leads to something that is no file of its own: a device, a pipe, or what a process has open.
func outlet(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || fi.IsDir() {
		return false
	}
	if link, err := os.Readlink(path); err == nil && strings.HasPrefix(link, "/proc/") {
		return true // as /dev/stdout does
	}
	return !fi.Mode().IsRegular()
}

func writeInto(path string, f func(io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f(out), out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
