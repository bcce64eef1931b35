// Package incoming checks fetched lanes of other devices and adds them to the store.
//
// Fetched data is stored in a [Quarantine], a separate repository on top of the store. [Quarantine.Check] verifies
// everything new in a lane, even one with a valid signature: commits, signatures, the closed grammar of trees, every
// record, the name of every object, every byte of the streams that grew. [Quarantine.Adopt] makes it part of the
// store: packs first, then the refs. Much of a stream is verified while its pack still arrives.
package incoming

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

var (
	// ErrRewritten means that a lane does not descend from its known tip.
	ErrRewritten = errors.New("does not continue its known commits")
	// ErrRefused means that a lane violates the format of lanes.
	ErrRefused = errors.New("refused")
)

// A FetchedLane is a fetched lane compared with the same lane in the store.
type FetchedLane struct {
	refs.Lane
	Old     pack.ID        // its tip in the store; zero if it is new
	Key     string         // of its device, in OpenSSH's format
	Commits int            // number of new commits
	Records int            // number of new records: of a restarted lane, of those after the known ones
	Epoch   uint64         // the new epoch, if the device has restarted the lane; else 0
	Removed int            // number of records that the new epoch lacks
	Kinds   map[string]int // number of new records by kind
}

// A verifier verifies one lane.
type verifier struct {
	ctx     context.Context
	q       *Quarantine
	lane    *FetchedLane
	seen    map[pack.ID]struct{}            // verified objects
	grown   map[objects.Hash][]int          // new segments, by stream
	sums    map[objects.Hash][]objects.Hash // hash at the end of each segment, by grown stream
	points  map[objects.Hash]pack.ID
	lamport uint64 // of the current commit
	known   uint64 // Lamport time of the known tip of a lane that was restarted
	entries int    // directory entries seen

	full   bool                         // verify all content
	counts *Counts                      // of what was verified
	report func(path string, err error) // of an audit, see [Audit]; else nil
	broken bool                         // an audit found a directory that cannot be read
}

func (q *Quarantine) verifier(ctx context.Context, l *FetchedLane) *verifier {
	return &verifier{ctx: ctx, q: q, lane: l, seen: map[pack.ID]struct{}{}, grown: map[objects.Hash][]int{},
		sums: map[objects.Hash][]objects.Hash{}, points: map[objects.Hash]pack.ID{}, full: true, counts: &Counts{}}
}

// check verifies everything new in the lane: the chain of commits back to the known tip, their
// signatures, the closed grammar of trees, that no file changes or disappears, every record, the name of every object,
// and every byte of the streams that grew. Errors wrap [ErrRewritten] or [ErrRefused].
func (v *verifier) check() error {
	commits, follows, err := lane.CommitsSince(v.ctx, v.q.git, v.lane.Tip, v.lane.Old, lane.MaxCommits)
	if err != nil {
		return v.refuse(err)
	}
	if !follows {
		if err := v.newEpoch(commits[0]); err != nil {
			return err
		}
	}
	var before uint64
	var tree pack.ID
	if !v.lane.Old.IsZero() {
		c, err := v.q.git.Commit(v.lane.Old)
		if err != nil {
			return err
		}
		if v.known, err = lane.LamportOf(c); err != nil {
			return err
		}
		if follows {
			tree, before, v.known = c.Tree, v.known, 0
		}
	}
	v.lane.Commits = len(commits)
	for _, id := range commits {
		if tree, before, err = v.commit(id, tree, before); err != nil {
			return v.refuse(fmt.Errorf("commit %s: %w", id.String()[:10], err))
		}
	}
	if err := v.refuse(v.content()); err != nil || follows {
		return err
	}
	return v.countRemoved()
}

