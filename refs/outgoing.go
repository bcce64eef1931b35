package refs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
)

// A Piece is a part of a lane that a remote does not have yet.
type Piece struct {
	Kind    string       // "commit", "format", "record", "object", "point", "stream"
	Name    objects.Hash // of a record, an object, a growth point or a stream
	Commit  string       // the commit that added it; for a stream, the last one
	From    int64        // of a stream: the remote has its bytes before From already
	End     objects.Hash // of a stream: the hash of all its bytes from its last segment; reading Content checks it
	Size    int64        // of Content
	Content io.Reader    // of a stream, all of its bytes from the start, decompressed and checked
}

// Outgoing calls visit for every piece of a lane since the newest commit for which have returns true: the message and
// author of each commit, every blob that it added and, once at the end, every stream that grew. Older commits come
// first. It stops at an error of visit and returns it. The Content of a piece may be read later and on another
// goroutine, as long as the store is open.
func (r *Repo) Outgoing(ctx context.Context, l Lane, have func(commit string) bool, visit func(Piece) error) error {
	tip, err := r.memory.Ref(l.LocalRef())
	if err != nil {
		return err
	}
	o := outgoing{ctx: ctx, git: r.memory, device: l.Device, visit: visit, streams: map[objects.Hash]*grownStream{}}
	var chain []pack.ID
	for id := tip; !id.IsZero() && !have(id.String()); {
		chain = append(chain, id)
		c, err := r.memory.Commit(id)
		if err != nil {
			return err
		}
		id = c.Parent
	}
	for _, id := range slices.Backward(chain) {
		if err := o.commit(id); err != nil {
			return fmt.Errorf("commit %s: %w", id, err)
		}
	}
	return o.content()
}

// outgoing visits the pieces of commits.
type outgoing struct {
	ctx     context.Context
	git     *gitstore.Repo
	device  string
	visit   func(Piece) error
	streams map[objects.Hash]*grownStream
	order   []objects.Hash // of the streams, in order of their first segment
}

// A grownStream is a stream with segments that the remote lacks.
type grownStream struct {
	first  int // number of the first of them
	last   int
	lane   *lane.Snapshot // at the last commit that added one
	commit string
}

// commit visits the pieces that a commit adds to its parent.
func (o *outgoing) commit(id pack.ID) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	c, err := o.git.Commit(id)
	if err != nil {
		return err
	}
	if err := o.visit(messageOf(id, c)); err != nil {
		return err
	}
	now, err := lane.At(o.git, id, o.device)
	if err != nil {
		return err
	}
	before, err := lane.At(o.git, c.Parent, o.device)
	if err != nil {
		return err
	}
	return now.Root.WalkNew(o.git, before.Root, nil, func(path []string, blob pack.ID) error {
		return o.blob(now, id.String(), path, blob)
	})
}

// messageOf returns the message of a commit with its author.
func messageOf(id pack.ID, c gitstore.Commit) Piece {
	text := c.Name + "\n" + c.Email + "\n" + c.Message
	return Piece{Kind: "commit", Commit: id.String(), Size: int64(len(text)), Content: strings.NewReader(text)}
}

// blob visits a blob. A segment is only added to its stream.
func (o *outgoing) blob(l *lane.Snapshot, commit string, path []string, id pack.ID) error {
	kind := strings.TrimSuffix(path[0], "s")
	if kind == "stream" {
		return o.segment(l, commit, path)
	}
	var h objects.Hash
	if kind != "format" {
		var err error
		if h, err = lane.PathHash(path); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
		}
	}
	b, err := o.git.Get(id, pack.Blob)
	if err != nil {
		return err
	}
	return o.visit(Piece{Kind: kind, Name: h, Commit: commit, Size: int64(len(b)), Content: bytes.NewReader(b)})
}

func (o *outgoing) segment(l *lane.Snapshot, commit string, path []string) error {
	h, err := lane.PathHash(path)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
	}
	var i int
	if _, err := fmt.Sscanf(path[6], "%06d", &i); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
	}
	g := o.streams[h]
	if g == nil {
		g = &grownStream{first: i}
		o.streams[h], o.order = g, append(o.order, h)
	}
	g.first, g.last, g.lane, g.commit = min(g.first, i), i, l, commit
	return nil
}

// content visits the streams that grew.
func (o *outgoing) content() error {
	for _, h := range o.order {
		p, err := o.stream(h, o.streams[h])
		if err != nil {
			return fmt.Errorf("stream %s: %w", h, err)
		}
		if err := o.visit(p); err != nil {
			return err
		}
	}
	return o.ctx.Err()
}

// stream returns the piece of a stream that grew. It reads all directories, so that Content needs none.
func (o *outgoing) stream(h objects.Hash, g *grownStream) (Piece, error) {
	p := Piece{Kind: "stream", Name: h, Commit: g.commit}
	blobs, err := g.lane.Resolve(h, g.last+1)
	if err != nil {
		return p, err
	}
	head := func(i int) (stream.Head, error) {
		b, err := blobs(i)
		if err != nil {
			return stream.Head{}, err
		}
		head, _, err := stream.ParseHead(b)
		return head, err
	}
	last, err := head(g.last)
	if err != nil {
		return p, err
	}
	if g.first > 0 {
		before, err := head(g.first - 1)
		if err != nil {
			return p, err
		}
		p.From = before.End()
	}
	p.End, p.Size, p.Content = last.Sum, last.End(), stream.NewReader(g.last+1, blobs)
	return p, nil
}
