package layers

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

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// maxTail is how long the unclosed value at the end of a file may be to wait in a patch; a longer one is
// stored with the stream at once.
const maxTail = 4 << 20

// A Source is a file to capture.
type Source struct {
	Path   string
	Parent string   // the session whose subagent wrote it, if any
	Files  []string // overflow files of tool results that belong to it
}

// SessionID returns the id of the session that the file holds: its name without ".jsonl".
func (s Source) SessionID() string { return strings.TrimSuffix(filepath.Base(s.Path), ".jsonl") }

// An Added says what became of one source.
type Added struct {
	Session   string
	Path      string
	Project   Project
	Change    string // "new", "grown", "rewritten", "unchanged"
	Now       Snapshot
	NewBytes  int64 // of content stored
	NewValues int
	Tail      int64 // bytes of an unclosed value at the end, kept in a patch
	Echo      int   // typed messages that were seen before elsewhere
	ID        objects.Hash
}

// capture is one source on its way into a stage.
type capture struct {
	m     *Memory
	src   Source
	file  *os.File
	size  int64
	known *Session       // nil if the project has no such session
	base  *Point         // the snapshot that the file goes on from, nil if there is none
	prev  []redact.Patch // the patches of base
	snap  Snapshot
	sure  bool   // the file is compared with what is stored before anything else is done
	tail  []byte // behind the last closed value
	patch []byte // encoded, nil if the clean bytes are the exact ones
	added Added
}

// openSource opens a regular file without waiting for FIFOs or devices.
func openSource(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
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
		return nil, 0, errors.Join(fmt.Errorf("%s: %s: %w", path, what, ErrNotTranscript), f.Close())
	}
	return f, fi.Size(), nil
}