// countRemoved counts the records that the new epoch lacks.
func (v *verifier) countRemoved() error {
	names := func(tip pack.ID) ([]objects.Hash, error) {
		l, err := lane.At(v.q.git, tip, v.lane.Device)
		if err != nil {
			return nil, err
		}
		return l.Names("records")
	}
	was, err := names(v.lane.Old)
	if err != nil {
		return err
	}
	now, err := names(v.lane.Tip)
	if err != nil {
		return err
	}
	for _, h := range was {
		if _, ok := slices.BinarySearchFunc(now, h, objects.Hash.Compare); !ok {
			v.lane.Removed++
		}
	}
	return nil
}

// refuse wraps [ErrRefused] around an error of the lane. A cancelled context is not the lane's error.
func (v *verifier) refuse(err error) error {
	if err == nil || v.ctx.Err() != nil {
		return errors.Join(err, v.ctx.Err())
	}
	return fmt.Errorf("lane of %s: %w: %w", v.lane.Device, ErrRefused, err)
}

// commit verifies a commit and the difference of its tree to the tree old. After an error the tree and the Lamport time
// are those to go on with.
func (v *verifier) commit(id, old pack.ID, before uint64) (tree pack.ID, lamport uint64, err error) {
	if err := v.ctx.Err(); err != nil {
		return old, before, err
	}
	c, err := v.q.git.Commit(id)
	if err != nil {
		return old, before, err
	}
	if v.lamport, err = lane.LamportOf(c); err != nil {
		return old, before, err
	}
	if v.lamport < before {
		return old, before, fmt.Errorf("Lamport time %d after %d", v.lamport, before)
	}
	if v.report == nil && !v.q.r.AcceptsLamport(v.lamport) {
		return old, before, fmt.Errorf("Lamport time %d is far ahead of the clock here", v.lamport)
	}
	if c.Email != v.lane.Device+"@mem.invalid" {
		return old, before, fmt.Errorf("its author %q is not the lane's device", c.Email)
	}
	v.seen[id] = struct{}{}
	if v.full && !v.broken {
		err = v.tree(c.Tree, old)
		v.broken = err != nil
	} else if has, herr := v.q.git.Has(c.Tree); !has {
		err = cmp.Or(herr, fmt.Errorf("tree %s is missing", c.Tree))
	}
	if err == nil && v.lane.Key == "" {
		err = errors.New("no key of its device")
	}
	if err == nil {
		err = lane.VerifySignature(v.lane.Key, c.Signature, c.Payload())
	}
	return c.Tree, v.lamport, err
}

// tree verifies the difference between two trees.
func (v *verifier) tree(tree, old pack.ID) error {
	if tree == old {
		return nil
	}
	v.seen[tree] = struct{}{}
	d := lane.Differ{Git: v.q.git,
		Tree: func(path []string, id pack.ID) (bool, error) {
			err := v.countEntry(id)
			if err == nil {
				err = v.dir(path)
			}
			return err == nil, v.fault(strings.Join(path, "/"), err)
		},
		Blob: func(path []string, id, was pack.ID) error {
			if err := v.countEntry(id); err != nil {
				return err
			}
			name, err := strings.Join(path, "/"), error(nil)
			if !was.IsZero() && path[0] != "points" { // a point describes the same content, or is refused
				err = errors.New("it was changed")
			} else {
				err = v.blob(path, id)
			}
			if err != nil && v.report == nil {
				err = fmt.Errorf("%.200s: %w", name, err)
			}
			return cmp.Or(v.fault(name, err), v.ctx.Err())
		},
		Removed: func(path []string) error {
			return v.fault("", fmt.Errorf("%.200s was removed", strings.Join(path, "/")))
		},
	}
	return d.Diff(nil, tree, old)
}

// countEntry counts a directory entry. In a lane each object has about one path, because the path contains its hash.
// Trees that give one file millions of names are an attack.
func (v *verifier) countEntry(id pack.ID) error {
	v.seen[id] = struct{}{}
	if v.entries++; v.entries > 10_000+4*len(v.seen) {
		return fmt.Errorf("%d names lead to %d objects", v.entries, len(v.seen))
	}
	return nil
}

