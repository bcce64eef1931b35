package capture

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// MaxTail is the largest unclosed value at the end of a file, in bytes, that is stored in a patch until it is closed.
// A longer one is stored in the stream at once.
const MaxTail = 4 << 20

// A Source is a file to capture.
type Source struct {
	Path     string
	Parent   string   // the session, if the file is that of a subagent
	Files    []string // its overflow files
	Cwd      string   // the working directory, used if the file does not name one
	ID       string   // of the session; "" to take it from the name of the file
	Origin   string   // the file of another agent that Path was converted from
	filesErr error    // why Files could not be listed
	dir      string   // the working directory, set by [group]
}

// SessionID returns the ID of the session in the file: ID, or the name of the file without ".jsonl", in the form of
// [records.SessionOf]. A name that contains a secret becomes a hash, because the ID of a session is in every record
// about it, and cannot be cleaned there.
func (s Source) SessionID() string {
	id := s.ID
	if id == "" {
		if id = transcript.RolloutID(s.Path); id != "" {
			return id
		}
		if id = strings.TrimSuffix(filepath.Base(s.Path), ".jsonl"); isConflictCopy(id) {
			return copyID(id[:uuidLength], id)
		}
	}
	return string(records.SessionOf(withoutSecret(id)))
}

// minSecret is the length of the shortest token that a rule finds without a name before it.
const minSecret = 20

// withoutSecret returns id, or a hash of it if a built-in rule finds a secret in it.
func withoutSecret(id string) string {
	if len(id) < minSecret || len(id) == uuidLength && isUUID(id) {
		return id
	}
	var numbers redact.Numbers
	if _, cuts := builtinRules().Redact([]byte(id), &numbers); len(cuts) == 0 {
		return id
	}
	return "session-" + objects.Sum([]byte(id)).String()[:16]
}

const uuidLength = 36

// isConflictCopy reports whether a name begins with the ID of a session and goes on: the name that a program which
// synchronises files gives to the other of two contents, such as "<id>.sync-conflict-20261003" or "<id> (copy)".
func isConflictCopy(name string) bool {
	return len(name) > uuidLength && strings.IndexByte("._- (~", name[uuidLength]) >= 0 && isUUID(name[:uuidLength])
}

// isUUID reports whether s, of uuidLength bytes, is the ID of a session as the client makes it.
func isUUID(s string) bool {
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

// copyID returns the ID of the session in another file of the session id, from what distinguishes the file. Its first
// part is new, so that its short form is not that of the session.
func copyID(id, file string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + file))
	return fmt.Sprintf("%x", sum[:4]) + id[min(8, len(id)):]
}

var builtinRules = sync.OnceValue(func() redact.Rules {
	rules, err := redact.New(redact.Config{})
	if err != nil {
		panic("capture: " + err.Error()) // it has no rules that could be malformed
	}
	return rules
})

// A MalformedTag is a tag in a typed message that begins like a keepit marker but is not valid.
type MalformedTag struct {
	Message int
	Tag     string
}

// An Added is the result for one source.
type Added struct {
	Session   string
	OtherOf   string // the session with the ID in the name of the file, which has other turns; "" if it is this one
	Path      string
	Project   state.Project
	Change    string // "new", "grown", "rewritten", "unchanged", "forgotten": see forget.Forget
	Now       records.Snapshot
	NewBytes  int64 // stored bytes of the transcript, uncompressed
	Stored    int64 // the size of NewBytes compressed
	NewValues int   // complete lines of the transcript
	Long      int   // those of NewValues that are longer than [transcript.Longest] and not read
	Tail      int64 // bytes of an unclosed value at the end, stored in a patch
	Echo      int   // typed messages that another session contains already
	Rewound   int   // typed messages that the user withdrew since the last capture
	LeftOut   int   // new lines that were forgotten before
	Tokens    int   // of the session, see [CountAdded]
	Counted   bool  // Tokens is known

	Hidden    bool           // the session is hidden, and stays so
	Shown     bool           // the session was hidden and is shown again
	Malformed []MalformedTag // in the new messages
	Files     int            // new or changed overflow files
	ID        objects.Hash   // of the record, zero if none was written
	Commit    string         // 40 hexadecimal digits, "" if nothing was written
}

