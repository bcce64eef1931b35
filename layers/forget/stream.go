package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// stream rewrites a stream of this device if something in it is selected. names collects the overflow files that
// deleted messages name.
func (f *deletion) stream(ctx context.Context, s *state.Session, o *capture.OwnStream, names map[string]bool) error {
	selects, err := f.selector(s, &o.Points[len(o.Points)-1], o.Values)
	if err != nil {
		return err
	}
	var masks originals.Masks
	redacted := o.Redacted()
	err = o.Values(func(v transcript.Value) {
		whole, spots := selects(v)
		masks.Add(v, whole, spots)
		if whole || len(spots) > 0 {
			f.markDeleted(s, o.Generation, v, spots, !whole && redacted(v, spots))
		}
		if whole {
			if originals.KeyOf(v) == "" {
				f.Seals.Records = append(f.Seals.Records, originals.SealRecord(f.m, v.Raw))
			}
			f.noteFiles(s, v.Raw, names)
		}
	})
	if err != nil {
		return err
	}
	f.o.searched(o.Points[len(o.Points)-1].Size)
	bad, err := f.deletedFiles(ctx, s, o, names)
	if err != nil {
		return err
	}
	if len(masks) == 0 && len(bad) == 0 && !f.tornMatch(o) {
		return nil
	}
	f.noteSources(s)
	made, err := o.Regrow(ctx, f.Stage, o.Masked(masks, func(r records.FileRef) bool { return !bad[r.Hash] }))
	if err != nil {
		return err
	}
	if onlyPatches(o, made) {
		for id, r := range made {
			if r.Patch != nil {
				f.patches[id] = r.Patch
			}
		}
		if len(masks) == 0 {
			f.items = append(f.items, DeletedItem{Project: f.p.Name, Kind: "part of an exact copy", Name: records.ShortID(s.ID), Count: 1})
		}
		return nil
	}
	f.streams[stream.Name(s.FileID(), o.Generation)] = true
	now := map[objects.Hash]bool{}
	for _, r := range made {
		now[r.Now.Original] = true
	}
	for id, r := range made {
		f.regrown[id] = r
		f.points[r.Was.Original] = true
		if !now[r.Was.Original] {
			f.markGone(r.Was.Original)
		}
	}
	for h := range bad {
		f.markGone(h)
	}
	return nil
}

// onlyPatches reports whether the growth points of a stream stayed the same when they were made again.
func onlyPatches(o *capture.OwnStream, made map[objects.Hash]capture.Regrown) bool {
	return !slices.ContainsFunc(o.Points, func(p records.Point) bool {
		was, err := objects.EncodeJSON(p.Snapshot)
		return err != nil || !bytes.Equal(was, made[p.Stamp.Record].Body)
	})
}

// tornMatch reports whether the incomplete end of a file, which is in a patch, contains selected text.
func (f *deletion) tornMatch(o *capture.OwnStream) bool {
	for _, p := range o.Patches {
		if p != nil && len(p.Tail) > 0 && (originals.Holds(p.Tail, f.needles) || f.o.matcher().record(p.Tail)) {
			return true
		}
	}
	return false
}

// noteFiles adds the overflow files of a session that a deleted message names to names.
func (f *deletion) noteFiles(s *state.Session, raw []byte, names map[string]bool) {
	for _, p := range s.Points {
		for _, file := range p.Files {
			if bytes.Contains(raw, []byte(file.Name)) {
				names[file.Name] = true
			}
		}
	}
}

// deletedFiles returns the overflow files of a stream to delete. They are deleted as a whole.
func (f *deletion) deletedFiles(ctx context.Context, s *state.Session, o *capture.OwnStream,
	names map[string]bool) (map[objects.Hash]bool, error) {
	bad := map[objects.Hash]bool{}
	seen := map[objects.Hash]bool{}
	for i := range o.Points {
		p := &o.Points[i]
		for _, file := range p.Files {
			if seen[file.Hash] {
				continue
			}
			seen[file.Hash] = true
			sum, found, err := f.searchFile(ctx, s, p, file)
			if err != nil {
				return nil, err
			}
			if names[file.Name] || found {
				bad[file.Hash] = true
				f.Seals.Files = append(f.Seals.Files, originals.SealFile(f.m, sum))
			}
		}
	}
	return bad, nil
}

