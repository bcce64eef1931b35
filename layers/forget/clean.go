package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	done, err := cleanLane(ctx, db, p)
	if err == nil {
		err = db.Refs.Sweep(ctx) // deletes the objects of the old lane
	}
	return done, err
}

// cleanLane rewrites the lane as a deletion that deletes nothing.
func cleanLane(ctx context.Context, db *state.DB, p refs.Project) (Cleaned, error) {
	f, err := NewDeletion(ctx, db, state.Project{ID: p}, ForgetOptions{}, nil)
	if err != nil {
		return Cleaned{}, err
	}
	defer f.Close()
	l := &laneCleaner{deletion: f, ctx: ctx, rules: secrets.Gate(db), changed: map[objects.Hash]cleanFile{}, exact: map[objects.Hash]bool{}}
	f.cleaner = l
	for _, s := range f.st.Sessions {
		for _, p := range s.Points {
			for _, file := range p.Files {
				l.exact[file.Hash] = true
			}
		}
		if err := capture.OwnStreams(ctx, db, p, s, l.stream); err != nil {
			return l.done, fmt.Errorf("clean session %s: %w", records.ShortID(s.ID), err)
		}
	}
	if err := l.longFiles(); err != nil {
		return l.done, fmt.Errorf("clean overflow files: %w", err)
	}
	err = f.writer.Rewrite(ctx, "remove secrets from the lane", func(old, tx *refs.Tx) error {
		tx.Trailer("Op", "clean")
		return f.rewrite(old, tx)
	})
	for _, r := range f.records {
		if f.own(r.Device) && f.names[r.ID.String()] != "" {
			l.done.Records++
		}
	}
	return l.done, err
}

// A laneCleaner makes what a [deletion] writes without secrets.
type laneCleaner struct {
	*deletion
	ctx     context.Context
	rules   redact.Rules
	changed map[objects.Hash]cleanFile // changed objects, by their old names
	exact   map[objects.Hash]bool      // overflow files: their bytes are restored, so only secrets may change
	done    Cleaned
}

// A cleanFile is a cleaned object.
type cleanFile struct {
	name objects.Hash
	size int64
	cuts []redact.Cut
}

// rename records the new name of an object or a growth point.
func (l *laneCleaner) rename(old, now objects.Hash) {
	l.names[old.String()] = now.String()
	l.markGone(old)
}

// leaks returns the secrets in a stored object.
func (l *laneCleaner) leaks(h objects.Hash, kind string) (out []secrets.Leak, err error) {
	err = originals.Stream(l.ctx, l.m, l.p.ID, h, func(r io.Reader) (err error) {
		out, err = secrets.LeaksIn(r, 0, l.rules, secrets.Leak{Kind: kind})
		return err
	})
	return out, err
}

// stream rewrites a stream that contains secrets.
func (l *laneCleaner) stream(o *capture.OwnStream) error {
	last := o.Points[len(o.Points)-1]
	leaks, err := l.leaks(last.Original, "session")
	if err != nil || len(leaks) == 0 {
		return err
	}
	l.streams[stream.Name(last.Session, last.Generation)] = true
	l.done.Sessions++
	made, err := o.Regrow(l.ctx, l.Stage, l.cleaned(o))
	for record, r := range made {
		l.regrown[record] = r
		if r.Now.Original != r.Was.Original {
			l.rename(r.Was.Original, r.Now.Original)
		}
	}
	return err
}

// cleaned rewrites a stream without the secrets that the rules find. It keeps what was cut before.
func (l *laneCleaner) cleaned(o *capture.OwnStream) capture.Rewrite {
	var numbers redact.Numbers
	numbers.Learn(o.Cuts())
	was, now := int64(0), int64(0) // sizes of the old and the new stream
	return func(i int, old io.Reader) (io.Reader, func(*records.Snapshot) (*redact.Patch, error)) {
		p := o.Points[i]
		c := &secrets.Cleaner{R: old, Rules: l.rules, Numbers: numbers}
		return c, func(snap *records.Snapshot) (*redact.Patch, error) {
			patch := redact.Patch{RawLen: p.Size, Raw: p.Original}
			if o.Patches[i] != nil {
				patch = *o.Patches[i]
			} else if p.Withheld {
				return nil, fmt.Errorf("patch of %s: %w", p.Original.Short(), objects.ErrNotFound)
			}
			cuts, err := redact.Compose(redact.Shift(slices.Clone(patch.Cuts), -was), c.Cuts)
			patch.Cuts = redact.Shift(cuts, now)
			numbers, snap.Rules, was, now = c.Numbers, l.rules.ID, p.Size, snap.Size
			return &patch, err
		}
	}
}

