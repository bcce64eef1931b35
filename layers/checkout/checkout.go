package checkout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// A Format is an output format.
type Format string

// The formats.
const (
	Text     Format = "text"  // for a terminal or a model
	Markdown Format = "md"    //
	JSONL    Format = "jsonl" // as stored; of a composition, a transcript that Claude Code resumes
	Lean     Format = "lean"  // of L1: JSON lines with cut diffs, commands and errors
)

// ErrFormatless reports a revision without content.
var ErrFormatless = errors.New("has no content to write")

// Write writes the content of rev. If the exact bytes of a session are here only up to an earlier growth point, it
// writes those and then returns a [*originals.BehindError]. The format "" is the default: the exact bytes of a
// session or original, JSON lines of L1, Markdown of versions and compositions, the content of an object.
func Write(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	if f == Lean && rev.Kind != state.IsL1 {
		return fmt.Errorf("a %s has no lean form: %w", rev.Kind, revision.ErrLayer)
	}
	w = whileOn{ctx, w}
	switch rev.Kind {
	case state.IsSession, state.IsOriginal:
		return writeOriginal(ctx, db, rev, f, w)
	case state.IsEarlier:
		return writeEarlier(ctx, db, rev, f, w)
	case state.IsMessages:
		return writeMessages(ctx, db, rev, f, w)
	case state.IsL1:
		return writeL1(ctx, db, rev, f, w)
	case state.IsL2, state.IsFact:
		return writeL2(ctx, db, rev, f, w)
	case state.IsVersion:
		return writeVersion(ctx, db, rev, f, w)
	case state.IsComposition:
		return writeComposition(ctx, db, rev, f, w)
	case state.IsObject:
		return originals.WriteObject(ctx, db, rev.Project.ID, rev.Hash, w)
	}
	return fmt.Errorf("a %s %w", rev.Kind, ErrFormatless)
}

func writeOriginal(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	if f == "" || f == JSONL {
		return originals.WriteExact(ctx, db, rev, w)
	}
	return WriteSaid(ctx, db, rev, f, w)
}

func writeEarlier(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	if f == "" || f == JSONL {
		return originals.WriteOriginal(ctx, db, rev.Project.ID, rev.Session, rev.Point, w)
	}
	return WriteSaid(ctx, db, rev, f, w)
}

// Rewound is the mark of what the user withdrew.
const Rewound = "[rewound] "

// whole returns rev with all its messages.
func whole(rev state.Rev) state.Rev {
	rev.From, rev.To = 1, math.MaxInt
	return rev
}

// said calls f with the segments of the messages in rev; readable is that of [originals.Conversation]. An error of f
// ends it.
func said(ctx context.Context, db *state.DB, rev state.Rev, readable bool, f func(originals.Spoken) error) error {
	c := originals.Conversation{Readable: readable}
	p := *cmp.Or(rev.Point, rev.Session.Now())
	rewound := p.Rewound
	p.Rewound = nil             // they are shown, with their mark
	var held []originals.Spoken // a prompt that waits in the queue may belong before them
	in := func(n int) bool { return n >= rev.From && n <= rev.To }
	write := func(segs []originals.Spoken, last bool) error {
		for _, s := range segs {
			if in(s.Src[0][0]) || in(s.At) {
				held = append(held, s)
			}
		}
		if !last && c.Pending() > 0 {
			return nil
		}
		slices.SortStableFunc(held, func(a, b originals.Spoken) int { return cmp.Compare(a.Src[0][0], b.Src[0][0]) })
		ready := held
		held = nil
		for _, s := range ready {
			if rewound.Has(s.Src[0][0]) {
				s.Text = Rewound + s.Text
			}
			if err := f(s); err != nil {
				return err
			}
		}
		return nil
	}
	err := originals.EachMessage(ctx, db, rev.Project.ID, &p, nil, func(n int, msg transcript.Message) error {
		return write(c.Spoken(n, msg), false)
	})
	return cmp.Or(err, write(c.SpokenRest(), true))
}