// searchFile returns the hash of the exact bytes of an overflow file, and reports whether they contain selected text.
func (f *deletion) searchFile(ctx context.Context, s *state.Session, p *records.Point,
	file records.FileRef) (sum objects.Hash, found bool, err error) {
	h, needles := objects.NewHasher(), originals.NeedleWindows(f.needles)
	lines := originals.Lines(func(line []byte) bool { return f.o.Match != nil && f.o.Match.Match(line) })
	w := io.MultiWriter(h, needles, lines)
	err = capture.WriteFile(ctx, f.m, capture.SessionPoint{Project: f.p.ID, Session: s, Point: p}, file, w)
	if errors.Is(err, originals.ErrWithheld) { // the patch was lost, and nothing was written
		err = originals.WriteObject(ctx, f.m, f.p.ID, file.Hash, w)
	}
	return h.Sum(), needles.Done() || lines.Done(), err
}

// otherStreams selects messages in the streams of other devices, which delete them themselves. This device deletes what
// it derived from those streams.
func (f *deletion) otherStreams(ctx context.Context, s *state.Session) error {
	for _, last := range lastPoints(s) {
		if f.own(last.Stamp.Device) {
			continue
		}
		for n := range f.redacted[s.ID][last.Generation] {
			if last.Withheld && n <= last.Scan.Values {
				f.exact = append(f.exact, last.Stamp.Device)
			}
		}
		values := func(yield func(transcript.Value)) error { return eachMessage(ctx, f.m, f.p.ID, last, yield) }
		selects, err := f.selector(s, last, values)
		if err != nil {
			return err
		}
		first := 0 // the first deleted message
		err = values(func(v transcript.Value) {
			if whole, spots := selects(v); whole || len(spots) > 0 {
				f.markDeleted(s, last.Generation, v, spots, false)
				if first == 0 {
					first = v.N
				}
			}
		})
		if err != nil {
			return err
		}
		f.o.searched(last.Size)
		for _, p := range s.Points {
			if first > 0 && p.Stamp.Device == last.Stamp.Device && p.Generation == last.Generation && p.Scan.Values >= first {
				f.markGone(p.Original)
			}
		}
	}
	return nil
}

// rewrite writes the new lane.
func (f *deletion) rewrite(old, tx *refs.Tx) error {
	if err := tx.Adopt(f.Stage); err != nil {
		return err
	}
	if f.cleaner != nil {
		if err := f.cleaner.objects(old, tx); err != nil {
			return err
		}
	}
	var snapshots []records.Snapshot // of the new lane
	for _, r := range f.records {
		if !f.own(r.Device) || f.drop[r.ID] {
			continue
		}
		was, body := r.ID, r.Body
		point, anew := f.regrown[was]
		if anew {
			body = point.Body
		}
		if b, ok := f.bodies[was]; ok {
			body = b
		}
		if f.cleaner != nil {
			clean, err := f.cleaner.body(r.Kind, body)
			if err != nil {
				return fmt.Errorf("record %s: %w", was.Short(), err)
			}
			if !bytes.Equal(clean, body) {
				body, f.bodies[was] = clean, clean
			}
		}
		if r.Body = body; r.Kind != records.KindSession { // a session names only its own content
			r.Body = json.RawMessage(objects.Rename(string(body), f.names))
		}
		if r.Kind == records.KindSession {
			if err := state.ApplyTo(r, func(s records.Snapshot) { snapshots = append(snapshots, s) }); err != nil {
				return err
			}
		}
		patch := f.patches[was]
		if !bytes.Equal(r.Body, body) || anew || f.bodies[was] != nil {
			var err error
			if r, patch, err = f.addChanged(tx, r, was, patch); err != nil {
				return err
			}
		}
		if patch != nil {
			if err := tx.PutPatch(r.ID, patch); err != nil {
				return err
			}
		}
	}
	if err := tx.CopyFrom(old, f.keeps()); err != nil {
		return err
	}
	return f.relink(tx, snapshots)
}

