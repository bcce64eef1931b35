package refs

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// deflate is the zlib level for objects that are not compressed already.
const deflate = 7

// stagePrefix is the prefix of the marks of stages.
const stagePrefix = "stage-"

// Stage creates a stage of memory.git. It writes nothing to disk before the first object is put.
func (r *Repo) Stage(ctx context.Context) (*Stage, error) { return r.stage(ctx, r.memory, MemoryDir) }

func (r *Repo) stage(ctx context.Context, g *gitstore.Repo, dir string) (*Stage, error) {
	var random [8]byte
	if _, err := io.ReadFull(r.opts.Rand, random[:]); err != nil {
		return nil, err
	}
	return &Stage{r: r, git: g, dir: dir, ctx: ctx, mark: stagePrefix + hex.EncodeToString(random[:])}, nil
}

// openPack creates the pack of the stage, and the lock that shows other processes that its writer runs.
func (s *Stage) openPack() error {
	unlock, err := disk.Lock(s.ctx, s.lockPath(), s.r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("begin stage: %w", err)
	}
	s.unlock = func() {
		os.Remove(s.lockPath()) // on failure the next writer removes it
		unlock()
	}
	if s.w, err = pack.Create(s.git.PackDir(), s.mark); err != nil {
		s.unlock()
		return fmt.Errorf("begin stage: %w", err)
	}
	return nil
}

func (s *Stage) lockPath() string {
	return filepath.Join(s.r.dir, s.dir, "mem", s.mark+".lock")
}

// sweepStages removes the files of killed stages from a repository. A live stage keeps its lock. The lock file is
// created before all other files of the stage and removed after them.
func (r *Repo) sweepStages(dir string) error {
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	marks, err := pack.Marks(packs) // in a copy of a store, lock files may be missing
	if err != nil {
		return err
	}
	files, err := os.ReadDir(filepath.Join(r.dir, dir, "mem"))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a restored copy may lack the directory
		return err
	}
	for _, f := range files {
		if mark, ok := strings.CutSuffix(f.Name(), ".lock"); ok {
			marks = append(marks, mark)
		}
	}
	slices.Sort(marks)
	for _, mark := range slices.Compact(marks) {
		if !strings.HasPrefix(mark, stagePrefix) {
			continue
		}
		file := filepath.Join(r.dir, dir, "mem", mark+".lock")
		unlock, free, err := disk.TryLock(file)
		if err != nil || !free {
			continue // in use, or removed meanwhile
		}
		err = errors.Join(pack.Sweep(packs, mark), os.Remove(file))
		unlock()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("sweep leftovers: %w", err)
		}
	}
	return nil
}

// Close discards the stage unless a successful Update has adopted it.
func (s *Stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.w == nil {
		return nil
	}
	err := s.w.Abort()
	s.w = nil
	s.unlock()
	return err
}

// publish makes the pack durable and visible.
func (s *Stage) publish() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_, err := s.w.Close()
	s.w = nil
	s.unlock()
	return err
}

func (s *Stage) add(k pack.Kind, b []byte, level int) (pack.ID, error) {
	if len(b) > pack.MaxSize { // it could not be read again
		return pack.ID{}, fmt.Errorf("store %d bytes: more than %d MiB: %w", len(b), pack.MaxSize>>20, pack.ErrTooLarge)
	}
	e := pack.Encode(k, b, level)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return pack.ID{}, errors.New("stage is closed")
	}
	if s.w == nil {
		if err := s.openPack(); err != nil {
			return pack.ID{}, disk.AsWriteError(err)
		}
	}
	return e.ID, disk.AsWriteError(s.w.Add(e))
}

func (s *Stage) put(b []byte, level int, path []string) error {
	id, err := s.add(pack.Blob, b, level)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.puts = append(s.puts, put{path, id})
	s.mu.Unlock()
	return nil
}

// Put stages an object of moderate size and returns its name.
func (s *Stage) Put(b []byte) (objects.Hash, error) {
	h := objects.Sum(b)
	return h, s.put(b, deflate, lane.ObjectPath(h))
}

// PutReader stages the content of r as an object.
func (s *Stage) PutReader(r io.Reader) (objects.Hash, error) {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		return objects.Hash{}, err
	}
	return s.Put(b.Bytes())
}

// Grow stages the content of r as new segments of a stream of this device, which has base segments and ends in t. It
// moves t to the new end, and stages a growth point for it: the content up to there becomes an object with a name of
// its own. If r is empty, nothing is staged.
func (s *Stage) Grow(ctx context.Context, name objects.Hash, base int, t *stream.Tail, r io.Reader) (Growth, error) {
	g := Growth{Stream: name, Base: base, Segments: base}
	if err := s.append(ctx, &g, t, r); err != nil || g.Segments == base {
		return g, err
	}
	return g, s.addPoint(&g)
}

// PutLong stages the content of r as an object of any size without keeping it in memory: as a stream of its own, named
// after the content. If the lane has that object already, the commit does not contain it again.
func (s *Stage) PutLong(ctx context.Context, r io.Reader) (Growth, error) {
	g := Growth{whole: true}
	err := s.append(ctx, &g, &stream.Tail{Hash: objects.NewHasher(), Final: true}, r)
	if err != nil {
		return g, err
	}
	if g.Segments == 0 { // streams are never empty
		_, err := s.Put(nil)
		return g, err
	}
	g.Stream = stream.Whole(g.Sum)
	return g, s.addPoint(&g)
}

// append stages the segments of a growth.
func (s *Stage) append(ctx context.Context, g *Growth, t *stream.Tail, r io.Reader) error {
	for seg, err := range stream.Append(ctx, t, r) {
		if err != nil {
			return fmt.Errorf("grow stream: %w", err)
		}
		id, err := s.add(pack.Blob, seg.Blob, 0)
		if err != nil {
			return fmt.Errorf("grow stream: %w", err)
		}
		g.blobs = append(g.blobs, id)
		g.Heads = append(g.Heads, seg.Head)
		g.Stored += int64(len(seg.Blob))
		g.Segments++
	}
	g.Size, g.Sum = t.Length, t.Hash.Sum()
	return nil
}

// addPoint stages the growth point at the end of a growth.
func (s *Stage) addPoint(g *Growth) (err error) {
	if g.point, err = s.add(pack.Blob, lane.PointBlob(g.Stream, g.Segments), deflate); err != nil {
		return err
	}
	s.mu.Lock()
	s.grown = append(s.grown, *g)
	s.mu.Unlock()
	return nil
}
