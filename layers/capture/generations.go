package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// ErrChanging reports that a file was rewritten while it was read. A file that only grows causes no error: the next
// capture reads the new bytes.
var ErrChanging = errors.New("the file changed while it was read")

// errTruncated returns the error of a file that became shorter while it was read.
func errTruncated() error {
	return fmt.Errorf("%w: it became shorter", ErrChanging)
}

// extend stages the new bytes of the file up to end, and the overflow files that are new or have changed.
func (c *Capture) extend(ctx context.Context, p refs.Project, s *refs.Stage, end int64) error {
	if err := c.fork(ctx); err != nil || c.older {
		return err
	}
	from, err := c.findBase(ctx, p, end)
	if err != nil || c.older {
		return err
	}
	announced, err := c.outputs(from.Raw, end)
	if err != nil {
		return err
	}
	if err := c.stageOverflow(ctx, p, s, announced); err != nil {
		return err
	}
	if c.added.Change != "unchanged" {
		return c.grow(ctx, s, from, end)
	}
	if len(c.files) > 0 {
		c.repeatBase("grown")
	} else if c.restored {
		c.repeatBase("rewritten")
	}
	return nil
}

// findBase finds the generation of the session that the file continues, and the offset from which it does. A file
// that continues none of them is a new generation; a file that is contained in one is unchanged.
func (c *Capture) findBase(ctx context.Context, p refs.Project, end int64) (Place, error) {
	c.added.Change = "new"
	elsewhere, err := c.elsewhere(ctx, p)
	if err != nil {
		return Place{}, err
	}
	again := 0 // the lowest generation that the file may continue
	if elsewhere.Continued() {
		again = c.known.Now().Generation
	}
	for _, base := range c.generations() {
		length, err := c.loadPatches(ctx, p, base)
		if errors.Is(err, originals.ErrWithheld) { // the patches were lost; the file has the exact bytes again
			c.added.Change = "rewritten"
			c.snap.Generation = max(c.snap.Generation, base.Generation+1)
			continue
		}
		if err != nil {
			return Place{}, err
		}
		if c.restored = c.isRestored(base); c.size < length && !c.restored {
			whole := io.NewSectionReader(c.File, 0, c.size)
			if c.older, err = isPrefix(ctx, c.M, SessionPoint{p, c.known, base}, whole); c.older || err != nil {
				c.Base, c.added.Change = base, "unchanged"
				return Place{}, err
			}
		}
		at, ok, err := c.continues(ctx, p, base, end)
		if ok && err == nil && base.Generation != c.known.Now().Generation && c.isCopy(elsewhere) {
			break
		}
		if ok && err == nil && elsewhere.MoreA && elsewhere.MoreB && c.isOther() { // the session went on in another directory
			return Place{}, errOther
		}
		if ok && err == nil && base.Generation < again { // it went on elsewhere, in a newer generation than here
			c.added.Change = "rewritten"
			c.snap.Generation = max(c.snap.Generation, base.Generation+1)
			continue
		}
		if ok || err != nil {
			c.Base, c.added.Change, c.snap.Generation = base, "grown", base.Generation
			if ok && c.size == base.Size && !base.Withheld {
				c.added.Change = "unchanged"
			}
			return at, err
		}
		c.added.Change = "rewritten"
		c.snap.Generation = max(c.snap.Generation, base.Generation+1)
	}
	if c.isCopy(elsewhere) {
		c.older, c.Base, c.added.Change = true, c.known.Now(), "unchanged"
		return Place{}, nil
	}
	if elsewhere.Continued() {
		c.snap.Generation = max(c.snap.Generation, again)
	} else if c.isOther() {
		return Place{}, errOther
	}
	c.Base, c.prev, c.restored = nil, nil, false
	return Place{Clean: stream.Tail{Hash: objects.NewHasher()}, Exact: objects.NewHasher()}, nil
}

// elsewhere compares the file with the session as another device, or another directory of this one, has it: with other
// paths.
func (c *Capture) elsewhere(ctx context.Context, p refs.Project) (common transcript.Common, err error) {
	if c.known == nil {
		return common, nil
	}
	device, now := c.M.Refs.Device().ID, c.known.Now()
	if now.Stamp.Device == device && sourceAt(c.known, now) == cmp.Or(c.src.Origin, c.src.Path) {
		return common, nil
	}
	common, err = CompareFile(ctx, c.M, SessionPoint{p, c.known, now}, io.NewSectionReader(c.File, 0, c.size))
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrCorrupt) {
		return transcript.Common{}, nil // it is lost, and captured again
	}
	return common, err
}

