package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/transcript/agents"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// MaxTail is how long the unclosed value at the end of a file may be to wait in a patch; a longer one is
// stored with the stream at once.
const MaxTail = 4 << 20

// A Source is a file to capture.
type Source struct {
	Path   string
	Parent string   // the session whose subagent wrote it, if any
	Files  []string // overflow files of tool results that belong to it
	Cwd    string   // where its session works, if the file does not say so yet
	ID     string   // of its session; empty if the name of the file says it
	Origin string   // the file that Path was made from, if another agent wrote it
	unread error    // why Files are not known
	dir    string   // where its session worked
}

// SessionID returns the id of the session that the file holds: its name without ".jsonl", see [records.SessionOf].
func (s Source) SessionID() string {
	if s.ID != "" {
		return string(records.SessionOf(s.ID))
	}
	if id := agents.RolloutID(s.Path); id != "" {
		return id
	}
	return string(records.SessionOf(strings.TrimSuffix(filepath.Base(s.Path), ".jsonl")))
}

// A MalformedTag is a tag in a typed message that begins as a keepit marker and is none.
type MalformedTag struct {
	Message int
	Tag     string
}

// An Added is the result for one source.
type Added struct {
	Session   string
	Path      string
	Project   state.Project
	Change    string // "new", "grown", "rewritten", "unchanged", "forgotten": see forget.Forget
	Now       records.Snapshot
	NewBytes  int64 // of the transcript that are stored
	Stored    int64 // bytes that these take, compressed
	NewValues int
	Long      int   // of these, too long to be read: [transcript.Longest]
	Tail      int64 // bytes of an unclosed value at the end, kept in a patch
	Echo      int   // typed messages that were seen before elsewhere
	Tokens    int   // of the session, see CountAdded
	Counted   bool  // whether Tokens is known

	Malformed []MalformedTag // of what is new
	Files     int            // overflow files of tool results that are new or changed
	ID        objects.Hash
	Commit    string // that holds what is new, 40 hexadecimal digits; empty if nothing was written
}

// Growth says by what a session grew: "3 records", "1 file".
func (a Added) Growth() string {
	n, of := a.NewValues, "line"
	if n == 0 && a.Files > 0 {
		n, of = a.Files, "file"
	}
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

// Capture is one source on its way into a stage.
type Capture struct {
	M      Ops
	src    Source
	File   originals.SourceFile
	guard  *originals.Guard // nil if nothing was ever forgotten
	size   int64
	known  *state.Session // nil if the project has no such session
	Base   *records.Point // the snapshot that the file goes on from, nil if there is none
	prev   []redact.Patch // the patches of base
	older  bool           // base holds all of the file
	back   bool           // base is of a file that was rewritten since, see isBack
	snap   records.Snapshot
	sure   bool   // the file is compared with what is stored before anything else is done
	tail   []byte // behind the last closed value
	patch  []byte // encoded, nil if the clean bytes are the exact ones
	files  []overflow
	Rules  redact.Rules
	torn   bool           // the file ends, or ended, within a value that is stored
	looked *secrets.Look  // at what is new of the stream; nil if its beginning or end may hide something
	looks  []secrets.Look // at overflow files
	added  Added
}

// OpenSource opens a regular file without waiting for FIFOs or devices.
func OpenSource(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|secrets.Nonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	what := ""
	switch {
	case fi.IsDir():
		what = "a directory"
	case !fi.Mode().IsRegular():
		what = "no regular file"
	case fi.Size() == 0:
		what = "an empty file"
	}
	if what != "" {
		return nil, 0, errors.Join(fmt.Errorf("%s: %s: %w", path, what, state.ErrNotTranscript), f.Close())
	}
	return f, fi.Size(), nil
}

// stage reads the source and stages what it adds to the session in st. It takes no lock.
func (c *Capture) stage(ctx context.Context, st *state.State, s *refs.Stage) (err error) {
	if c.src.SessionID() == "" {
		return fmt.Errorf("%s: a name without an id of a session: %w", c.src.Path, state.ErrNotTranscript)
	}
	file, size, err := OpenSource(c.src.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.File, c.size = file, size; c.guard != nil {
		if c.File, err = c.guard.Through(c.src.SessionID(), file, size); err != nil {
			return fmt.Errorf("read %s: %w", c.src.Path, err)
		}
	}
	c.Rules = secrets.On(c.M.DB).RulesIn(c.src.dir)
	c.snap = records.Snapshot{Session: c.src.SessionID(), Source: cmp.Or(c.src.Origin, c.src.Path), Parent: c.src.Parent,
		Rules: c.Rules.ID}
	if c.known = st.Session(c.snap.Session); c.known != nil && c.known.Source() == c.snap.Source {
		c.snap.Source = "" // as before
	}
	end, err := c.closedEnd()
	if err != nil {
		return err
	}
	err = c.extend(ctx, st.Project, s, end)
	if errors.Is(err, originals.ErrRewritten) {
		c.sure = true
		err = c.extend(ctx, st.Project, s, end)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.src.Path, err)
	}
	if c.added.Change == "unchanged" {
		c.snap = c.Base.Snapshot
		return nil
	}
	if c.snap.Scan.Messages == 0 {
		if ok, err := isSession(c.File, c.size); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("%s: no line of a session in it: %w", c.src.Path, state.ErrNotTranscript))
		}
	}
	return nil
}