// dir returns an error for directories that no lane contains, before they are read.
func (v *verifier) dir(path []string) error {
	name, ok := path[len(path)-1], false
	switch {
	case len(path) == 1 && v.lane.Originals:
		ok = name == "patches"
	case len(path) == 1:
		ok = name == "objects" || name == "points" || name == "streams" || name == "records"
	case path[0] != "streams":
		ok = len(path) <= 5 && len(name) == 1 && lane.IsHex(name)
	case len(path) <= 4:
		ok = len(name) == 1 && lane.IsHex(name)
	case len(path) == 5:
		ok = len(name) == 61 && lane.IsHex(name)
	case len(path) == 6:
		ok = len(name) == 5 && name[0] == 's'
	}
	if !ok {
		return fmt.Errorf("%.200s: path not allowed in a lane", strings.Join(path, "/"))
	}
	return nil
}

// blob verifies one new file of a lane.
func (v *verifier) blob(path []string, id pack.ID) error {
	kind := path[0]
	if !lane.PathPattern().MatchString(strings.Join(path, "/")) || kind != "format" && (kind == "patches") != v.lane.Originals {
		return errors.New("path not allowed in a lane")
	}
	size, err := v.size(id)
	if err == nil {
		err = v.q.spend(size)
	}
	if err != nil {
		return err
	}
	if kind == "streams" {
		if size > stream.MaxBlob {
			return fmt.Errorf("%d bytes: %w", size, pack.ErrTooLarge)
		}
		return v.segment(path)
	}
	if kind == "objects" && !v.full {
		v.counts.Objects++
		if has, err := v.q.git.Has(id); err != nil || has {
			return err
		}
		return objects.ErrNotFound
	}
	b, err := v.q.git.Get(id, pack.Blob)
	if err != nil {
		return err
	}
	switch kind {
	case "format":
		if string(b) != lane.Format {
			return fmt.Errorf("format %.40q: %w", b, refs.ErrFormat)
		}
		return nil
	case "patches":
		v.counts.Patches++
		return nil // the hash of the restored original is checked when a patch is applied
	}
	h, err := lane.PathHash(path)
	if err != nil {
		return err
	}
	if kind == "records" {
		return v.record(b, h)
	}
	v.counts.Objects++
	if kind == "points" {
		v.points[h] = id
		return nil
	}
	if objects.Sum(b) != h {
		return objects.ErrCorrupt
	}
	v.counts.Bytes += int64(len(b))
	return nil
}

// size returns the size of a received blob, 0 if the store has it already.
func (v *verifier) size(id pack.ID) (int64, error) {
	n, err := v.q.git.Packs().Size(id)
	if errors.Is(err, pack.ErrNotFound) || errors.Is(err, pack.ErrDelta) {
		return 0, nil
	}
	return n, err
}

func (v *verifier) segment(path []string) error {
	h, err := lane.PathHash(path)
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(path[6])
	if err != nil {
		return err
	}
	if !slices.Equal(path, lane.SegmentPath(h, i)) {
		return errors.New("segment in the wrong directory")
	}
	v.grown[h] = append(v.grown[h], i)
	return nil
}

func (v *verifier) record(b []byte, h objects.Hash) error {
	v.counts.Records++
	r, err := lane.CheckRecord(b, h)
	if err != nil {
		return err
	}
	if r.Lamport > v.known {
		v.lane.Records++
		v.lane.Kinds[r.Kind]++
	}
	switch {
	case r.Device != v.lane.Device:
		return fmt.Errorf("record of the device %s", r.Device)
	case r.Lamport > v.lamport:
		return fmt.Errorf("Lamport time %d in a commit of %d", r.Lamport, v.lamport)
	case r.Kind != "device":
		return v.ignored(v.q.r.CheckBody(r))
	}
	var d lane.DeviceBody
	if err := json.Unmarshal(r.Body, &d); err != nil {
		return err
	}
	switch {
	case d.ID != v.lane.Device:
		return errors.New("it names another device")
	case v.lane.Key != "" && v.lane.Key != d.Key:
		return errors.New("another key for the same device")
	}
	v.lane.Key = d.Key
	return nil
}

