package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// NewDeviceID gives this store a new device id and key, and a number after the device's name. A copied store needs them
// when it meets its source. The existing lanes stay, as those of a former id. If another process has done so meanwhile,
// its id is used.
func (r *Repo) NewDeviceID(ctx context.Context) error {
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, "init.lock"), r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("become a new device: %w", err)
	}
	defer unlock()
	now, err := lane.ReadDevice(r.dir)
	if err != nil {
		return err
	}
	if now.ID == r.device.ID {
		if now, err = lane.NewDevice(incrementName(now.Name), r.opts.Rand); err != nil {
			return fmt.Errorf("become a new device: %w", err)
		}
		if err := now.Write(r.dir); err != nil {
			return fmt.Errorf("become a new device: %w", err)
		}
	}
	r.device = now
	return r.initHome(ctx)
}

// incrementName increments the number after a name: laptop, laptop-2, laptop-3.
func incrementName(name string) string {
	if i := strings.LastIndex(name, "-"); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 1 && strconv.Itoa(n) == name[i+1:] {
			return fmt.Sprintf("%s-%d", name[:i], n+1)
		}
	}
	return name + "-2"
}

// TakeOver copies the part of a former id's lane that is newer than base to this device's lane: its records, as this
// device's own, and their content. It can be repeated.
func (r *Repo) TakeOver(ctx context.Context, l Lane, base pack.ID) error {
	tip, err := r.memory.Ref(l.Ref())
	if err != nil {
		return err
	}
	from, err := lane.At(r.memory, tip, l.Device)
	if err != nil {
		return err
	}
	was, err := lane.At(r.memory, base, l.Device)
	if err != nil {
		return err
	}
	return r.Update(ctx, l.Project, "take over from the device "+l.Device[:8], func(tx *Tx) error {
		tx.Trailer("Op", "split")
		t := &takeover{tx: tx, from: from, names: map[string]string{}}
		return t.run(was.Root)
	})
}

// A takeover copies the content of one lane to another.
type takeover struct {
	tx      *Tx
	from    *lane.Snapshot
	names   map[string]string // new names of records, by their old ones
	records []Record
	points  [][]string
	paths   []put
	streams map[objects.Hash]bool
}

func (t *takeover) run(old *lane.Dir) error {
	t.streams = map[objects.Hash]bool{}
	if err := t.from.Root.WalkNew(t.from.Git, old, nil, t.collect); err != nil {
		return err
	}
	if err := t.tx.setAll(t.paths); err != nil {
		return err
	}
	if len(t.paths)+len(t.records)+len(t.points) > 0 {
		if err := t.tx.ensureStage(); err != nil {
			return err
		}
	}
	if err := t.copyStreams(); err != nil {
		return err
	}
	slices.SortFunc(t.records, Record.Compare)
	for _, rec := range t.records {
		if err := t.record(rec); err != nil {
			return err
		}
	}
	return nil
}

// collect adds one file of the other lane to the list of its kind.
func (t *takeover) collect(path []string, id pack.ID) error {
	if path[0] == "format" {
		return nil
	}
	h, err := lane.PathHash(path)
	if err != nil {
		return err
	}
	switch path[0] {
	case "objects":
		t.paths = append(t.paths, put{slices.Clone(path), id})
	case "points":
		t.points = append(t.points, slices.Clone(path))
	case "streams":
		t.streams[h] = true
	case "records":
		b, err := t.from.Git.Get(id, pack.Blob)
		if err != nil {
			return err
		}
		rec, err := lane.CheckRecord(b, h)
		if err == nil && rec.Kind != "device" {
			t.records = append(t.records, rec)
		}
		return err
	}
	return nil
}

// copyStreams copies the streams that grew in the other lane, with all their growth points. A stream that this lane
// has already stays unchanged; then the content of the other's growth points is stored as whole objects.
func (t *takeover) copyStreams() error {
	var copied []objects.Hash
	for h := range t.streams {
		n, err := t.tx.own().Segments(h)
		if err != nil {
			return err
		}
		if n == 0 {
			copied = append(copied, h)
		}
	}
	slices.SortFunc(copied, objects.Hash.Compare)
	for _, h := range copied {
		e, _, err := t.from.Root.Find(t.from.Git, lane.StreamPath(h)...)
		if err != nil {
			return err
		}
		err = e.Dir.Walk(t.from.Git, lane.StreamPath(h), func(path []string, id pack.ID) error {
			_, err := t.tx.own().Root.Set(t.from.Git, id, slices.Clone(path)...)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, path := range t.points {
		if err := t.point(path, copied); err != nil {
			return err
		}
	}
	return nil
}

func (t *takeover) point(path []string, copied []objects.Hash) error {
	h, err := lane.PathHash(path)
	if err != nil {
		return err
	}
	if has, err := t.tx.own().Has(h); has || err != nil {
		return err
	}
	p, err := t.from.Point(h)
	if err != nil {
		return err
	}
	if slices.Contains(copied, p.Stream) {
		e, _, err := t.from.Root.Find(t.from.Git, path...)
		if err != nil {
			return err
		}
		_, err = t.tx.own().Root.Set(t.from.Git, e.ID, path...)
		return err
	}
	rc, err := t.from.Open(h)
	if err != nil {
		return err
	}
	defer rc.Close()
	if err := t.tx.ensureStage(); err != nil {
		return err
	}
	g, err := t.tx.stage.PutLong(t.tx.ctx, rc)
	if err != nil {
		return err
	}
	return t.tx.grow(g)
}

// record stores a record as this device's own. Old names of records in its body are replaced by the new ones.
func (t *takeover) record(rec Record) error {
	old := rec.ID
	now := Record{Kind: rec.Kind, Device: t.tx.r.device.ID, Lamport: rec.Lamport, Time: rec.Time,
		Body: json.RawMessage(objects.Rename(string(rec.Body), t.names))}
	b, err := now.Encode()
	if err != nil {
		return err
	}
	t.names[old.String()] = now.ID.String()
	if err := t.tx.putBlob(b, lane.RecordPath(now.ID)); err != nil {
		return err
	}
	return t.tx.copyPatches(t.from.Device, old, now)
}

// copyPatches stores the patches that a device has for the record old, its own and those of its overflow files, as
// patches of now, the same record under another name.
func (tx *Tx) copyPatches(device string, old objects.Hash, now Record) error {
	patches := map[objects.Hash]objects.Hash{old: now.ID}
	var files struct{ Files []struct{ Name string } }
	if now.Kind == "session" && json.Unmarshal(now.Body, &files) == nil {
		for _, f := range files.Files {
			patches[lane.FilePatch(old, f.Name)] = lane.FilePatch(now.ID, f.Name)
		}
	}
	for from, to := range patches {
		b, err := tx.Patch(device, from)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err == nil {
			err = tx.PutPatch(to, slices.Clone(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