// Growth returns how much a session grew as text: "3 lines", "1 file".
func (a Added) Growth() string {
	if a.NewValues == 0 && a.Files > 0 {
		return records.Numbered(a.Files, "file", "files")
	}
	return records.Numbered(a.NewValues, "line", "lines")
}

// A Capture stages one source.
type Capture struct {
	M        *state.DB
	src      Source
	File     originals.SourceFile
	guard    *originals.Guard // nil if nothing was ever forgotten
	size     int64
	st       *state.State
	show     bool           // a hidden session
	known    *state.Session // nil if the project does not contain the session
	Base     *records.Point // the snapshot that the file continues, nil for none
	prev     []redact.Patch // the patches of Base
	older    bool           // Base contains the whole file
	restored bool           // the file is an earlier generation again, see isRestored
	snap     records.Snapshot
	tail     []byte // the bytes after the last closed value
	patch    []byte // encoded, nil if the clean bytes are the exact ones
	files    []overflow
	Rules    redact.Rules
	added    Added
}

// OpenSource opens a regular file that is not empty and returns its size. It does not block on FIFOs or devices.
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
		what = "not a regular file"
	case fi.Size() == 0:
		what = "an empty file"
	}
	if what != "" {
		return nil, 0, errors.Join(fmt.Errorf("%s: %s: %w", path, what, state.ErrNotTranscript), f.Close())
	}
	return f, fi.Size(), nil
}

// stage reads the source and stages the bytes that the session in st does not contain. It takes no lock.
func (c *Capture) stage(ctx context.Context, st *state.State, s *refs.Stage) (err error) {
	if c.src.SessionID() == "" {
		return fmt.Errorf("%s: no session ID in the name: %w", c.src.Path, state.ErrNotTranscript)
	}
	c.known = st.Session(c.src.SessionID())
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
	c.st, c.Rules = st, secrets.RulesIn(c.M, c.src.dir)
	c.snap = records.Snapshot{Session: c.src.SessionID(), Source: cmp.Or(c.src.Origin, c.src.Path), Parent: c.src.Parent,
		Rules: c.Rules.ID}
	if c.known != nil && c.known.Source() == c.snap.Source {
		c.snap.Source = "" // unchanged
	}
	end, err := c.closedEnd()
	if err != nil {
		return err
	}
	err = c.extend(ctx, st.Project, s, end)
	if errors.Is(err, errOther) {
		return c.stageOther(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.src.Path, err)
	}
	if c.added.Change == "unchanged" {
		c.snap = c.Base.Snapshot
		return nil
	}
	if c.known == nil && 2*c.snap.Scan.Opaque > c.snap.Scan.Values && isBinary(c.File) {
		return fmt.Errorf("%s: a binary file with %d unreadable of %d lines: %w", c.src.Path, c.snap.Scan.Opaque,
			c.snap.Scan.Values, state.ErrNotTranscript)
	}
	if c.snap.Scan.Messages == 0 {
		if ok, err := isSession(c.File, c.size); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("%s: no session record: %w", c.src.Path, state.ErrNotTranscript))
		}
	}
	return nil
}

// stageOther stages a file that is not the one of the session with its name as a session of its own.
func (c *Capture) stageOther(ctx context.Context, s *refs.Stage) error {
	st, src := c.st, c.src
	src.ID = otherID(src)
	*c = Capture{M: c.M, src: src, guard: c.guard, show: c.show, added: Added{Session: src.ID, OtherOf: c.src.SessionID(), Path: src.Path, Project: c.added.Project}}
	if st.Purged.Session(src.ID, c.M.Refs.Device().ID) {
		c.added.Change = "forgotten"
		return nil
	}
	return c.stage(ctx, st, s)
}

// isBinary reports whether a file begins like a program, an archive or an image, which may contain sessions.
func isBinary(f io.ReaderAt) bool {
	head := make([]byte, 8<<10)
	n, _ := f.ReadAt(head, 0) // the scan has read it
	return bytes.IndexByte(head[:n], 0) >= 0
}

// isSession reports whether a file without readable messages contains a record of a session. It reads only the start of
// a long record.
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
		if msg, err := transcript.Skim(v); err == nil && msg.OfSession() {
			return true, nil
		}
	}
	return false, nil
}