// stage reads the source and stages what it adds to the session in st. It takes no lock.
func (c *capture) stage(ctx context.Context, st *State, s *refs.Stage) (err error) {
	if c.file, c.size, err = openSource(c.src.Path); err != nil {
		return err
	}
	defer c.file.Close()
	c.snap = Snapshot{Session: c.src.SessionID(), Source: c.src.Path, Parent: c.src.Parent, Rules: c.m.opts.Rules.ID}
	if c.known = st.session(c.snap.Session); c.known != nil && c.known.Source() == c.src.Path {
		c.snap.Source = "" // as before
	}
	end, err := c.closedEnd()
	if err != nil {
		return err
	}
	err = c.extend(ctx, st.Project, s, end)
	if errors.Is(err, errRewritten) {
		c.sure = true
		err = c.extend(ctx, st.Project, s, end)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.src.Path, err)
	}
	if c.added.Change == "unchanged" {
		c.snap = c.base.Snapshot
		return nil
	}
	if c.snap.Scan.Messages == 0 {
		if ok, err := isSession(c.file, c.size); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("%s: no record of a session in it: %w", c.src.Path, ErrNotTranscript))
		}
	}
	return c.files(s)
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
		if v.Size > int64(len(v.Raw)) && slices.ContainsFunc([]string{"type", "message", "sessionId", "uuid"}, func(key string) bool {
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
func (c *capture) closedEnd() (int64, error) {
	line, err := lastLine(c.file, c.size)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	if c.size-line > maxTail {
		return c.size, nil
	}
	rest := make([]byte, c.size-line)
	if _, err := c.file.ReadAt(rest, line); err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	end := line + int64(transcript.Closed(rest))
	c.tail = rest[end-line:]
	if end == 0 {
		return 0, fmt.Errorf("%s: no complete record in it: %w", c.src.Path, ErrNotTranscript)
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

// extend stages what the file has more than its stream.
func (c *capture) extend(ctx context.Context, p refs.Project, s *refs.Stage, end int64) error {
	from, err := c.start(ctx, p, end)
	if err != nil || c.added.Change == "unchanged" {
		return err
	}
	return c.grow(ctx, s, from, end)
}

// errRewritten says that a file does not start with what is stored of it, though it seemed to have grown.
var errRewritten = errors.New("the file does not start with what is stored")

// A place is where in the file and in its stream the new bytes begin.
type place struct {
	raw      int64
	clean    stream.Tail
	segments int
	carry    transcript.Carry
	cuts     bool // the stored part has cuts
}

// start decides which generation of the session the file goes on from, and where. What none of them
// begins is a new generation, beside the old ones; what one of them holds already is unchanged.
func (c *capture) start(ctx context.Context, p refs.Project, end int64) (place, error) {
	c.added.Change = "new"
	for _, base := range c.generations() {
		at, ok, err := c.follows(ctx, p, base, end)
		if ok || err != nil {
			c.base, c.added.Change, c.snap.Generation = base, "grown", base.Generation
			if ok && c.size == base.Size && !base.Withheld {
				c.added.Change = "unchanged"
			}
			return at, err
		}
		if ok, err = c.holds(ctx, p, base); ok || err != nil {
			c.base, c.added.Change = base, "unchanged"
			return at, err
		}
		c.added.Change = "rewritten"
		c.snap.Generation = max(c.snap.Generation, base.Generation+1)
	}
	c.base = nil
	return place{clean: stream.Tail{Hash: objects.NewHasher()}}, nil
}

// generations returns the newest snapshot of each generation that this device has stored, newest first.
func (c *capture) generations() []*Point {
	var out []*Point
	if c.known == nil {
		return nil
	}
	for i := len(c.known.Points) - 1; i >= 0; i-- {
		p := &c.known.Points[i]
		if p.Stamp.Device == c.m.repo.Device().ID && !slices.ContainsFunc(out, func(q *Point) bool { return q.Generation == p.Generation }) {
			out = append(out, p)
		}
	}
	return out
}

// follows reports whether the file starts with what base stands for, and where its new bytes begin.
func (c *capture) follows(ctx context.Context, p refs.Project, base *Point, end int64) (at place, ok bool, err error) {
	c.prev = nil
	if base.Withheld {
		if c.prev, err = c.m.patches(ctx, p, c.known, base); err != nil {
			return at, false, err
		}
	}
	at = place{segments: base.Segments, carry: base.Scan}
	at.cuts = slices.ContainsFunc(c.prev, func(p redact.Patch) bool { return len(p.Cuts) > 0 })
	if at.cuts {
		ok, err = c.followsRaw(ctx, p, base, &at)
	} else {
		ok, err = c.followsClean(base, &at, end)
	}
	return at, ok, err
}

// holds reports whether the whole file is a beginning of the stored stream, as an older copy of it is.
func (c *capture) holds(ctx context.Context, p refs.Project, base *Point) (bool, error) {
	if c.size > base.Size {
		return false, nil
	}
	file, stored := objects.NewHasher(), objects.NewHasher()
	if err := copyRange(file, c.file, 0, c.size); err != nil {
		return false, err
	}
	err := c.m.stream(ctx, p, base.Original, func(r io.Reader) error {
		_, err := io.CopyN(stored, r, c.size)
		return err
	})
	return err == nil && file.Sum() == stored.Sum(), err
}

// followsClean reports whether the file starts with the stored stream, which has no cuts.
func (c *capture) followsClean(base *Point, at *place, end int64) (bool, error) {
	size := base.Size
	if size > end {
		return false, nil
	}
	at.raw, at.clean = size, stream.Tail{Length: size, Hash: objects.NewHasher()}
	if c.sure || size == c.size {
		err := copyRange(at.clean.Hash, c.file, 0, size)
		if err != nil || at.clean.Hash.Sum() != base.Original || size == c.size {
			return err == nil && at.clean.Hash.Sum() == base.Original, err // no growth needs no dictionary
		}
	} else {
		at.clean.Before = c.beginning(at.clean.Hash, base)
	}
	at.clean.Dict = make([]byte, stream.DictLen(size))
	_, err := c.file.ReadAt(at.clean.Dict, size-int64(len(at.clean.Dict)))
	return err == nil, err
}

// beginning hashes the part of the file that is stored already, while what is new is compressed: nearly all files only
// grow. It returns a function that waits for that, and fails with errRewritten if the file is another one.
func (c *capture) beginning(h *objects.Hasher, base *Point) func() error {
	read := make(chan error, 1)
	go func() { read <- copyRange(h, c.file, 0, base.Size) }()
	return func() error {
		err := <-read
		if err == nil && h.Sum() != base.Original {
			err = errRewritten
		}
		return err
	}
}

// followsRaw reports whether the file starts with the bytes that the stored stream was made from.
func (c *capture) followsRaw(ctx context.Context, p refs.Project, base *Point, at *place) (bool, error) {
	last := c.prev[len(c.prev)-1]
	if last.RawLen > c.size {
		return false, nil
	}
	h := objects.NewHasher()
	if err := copyRange(h, c.file, 0, last.RawLen); err != nil || h.Sum() != last.Raw {
		return false, err
	}
	clean := objects.NewHasher()
	var dict []byte
	err := c.m.repo.View(ctx, p, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, base.Original)
		if err != nil {
			return err
		}
		defer rc.Close()
		if _, err := io.Copy(clean, rc); err != nil {
			return err
		}
		dict, err = tx.TailDict(stream.Name(c.snap.Session, base.Generation), base.Segments, base.Size)
		return err
	})
	at.raw, at.clean = last.RawLen-int64(len(last.Tail)), stream.Tail{Length: base.Size, Dict: dict, Hash: clean}
	return true, err
}

// copyRange writes the bytes from to to of f into w.
func copyRange(w io.Writer, f io.ReaderAt, from, to int64) error {
	buf := make([]byte, min(256<<10, max(to-from, 1)))
	n, err := io.CopyBuffer(onlyWriter{w}, io.NewSectionReader(f, from, to-from), buf)
	if err == nil && n != to-from {
		err = fmt.Errorf("%w: the file got shorter while it was read", io.ErrUnexpectedEOF)
	}
	return err
}

// onlyWriter hides that a writer could read from a file by itself, with a buffer of its own.
type onlyWriter struct{ io.Writer }

// grow stages the bytes of the file up to end behind the place at, and scans them.
func (c *capture) grow(ctx context.Context, s *refs.Stage, at place, end int64) error {
	sc := transcript.NewScanner(at.carry, func(b []byte) [32]byte { return objects.Sum(b) })
	defer sc.Close()
	rules := c.m.opts.Rules
	var r io.Reader = io.NewSectionReader(c.file, at.raw, end-at.raw)
	scanned := make(chan error, 1)
	clean := &cleaner{r: r, rules: rules}
	if len(rules.Rules) > 0 {
		for _, p := range c.prev {
			clean.numbers.Learn(p.Cuts)
		}
		r = io.TeeReader(clean, sc)
		scanned <- nil
	} else { // the bytes are clean as they are: scan them beside the compression
		go func() { scanned <- copyRange(sc, c.file, at.raw, end) }()
	}
	before := at.clean.Length
	at.clean.Final = true
	name := stream.Name(c.snap.Session, c.snap.Generation)
	g, err := s.Grow(ctx, name, at.segments, &at.clean, r)
	if err := errors.Join(err, <-scanned); err != nil {
		return err
	}
	if len(rules.Rules) == 0 && g.Size-before != end-at.raw {
		return fmt.Errorf("%w: the file got shorter while it was read", io.ErrUnexpectedEOF)
	}
	sum := sc.Summary()
	c.snap.Original, c.snap.Size, c.snap.Segments, c.snap.Scan = g.Sum, g.Size, g.Segments, sum.Carry
	c.take(sum.Prompts)
	c.added.NewBytes, c.added.NewValues, c.added.Tail = g.Size-before, sum.Values-at.carry.Values, int64(len(c.tail))
	return c.makePatch(at, redact.Shift(clean.cuts, before))
}

// makePatch makes what the exact bytes need besides the clean ones, if anything, and finds out whether
// anything has changed at all.
func (c *capture) makePatch(at place, cuts []redact.Cut) error {
	grown := c.added.NewBytes > 0
	if c.snap.Withheld = len(c.tail) > 0 || len(cuts) > 0 || at.cuts; !c.snap.Withheld {
		if !grown && c.added.Change == "grown" && !c.base.Withheld {
			c.added.Change = "unchanged"
		}
		return nil
	}
	h := objects.NewHasher()
	if err := copyRange(h, c.file, 0, c.size); err != nil {
		return err
	}
	p := redact.Patch{Rules: c.snap.Rules, After: c.snap.Size, Clean: c.snap.Original, RawLen: c.size, Raw: h.Sum(), Cuts: cuts, Tail: c.tail}
	if n := len(c.prev); n > 0 && !grown && c.added.Change == "grown" && c.prev[n-1].Raw == p.Raw {
		c.added.Change = "unchanged"
		return nil
	}
	if at.cuts {
		p.Before, p.Prev = c.base.Size, c.prev[len(c.prev)-1].Name()
	}
	c.patch = p.Encode()
	return nil
}

// take keeps the typed messages and their markers.
func (c *capture) take(prompts []transcript.Prompt) {
	for _, p := range prompts {
		c.snap.Typed = append(c.snap.Typed, TypedKey{p.N, p.Key})
		for _, k := range keepit.Scan(p.Text) {
			c.snap.Markers = append(c.snap.Markers, Mark{p.N, k.Weight, k.Start, k.End, k.Clamped})
		}
	}
}

// echoes finds, in what was captured together, the typed messages that came first in another session or
// from mem itself. They are not typed here: their markers do not count. Of copies that were captured
// together the one of the session that began first, or else has the smaller id, is the first.
func echoes(st *State, captures []*capture) {
	order := slices.Clone(captures)
	slices.SortFunc(order, func(a, b *capture) int {
		return cmp.Or(a.snap.Scan.First.Compare(b.snap.Scan.First), strings.Compare(a.snap.Session, b.snap.Session))
	})
	for _, c := range order {
		if c.added.Change == "" || c.added.Change == "unchanged" {
			continue
		}
		for _, t := range c.snap.Typed {
			if st.seenElsewhere(t.Key, c.snap.Session) {
				c.snap.Echo = append(c.snap.Echo, t.N)
			}
		}
		c.snap.Markers = slices.DeleteFunc(c.snap.Markers, func(k Mark) bool { return slices.Contains(c.snap.Echo, k.N) })
		c.added.Echo, c.added.Now = len(c.snap.Echo), c.snap
	}
}

// files stages the overflow files of the session.
func (c *capture) files(s *refs.Stage) error {
	if c.base != nil {
		c.snap.Files = slices.Clone(c.base.Files)
	}
	for _, path := range c.src.Files {
		b, err := readRegular(path)
		if err != nil {
			return err
		}
		h, err := s.Put(b)
		if err != nil {
			return err
		}
		ref := FileRef{filepath.Base(path), h, int64(len(b))}
		c.snap.Files = slices.DeleteFunc(c.snap.Files, func(f FileRef) bool { return f.Name == ref.Name })
		c.snap.Files = append(c.snap.Files, ref)
	}
	slices.SortFunc(c.snap.Files, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > 256<<20 {
		return nil, fmt.Errorf("%s: no regular file of moderate size", path)
	}
	return io.ReadAll(f)
}