// isCopy reports whether this device has all of the file, given what the session has elsewhere. Another device keeps its
// exact bytes to itself, so what only it captured is captured here, too, unless mem resume wrote the file.
func (c *Capture) isCopy(elsewhere transcript.Common) bool {
	if elsewhere.Turns == 0 || elsewhere.MoreB || c.hidden() ||
		c.known.Now().Stamp.Device != c.M.Refs.Device().ID && !c.isResumed() {
		return false
	}
	return !slices.ContainsFunc(c.src.Files, func(path string) bool {
		return !slices.ContainsFunc(c.known.Now().Files, func(f records.FileRef) bool { return f.Name == filepath.Base(path) })
	})
}

// sourceAt returns the file that a growth point was captured from. A snapshot names it if it is not that of the one before.
// That is one of another device only if the device has none: devices capture without knowing of each other.
func sourceAt(s *state.Session, p *records.Point) string {
	own, others := "", ""
	for i := range s.Points {
		q := &s.Points[i]
		if q.Stamp.Device == p.Stamp.Device {
			own = cmp.Or(q.Source, own)
		}
		if others = cmp.Or(q.Source, others); q == p {
			break
		}
	}
	return cmp.Or(own, others)
}

// CompareFile compares the turns of a session at a growth point with those of a file of it.
func CompareFile(ctx context.Context, db *state.DB, at SessionPoint, file io.Reader) (c transcript.Common, err error) {
	r, _, err := originals.Open(ctx, db, at.Project, at.Session, at.Point)
	if err != nil {
		return c, err
	}
	c, err = transcript.Compare(r, file)
	return c, errors.Join(err, r.Close())
}

// errOther means that a file is another one than that of the session with its ID, although its name is the same.
var errOther = errors.New("another file of the session")

// isOther reports whether the file, which contradicts the session with its ID, is not that of the session: it is in
// another directory of the client, and the file of the session still exists, or the file was captured as another
// session before.
func (c *Capture) isOther() bool {
	if c.known == nil || c.src.ID != "" || c.src.Parent != "" || c.src.Origin != "" {
		return false
	}
	captured := SourceOn(c.known, c.M.Refs.Device().ID)
	if captured == c.src.Path {
		return false
	}
	if c.st.Session(otherID(c.src)) != nil {
		return true
	}
	client := func(path string) string { return filepath.Dir(filepath.Dir(path)) }
	if client(captured) != client(c.src.Path) {
		return false // a copy from elsewhere, or only another device has captured it: its paths mean nothing here
	}
	of, err := os.Stat(captured)
	if err != nil {
		return false // it was moved
	}
	own, err := os.Stat(c.src.Path)
	return err == nil && !os.SameFile(of, own)
}

// SourceOn returns the file from which a device captured a session last, "" if it never did.
func SourceOn(s *state.Session, device string) string {
	if p := s.Last(device); p != nil {
		return sourceAt(s, p)
	}
	return ""
}

// otherID returns the ID of the session in a file whose name is that of another session.
func otherID(src Source) string {
	dir, file := filepath.Split(src.Path)
	return copyID(src.SessionID(), filepath.Base(dir)+"/"+file)
}

// loadPatches reads the patches of base and returns the size that the file had then.
func (c *Capture) loadPatches(ctx context.Context, p refs.Project, base *records.Point) (length int64, err error) {
	if c.prev = nil; !base.Withheld {
		return base.Size, nil
	}
	if c.prev, err = originals.Patches(ctx, c.M, p, c.known, base); err != nil {
		return 0, err
	}
	return c.prev[len(c.prev)-1].RawLen, nil
}

// isRestored reports whether base is of an earlier generation than the last capture, and the file is at the path of the
// session. Then an earlier file of the session was restored. A file at another path is a copy.
func (c *Capture) isRestored(base *records.Point) bool {
	last := c.known.Last(c.M.Refs.Device().ID)
	return base.Generation != last.Generation && c.known.Source() == cmp.Or(c.src.Origin, c.src.Path)
}

// generations returns the newest snapshot of each generation that this device captured, newest first.
func (c *Capture) generations() []*records.Point {
	var out []*records.Point
	if c.known == nil {
		return nil
	}
	for i := len(c.known.Points) - 1; i >= 0; i-- {
		p := &c.known.Points[i]
		if p.Stamp.Device == c.M.Refs.Device().ID && !slices.ContainsFunc(out, func(q *records.Point) bool {
			return q.Generation == p.Generation
		}) {
			out = append(out, p)
		}
	}
	return out
}

