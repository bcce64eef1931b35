package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// Cleaned counts the changes of [CleanLane].
type Cleaned struct {
	Sessions, Objects, Records int
}

// CleanLane removes the secrets that the newest rules find from this device's lane of p. It replaces the lane by one
// commit without a parent, since the old commits contain the secrets. The secrets are moved to patches, so the exact
// bytes can still be restored. Objects without secrets keep their names, and a lane without secrets is not changed.
//
// A lane that was pushed must not be cleaned: its remote would refuse it, as it is not a fast-forward.
func CleanLane(ctx context.Context, db *state.DB, p refs.Project) (Cleaned, error) {
	leaks, err := secrets.ScanOutgoing(ctx, db, p, func(string) bool { return false })
	if err != nil || len(leaks) == 0 {
		return Cleaned{}, err
	}
	st, err := trust.State(ctx, db, p)
	if err != nil {
		return Cleaned{}, err
	}
	stage, err := db.Refs.Stage(ctx)
	if err != nil {
		return Cleaned{}, err
	}
	defer stage.Close()
	l := &laneCleaner{m: db, p: p, rules: secrets.Gate(db), stage: stage, points: map[objects.Hash]cleanPoint{},
		streams: map[objects.Hash]bool{}, names: map[string]string{},
		stale: map[objects.Hash]bool{}, files: map[objects.Hash]cleanFile{}, exact: map[objects.Hash]bool{},
		chains: map[objects.Hash]capture.FileChain{}}
	for _, s := range st.Sessions {
		for i := range s.Points {
			p := &s.Points[i]
			for _, f := range p.Files {
				l.exact[f.Hash] = true
			}
			l.chains[p.Stamp.Record] = capture.ChainOf(s, p)
		}
		if err := l.session(ctx, s); err != nil {
			return l.done, fmt.Errorf("clean session %s: %w", records.ShortID(s.ID), err)
		}
	}
	if err := l.longFiles(ctx); err != nil {
		return l.done, fmt.Errorf("clean overflow files: %w", err)
	}
	err = db.Refs.Rewrite(ctx, p, "remove secrets from the lane", func(old, tx *refs.Tx) error {
		if tips := old.Tips(); !slices.Equal(tips, st.Tips) {
			return refs.ErrConflict
		}
		tx.Trailer("Op", "clean")
		return l.rewrite(ctx, old, tx)
	})
	if err == nil {
		err = db.Refs.Sweep(ctx) // deletes the objects of the old lane
	}
	return l.done, err
}

// A laneCleaner rewrites a lane without secrets.
type laneCleaner struct {
	m       *state.DB
	p       refs.Project
	rules   redact.Rules
	stage   *refs.Stage
	points  map[objects.Hash]cleanPoint        // of changed streams, by the record of the snapshot
	streams map[objects.Hash]bool              // the changed streams
	stale   map[objects.Hash]bool              // the changed growth points, objects and records
	names   map[string]string                  // new names by old names
	files   map[objects.Hash]cleanFile         // changed objects, by their old names
	exact   map[objects.Hash]bool              // overflow files: their bytes are restored, so only secrets may change
	chains  map[objects.Hash]capture.FileChain // by the record of the snapshot
	done    Cleaned
}

// A cleanPoint is a rewritten growth point.
type cleanPoint struct {
	snap  records.Snapshot
	patch []byte // nil for none
}

// A cleanFile is a cleaned object.
type cleanFile struct {
	name objects.Hash
	size int64
	cuts []redact.Cut
}

// session rewrites the streams of a session that contain secrets.
func (l *laneCleaner) session(ctx context.Context, s *state.Session) error {
	byGeneration := map[int][]records.Point{}
	for _, p := range s.Points {
		if p.Stamp.Device == l.m.Refs.Device().ID {
			byGeneration[p.Generation] = append(byGeneration[p.Generation], p)
		}
	}
	for _, generation := range slices.Sorted(maps.Keys(byGeneration)) {
		points := byGeneration[generation]
		last := points[len(points)-1]
		var leaks []secrets.Leak
		err := originals.Stream(ctx, l.m, l.p, last.Original, func(r io.Reader) (err error) {
			leaks, err = secrets.LeaksIn(r, 0, l.rules, secrets.Leak{Kind: "session"})
			return err
		})
		if err != nil {
			return err
		}
		if len(leaks) == 0 {
			continue
		}
		l.streams[stream.Name(s.FileID(), generation)] = true
		l.done.Sessions++
		err = originals.Stream(ctx, l.m, l.p, last.Original, func(r io.Reader) error { return l.grow(ctx, r, points) })
		if err != nil {
			return err
		}
	}
	return nil
}

