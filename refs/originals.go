package refs

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// ErrRaw says that exact bytes were to travel to a remote that the user did not allow them to.
var ErrRaw = errors.New("exact bytes may not travel there")

// Originals returns originals.git for a remote that may receive exact originals. For all others the error wraps
// [ErrRaw].
func (r *Repo) Originals(to Remote) (*gitstore.Repo, error) {
	if !to.Originals {
		return nil, fmt.Errorf("remote %s: %w", to.Name, ErrRaw)
	}
	return r.originals, nil
}

// OriginalLanes returns the lanes of originals.git but for those of [Home], sorted by project and device.
func (r *Repo) OriginalLanes() ([]Lane, error) {
	all, err := r.originals.Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes of exact bytes: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if l, ok := lane.Parse(ref.Name); ok {
			l.Tip, l.Originals = ref.ID, true
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// Has reports whether the tip of a lane is in the repository that it belongs to.
func (r *Repo) Has(l Lane) (bool, error) { return r.Of(l).Has(l.Tip) }

// Follows reports whether a commit of a lane descends from another one.
func (r *Repo) Follows(ctx context.Context, l Lane, tip, from pack.ID) (bool, error) {
	_, follows, err := lane.Since(ctx, r.Of(l), tip, from, lane.MaxCommits)
	return follows, err
}

// Of returns the repository that a lane belongs to.
func (r *Repo) Of(l Lane) *gitstore.Repo {
	if l.Originals {
		return r.originals
	}
	return r.memory
}

// dirOf returns its name.
func dirOf(l Lane) string {
	if l.Originals {
		return OriginalsDir
	}
	return MemoryDir
}