// continues reports whether the file starts with the closed values of base, and where its new bytes begin. The
// incomplete value that followed them at base may have changed.
func (c *Capture) continues(ctx context.Context, p refs.Project, base *records.Point, end int64) (at Place,
	ok bool, err error) {
	at = Place{Segments: base.Segments, Carry: base.Scan}
	at.Cuts = slices.ContainsFunc(c.prev, func(p redact.Patch) bool { return len(p.Cuts) > 0 })
	if at.Cuts {
		ok, err = c.continuesExact(ctx, p, base, &at, end)
	} else {
		ok, err = c.continuesClean(base, &at, end)
	}
	return at, ok, err
}

// A SessionPoint is a growth point of a session of a project.
type SessionPoint struct {
	Project refs.Project
	Session *state.Session
	Point   *records.Point
}

// isPrefix reports whether the file f is a prefix of the exact bytes of a growth point, like an older copy of it.
func isPrefix(ctx context.Context, db *state.DB, at SessionPoint, f *io.SectionReader) (bool, error) {
	file := objects.NewHasher()
	if err := copyRange(file, f, 0, f.Size()); err != nil {
		return false, err
	}
	stored := &beginning{hash: objects.NewHasher(), left: f.Size()}
	err := originals.WriteOriginal(ctx, db, at.Project, at.Session, at.Point, stored)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err == nil && stored.left == 0 && stored.hash.Sum() == file.Sum(), err
}

// continuesClean reports whether the file starts with the stored stream, which has no cuts.
func (c *Capture) continuesClean(base *records.Point, at *Place, end int64) (bool, error) {
	if base.Size > end {
		return false, nil
	}
	at.Raw, at.Clean = base.Size, stream.Tail{Length: base.Size, Hash: objects.NewHasher()}
	var read io.Writer = at.Clean.Hash
	var last ending
	if base.Size < c.size { // else there is nothing to compress, and no dictionary is needed
		at.Clean.Dict = make([]byte, stream.DictLen(base.Size))
		last = ending{skip: base.Size - int64(len(at.Clean.Dict)), b: at.Clean.Dict[:0]}
		read = io.MultiWriter(read, &last) // of one reading: the file may change before another
	}
	err := copyRange(read, c.File, 0, base.Size)
	at.Exact = at.Clean.Hash.Clone()
	return err == nil && at.Clean.Hash.Sum() == base.Original, err
}

// continuesExact reports whether the file starts with the exact bytes of the stored stream, which has cuts.
func (c *Capture) continuesExact(ctx context.Context, p refs.Project, base *records.Point, at *Place,
	end int64) (bool, error) {
	last := c.prev[len(c.prev)-1]
	closed := last.RawLen - int64(len(last.Tail))
	if closed > end {
		return false, nil
	}
	exact := objects.NewHasher()
	if err := copyRange(exact, c.File, 0, closed); err != nil {
		return false, err
	}
	whole := exact.Clone()
	whole.Write(last.Tail)
	if whole.Sum() != last.Raw {
		return false, nil
	}
	clean, dict, err := c.streamEnd(ctx, p, base)
	if err != nil {
		return false, err
	}
	at.Raw, at.Clean, at.Exact = closed, stream.Tail{Length: base.Size, Dict: dict, Hash: clean}, exact
	return true, nil
}

// streamEnd reads the stored stream up to base. It returns the state of its hash, to continue from, and its last bytes,
// the dictionary with which new bytes are compressed.
func (c *Capture) streamEnd(ctx context.Context, p refs.Project,
	base *records.Point) (hash *objects.Hasher, dict []byte, err error) {
	dict = make([]byte, stream.DictLen(base.Size))
	end := &ending{skip: base.Size - int64(len(dict)), b: dict[:0]}
	err = c.M.Refs.View(ctx, p, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, base.Original)
		if err != nil {
			return err
		}
		defer rc.Close()
		read, ok := rc.(interface{ Hasher() *objects.Hasher })
		if !ok {
			return fmt.Errorf("%s is not a stream: %w", base.Original.Short(), objects.ErrCorrupt)
		}
		if _, err = io.Copy(end, rc); err == nil {
			hash = read.Hasher()
		}
		return err
	})
	return hash, end.b, err
}