// addChanged adds the changed record r, whose old name is was. It returns the record with its new name, and its patch.
func (f *deletion) addChanged(tx *refs.Tx, r refs.Record, was objects.Hash, patch []byte) (refs.Record, []byte, error) {
	r, err := tx.AddRewritten(r)
	if err != nil {
		return r, nil, err
	}
	f.names[was.String()] = r.ID.String()
	if r.ID == was {
		delete(f.names, was.String())
	}
	if patch == nil {
		patch = f.regrown[was].Patch
	}
	if r.Kind == records.KindSession && was != r.ID {
		patch, err = f.copyPatches(tx, was, r, patch)
	}
	return r, patch, err
}

// keeps returns a function that reports which entries of the old lane are kept as they are.
func (f *deletion) keeps() func(dir string, name objects.Hash) bool {
	kept, files := f.named(), f.longFiles()
	return func(dir string, name objects.Hash) bool {
		switch dir {
		case "streams":
			if h, ok := files[name]; ok {
				return !f.gone[h.String()] || kept[h.String()]
			}
			return !f.streams[name]
		case "points":
			return !f.points[name] && (!f.gone[name.String()] || kept[name.String()])
		case "records":
			_, anew := f.regrown[name]
			return !f.drop[name] && !anew && f.names[name.String()] == "" && f.bodies[name] == nil
		}
		return !f.gone[name.String()] || kept[name.String()]
	}
}

// longFiles returns the overflow files that are stored as streams, by the name of the stream.
func (f *deletion) longFiles() map[objects.Hash]objects.Hash {
	out := map[objects.Hash]objects.Hash{}
	for _, s := range f.st.Sessions {
		for _, p := range s.Points {
			for _, file := range p.Files {
				out[stream.Whole(file.Hash)] = file.Hash
			}
		}
	}
	return out
}

// relink links the content of the remaining snapshots again: the link may have been that of a deleted thing with
// the same content, for example a copy of the session.
func (f *deletion) relink(tx *refs.Tx, snapshots []records.Snapshot) error {
	for _, s := range snapshots {
		if err := tx.AddPoint(s.Original, stream.Name(s.Session, s.Generation), s.Segments); err != nil {
			return err
		}
		for _, file := range s.Files {
			if err := tx.AddPoint(file.Hash, stream.Whole(file.Hash), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyPatches stores the patches of the remaining overflow files under the new names of the record and the files. It
// returns the patch of the session: given, or the old one if its stream has not changed.
func (f *deletion) copyPatches(tx *refs.Tx, was objects.Hash, now refs.Record, given []byte) ([]byte, error) {
	chain := f.chain(was)
	point, anew := f.regrown[was]
	files := point.Now.Files
	if !anew && len(chain) > 0 {
		files = chain[len(chain)-1].Files
	}
	if !anew && given == nil {
		b, err := tx.Patch(now.Device, was)
		if given = bytes.Clone(b); err != nil && !errors.Is(err, objects.ErrNotFound) {
			return nil, err
		}
	}
	var snap records.Snapshot
	if err := json.Unmarshal(now.Body, &snap); err != nil {
		return given, err
	}
	for i, old := range files {
		var b []byte
		var record objects.Hash
		var err error
		if old.Withheld {
			b, record, err = secrets.FindFilePatch(tx, chain, old.Name)
		}
		if errors.Is(err, originals.ErrWithheld) { // the patch was lost before
			continue
		}
		changed := false
		if err == nil && f.cleaner != nil {
			b, changed, err = f.cleaner.filePatch(b, old)
		}
		if err == nil && b != nil && (record == was || changed || snap.Files[i].Name != old.Name) {
			err = tx.PutPatch(secrets.FilePatchID(now.ID, snap.Files[i].Name), b)
		}
		if err != nil {
			return given, err
		}
	}
	return given, nil
}

// chain returns an old growth point of this device after those before it in its stream.
func (f *deletion) chain(record objects.Hash) []records.Point {
	for _, s := range f.st.Sessions {
		for i := range s.Points {
			if s.Points[i].Stamp.Record == record {
				return s.Chain(&s.Points[i])
			}
		}
	}
	return nil
}
