package refs

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// View runs fn on a snapshot of the project. It neither locks nor waits.
func (r *Repo) View(ctx context.Context, p Project, fn func(*Tx) error) error {
	tx, err := r.begin(ctx, p)
	if err != nil {
		return err
	}
	return fn(tx)
}

// ViewRetry is [Repo.View] for an fn that can be repeated: if a lane was rewritten and its old objects were swept while
// fn ran, fn runs again with the new lanes.
func (r *Repo) ViewRetry(ctx context.Context, p Project, fn func(*Tx) error) error {
	for try := 0; ; try++ {
		tx, err := r.begin(ctx, p)
		if err != nil {
			return err
		}
		if err = fn(tx); !errors.Is(err, pack.ErrNotFound) || try == 10 {
			return err
		}
		now, again := r.begin(ctx, p)
		if again != nil || slices.Equal(now.Tips(), tx.Tips()) {
			return err // the object is lost
		}
	}
}

// Update runs fn on a snapshot of the project and commits everything that fn staged to this device's lane, or nothing
// if there is an error. If fn staged nothing, there is no commit. When Update returns nil, the commit is durable.
// Updates of one lane wait for each other. The error wraps [ErrLocked] if that takes longer than the timeout, and
// [ErrConflict] if the lane has changed since fn's stage was built. The message becomes the commit's subject.
func (r *Repo) Update(ctx context.Context, p Project, message string, fn func(*Tx) error) error {
	w, err := r.Writer(ctx, p)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Update(ctx, message, fn)
}

// update is [Repo.Update] for a caller that has locked the lanes of the project.
func (r *Repo) update(ctx context.Context, p Project, message string, fn func(*Tx) error) error {
	for _, dir := range []string{MemoryDir, OriginalsDir} {
		if err := r.sweepStages(dir); err != nil {
			return disk.AsWriteError(err)
		}
	}
	tx, err := r.begin(ctx, p)
	if err != nil {
		return err
	}
	tx.write = true
	defer tx.discard()
	if err := tx.readLamport(); err != nil {
		return err
	}
	var kind string
	var body any
	own := tx.own()
	if own.Tip.IsZero() && r.firstRecord != nil {
		if kind, body, err = r.firstRecord(ctx, tx); err != nil {
			return err
		}
	}
	if err := fn(tx); err != nil {
		return err
	}
	if own.Root.Changed() && kind != "" {
		if _, err := tx.Add(kind, body); err != nil {
			return err
		}
	}
	if err := tx.commit(message); err != nil {
		return disk.AsWriteError(fmt.Errorf("commit: %w", err))
	}
	for _, p := range r.Parts() {
		if err := r.mergePacks(ctx, p); err != nil && !disk.IsFull(err) {
			return disk.AsWriteError(err) // on a full disk only the merge is skipped: the commit is done
		}
	}
	return nil
}

// LockLane locks the lanes of a project in both repositories for writing.
func (r *Repo) LockLane(ctx context.Context, p Project) (unlock func(), err error) {
	return disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", "lane-"+string(p)+".lock"), r.opts.LockTimeout)
}

// lockWrite locks this device's lanes of a project for writing and prevents sweeps until done is called.
func (r *Repo) lockWrite(ctx context.Context, p Project) (done func(), err error) {
	unlock, err := r.LockLane(ctx, p)
	if err != nil {
		return nil, disk.AsWriteError(fmt.Errorf("write lane: %w", err))
	}
	unshare, err := r.lockShared(ctx)
	if err != nil {
		unlock()
		return nil, disk.AsWriteError(fmt.Errorf("write lane: %w", err))
	}
	return func() { unshare(); unlock() }, nil
}

func (r *Repo) begin(ctx context.Context, p Project) (*Tx, error) {
	own := lane.New(r.memory, pack.ID{}, r.device.ID)
	tx := &Tx{r: r, project: p, ctx: ctx, lanes: []*lane.Snapshot{own}}
	all, err := r.memory.Refs(lane.Prefix + string(p) + "/")
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	for _, ref := range all {
		if ref.Name == lane.Ref(p, r.device.ID) {
			own.Tip = ref.ID
			continue
		}
		_, device, ok := lane.SplitRef(ref.Name)
		if !ok {
			return nil, fmt.Errorf("ref %s is not a lane", ref.Name)
		}
		tx.lanes = append(tx.lanes, lane.New(r.memory, ref.ID, device))
	}
	return tx, nil
}

