package repair

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/repair"
)

// A recapturer restores lost parts of transcripts and overflow files from the files of Claude Code: the same bytes
// give the same segments. A result is only stored if its hash is that of the lost object.
type recapturer struct {
	m    *state.DB
	want map[pack.ID]bool
	got  map[pack.ID][]byte
	from map[pack.ID]string // source files
}

// recapture restores losses from files of Claude Code and returns the remaining ones.
func recapture(ctx context.Context, db *state.DB, losses []repair.Loss, out *Repaired, dryRun bool) ([]repair.Loss, error) {
	g := &recapturer{m: db, want: map[pack.ID]bool{}, got: map[pack.ID][]byte{}, from: map[pack.ID]string{}}
	x := newLossExplainer(db.Refs)
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
		if err := repair.Restore(ctx, db.Refs, g.got); err != nil {
			return losses, err
		}
	}
	for _, l := range losses {
		if g.got[l.ID] != nil {
			g.got[l.ID] = nil // report each once
			out.Fixes = append(out.Fixes, repair.Fix{Where: l.Where, What: describeLoss(l) + " was missing",
				Done: "restored from " + g.from[l.ID]})
		}
	}
	return slices.DeleteFunc(losses, func(l repair.Loss) bool { return g.from[l.ID] != "" }), nil
}

// stream restores a stream.
func (g *recapturer) stream(ctx context.Context, points []records.Snapshot) error {
	path := ""
	for _, p := range points {
		path = cmp.Or(p.Source, path)
	}
	if path == "" {
		return nil
	}
	tried := map[string]bool{}
	for _, rules := range []redact.Rules{secrets.RulesIn(g.m, points[len(points)-1].Scan.Cwd), g.m.Opts.Rules, {}} {
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

// grow redacts a file point by point into a stream, as long as it gives the same bytes. It reports whether it
// reached the end.
func (g *recapturer) grow(ctx context.Context, path string, rules redact.Rules,
	points []records.Snapshot) (bool, error) {
	f, _, err := capture.OpenSource(path)
	if err != nil {
		return true, ctx.Err() // it was deleted
	}
	defer f.Close()
	var r io.Reader = f
	if rules.Any() {
		r = &secrets.Cleaner{R: f, Rules: rules}
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
				return true, ctx.Err() // it is unreadable
			}
			if id := pack.Name(pack.Blob, s.Blob); g.want[id] {
				made[id] = bytes.Clone(s.Blob)
			}
			n++
		}
		if t.Hash.Sum() != p.Original {
			return false, nil
		}
		point := lane.PointBlob(stream.Name(p.Session, p.Generation), n)
		if id := pack.Name(pack.Blob, point); g.want[id] {
			made[id] = point
		}
		for id, b := range made {
			g.got[id], g.from[id] = b, path
		}
	}
	return true, nil
}

// files restores overflow files.
func (g *recapturer) files(ctx context.Context, files []lostFile, tried map[string]bool) error {
	for _, f := range files {
		for _, rules := range []redact.Rules{secrets.RulesIn(g.m, f.cwd), g.m.Opts.Rules, {}} {
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

// file restores an overflow file with the given rules, as an object or as a stream, if the result is the same.
func (g *recapturer) file(ctx context.Context, f lostFile, rules redact.Rules) (done bool, err error) {
	in, _, err := secrets.OpenRegular(f.path)
	if err != nil {
		return false, ctx.Err() // it was deleted
	}
	defer in.Close()
	made := map[pack.ID][]byte{}
	var r io.Reader = secrets.NewFileCleaner(in, rules)
	var whole bytes.Buffer
	if f.one {
		r = io.TeeReader(io.LimitReader(r, f.ref.Size+1), &whole)
	}
	t, n := &stream.Tail{Hash: objects.NewHasher(), Final: true}, 0
	for s, err := range stream.Append(ctx, t, r) {
		if err != nil {
			return false, ctx.Err() // it is unreadable
		}
		if id := pack.Name(pack.Blob, s.Blob); g.want[id] {
			made[id] = bytes.Clone(s.Blob)
		}
		n++
	}
	if t.Hash.Sum() != f.ref.Hash {
		return false, nil
	}
	for _, b := range [][]byte{whole.Bytes(), lane.PointBlob(stream.Whole(f.ref.Hash), n)} {
		if id := pack.Name(pack.Blob, b); g.want[id] {
			made[id] = b
		}
	}
	for id, b := range made {
		g.got[id], g.from[id] = b, f.path
	}
	return len(made) > 0, nil
}
