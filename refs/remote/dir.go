package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A dirSession is a session with a bare repository in a directory, which may be on a network drive.
type dirSession struct {
	git  refs.Shared
	refs []gitstore.Ref
	mark string
}

func (c *Client) openDir() (Session, error) {
	if _, err := os.Stat(c.url.Path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", c.url, ErrAbsent)
	}
	g, err := gitstore.Open(c.url.Path)
	if errors.Is(err, gitstore.ErrNoRepository) {
		return nil, fmt.Errorf("%s: %w: %w", c.url, ErrAbsent, err)
	}
	if err != nil {
		return nil, err
	}
	all, err := g.RefsUpTo("refs/heads/", maxBranches)
	if errors.Is(err, gitstore.ErrManyRefs) {
		err = fmt.Errorf("%w: more than %d", ErrTooMany, maxBranches)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.url, err), g.Close())
	}
	return &dirSession{refs.Shared{Repo: g, Timeout: c.world.LockTimeout}, all, "mem-" + c.world.Mark}, nil
}

// Refs returns the branches.
func (s *dirSession) Refs() []gitstore.Ref { return s.refs }

// Fetch copies the objects of the wanted commits.
func (s *dirSession) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer,
	lim pack.Limits) (pack.Receipt, error) {
	f := &copier{git: s.git.Repo, w: w, l: lim, seen: map[pack.ID]struct{}{}}
	stop := make(map[pack.ID]bool, len(have))
	for _, id := range have {
		stop[id] = true
	}
	for _, tip := range want {
		if err := f.lane(ctx, tip, stop); err != nil {
			return f.got, fmt.Errorf("copy %s: %w", tip, err)
		}
	}
	return f.got, nil
}

// A copier copies the pack entries of objects, or encodes loose objects and deltas.
type copier struct {
	git  *gitstore.Repo
	w    *pack.Writer
	l    pack.Limits
	seen map[pack.ID]struct{}
	got  pack.Receipt
}

func (f *copier) lane(ctx context.Context, tip pack.ID, stop map[pack.ID]bool) error {
	var commits []pack.ID
	for id := tip; !id.IsZero() && !stop[id]; {
		if _, ok := f.seen[id]; ok {
			break
		}
		if len(commits) > f.l.Objects {
			return fmt.Errorf("more than %d commits: %w", f.l.Objects, pack.ErrTooLarge)
		}
		c, err := f.git.Commit(id)
		if malformed(err) { // only this lane is refused, when the quarantine is checked
			if errors.Is(err, gitstore.ErrCommit) {
				commits = append(commits, id) // which says what is wrong with it
			}
			break
		}
		if err != nil {
			return err
		}
		commits = append(commits, id)
		id = c.Parent
	}
	slices.Reverse(commits)
	var ids []pack.ID
	for s, err := range lane.Additions(ctx, f.git, commits, f.seen) {
		ids = append(ids, s.Objects...)
		if malformed(err) {
			for _, id := range s.Objects {
				delete(f.seen, id) // another lane may have more of them
			}
			ids = append(ids, f.unseen(commits)...)
			break
		}
		if err != nil {
			return err
		}
		if len(f.seen) > f.l.Objects {
			return fmt.Errorf("more than %d objects: %w", f.l.Objects, pack.ErrTooLarge)
		}
	}
	for _, id := range ids {
		if err := f.copy(id); err != nil && !errors.Is(err, pack.ErrNotFound) { // the check refuses lanes that lack it
			return err
		}
	}
	return ctx.Err()
}

// malformed reports whether an error is caused by the data of one lane: a malformed or missing commit or directory.
func malformed(err error) bool {
	return errors.Is(err, pack.ErrNotFound) || errors.Is(err, gitstore.ErrTree) || errors.Is(err, gitstore.ErrKind) ||
		errors.Is(err, gitstore.ErrCommit)
}

// unseen returns the commits that are not in seen, and adds them to seen.
func (f *copier) unseen(commits []pack.ID) (ids []pack.ID) {
	for _, id := range commits {
		if _, ok := f.seen[id]; !ok {
			f.seen[id] = struct{}{}
			ids = append(ids, id)
		}
	}
	return ids
}

func (f *copier) copy(id pack.ID) error {
	e, err := Entry(f.git, id)
	if err != nil {
		return err
	}
	if err := f.w.Add(e); err != nil {
		return err
	}
	f.got.Objects++
	if f.got.Bytes += int64(e.Size()); f.got.Bytes > f.l.Bytes {
		return fmt.Errorf("more than %d bytes: %w", f.l.Bytes, pack.ErrTooLarge)
	}
	if f.l.Progress != nil {
		f.l.Progress(int64(e.Size()))
	}
	return nil
}

// Entry returns the pack entry of an object of g, or encodes it if it is loose or a delta. A damaged one is an error.
func Entry(g *gitstore.Repo, id pack.ID) (pack.Entry, error) {
	e, err := g.Packs().Entry(id)
	if !errors.Is(err, pack.ErrDelta) && !errors.Is(err, pack.ErrNotFound) {
		return e, err
	}
	k, b, err := g.Read(id)
	if err != nil {
		return pack.Entry{}, err
	}
	return pack.Encode(k, b, 6), nil
}

// EntrySize returns the size of the result of [Entry].
func EntrySize(g *gitstore.Repo, id pack.ID) (int64, error) {
	if _, err := g.Packs().Kind(id); err == nil {
		return g.Packs().EntrySize(id)
	}
	e, err := Entry(g, id)
	return int64(e.Size()), err
}

// Push writes a pack to the directory and updates the branches. Both are durable when it returns. Other processes may
// push at the same time, even to the same branch.
func (s *dirSession) Push(ctx context.Context, b Batch) error {
	unshare, err := s.git.Share(ctx) // prevents the deletion of objects that are not reachable yet
	if err != nil {
		return err
	}
	defer unshare()
	if err := s.write(ctx, b.Entries); err != nil {
		return err
	}
	unlock, err := s.git.Lock(ctx, "branches")
	if err != nil {
		return err
	}
	defer unlock()
	rejected := &RejectedError{}
	for _, u := range b.Updates {
		err := s.git.Update(ctx, u.Ref, u.Old, u.New)
		if errors.Is(err, gitstore.ErrMoved) || errors.Is(err, gitstore.ErrLocked) {
			_, why, _ := strings.Cut(err.Error(), ": ")
			rejected.Refs, rejected.Why = append(rejected.Refs, u.Ref), append(rejected.Why, why)
		} else if err != nil {
			return err
		}
	}
	if len(rejected.Refs) > 0 {
		return rejected
	}
	return nil
}

// write writes the pack of a push. The next push of this device removes its temporary files if it is killed.
func (s *dirSession) write(ctx context.Context, entries func(func(pack.Entry) error) error) error {
	unlock, err := s.git.Lock(ctx, s.mark)
	if err != nil {
		return err
	}
	defer unlock()
	if err := pack.Sweep(s.git.PackDir(), s.mark); err != nil {
		return err
	}
	_, err = pack.Write(s.git.PackDir(), s.mark, func(w *pack.Writer) error {
		return entries(func(e pack.Entry) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return w.Add(e)
		})
	})
	return err
}

// Close ends the session.
func (s *dirSession) Close() error { return s.git.Close() }