// WriteSaid writes the conversation of the session in rev at its growth point.
func WriteSaid(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	return writeConversation(ctx, db, whole(rev), f, w)
}

// writeConversation writes the conversation of the messages in rev, segment by segment.
func writeConversation(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	between := ""
	return said(ctx, db, rev, false, func(s originals.Spoken) error {
		if _, err := io.WriteString(w, between+version.Text([]version.Segment{s.Segment})); err != nil {
			return err
		}
		if f != Text {
			between = "\n" // as in [version.Markdown]
		}
		return nil
	})
}

func writeSegments(segs []version.Segment, f Format, w io.Writer) error {
	text := version.Markdown(segs)
	if f == Text {
		text = version.Text(segs)
	}
	_, err := io.WriteString(w, text)
	return err
}

func writeMessages(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	if f == JSONL {
		return copyValues(rev.From, rev.To, w, func(f func(io.Reader) error) error {
			return originals.Stream(ctx, db, rev.Project.ID, rev.Session.Now().Original, f)
		})
	}
	return writeConversation(ctx, db, rev, f, w)
}

func writeL1(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	mode := refine.Full
	if f == Lean {
		mode = refine.Lean
	}
	l1, err := originals.L1(ctx, db, rev.Project.ID, rev.Session.Now().Original, mode)
	if err != nil {
		return err
	}
	defer l1.Close()
	if f == "" || f == JSONL || f == Lean {
		_, err := io.Copy(w, l1)
		return err
	}
	for e, err := range refine.WithRewound(l1) {
		if err != nil {
			return err
		}
		text := e.Text()
		if e.Rewound {
			text = Rewound + text
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

func writeVersion(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	if f == JSONL {
		return originals.WriteObject(ctx, db, rev.Project.ID, rev.Hash, w)
	}
	segs, err := VersionSegments(ctx, db, rev.Project.ID, rev.Version)
	if err != nil {
		return err
	}
	return writeSegments(segs, f, w)
}

func writeComposition(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	c, err := composedAs(ctx, db, rev)
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

// A Place is the destination of a checkout.
type Place struct {
	Path string // a file or a directory; a trailing separator means a directory
	Sub  string // a directory in Path with a name from a record
}

// An output is a file of a checkout.
type output struct {
	name     string // in the directory of the outputs, with slashes
	format   Format
	manifest bool // composition.json, or versions.json of the session of a version
}

// outputs returns the directory and the files of [Checkout]. A composition becomes composed.md, composed.jsonl
// and composition.json, a version its files of both formats with versions.json of its session, anything else one file. If the path names a file, or
// has the extension of one, only that file is written, in the given format or that of the extension. An original is
// always its exact bytes unless a format is given.
func outputs(rev state.Rev, at Place, f Format) (dir string, out []output, err error) {
	if rev.Kind == state.IsCommit || rev.Kind == state.IsConcept || rev.Kind == state.IsRule {
		return "", nil, fmt.Errorf("a %s %w", rev.Kind, ErrFormatless)
	}
	several := rev.Kind == state.IsComposition || rev.Kind == state.IsVersion
	if several && (at.Sub != "" || !isFileName(at.Path)) {
		return at.Path, outputsIn(rev, at.Sub, f), nil
	}
	dir, name := filepath.Split(at.Path)
	if capture.IsDir(at.Path) || name == "" {
		dir, name = at.Path, path.Join(at.Sub, fileName(rev, f))
	}
	exact := rev.Kind == state.IsSession || rev.Kind == state.IsOriginal || rev.Kind == state.IsEarlier
	if f == "" && !exact {
		f = formatOf(name)
	}
	manifest := rev.Kind == state.IsComposition && f == "" && path.Ext(name) == ".json"
	return filepath.Clean(dir), []output{{name, f, manifest}}, nil
}

// outputsIn returns the files of a version or composition in the directory sub.
func outputsIn(rev state.Rev, sub string, f Format) []output {
	base := "composed"
	if rev.Kind == state.IsVersion {
		base = strings.ReplaceAll(rev.Version.FileName(), "/", "-") // settings of another device may be a path
	}
	var out []output
	for _, form := range []Format{Markdown, JSONL, Text} {
		if f == form || f == "" && form != Text {
			out = append(out, output{name: path.Join(sub, base+extension(form)), format: form})
		}
	}
	if rev.Kind == state.IsComposition {
		out = append(out, output{name: path.Join(sub, "composition.json"), manifest: true})
	}
	if rev.Kind == state.IsVersion && f == "" {
		out = append(out, output{name: path.Join(sub, "versions.json"), manifest: true})
	}
	return out
}

// fileName returns the name of the file for rev.
func fileName(rev state.Rev, f Format) string {
	switch rev.Kind {
	case state.IsSession, state.IsOriginal:
		return rev.Session.ID + extension(cmp.Or(f, JSONL))
	case state.IsEarlier:
		return rev.Session.ID + "_" + rev.EarlierName() + extension(cmp.Or(f, JSONL))
	case state.IsL1:
		return rev.Session.ID + "_L1" + extension(cmp.Or(f, JSONL))
	case state.IsMessages:
		return fmt.Sprintf("%s_%d-%d%s", rev.Session.ID, rev.From, rev.To, extension(cmp.Or(f, Markdown)))
	}
	return rev.Hash.String()
}

// isFileName reports whether path is, or should be, a file.
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

// CheckoutOptions are the options of a checkout.
type CheckoutOptions struct {
	Format Format
	Files  bool // write the overflow files of an original, too
	Force  bool // replace files that mem did not write
	DryRun bool

	Versions func(io.Writer) error // writes versions.json of the session of a version
}

// ErrFileName reports overflow files for a path that does not end in ".jsonl". They belong to a transcript.
var ErrFileName = errors.New("is not the name of a transcript")

// Checkout writes rev to files (see [disk.Tree]). All files are complete before the first is renamed into place.
// With a [*originals.BehindError] the file has the exact bytes that are here. If the exact bytes of an overflow file
// are only on another device, the files are written and the error wraps [originals.ErrWithheld]. A file that must
// not be overwritten is a [*disk.FileError].
func Checkout(ctx context.Context, db *state.DB, rev state.Rev, at Place, o CheckoutOptions) (done capture.CheckedOut,
	err error) {
	dir, out, err := outputs(rev, at, o.Format)
	if err != nil {
		return done, err
	}
	if o.Files && path.Ext(out[0].name) != ".jsonl" {
		return done, &disk.FileError{Path: filepath.Join(dir, out[0].name), Err: ErrFileName}
	}
	var behind *originals.BehindError
	write := func(x output) func(io.Writer) error {
		return func(w io.Writer) error {
			if x.manifest && rev.Kind == state.IsVersion {
				return o.Versions(w)
			}
			if x.manifest {
				return writeManifest(ctx, db, rev, filepath.Join(dir, filepath.FromSlash(path.Dir(x.name))), w)
			}
			err := Write(ctx, db, rev, x.format, w)
			if errors.As(err, &behind) {
				return nil
			}
			return err
		}
	}
	if len(out) == 1 && !o.Files && filepath.Join(dir, out[0].name) == filepath.Clean(at.Path) &&
		disk.IsOutlet(at.Path) {
		if done.Files = []string{at.Path}; !o.DryRun {
			err = disk.WriteOutlet(at.Path, write(out[0]))
		}
		return done, errors.Join(err, asError(behind))
	}
	var withheld error
	done, err = capture.WriteTree(db, dir, o.Force, o.DryRun, func(t *disk.Tree) ([]string, error) {
		var names []string
		for _, x := range out {
			if err := t.Stage(x.name, write(x)); err != nil {
				return nil, err
			}
			names = append(names, x.name)
		}
		if !o.Files {
			return names, nil
		}
		more, err := stageFiles(ctx, db, t, rev, out[0].name)
		if errors.Is(err, originals.ErrWithheld) {
			withheld, err = err, nil
		}
		return append(names, more...), err
	})
	if err != nil {
		return done, err
	}
	return done, errors.Join(asError(behind), withheld)
}

// asError returns nil for a nil pointer.
func asError(b *originals.BehindError) error {
	if b == nil {
		return nil
	}
	return b
}

// stageFiles stages the exact bytes of a session's overflow files in the directory where Claude Code expects them,
// next to the session's file. The error wraps [originals.ErrWithheld] if the exact bytes of one are only on another
// device.
func stageFiles(ctx context.Context, db *state.DB, t *disk.Tree, rev state.Rev, transcript string) ([]string, error) {
	p, err := originals.Exact(ctx, db, rev.Project.ID, rev.Session)
	if p == nil && errors.Is(err, originals.ErrWithheld) {
		p = rev.Session.Now() // the files may be here
	}
	if p == nil {
		return nil, err
	}
	var out []string
	var failed []error
	for _, f := range p.Files {
		name := strings.TrimSuffix(transcript, ".jsonl") + "/tool-results/" + f.Name
		if rev.Session.Parent() != "" {
			name = path.Join(path.Dir(transcript), f.Name) // what the client notes about a subagent
		}
		if strings.Contains(f.Name, "/") {
			return nil, &disk.FileError{Path: t.Path(name), Err: disk.ErrName}
		}
		err := t.Stage(name, func(w io.Writer) error {
			at := capture.SessionPoint{Project: rev.Project.ID, Session: rev.Session, Point: p}
			return capture.WriteFile(ctx, db, at, f, whileOn{ctx, w})
		})
		if errors.Is(err, originals.ErrWithheld) {
			failed = append(failed, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, errors.Join(failed...)
}

// writeManifest writes the composition.json of a composition in dir.
func writeManifest(ctx context.Context, db *state.DB, rev state.Rev, dir string, w io.Writer) error {
	c, err := composedAs(ctx, db, rev)
	if err != nil {
		return err
	}
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return err
	}
	meta := compose.ManifestOptions{CreatedAt: rev.Composition.Time, OutputFile: filepath.Join(dir, "composed.md"),
		Recompress: map[string]json.RawMessage{}}
	for _, p := range rev.Composition.Parts {
		r := st.Recompression(p)
		if r == nil {
			continue
		}
		if meta.Recompress[p.Output.String()], err = json.Marshal(r); err != nil {
			return err
		}
	}
	manifest, err := c.Manifest(meta)
	if err != nil {
		return err
	}
	_, err = w.Write(manifest)
	return err
}

// A whileOn is a writer that fails after ctx is cancelled.
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

// VersionSegments returns the text of a version.
func VersionSegments(ctx context.Context, db *state.DB, project refs.Project,
	v *records.Version) ([]version.Segment, error) {
	b, err := originals.Object(ctx, db, project, v.Derivation.Output)
	if err != nil {
		return nil, err
	}
	return version.Decode(b)
}

// Composed returns a stored composition with its texts.
func Composed(ctx context.Context, db *state.DB, rev state.Rev) (compose.Composition, error) {
	b, err := originals.Object(ctx, db, rev.Project.ID, rev.Composition.Derivation.Output)
	if err != nil {
		return compose.Composition{}, err
	}
	return compose.Decode(b)
}

// composedAs returns the composition with the name that it has now, if that is not what makes it exceed its budget: a
// byte is at most one token.
func composedAs(ctx context.Context, db *state.DB, rev state.Rev) (compose.Composition, error) {
	c, err := Composed(ctx, db, rev)
	if longer := len(rev.Composition.Name) - len(c.Name); err == nil && c.Tokens+max(0, longer) <= rev.Composition.Budget {
		c.Name = rev.Composition.Name
	}
	return c, err
}