// isSession reports whether a file without messages that could be read has a record as Claude Code writes
// them: a JSON object with a type. Of a long record only the start is looked at.
func isSession(f io.ReaderAt, size int64) (bool, error) {
	const start = 1 << 20
	for v, err := range transcript.Stream(io.NewSectionReader(f, 0, size), start) {
		if err != nil {
			return false, err
		}
		if v.Opaque {
			continue
		}
		if v.Size > int64(len(v.Raw)) && slices.ContainsFunc([]string{"type", "message", "sessionId", "uuid"},
			func(key string) bool {
				return bytes.Contains(v.Raw, []byte(`"`+key+`":`))
			}) {
			return true, nil
		}
		if msg, err := transcript.Skim(v); err == nil && msg.Type != "" {
			return true, nil
		}
	}
	return false, nil
}

// closedEnd returns where the last closed value of the file ends, and keeps what is behind it as the tail.
func (c *Capture) closedEnd() (int64, error) {
	line, err := lastLine(c.File, c.size)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	if c.torn = c.size-line > MaxTail; c.torn {
		return c.size, nil
	}
	rest := make([]byte, c.size-line)
	if _, err := c.File.ReadAt(rest, line); err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	end := line + int64(transcript.Closed(rest))
	c.tail = rest[end-line:]
	if end == 0 {
		return 0, fmt.Errorf("%s: no complete line in it: %w", c.src.Path, state.ErrNotTranscript)
	}
	return end, nil
}

// lastLine returns where the last line of a file starts: behind its last newline.
func lastLine(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at := size; at > 0; {
		n := min(at, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}

// copyRange writes the bytes from to to of f into w.
func copyRange(w io.Writer, f io.ReaderAt, from, to int64) error {
	buf := make([]byte, min(256<<10, max(to-from, 1)))
	n, err := io.CopyBuffer(OnlyWriter{w}, io.NewSectionReader(f, from, to-from), buf)
	if err == nil && n != to-from {
		err = shorter()
	}
	return err
}

// OnlyWriter hides that a writer could read from a file by itself, with a buffer of its own.
type OnlyWriter struct{ io.Writer }

// grow stages the bytes of the file up to end behind the place at, and scans them.
func (c *Capture) grow(ctx context.Context, s *refs.Stage, at originals.Place, end int64) error {
	c.M.Growing()
	sc := transcript.NewScanner(at.Carry, func(b []byte) [32]byte { return objects.Sum(b) })
	rules := c.Rules
	read := at.Exact // goes on over what the cleaner is given
	if read == nil {
		read = objects.NewHasher()
	}
	given := &Counter{R: io.NewSectionReader(c.File, at.Raw, end-at.Raw)}
	var r io.Reader = given
	if rules.Any() || at.Cuts {
		r = io.TeeReader(given, read)
	}
	clean := &secrets.Cleaner{R: r, Rules: rules}
	if rules.Any() {
		clean.Room = make([]byte, min(end-at.Raw+1, secrets.CleanerRoom))
		for _, p := range c.prev {
			clean.Numbers.Learn(p.Cuts)
		}
		r = clean
	}
	before := at.Clean.Length
	at.Clean.Final = true
	name := stream.Name(c.snap.Session, c.snap.Generation)
	g, err := s.Grow(ctx, name, at.Segments, &at.Clean, io.TeeReader(r, sc)) // what is scanned is what is stored
	if err != nil {
		return err
	}
	sum := sc.Summary()
	if given.N != end-at.Raw {
		return shorter()
	}
	c.snap.Original, c.snap.Size, c.snap.Segments, c.snap.Scan = g.Sum, g.Size, g.Segments, sum.Carry
	c.keep(sum.Prompts)
	c.added.NewBytes, c.added.NewValues, c.added.Tail = g.Size-before, sum.Values-at.Carry.Values, int64(len(c.tail))
	c.added.Long = sum.Long
	c.added.Stored = g.Stored
	if rules.Any() && !clean.Pieces && !c.torn {
		c.looked = &secrets.Look{End: g.Sum}
		if before > 0 {
			c.looked.Base = c.Base.Original
		}
	}
	cuts := redact.Shift(clean.Cuts, before)
	raw, err := c.Exact(at, end, len(cuts) > 0, read)
	if err != nil {
		return err
	}
	return c.makePatch(at, cuts, raw)
}

// makePatch makes what the exact bytes, whose hash is raw, need besides the clean ones, if anything, and finds out
// whether anything has changed at all.
func (c *Capture) makePatch(at originals.Place, cuts []redact.Cut, raw objects.Hash) error {
	grown := c.added.NewBytes > 0 || len(c.files) > 0
	if c.snap.Withheld = len(c.tail) > 0 || len(cuts) > 0 || at.Cuts; !c.snap.Withheld {
		if !grown && c.added.Change == "grown" && !c.Base.Withheld {
			c.added.Change = "unchanged"
		}
		return nil
	}
	p := redact.Patch{Rules: c.snap.Rules, After: c.snap.Size, Clean: c.snap.Original, RawLen: c.size, Raw: raw,
		Cuts: cuts, Tail: c.tail}
	if n := len(c.prev); n > 0 && !grown && c.added.Change == "grown" && c.prev[n-1].Raw == p.Raw {
		if !c.back {
			c.added.Change = "unchanged"
			return nil
		}
		c.added.Change = "rewritten"
	}
	if at.Cuts {
		p.Before, p.Prev = c.Base.Size, c.prev[len(c.prev)-1].Name()
	}
	c.patch = p.Encode()
	return nil
}