// closedEnd returns the offset of the end of the last closed value, and sets the tail to the bytes after it.
func (c *Capture) closedEnd() (int64, error) {
	line, err := lastLine(c.File, c.size)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	if c.size-line > MaxTail { // the stream ends within a value
		return c.size, nil
	}
	rest := make([]byte, c.size-line)
	if _, err := c.File.ReadAt(rest, line); err != nil {
		return 0, fmt.Errorf("read %s: %w", c.src.Path, err)
	}
	end := line + int64(transcript.Closed(rest))
	c.tail = rest[end-line:]
	if end == 0 {
		return 0, fmt.Errorf("%s: no complete line: %w", c.src.Path, state.ErrNotTranscript)
	}
	return end, nil
}

// lastLine returns the offset of the last line of a file: the byte after its last newline.
func lastLine(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, min(size, 64<<10))
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

// copyRange writes the bytes of f between from and to into w. The struct hides a ReadFrom of w, which would allocate
// a buffer of its own.
func copyRange(w io.Writer, f io.ReaderAt, from, to int64) error {
	buf := make([]byte, min(256<<10, max(to-from, 1)))
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(f, from, to-from), buf)
	if err == nil && n != to-from {
		err = errTruncated()
	}
	return err
}

// grow stages the bytes of the file between the place at and end, and scans them.
func (c *Capture) grow(ctx context.Context, s *refs.Stage, at Place, end int64) error {
	c.M.Growing()
	sc := transcript.NewScanner(at.Carry, func(b []byte) [32]byte { return objects.Sum(b) })
	rules := c.Rules
	given := &Counter{R: io.NewSectionReader(c.File, at.Raw, end-at.Raw)}
	var r io.Reader = io.TeeReader(given, at.Exact)
	clean := &secrets.Cleaner{R: r, Rules: rules}
	if rules.Any() {
		for _, p := range c.prev {
			clean.Numbers.Learn(p.Cuts)
		}
		r = clean
	}
	before := at.Clean.Length
	at.Clean.Final = true
	name := stream.Name(c.snap.Session, c.snap.Generation)
	g, err := s.Grow(ctx, name, at.Segments, &at.Clean, io.TeeReader(r, sc)) // scans the bytes that are stored
	if err != nil {
		return err
	}
	sum := sc.Summary()
	if given.N != end-at.Raw {
		return errTruncated()
	}
	c.snap.Original, c.snap.Size, c.snap.Segments, c.snap.Scan = g.Sum, g.Size, g.Segments, sum.Carry
	c.recordPrompts(sum.Prompts, sum.Waiting)
	if sum.Forked {
		if c.snap.Rewound, err = transcript.Rewound(io.NewSectionReader(c.File, 0, end)); err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		sc.Withdraw(c.snap.Rewound)
		c.snap.Scan, c.added.Rewound = sc.Summary().Carry, c.newlyRewound()
	}
	c.added.NewBytes, c.added.NewValues, c.added.Tail = g.Size-before, sum.Values-at.Carry.Values, int64(len(c.tail))
	c.added.Long, c.added.LeftOut = sum.Long, originals.LeftOut(c.File, at.Raw)
	c.added.Stored = g.Stored
	at.Exact.Write(c.tail)
	c.makePatch(at, redact.Shift(clean.Cuts, before), at.Exact.Sum())
	return nil
}

// makePatch makes the patch that turns the clean bytes into the exact ones, whose hash is raw, if they differ. It sets
// the change to "unchanged" if neither the clean nor the exact bytes have changed.
func (c *Capture) makePatch(at Place, cuts []redact.Cut, raw objects.Hash) {
	grown := c.added.NewBytes > 0 || len(c.files) > 0
	if c.snap.Withheld = len(c.tail) > 0 || len(cuts) > 0 || at.Cuts; !c.snap.Withheld {
		if !grown && c.added.Change == "grown" && !c.Base.Withheld {
			c.added.Change = "unchanged"
		}
		return
	}
	p := redact.Patch{Rules: c.snap.Rules, After: c.snap.Size, Clean: c.snap.Original, RawLen: c.size, Raw: raw,
		Cuts: cuts, Tail: c.tail}
	if n := len(c.prev); n > 0 && !grown && c.added.Change == "grown" && c.prev[n-1].Raw == p.Raw {
		if !c.restored {
			c.added.Change = "unchanged"
			return
		}
		c.added.Change = "rewritten"
	}
	if at.Cuts {
		p.Before, p.Prev = c.Base.Size, c.prev[len(c.prev)-1].Name()
	}
	c.patch = p.Encode()
}