// readLamport loads the lanes and sets the Lamport time of tx to the largest of theirs that is not too far ahead.
func (tx *Tx) readLamport() error {
	for _, l := range tx.lanes {
		if err := l.Load(); err != nil {
			return err
		}
		if l.Tip.IsZero() {
			continue
		}
		n, err := lane.LamportOf(l.Commit)
		if err != nil {
			return fmt.Errorf("commit %s: %w", l.Tip, err)
		}
		if l == tx.own() || tx.r.mayFollow(n) {
			tx.lamport = max(tx.lamport, n)
		}
	}
	return nil
}

// ensureStage creates the stage of memory.git if there is none.
func (tx *Tx) ensureStage() error {
	if !tx.write {
		return errors.New("write in a read-only transaction")
	}
	if tx.stage != nil {
		return nil
	}
	s, err := tx.r.Stage(tx.ctx)
	tx.stage = s
	return err
}

// Adopt makes the content of s part of the commit. Only one stage can be adopted, before anything else is put. The
// error wraps [ErrConflict] if a stream has grown since s was built.
func (tx *Tx) Adopt(s *Stage) error {
	if !tx.write || tx.stage != nil && tx.stage != s {
		return errors.New("adopt: another stage is in use")
	}
	tx.stage = s
	for _, g := range s.grown {
		if err := tx.grow(g); err != nil {
			return err
		}
	}
	return tx.setAll(s.puts)
}

// grow adds a growth to the lane. An existing growth point stays: it describes the same content, and files of a
// lane never change.
func (tx *Tx) grow(g Growth) error {
	n, err := tx.own().Segments(g.Stream)
	if err != nil {
		return err
	}
	if n != g.Base && !g.whole {
		return fmt.Errorf("stream %s has %d segments, not %d: %w", g.Stream.Short(), n, g.Base, ErrConflict)
	}
	_, blob, err := tx.own().Root.Find(tx.r.memory, lane.ObjectPath(g.Sum)...)
	if g.whole && (blob || n > 0) || err != nil {
		return err // the lane has it
	}
	for i, id := range g.blobs {
		if _, err := tx.own().Root.Set(tx.r.memory, id, lane.SegmentPath(g.Stream, g.Base+i)...); err != nil {
			return err
		}
	}
	if has, err := tx.own().Has(g.Sum); has || err != nil {
		return err
	}
	_, err = tx.own().Root.Set(tx.r.memory, g.point, lane.PointPath(g.Sum)...)
	return err
}

// AddPoint adds a growth point for the object h: the first n segments of a stream of this device's lane, or all
// segments if n is 0. It does nothing if the lane contains h already or if the stream is shorter.
func (tx *Tx) AddPoint(h, name objects.Hash, n int) error {
	has, err := tx.own().Has(h)
	if err != nil || has {
		return err
	}
	there, err := tx.own().Segments(name)
	if n == 0 {
		n = there
	}
	if err != nil || there < n || n < 1 {
		return err
	}
	b, err := tx.own().Blobs(name)(n - 1)
	if err != nil {
		return err
	}
	if head, _, err := stream.ParseHead(b); err != nil || head.Sum != h {
		return errors.Join(err, fmt.Errorf("stream %s: segment %d does not end in %s: %w", name.Short(), n-1, h.Short(),
			objects.ErrCorrupt))
	}
	return tx.putBlob(lane.PointBlob(name, n), lane.PointPath(h))
}

func (tx *Tx) setAll(puts []put) error {
	for _, p := range puts {
		if _, err := tx.own().Root.Set(tx.r.memory, p.id, p.path...); err != nil {
			return err
		}
	}
	return nil
}

// Put stores an object in this device's lane and returns its name. The object is kept in memory; see [Stage.PutLong].
// Storing an object twice is a no-op.
func (tx *Tx) Put(_ context.Context, r io.Reader) (objects.Hash, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return objects.Hash{}, err
	}
	h := objects.Sum(b)
	return h, tx.putBlob(b, lane.ObjectPath(h))
}

func (tx *Tx) putBlob(b []byte, path []string) error {
	if err := tx.ensureStage(); err != nil {
		return err
	}
	id, err := tx.stage.add(pack.Blob, b, deflate)
	if err != nil {
		return err
	}
	_, err = tx.own().Root.Set(tx.r.memory, id, path...)
	return err
}

// Add stores a record of the given kind; body is marshalled as its JSON body.
func (tx *Tx) Add(kind string, body any) (Record, error) {
	tx.lamport++
	rec, b, err := lane.NewRecord(kind, tx.r.device, tx.lamport, tx.r.opts.Now(), body)
	if err == nil {
		err = tx.r.opts.body(rec)
	}
	if err != nil {
		return rec, err
	}
	tx.added = append(tx.added, b)
	return rec, tx.putBlob(b, lane.RecordPath(rec.ID))
}