// longFiles rewrites the overflow files that are stored as streams and contain secrets.
func (l *laneCleaner) longFiles() error {
	var long []objects.Hash
	err := l.m.Refs.View(l.ctx, l.p.ID, func(tx *refs.Tx) (err error) {
		long, err = tx.OwnLongObjects(maps.Keys(l.exact))
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range long {
		leaks, err := l.leaks(h, "object")
		if err != nil {
			return err
		}
		if len(leaks) == 0 {
			continue
		}
		err = originals.Stream(l.ctx, l.m, l.p.ID, h, func(r io.Reader) error {
			c := secrets.NewFileCleaner(r, l.rules)
			g, err := l.Stage.PutLong(l.ctx, c)
			if err == nil {
				l.changed[h] = cleanFile{g.Sum, g.Size, c.Cuts}
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
func (l *laneCleaner) objects(old, tx *refs.Tx) error {
	all, err := old.OwnObjects()
	if err != nil {
		return err
	}
	for again := true; again; {
		again = false
		for _, h := range all {
			if l.gone[h.String()] {
				continue
			}
			rc, err := old.Get(l.ctx, h)
			if err != nil {
				return err
			}
			raw, err := io.ReadAll(rc)
			if err = errors.Join(err, rc.Close()); err != nil {
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
			if objects.Sum(clean) == h {
				continue
			}
			now, err := tx.Put(l.ctx, bytes.NewReader(clean))
			if err != nil {
				return err
			}
			l.rename(h, now)
			l.changed[h] = cleanFile{now, int64(len(clean)), c.Cuts}
			l.done.Objects++
			again = true
		}
	}
	return nil
}

// body returns the body of a record without secrets. A session gets the new names of its overflow files.
func (l *laneCleaner) body(kind string, body json.RawMessage) (json.RawMessage, error) {
	if kind == records.KindSession {
		var snap records.Snapshot
		if err := json.Unmarshal(body, &snap); err != nil {
			return nil, err
		}
		again := false
		for i, f := range snap.Files {
			if now, ok := l.changed[f.Hash]; ok {
				again = true
				snap.Files[i].Hash, snap.Files[i].Size, snap.Files[i].Withheld = now.name, now.size, f.Withheld || len(now.cuts) > 0
			}
		}
		if again {
			var err error
			if body, err = objects.EncodeJSON(snap); err != nil {
				return nil, err
			}
		}
	}
	clean, _ := secrets.RedactOwn(l.rules, body)
	return clean, nil
}

// filePatch returns the patch of an overflow file after it was cleaned, and reports whether that changed it. b is the old
// patch, nil if there was none.
func (l *laneCleaner) filePatch(b []byte, old records.FileRef) (_ []byte, changed bool, err error) {
	f, changed := l.changed[old.Hash]
	if !changed || b == nil && len(f.cuts) == 0 {
		return b, changed, nil
	}
	patch := redact.Patch{RawLen: f.size, Raw: old.Hash}
	if b != nil {
		if patch, err = redact.Decode(b); err != nil {
			return nil, true, err
		}
	} else {
		for _, c := range f.cuts {
			patch.RawLen += int64(len(c.Bytes) - c.Len)
		}
	}
	cuts, err := redact.Compose(patch.Cuts, f.cuts)
	if err != nil {
		return nil, true, err
	}
	patch.Rules, patch.After, patch.Clean, patch.Cuts = l.rules.ID, f.size, f.name, cuts
	return patch.Encode(), true, nil
}
