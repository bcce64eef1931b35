package refs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// A lane is one device's branch at the time of the snapshot. What its tip holds is read when it is first
// needed: who knows the tip may know all they want.
type lane struct {
	device   string
	tip      pack.ID // zero: no commit yet
	replaces pack.ID // of a lane that begins anew, or goes on from an older commit: the tip it had
	git      *gitstore.Repo

	loading sync.Once
	err     error           // of that
	commit  gitstore.Commit // the tip
	root    *node           // its directory; only after load
}

// openLane reads the lane of ref.
func openLane(g *gitstore.Repo, ref, device string) (*lane, error) {
	tip, err := g.Ref(ref)
	if err != nil {
		return nil, err
	}
	return laneAt(g, tip, device)
}

// newLane returns the lane as it was at a commit; the zero id is an empty lane.
func newLane(g *gitstore.Repo, tip pack.ID, device string) *lane {
	return &lane{device: device, tip: tip, root: &node{}, git: g}
}

// laneAt is newLane, loaded.
func laneAt(g *gitstore.Repo, tip pack.ID, device string) (*lane, error) {
	l := newLane(g, tip, device)
	return l, l.load()
}

// load reads the tip, once, and refuses a lane in a format that this program does not know.
func (l *lane) load() error {
	l.loading.Do(func() {
		if l.err = l.readTip(); l.err != nil {
			l.err = fmt.Errorf("lane of %s: %w", l.device, l.err)
		}
	})
	return l.err
}

func (l *lane) readTip() (err error) {
	if l.tip.IsZero() {
		return nil
	}
	if l.commit, err = l.git.Commit(l.tip); err != nil {
		return err
	}
	l.root.id = l.commit.Tree
	e, ok, err := l.root.find(l.git, "format")
	switch {
	case err != nil:
		return fmt.Errorf("read format: %w", err)
	case !ok || e.dir != nil:
		return fmt.Errorf("read format: %w", objects.ErrNotFound)
	case e.id == pack.Name(pack.Blob, []byte(Format)):
		return nil // what its name says: the file itself lies in the oldest pack
	}
	b, err := l.git.Get(e.id, pack.Blob)
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	return fmt.Errorf("it has the format %q: %w", strings.TrimSpace(string(b)), ErrFormat)
}

// find returns the entry at path, or ok == false if there is none.
func (l *lane) find(path ...string) (e entry, ok bool, err error) {
	if err := l.load(); err != nil {
		return entry{}, false, err
	}
	return l.root.find(l.git, path...)
}

// read returns the blob at path; the error wraps objects.ErrNotFound if there is none.
func (l *lane) read(path ...string) ([]byte, error) {
	e, ok, err := l.find(path...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), err)
	}
	if !ok || e.dir != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), objects.ErrNotFound)
	}
	b, err := l.git.Get(e.id, pack.Blob)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), err)
	}
	return b, nil
}

// A point says which segments of a stream make up an object.
type point struct {
	Stream   objects.Hash `json:"stream"`
	Segments int          `json:"segments"`
}

func (l *lane) point(h objects.Hash) (point, error) {
	var p point
	b, err := l.read(pointPath(h)...)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("point %s: %w: %w", h, err, objects.ErrCorrupt)
	}
	return p, nil
}

// blobs returns what reads the segments of a stream.
func (l *lane) blobs(name objects.Hash) stream.Blobs {
	return func(i int) ([]byte, error) {
		b, err := l.read(segmentPath(name, i)...)
		if errors.Is(err, objects.ErrNotFound) {
			return nil, fmt.Errorf("%w: %w", err, objects.ErrCorrupt)
		}
		return b, err
	}
}

// resolve is blobs of the first n segments for other goroutines: it reads all directories at once.
func (l *lane) resolve(name objects.Hash, n int) (stream.Blobs, error) {
	ids, err := l.segmentIDs(name, n)
	return func(i int) ([]byte, error) { return l.git.Get(ids[i], pack.Blob) }, err
}

// segmentIDs returns what the first n segments of a stream are stored as.
func (l *lane) segmentIDs(name objects.Hash, n int) ([]pack.ID, error) {
	ids := make([]pack.ID, n)
	for i := range ids {
		e, ok, err := l.find(segmentPath(name, i)...)
		if err != nil {
			return nil, err
		}
		if !ok || e.dir != nil {
			return nil, fmt.Errorf("stream %s: segment %d is missing: %w", name.Short(), i, objects.ErrCorrupt)
		}
		ids[i] = e.id
	}
	return ids, nil
}

// segments counts the segments of a stream in the lane.
func (l *lane) segments(name objects.Hash) (int, error) {
	e, ok, err := l.find(streamPath(name)...)
	if err != nil || !ok || e.dir == nil {
		return 0, err
	}
	if err := e.dir.load(l.git); err != nil {
		return 0, err
	}
	if len(e.dir.entries) == 0 {
		return 0, nil
	}
	last := e.dir.entries[len(e.dir.entries)-1]
	n, err := strconv.Atoi(strings.TrimPrefix(last.name, "s"))
	if err != nil || last.dir == nil {
		return 0, fmt.Errorf("stream %s: %w", name, objects.ErrCorrupt)
	}
	if err := last.dir.load(l.git); err != nil {
		return 0, err
	}
	return n*segmentsPerDir + len(last.dir.entries), nil
}
