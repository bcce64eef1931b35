package refs

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// ErrOriginals means that the user has not allowed a remote to receive exact bytes.
var ErrOriginals = errors.New("exact bytes may not be sent there")

// Originals returns originals.git for a remote that may receive it. For all others the error wraps [ErrOriginals].
func (r *Repo) Originals(to Remote) (*gitstore.Repo, error) {
	if !to.Originals {
		return nil, fmt.Errorf("remote %s: %w", to.Name, ErrOriginals)
	}
	return r.originals, nil
}

// OriginalLanes returns the lanes of originals.git except those of [Home], sorted by project and device.
func (r *Repo) OriginalLanes() ([]Lane, error) { return r.projectLanes(true) }

// Has reports whether the tip of a lane is in the repository that it belongs to.
func (r *Repo) Has(l Lane) (bool, error) { return r.GitOf(l).Has(l.Tip) }

// Follows reports whether the commit tip of a lane descends from the commit from.
func (r *Repo) Follows(ctx context.Context, l Lane, tip, from pack.ID) (bool, error) {
	_, follows, err := lane.CommitsSince(ctx, r.GitOf(l), tip, from, lane.MaxCommits)
	return follows, err
}

// GitOf returns the repository that a lane belongs to.
func (r *Repo) GitOf(l Lane) *gitstore.Repo {
	if l.Originals {
		return r.originals
	}
	return r.memory
}

// dirOf returns the directory of the repository that a lane belongs to.
func dirOf(l Lane) string {
	if l.Originals {
		return OriginalsDir
	}
	return MemoryDir
}