// content verifies every byte of the streams that grew, and the new growth points.
func (v *verifier) content() error {
	l, err := lane.At(v.q.git, v.lane.Tip, v.lane.Device)
	if err != nil {
		return err
	}
	if err := v.streams(l); err != nil {
		return err
	}
	for _, h := range slices.SortedFunc(maps.Keys(v.points), objects.Hash.Compare) {
		err := v.point(l, h)
		if err != nil {
			err = fmt.Errorf("point %s: %w", h.Short(), err)
		}
		if err := v.fault("", err); err != nil {
			return err
		}
	}
	return nil
}

// point checks that the name of a growth point is the hash in its last segment. [verifier.streams] has verified that
// hash if the stream grew.
func (v *verifier) point(l *lane.Snapshot, h objects.Hash) error {
	p, err := l.Point(h)
	if err != nil {
		return err
	}
	sums := v.sums[p.Stream]
	if p.Segments < 1 || p.Segments > len(sums) {
		return l.CheckPoint(h)
	}
	if sums[p.Segments-1] != h {
		return objects.ErrCorrupt
	}
	return nil
}

// streams verifies the streams that grew, in parallel. It returns the error of the first one in order of their names.
func (v *verifier) streams(l *lane.Snapshot) error {
	all := slices.SortedFunc(maps.Keys(v.grown), objects.Hash.Compare)
	errs, sizes := make([]error, len(all)), make([]int64, len(all))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	var broken atomic.Bool
	for i, h := range all {
		if broken.Load() && v.report == nil {
			break
		}
		n, blobs, err := v.segments(l, h)
		v.counts.Streams, v.counts.Segments = v.counts.Streams+1, v.counts.Segments+n
		if errs[i] = cmp.Or(err, v.ctx.Err()); errs[i] != nil {
			broken.Store(true)
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if v.full {
				sizes[i], errs[i] = io.Copy(io.Discard, stream.NewReader(n, blobs))
			} else {
				errs[i] = checkHeads(n, blobs)
			}
			if errs[i] != nil {
				errs[i] = fmt.Errorf("stream %s: %w", h.Short(), errs[i])
				broken.Store(true)
			}
		})
	}
	wait.Wait()
	for i, h := range all {
		v.counts.Bytes += sizes[i]
		if err := v.fault("streams/"+h.String(), errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// segments returns the segments of a stream whose new ones must be its last ones.
func (v *verifier) segments(l *lane.Snapshot, h objects.Hash) (int, stream.Blobs, error) {
	added := v.grown[h]
	slices.Sort(added)
	n, err := l.Segments(h)
	if err != nil {
		return 0, nil, err
	}
	for i, at := range added {
		if at != n-len(added)+i {
			return n, nil, fmt.Errorf("stream %s: segment %d of %d is out of order: %w", h.Short(), at, n, objects.ErrCorrupt)
		}
	}
	ids, err := l.SegmentIDs(h, n)
	if err != nil {
		return n, nil, err
	}
	sums := make([]objects.Hash, n)
	v.sums[h] = sums
	return n, func(i int) ([]byte, error) {
		b, err := v.q.git.Get(ids[i], pack.Blob)
		if err != nil {
			return nil, err
		}
		head, _, err := stream.ParseHead(b)
		if err != nil {
			return b, nil // the reader returns the error
		}
		sums[i] = head.Sum
		if i >= n-len(added) { // older segments were counted when they arrived
			err = v.q.spend(head.Length)
		}
		return b, err
	}, nil
}
