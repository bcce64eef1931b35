package incoming

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Counts contains the amounts that were verified.
type Counts struct {
	Lanes    int   `json:"lanes"`
	Commits  int   `json:"commits"`
	Objects  int   `json:"objects"`
	Records  int   `json:"records"`
	Streams  int   `json:"streams"`
	Segments int   `json:"segments"`
	Patches  int   `json:"patches"`
	Bytes    int64 `json:"bytesHashed"` // of content
}

// An IgnoredError is a fault of data of another device that has no effect here.
type IgnoredError struct{ Err error }

func (e *IgnoredError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *IgnoredError) Unwrap() error { return e.Err }

// Audit verifies a whole lane of the store with the checks of a fetched lane. It reports every fault, with its path or
// "", and goes on. Without full it verifies the tip and the chain of commits, and reads no objects and only the heads of
// segments. key is the key of the device as far as it is known; Audit returns it.
func Audit(ctx context.Context, r *refs.Repo, g *gitstore.Repo, l refs.Lane, key string, full bool, n *Counts,
	report func(path string, err error)) (string, error) {
	q := &Quarantine{r: r, store: g, git: g}
	q.unpack.Store(math.MaxInt64)
	v := q.verifier(ctx, &FetchedLane{Lane: l, Key: key, Kinds: map[string]int{}})
	v.report, v.full, v.counts = report, full, n
	n.Lanes++
	at, err := lane.At(g, l.Tip, l.Device)
	if err != nil {
		return key, v.fault("", err)
	}
	if v.lamport, err = lane.LamportOf(at.Commit); err == nil && !r.AcceptsLamport(v.lamport) {
		err = v.ignored(fmt.Errorf("%w: %d", refs.ErrAhead, v.lamport))
	}
	if err = v.fault("", err); err == nil && !full {
		err = v.fault("", v.tree(at.Commit.Tree, pack.ID{}))
	}
	var commits []pack.ID
	for c, cerr := range lane.Ancestors(ctx, g, l.Tip) {
		if cerr != nil {
			err = errors.Join(err, v.fault("", fmt.Errorf("commit %s: %w", c.ID, cerr)))
			break
		}
		commits = append(commits, c.ID)
	}
	var before uint64
	var tree pack.ID
	for _, id := range slices.Backward(commits) {
		n.Commits++
		var cerr error
		if tree, before, cerr = v.commit(id, tree, before); cerr != nil {
			cerr = fmt.Errorf("commit %s: %w", id, cerr)
		}
		if err = errors.Join(err, v.fault("", cerr)); err != nil {
			return v.lane.Key, err
		}
	}
	if v.broken { // the tip may be whole
		clear(v.grown)
		clear(v.points)
		err = errors.Join(err, v.fault("", v.tree(at.Commit.Tree, pack.ID{})))
	}
	return v.lane.Key, errors.Join(err, v.fault("", v.content()))
}

// fault returns an error that ends the check of a fetched lane. An audit reports it and goes on.
func (v *verifier) fault(path string, err error) error {
	if err == nil || v.report == nil || v.ctx.Err() != nil {
		return err
	}
	v.report(path, err)
	return nil
}

// ignored marks an error that an audit finds in the data of another device.
func (v *verifier) ignored(err error) error {
	if err == nil || v.report == nil || v.lane.Device == v.q.r.Device().ID {
		return err
	}
	return &IgnoredError{err}
}

// checkHeads checks that the n segments of a stream are contiguous.
func checkHeads(n int, blobs stream.Blobs) error {
	var end int64
	for i := range n {
		b, err := blobs(i)
		if err != nil {
			return err
		}
		h, _, err := stream.ParseHead(b)
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if h.Offset != end {
			return fmt.Errorf("segment %d: starts at %d, want %d: %w", i, h.Offset, end, objects.ErrCorrupt)
		}
		end = h.End()
	}
	return nil
}