// Added returns the records that the transaction has added, as readers of the lane will see them.
func (tx *Tx) Added() ([]Record, error) {
	var out []Record
	for _, b := range tx.added {
		r, err := lane.DecodeRecord(b)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Subject replaces the message of [Repo.Update].
func (tx *Tx) Subject(message string) { tx.subject = message }

// Trailer adds the trailer "Mem-<key>: <value>" to the commit message. Control characters become spaces.
func (tx *Tx) Trailer(key, value string) {
	value = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, value)
	tx.trailers = append(tx.trailers, "Mem-"+key+": "+value)
}

// touchBoth makes the update commit to both repositories even if nothing is put.
func (tx *Tx) touchBoth() error {
	if err := tx.ensureOriginals(); err != nil {
		return err
	}
	tx.originals.Root.Touch()
	tx.own().Root.Touch()
	return tx.ensureStage()
}

// commit commits the patches, then everything else. The update of memory.git's ref is the commit point.
func (tx *Tx) commit(message string) error {
	if tx.subject != "" {
		message = tx.subject
	}
	if tx.originals != nil && tx.originals.Root.Changed() {
		if err := tx.commitLane(tx.patches, tx.originals, "patches of "+message); err != nil {
			return fmt.Errorf("originals: %w", err)
		}
	}
	if !tx.own().Root.Changed() {
		return nil
	}
	if err := tx.ensureStage(); err != nil {
		return err
	}
	if tx.own().Tip.IsZero() && tx.own().Replaces.IsZero() {
		d := tx.r.device
		if _, err := tx.Add("device", lane.DeviceBody{ID: d.ID, Name: d.Name, Key: d.PublicKey()}); err != nil {
			return err
		}
	}
	return tx.commitLane(tx.stage, tx.own(), message)
}

// commitLane writes the changed directories and a signed commit, and sets the lane's ref to it.
func (tx *Tx) commitLane(s *Stage, l *lane.Snapshot, message string) error {
	if err := tx.checkNew(l); err != nil {
		return err
	}
	if l.Tip.IsZero() {
		id, err := s.add(pack.Blob, []byte(lane.Format), deflate)
		if err != nil {
			return err
		}
		if _, err := l.Root.Set(l.Git, id, "format"); err != nil {
			return err
		}
	}
	tree, err := l.Root.Encode(func(k pack.Kind, b []byte) (pack.ID, error) { return s.add(k, b, deflate) })
	if err != nil {
		return err
	}
	d := tx.r.device
	c := gitstore.Commit{Tree: tree, Parent: l.Tip, Name: d.Name, Email: d.Email(), Time: tx.r.opts.Now(),
		Message: tx.message(message)}
	c.Signature = d.Sign(c.Payload())
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		return err
	}
	id, err := s.add(pack.Commit, b, deflate)
	if err != nil {
		return err
	}
	if err := s.publish(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tx.ctx, tx.r.opts.LockTimeout)
	defer cancel()
	was := l.Tip
	if !l.Replaces.IsZero() {
		was = l.Replaces
	}
	if err := l.Git.Update(ctx, lane.Ref(tx.project, d.ID), was, id); err != nil {
		return err
	}
	l.Tip = id
	return nil
}

// checkNew returns an error if the lane existed before: a repair could not restore it once a new lane has its name.
func (tx *Tx) checkNew(l *lane.Snapshot) error {
	if tx.restart || !l.Tip.IsZero() || !l.Replaces.IsZero() {
		return nil
	}
	ref := lane.Ref(tx.project, l.Device)
	was, err := l.Git.IsRegistered(ref)
	if was {
		return missingBranchError(l.Git, ref)
	}
	return err
}

func (tx *Tx) message(subject string) string {
	lines := append(slices.Clone(tx.trailers), "Mem-Project: "+string(tx.project), fmt.Sprintf("Mem-Lamport: %d", tx.lamport))
	subject, body, _ := strings.Cut(strings.TrimSpace(subject), "\n")
	if body = strings.TrimSpace(body); body != "" {
		subject += "\n\n" + body
	}
	return subject + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// discard closes the stages that were not committed.
func (tx *Tx) discard() {
	for _, s := range []*Stage{tx.stage, tx.patches} {
		if s != nil {
			s.Close() // on failure the next writer removes the temporary files
		}
	}
}