// oldPatches returns the patches of the points as they are; a point without one gets one that changes nothing.
func (l *laneCleaner) oldPatches(ctx context.Context, points []records.Point) ([]redact.Patch, error) {
	out := make([]redact.Patch, len(points))
	for i, p := range points {
		out[i] = redact.Patch{RawLen: p.Size, Raw: p.Original}
		if p.Withheld {
			var err error
			if out[i], err = l.patch(ctx, p.Stamp.Record); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// grow rewrites the growth points of a stream from its old content.
func (l *laneCleaner) grow(ctx context.Context, r io.Reader, points []records.Point) error {
	olds, err := l.oldPatches(ctx, points)
	if err != nil {
		return err
	}
	var numbers redact.Numbers
	for _, old := range olds {
		numbers.Learn(old.Cuts)
	}
	tail := stream.Tail{Hash: objects.NewHasher()}
	var carry transcript.Carry
	var prev redact.Patch
	var size int64 // of the old stream
	segments := 0
	for i, p := range points {
		sc := transcript.NewScanner(carry, func(b []byte) [32]byte { return objects.Sum(b) })
		c := &secrets.Cleaner{R: io.LimitReader(r, p.Size-size), Rules: l.rules, Numbers: numbers}
		before := tail.Length
		g, err := l.stage.Grow(ctx, stream.Name(p.Session, p.Generation), segments, &tail,
			io.TeeReader(c, sc))
		if err != nil {
			return err
		}
		sc.Withdraw(p.Rewound)
		sum := sc.Summary()
		numbers, carry, segments = c.Numbers, sum.Carry, g.Segments
		snap := p.Snapshot
		snap.Original, snap.Size, snap.Segments, snap.Scan, snap.Rules = g.Sum, g.Size, g.Segments, sum.Carry, l.rules.ID
		snap.Retype(sum.Prompts, sum.Waiting)
		cuts, err := redact.Compose(redact.Shift(slices.Clone(olds[i].Cuts), -size), c.Cuts)
		if err != nil {
			return err
		}
		patch := redact.Patch{Rules: l.rules.ID, After: g.Size, Clean: g.Sum, RawLen: olds[i].RawLen, Raw: olds[i].Raw,
			Tail: olds[i].Tail, Cuts: redact.Shift(cuts, before)}
		chained := prev.RawLen > 0
		if chained {
			patch.Before, patch.Prev = before, prev.Name()
		}
		out := cleanPoint{snap: snap}
		if out.snap.Withheld = chained || len(cuts) > 0 || len(patch.Tail) > 0; out.snap.Withheld {
			out.patch = patch.Encode()
		}
		if chained || len(cuts) > 0 {
			prev = patch
		}
		l.points[p.Stamp.Record] = out
		if g.Sum != p.Original {
			l.rename(p.Original, g.Sum)
		}
		size = p.Size
	}
	return nil
}

// rename records the new name of an object, growth point or record.
func (l *laneCleaner) rename(old, now objects.Hash) {
	l.names[old.String()] = now.String()
	l.stale[old] = true
}

func (l *laneCleaner) patch(ctx context.Context, id objects.Hash) (patch redact.Patch, err error) {
	err = l.m.Refs.View(ctx, l.p, func(tx *refs.Tx) error {
		b, err := tx.Patch(l.m.Refs.Device().ID, id)
		if err == nil {
			patch, err = redact.Decode(b)
		}
		return err
	})
	return patch, err
}

// rewrite writes the clean lane: the changed streams, objects and records, and everything else as it is.
func (l *laneCleaner) rewrite(ctx context.Context, old, tx *refs.Tx) error {
	if err := tx.Adopt(l.stage); err != nil {
		return err
	}
	if err := l.objects(ctx, old, tx); err != nil {
		return err
	}
	records, err := old.Records(ctx, nil)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Device != l.m.Refs.Device().ID {
			continue
		}
		if err := l.record(tx, r); err != nil {
			return fmt.Errorf("record %s: %w", r.ID.Short(), err)
		}
	}
	return tx.CopyFrom(old, func(dir string, name objects.Hash) bool {
		if dir == "streams" {
			return !l.streams[name]
		}
		return !l.stale[name]
	})
}

// longFiles rewrites the overflow files that are stored as streams and contain secrets.
func (l *laneCleaner) longFiles(ctx context.Context) error {
	var long []objects.Hash
	err := l.m.Refs.View(ctx, l.p, func(tx *refs.Tx) (err error) {
		long, err = tx.OwnLongObjects(maps.Keys(l.exact))
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range long {
		var leaks []secrets.Leak
		err := originals.Stream(ctx, l.m, l.p, h, func(r io.Reader) (err error) {
			leaks, err = secrets.LeaksIn(r, 0, l.rules, secrets.Leak{Kind: "object"})
			return err
		})
		if err != nil {
			return err
		}
		if len(leaks) == 0 {
			continue
		}
		err = originals.Stream(ctx, l.m, l.p, h, func(r io.Reader) error {
			c := secrets.NewFileCleaner(r, l.rules)
			g, err := l.stage.PutLong(ctx, c)
			if err == nil {
				l.files[h] = cleanFile{g.Sum, g.Size, c.Cuts}
				l.streams[stream.Whole(h)] = true
				l.rename(h, g.Sum)
				l.done.Objects++
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// objects rewrites the objects that contain secrets or names of changed objects, until none changes any more.
func (l *laneCleaner) objects(ctx context.Context, old, tx *refs.Tx) error {
	all, err := old.OwnObjects()
	if err != nil {
		return err
	}
	for changed := true; changed; {
		changed = false
		for _, h := range all {
			if l.stale[h] {
				continue
			}
			raw, err := readAll(ctx, old, h)
			if err != nil {
				return err
			}
			if !l.exact[h] {
				raw = []byte(objects.Rename(string(raw), l.names))
			}
			c := secrets.NewFileCleaner(bytes.NewReader(raw), l.rules)
			clean, err := io.ReadAll(c)
			if err != nil {
				return err
			}
			cuts := c.Cuts
			if objects.Sum(clean) == h {
				continue
			}
			now, err := tx.Put(ctx, bytes.NewReader(clean))
			if err != nil {
				return err
			}
			l.rename(h, now)
			l.files[h] = cleanFile{now, int64(len(clean)), cuts}
			l.done.Objects++
			changed = true
		}
	}
	return nil
}

func readAll(ctx context.Context, tx *refs.Tx, h objects.Hash) ([]byte, error) {
	rc, err := tx.Get(ctx, h)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}

// record adds a record and its patches to the clean lane if it changes.
func (l *laneCleaner) record(tx *refs.Tx, r refs.Record) error {
	body := r.Body
	point, regrown := l.points[r.ID]
	var snap records.Snapshot
	if r.Kind == records.KindSession {
		if err := json.Unmarshal(r.Body, &snap); err != nil {
			return err
		}
		if regrown {
			snap = point.snap
		}
		if snap.Files = slices.Clone(snap.Files); regrown || slices.ContainsFunc(snap.Files, func(f records.FileRef) bool {
			return l.stale[f.Hash]
		}) {
			for i := range snap.Files {
				if now, ok := l.files[snap.Files[i].Hash]; ok {
					snap.Files[i].Hash, snap.Files[i].Size = now.name, now.size
					snap.Files[i].Withheld = snap.Files[i].Withheld || len(now.cuts) > 0
				}
			}
			b, err := objects.EncodeJSON(snap)
			if err != nil {
				return err
			}
			body = b
		}
	}
	clean, _ := secrets.RedactOwn(l.rules, []byte(objects.Rename(string(body), l.names)))
	if string(clean) == string(r.Body) && !regrown {
		return nil
	}
	was := r.ID
	r.Body = clean
	now, err := tx.AddRewritten(r)
	if err != nil {
		return err
	}
	if now.ID != was {
		l.rename(was, now.ID)
		l.done.Records++
	}
	if r.Kind != records.KindSession {
		return nil
	}
	if err := json.Unmarshal(clean, &snap); err != nil {
		return err
	}
	var grown *cleanPoint
	if regrown {
		grown = &point
	}
	return l.patches(tx, was, now.ID, grown, snap)
}

// patches stores the patches of a snapshot under the new name of its record. Grown is the rewritten growth point, nil
// if it did not change.
func (l *laneCleaner) patches(tx *refs.Tx, was, now objects.Hash, grown *cleanPoint, clean records.Snapshot) error {
	var patch []byte
	if grown != nil {
		patch = grown.patch
	} else if clean.Withheld {
		b, err := tx.Patch(l.m.Refs.Device().ID, was)
		if err != nil {
			return err
		}
		patch = b
	}
	if patch != nil {
		if err := tx.PutPatch(now, patch); err != nil {
			return err
		}
	}
	return l.filePatches(tx, was, now, clean)
}

// filePatches stores the patches of the overflow files of a snapshot under the new names of the record and the files.
// A file that did not change keeps its patch; a changed file gets a patch for both changes.
func (l *laneCleaner) filePatches(tx *refs.Tx, was, now objects.Hash, clean records.Snapshot) error {
	chain := l.chains[was]
	for i, old := range chain.Files {
		ref := clean.Files[i]
		f, changed := l.files[old.Hash]
		if !ref.Withheld || was == now && ref.Name == old.Name && !changed {
			continue
		}
		b, own, err := chain.Patch(tx, l.m.Refs.Device().ID, old)
		switch {
		case err != nil:
			return err
		case changed:
			if b, err = l.recut(b, old, f); err != nil {
				return err
			}
		case !own && ref.Name == old.Name: // stored with an earlier snapshot
			continue
		}
		if err := tx.PutPatch(secrets.FilePatchID(now, ref.Name), b); err != nil {
			return err
		}
	}
	return nil
}

// recut returns the patch of an overflow file that was cleaned again; b is the old patch, nil if there was none.
func (l *laneCleaner) recut(b []byte, old records.FileRef, f cleanFile) (_ []byte, err error) {
	patch := redact.Patch{RawLen: f.size, Raw: old.Hash}
	if b != nil {
		if patch, err = redact.Decode(b); err != nil {
			return nil, err
		}
	} else {
		for _, c := range f.cuts {
			patch.RawLen += int64(len(c.Bytes) - c.Len)
		}
	}
	cuts, err := redact.Compose(patch.Cuts, f.cuts)
	if err != nil {
		return nil, err
	}
	patch.Rules, patch.After, patch.Clean, patch.Cuts = l.rules.ID, f.size, f.name, cuts
	return patch.Encode(), nil
}
