package incoming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// A Quarantine is a repository for fetched data next to the store. The data is invisible until [Quarantine.Adopt]. Only
// one exists at a time.
type Quarantine struct {
	r      *refs.Repo
	store  *gitstore.Repo // the repository that adopts the data
	temp   *refs.Scratch
	git    *gitstore.Repo // of temp
	unlock func()
	seen   map[refs.Lane]map[pack.ID]struct{} // verified objects of the checked lanes

	// unpack is the number of bytes that may still be unpacked, for all lanes together. It protects against decompression
	// bombs: a signature proves authorship, not size.
	unpack atomic.Int64
}

const (
	// minUnpacked is the number of bytes that may always be unpacked, whatever the size of the packs, because repetitive
	// text compresses to almost nothing. A processor verifies as many in a few seconds.
	minUnpacked = 8 << 30
	// unpackRatio is the number of bytes that may be unpacked in addition for each byte of the packs. Transcripts compress
	// to a tenth.
	unpackRatio = 100
)

// spend reduces the bytes that may still be unpacked by n, before they are unpacked.
func (q *Quarantine) spend(n int64) error {
	if q.unpack.Add(-n) < 0 {
		return fmt.Errorf("the received data unpacks to too many bytes: %w", pack.ErrTooLarge)
	}
	return nil
}

// Begin creates the quarantine for memory.git. The error wraps [refs.ErrLocked] if another process uses it for longer
// than the timeout. The caller must close it.
func Begin(ctx context.Context, r *refs.Repo) (*Quarantine, error) {
	return begin(ctx, r, r.Git())
}

// BeginOriginals is [Begin] for originals.git. The remote must be one to which the user pushes originals.
func BeginOriginals(ctx context.Context, r *refs.Repo, from refs.Remote) (*Quarantine, error) {
	store, err := r.Originals(from)
	if err != nil {
		return nil, err
	}
	return begin(ctx, r, store)
}

func begin(ctx context.Context, r *refs.Repo, store *gitstore.Repo) (*Quarantine, error) {
	unlock, err := r.LockFetch(ctx)
	if err != nil {
		return nil, err
	}
	q := &Quarantine{r: r, unlock: unlock, store: store, seen: map[refs.Lane]map[pack.ID]struct{}{}}
	q.unpack.Store(minUnpacked)
	if err = pack.Sweep(store.PackDir(), refs.FetchMark); err == nil {
		q.temp, err = r.Scratch(ctx, "fetch")
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("create quarantine: %w", err)
	}
	q.git = q.temp.Repo
	q.git.Alternate(store)
	return q, nil
}

// Close deletes the quarantine.
func (q *Quarantine) Close() error {
	defer q.unlock()
	return q.temp.Close()
}

// Git returns the quarantine's repository. It also reads the objects of the store.
func (q *Quarantine) Git() *gitstore.Repo { return q.git }

// Writer starts a pack for received objects.
func (q *Quarantine) Writer() (*pack.Writer, error) {
	return pack.Create(q.git.PackDir(), refs.FetchMark)
}

// Finish ends a pack.
func (q *Quarantine) Finish(w *pack.Writer) error {
	q.unpack.Add(unpackRatio * w.Size())
	_, err := w.Close()
	return err
}

// Check verifies all new objects of a fetched lane: every signature, every record, every byte. The error wraps
// [ErrRewritten] if the lane does not continue the commits in the store, and [ErrRefused] if it violates the format.
// key is the known key of a device that has no lane in the store, or "".
func (q *Quarantine) Check(ctx context.Context, l refs.Lane, key string) (FetchedLane, error) {
	a := FetchedLane{Lane: l, Kinds: map[string]int{}}
	var err error
	if a.Old, err = q.store.Ref(l.LocalRef()); err != nil {
		return a, err
	}
	if a.Key, err = q.r.KeyOf(l.Device); err != nil {
		return a, err
	}
	a.Key = cmp.Or(a.Key, key)
	err = q.check(ctx, &a)
	return a, err
}

func (q *Quarantine) check(ctx context.Context, a *FetchedLane) error {
	v := q.verifier(ctx, a)
	if err := v.check(); err != nil {
		return err
	}
	q.seen[a.Lane] = v.seen
	return nil
}

// Adopt adds verified lanes to the store: first their objects, then their refs. Received objects that belong to none of
// them are not adopted. If there is an error, some refs may have been updated.
func (q *Quarantine) Adopt(ctx context.Context, arrivals []FetchedLane) error {
	if len(arrivals) == 0 {
		return nil
	}
	verified := map[pack.ID]struct{}{}
	for _, a := range arrivals {
		maps.Copy(verified, q.seen[a.Lane])
	}
	if err := q.adoptPacks(verified); err != nil {
		return fmt.Errorf("adopt fetched data: %w", err)
	}
	var errs []error
	for _, a := range arrivals { // one that has moved meanwhile does not stop the others
		errs = append(errs, moveLane(ctx, q.r, a))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("adopt fetched data: %w", err)
	}
	return q.r.MergePacks(ctx, arrivals[0].Lane)
}

// moveLane updates the ref of a lane that this device does not write, or no longer writes.
func moveLane(ctx context.Context, r *refs.Repo, a FetchedLane) error {
	unlock, err := r.LockLane(ctx, a.Project)
	if err != nil {
		return err
	}
	defer unlock()
	return r.GitOf(a.Lane).Update(ctx, a.LocalRef(), a.Old, a.Tip)
}

// adoptPacks moves the packs to the store or, if they contain other objects than the verified ones, copies those.
func (q *Quarantine) adoptPacks(verified map[pack.ID]struct{}) error {
	var all []pack.ID
	for id, err := range q.git.Packs().All() {
		if err != nil {
			return err
		}
		all = append(all, id)
	}
	wanted := slices.DeleteFunc(slices.Clone(all), func(id pack.ID) bool { _, ok := verified[id]; return !ok })
	if len(wanted) < len(all) {
		return q.copy(wanted)
	}
	if err := q.git.Packs().Close(); err != nil {
		return err
	}
	files, err := os.ReadDir(q.git.PackDir())
	if err != nil {
		return err
	}
	for _, ext := range []string{".idx", ".pack"} {
		for _, f := range files {
			base, ok := strings.CutSuffix(f.Name(), ext)
			if !ok || !strings.HasPrefix(base, "pack-") {
				continue
			}
			to := filepath.Join(q.store.PackDir(), base)
			if err := os.Rename(filepath.Join(q.git.PackDir(), f.Name()), to+ext); err != nil {
				return err
			}
			if err := pack.Reinstate(to); err != nil {
				return err
			}
		}
	}
	return pack.SyncDir(q.store.PackDir())
}

func (q *Quarantine) copy(ids []pack.ID) error {
	_, err := pack.Write(q.store.PackDir(), refs.FetchMark, func(w *pack.Writer) error {
		for _, id := range ids {
			e, err := q.git.Packs().Entry(id)
			if err == nil {
				err = w.Add(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
