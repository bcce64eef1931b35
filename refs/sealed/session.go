package sealed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// A session is a connection to an encrypted remote.
type session struct {
	v          *Vault
	inner      remote.Session
	service    remote.Service
	branches   map[string]pack.ID // tips of the branches of the remote
	keyringTip pack.ID            // commit of the keyring on the remote
	outdated   bool               // the keyring of the remote is outdated
	fetched    bool               // inner has fetched
}

// Refs returns the lanes.
func (s *session) Refs() []gitstore.Ref {
	var out []gitstore.Ref
	for _, f := range s.v.lanes {
		out = append(out, gitstore.Ref{Name: f.Lane, ID: f.tip()})
	}
	slices.SortFunc(out, func(a, b gitstore.Ref) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// At returns the remote's commit for a lane, zero if it has none. It reads nothing: a push reads only the lanes of this
// device.
func (s *session) At(lane string) pack.ID { return s.branches[s.v.st.Keyring.branch(lane)] }

// Fetch unpacks the new segments of the wanted lanes; all segments if have is empty. Most of them were downloaded when
// the session was opened. A lane with a broken segment is skipped; see [Vault.Broken].
func (s *session) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer, l pack.Limits) (got pack.Receipt,
	err error) {
	l.Progress = nil
	if len(have) == 0 {
		if err := s.followFromStart(ctx, want); err != nil {
			return got, err
		}
	}
	names := slices.Sorted(maps.Keys(s.v.lanes))
	for _, name := range names {
		f := s.v.lanes[name]
		if !slices.Contains(want, f.tip()) {
			continue
		}
		for i, id := range f.newCommits {
			r, err := s.v.unpack(id, w, l)
			got.Objects, got.Deltas, got.Bytes = got.Objects+r.Objects, got.Deltas+r.Deltas, got.Bytes+r.Bytes
			l.Objects, l.Bytes = l.Objects-r.Objects, l.Bytes-r.Bytes
			if errors.Is(err, ErrTampered) || errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrTooLarge) ||
				errors.Is(err, pack.ErrNotFound) {
				s.v.broken = append(s.v.broken, Broken{f.Lane, fmt.Errorf("segment %d of %d: %w", i+1, len(f.newCommits), err)})
				delete(s.v.lanes, name)
				break
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return got, err
			}
		}
	}
	return got, nil
}

