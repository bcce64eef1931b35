package layers

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A regainer makes what is lost of transcripts and overflow files again from the files that they were captured from, where Claude Code
// still has them: the same bytes make the same segments. What it makes is taken only if it is named as what is lost.
type regainer struct {
	m    *Memory
	want map[pack.ID]bool
	got  map[pack.ID][]byte
	from map[pack.ID]string // the files
}

// regain returns what is still lost, and notes what came back.
func (m *Memory) regain(ctx context.Context, losses []refs.Loss, out *Repaired, dryRun bool) ([]refs.Loss, error) {
	g := &regainer{m: m, want: map[pack.ID]bool{}, got: map[pack.ID][]byte{}, from: map[pack.ID]string{}}
	x := &explainer{m: m, projects: map[refs.Project]*readable{}}
	tried := map[string]bool{}
	for _, l := range losses {
		g.want[l.ID] = true
	}
	for _, l := range losses {
		if l.Patches() {
			continue
		}
		points := x.project(l.Lane.Project).pointsOf(l)
		if len(points) == 0 {
			if err := g.files(ctx, x.project(l.Lane.Project).filesOf(l), tried); err != nil {
				return losses, err
			}
			continue
		}
		key := l.Lane.Ref() + " " + stream.Name(points[0].Session, points[0].Generation).String()
		if tried[key] {
			continue
		}
		tried[key] = true
		if err := g.stream(ctx, points); err != nil {
			return losses, err
		}
	}
	if len(g.got) == 0 {
		return losses, nil
	}
	if !dryRun {
		if err := m.repo.PutBack(ctx, g.got); err != nil {
			return losses, err
		}
	}
	for _, l := range losses {
		if g.got[l.ID] != nil {
			g.got[l.ID] = nil // one line for each
			out.Mended = append(out.Mended, refs.Mending{Where: l.Where, What: lostWhat(l) + " was missing", Done: "made again from " + g.from[l.ID]})
		}
	}
	return slices.DeleteFunc(losses, func(l refs.Loss) bool { return g.from[l.ID] != "" }), nil
}

// pointsOf returns the growth points, by their size, of the stream that a loss is about; none if it is about something else.
func (r *readable) pointsOf(l refs.Loss) (points []Snapshot) {
	in := func(Snapshot) bool { return false }
	switch {
	case len(l.Path) == 7 && l.Path[0] == "streams":
		digits := strings.Join(l.Path[1:5], "")
		in = func(s Snapshot) bool { return stream.Name(s.Session, s.Generation).String() == digits }
	case len(l.Path) == 6 && l.Path[0] == "points":
		digits := strings.Join(l.Path[1:], "")
		in = func(s Snapshot) bool { return s.Original.String() == digits }
	}
	i := slices.IndexFunc(r.snapshots, in)
	if i < 0 {
		return nil
	}
	for j, s := range r.snapshots {
		if r.devices[j] == l.Lane.Device && s.Session == r.snapshots[i].Session && s.Generation == r.snapshots[i].Generation {
			points = append(points, s)
		}
	}
	slices.SortStableFunc(points, func(a, b Snapshot) int { return cmp.Compare(a.Size, b.Size) })
	return points
}

// stream makes a stream again.
func (g *regainer) stream(ctx context.Context, points []Snapshot) error {
	path := ""
	for _, p := range points {
		path = cmp.Or(p.Source, path)
	}
	if path == "" {
		return nil
	}
	tried := map[string]bool{}
	for _, rules := range []redact.Rules{g.m.rulesIn(points[len(points)-1].Scan.Cwd), g.m.opts.Rules, {}} {
		if tried[rules.ID] {
			continue
		}
		tried[rules.ID] = true
		done, err := g.grow(ctx, path, rules, points)
		if done || err != nil {
			return err
		}
	}
	return nil
}