// followFromStart reads wanted branches from their start if only a part of them is known.
func (s *session) followFromStart(ctx context.Context, want []pack.ID) error {
	var names []string
	for name, f := range s.v.lanes {
		if slices.Contains(want, f.tip()) && !f.complete {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		s.v.lanes[name] = &remoteLane{}
	}
	_, err := s.follow(ctx, names)
	return err
}

// unpack adds the objects of a segment to w.
func (v *Vault) unpack(id pack.ID, w *pack.Writer, l pack.Limits) (got pack.Receipt, err error) {
	h, in, err := v.segment(id)
	if err != nil {
		return got, err
	}
	err = h.readPack(in, func(r io.Reader) error {
		got, err = w.Receive(r, l)
		return err
	})
	return got, err
}

// Close ends the session. After a fetch it stores the positions of the branches whose lanes are in the store now.
func (s *session) Close() error {
	var err error
	if s.service == remote.Upload {
		err = s.v.saveMoved()
	}
	return errors.Join(err, s.inner.Close())
}

// saveMoved stores the new positions of the branches whose lanes are in the store.
func (v *Vault) saveMoved() error {
	moved := map[string]branch{}
	for name, f := range v.lanes {
		if f.branch == v.st.Branches[name] {
			continue
		}
		ok, err := v.stored(f.branch)
		if err != nil {
			return err
		}
		if ok {
			moved[name] = f.branch
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return v.savePositions(context.Background(), moved) // also after a cancelled command
}

// savePositions stores the positions of branches.
func (v *Vault) savePositions(ctx context.Context, moved map[string]branch) error {
	return v.editState(ctx, func(st *state) {
		if st.Branches == nil {
			st.Branches = map[string]branch{}
		}
		maps.Copy(st.Branches, moved)
	})
}

// Push sends a batch for one lane as a segment.
func (s *session) Push(ctx context.Context, b remote.Batch) error {
	if len(b.Updates) != 1 {
		return errors.New("an encrypted remote accepts one lane per push")
	}
	if err := s.updateKeyring(ctx); err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	u := b.Updates[0]
	name := s.v.st.Keyring.branch(u.Ref)
	at := s.branches[name]
	h := head{Lane: u.Ref, Tip: u.New.String(), Pack: pack.StreamSize(b.Size)}
	if ok, err := s.continues(ctx, u); err != nil {
		return err
	} else if ok && !at.IsZero() {
		h.Previous, h.OldTip = at.String(), u.Old.String()
	}
	out, err := s.v.repo.Scratch(ctx, "out-"+s.v.id)
	if err != nil {
		return err
	}
	sealed, err := s.v.sealBatch(out, h, b)
	if err == nil {
		sealed.Updates = []remote.Update{{Ref: name, Old: at, New: sealed.Updates[0].New}}
		err = s.inner.Push(ctx, sealed)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return withLaneName(err, name, u.Ref)
	}
	return s.v.savePositions(ctx, map[string]branch{name: {sealed.Updates[0].New.String(), u.Ref, h.Tip}})
}

// continues reports whether an update continues the lane. Otherwise the branch restarts without its former segments.
func (s *session) continues(ctx context.Context, u remote.Update) (bool, error) {
	if u.Old.IsZero() {
		return false, nil
	}
	l, _ := lane.ParseRemoteRef(u.Ref)
	return s.v.repo.Follows(ctx, l, u.New, u.Old)
}

// withLaneName replaces the branch by its lane in an error.
func withLaneName(err error, name, lane string) error {
	var rejected *remote.RejectedError
	if errors.As(err, &rejected) {
		for i, ref := range rejected.Refs {
			if ref == name {
				rejected.Refs[i] = lane
			}
		}
	}
	return err
}

// sealBatch creates the commit of a segment in a scratch repository, and the batch that pushes it.
func (v *Vault) sealBatch(out *refs.Scratch, h head, b remote.Batch) (batch remote.Batch, err error) {
	to, err := v.st.Keyring.epoch()
	if err != nil {
		return batch, err
	}
	var parent pack.ID
	if h.Previous != "" {
		if parent, err = pack.ParseID(h.Previous); err != nil {
			return batch, err
		}
	}
	c := &commitWriter{}
	_, err = pack.Write(out.PackDir(), "out", func(w *pack.Writer) error {
		c.sink = w.Add
		err := h.seal(c, to, func(plain io.Writer) error { return pack.Stream(plain, b.Objects, b.Size, b.Entries) })
		if err != nil {
			return err
		}
		return c.finish(parent)
	})
	if err != nil {
		return batch, err
	}
	return c.batch(func(id pack.ID) (pack.Entry, error) { return remote.Entry(out.Repo, id) }), nil
}

// A commitWriter creates a commit for the remote: the written data as files, their tree, and a fixed author and time.
type commitWriter struct {
	sink func(pack.Entry) error
	buf  []byte
	tree []gitstore.TreeEntry
	ids  []pack.ID
	size int64
}

func (c *commitWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if c.buf == nil {
			c.buf = make([]byte, 0, partSize)
		}
		k := min(len(p), partSize-len(c.buf))
		c.buf, p = append(c.buf, p[:k]...), p[k:]
		if len(c.buf) == partSize {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (c *commitWriter) flush() error {
	e := pack.Encode(pack.Blob, c.buf, 0)
	c.tree = append(c.tree, gitstore.TreeEntry{Name: partName(len(c.tree)), ID: e.ID})
	c.buf = c.buf[:0]
	return c.add(e)
}

func (c *commitWriter) add(e pack.Entry) error {
	c.ids = append(c.ids, e.ID)
	c.size += int64(e.Size())
	return c.sink(e)
}

// finish writes the remaining data, the tree and the commit.
func (c *commitWriter) finish(parent pack.ID) error {
	if len(c.buf) > 0 {
		if err := c.flush(); err != nil {
			return err
		}
	}
	b, err := gitstore.EncodeTree(c.tree)
	if err != nil {
		return err
	}
	tree := pack.Encode(pack.Tree, b, 6)
	if err := c.add(tree); err != nil {
		return err
	}
	b, err = gitstore.EncodeCommit(gitstore.Commit{Tree: tree.ID, Parent: parent, Name: "mem", Email: "mem@mem.invalid",
		Time: time.Unix(0, 0), Message: "mem\n"})
	if err != nil {
		return err
	}
	return c.add(pack.Encode(pack.Commit, b, 6))
}

// batch returns the batch that pushes the commit.
func (c *commitWriter) batch(entry func(pack.ID) (pack.Entry, error)) remote.Batch {
	return remote.Batch{Objects: len(c.ids), Size: c.size, Updates: []remote.Update{{New: c.ids[len(c.ids)-1]}},
		Entries: func(yield func(pack.Entry) error) error {
			for _, id := range c.ids {
				e, err := entry(id)
				if err == nil {
					err = yield(e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}
}