// grow lets a file grow into a stream again, point by point, as far as it is what it was. It reports whether that was to the end.
func (g *regainer) grow(ctx context.Context, path string, rules redact.Rules, points []Snapshot) (bool, error) {
	f, _, err := openSource(path)
	if err != nil {
		return true, ctx.Err() // it is not there any more
	}
	defer f.Close()
	var r io.Reader = f
	if rules.Any() {
		r = &cleaner{r: f, rules: rules}
	}
	t := &stream.Tail{Hash: objects.NewHasher()}
	n := 0
	for _, p := range points {
		if p.Size == t.Length {
			continue
		}
		made := map[pack.ID][]byte{}
		for s, err := range stream.Append(ctx, t, io.LimitReader(r, p.Size-t.Length)) {
			if err != nil {
				return true, ctx.Err() // it cannot be read
			}
			if id := pack.Name(pack.Blob, s.Blob); g.want[id] {
				made[id] = bytes.Clone(s.Blob)
			}
			s.Release()
			n++
		}
		if t.Hash.Sum() != p.Original {
			return false, nil
		}
		point := refs.PointBlob(stream.Name(p.Session, p.Generation), n)
		if id := pack.Name(pack.Blob, point); g.want[id] {
			made[id] = point
		}
		for id, b := range made {
			g.got[id], g.from[id] = b, path
		}
	}
	return true, nil
}

// A lostFile is an overflow file that a loss is about, with where it was captured from.
type lostFile struct {
	path string
	ref  FileRef
	cwd  string
	one  bool // it is an object of its own, and no stream
}

// filesOf returns the overflow files that a loss is about, as the records of all devices know them.
func (r *readable) filesOf(l refs.Loss) (out []lostFile) {
	if len(l.Path) < 6 {
		return nil
	}
	digits := strings.Join(l.Path[1:], "")
	if l.Path[0] == "streams" {
		digits = strings.Join(l.Path[1:5], "")
	}
	sources := map[string]string{}
	for _, s := range r.snapshots {
		sources[s.Session] = cmp.Or(s.Source, sources[s.Session])
	}
	for _, s := range r.snapshots {
		dir, ok := strings.CutSuffix(sources[s.Session], ".jsonl")
		for _, f := range s.Files {
			name := f.Hash
			if l.Path[0] == "streams" {
				name = stream.Whole(f.Hash)
			}
			if ok && name.String() == digits && filepath.Base(f.Name) == f.Name {
				out = append(out, lostFile{filepath.Join(dir, "tool-results", f.Name), f, s.Scan.Cwd, l.Path[0] == "objects"})
			}
		}
	}
	return out
}

// files makes overflow files again.
func (g *regainer) files(ctx context.Context, files []lostFile, tried map[string]bool) error {
	for _, f := range files {
		for _, rules := range []redact.Rules{g.m.rulesIn(f.cwd), g.m.opts.Rules, {}} {
			key := f.ref.Hash.String() + " " + rules.ID + " " + f.path
			if tried[key] {
				continue
			}
			tried[key] = true
			done, err := g.file(ctx, f, rules)
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	return nil
}

// file makes an overflow file again with some rules, if it is what it was: as an object, or as a stream.
func (g *regainer) file(ctx context.Context, f lostFile, rules redact.Rules) (done bool, err error) {
	in, size, err := openRegular(f.path)
	if err != nil {
		return false, ctx.Err() // it is not there any more
	}
	defer in.Close()
	made := map[pack.ID][]byte{}
	var r io.Reader = newFileCleaner(in, size, rules)
	var whole bytes.Buffer
	if f.one {
		r = io.TeeReader(io.LimitReader(r, f.ref.Size+1), &whole)
	}
	t, n := &stream.Tail{Hash: objects.NewHasher(), Final: true}, 0
	for s, err := range stream.Append(ctx, t, r) {
		if err != nil {
			return false, ctx.Err() // it cannot be read
		}
		if id := pack.Name(pack.Blob, s.Blob); g.want[id] {
			made[id] = bytes.Clone(s.Blob)
		}
		s.Release()
		n++
	}
	if t.Hash.Sum() != f.ref.Hash {
		return false, nil
	}
	for _, b := range [][]byte{whole.Bytes(), refs.PointBlob(stream.Whole(f.ref.Hash), n)} {
		if id := pack.Name(pack.Blob, b); g.want[id] {
			made[id] = b
		}
	}
	for id, b := range made {
		g.got[id], g.from[id] = b, f.path
	}
	return len(made) > 0, nil
}
