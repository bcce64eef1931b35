package incoming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// A Quarantine is a repository beside the store for what comes from elsewhere. Nothing of it can be seen before
// [Quarantine.Adopt]. There is one at a time.
type Quarantine struct {
	r      *refs.Repo
	store  *gitstore.Repo // what it is beside
	dir    string
	git    *gitstore.Repo
	unlock func()
	seen   map[pack.ID]struct{}

	durable []func() error // wait until what came in is on the disk
	ahead   *ahead
	unpack  allowance // of all lanes that are checked
}

// Begin begins to take in what comes from elsewhere. The error wraps [refs.ErrLocked] if another process does so for
// too long.
func Begin(ctx context.Context, r *refs.Repo) (*Quarantine, error) {
	return begin(ctx, r, r.Git())
}

// BeginOriginals is [Begin] for lanes of originals.git, from a remote where the user lets them travel.
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
	q := &Quarantine{r: r, unlock: unlock, store: store, dir: filepath.Join(r.Dir(), refs.QuarantineDir),
		seen: map[pack.ID]struct{}{}, ahead: newAhead(runtime.GOMAXPROCS(0))}
	q.unpack.n.Store(unpackSlack)
	err = errors.Join(os.RemoveAll(q.dir), pack.Sweep(store.PackDir(), refs.FetchMark))
	if err == nil {
		err = gitstore.InitScratch(q.dir)
	}
	if err == nil {
		q.git, err = gitstore.OpenOver(q.dir, store)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a quarantine: %w", err), q.Close())
	}
	return q, nil
}

// Close throws away what was not adopted.
func (q *Quarantine) Close() error {
	var errs []error
	q.ahead.wait()
	if q.git != nil {
		errs = append(errs, q.git.Close())
	}
	errs = append(errs, os.RemoveAll(q.dir))
	q.unlock()
	return errors.Join(errs...)
}

// Git returns the repository of what came in, over what is here.
func (q *Quarantine) Git() *gitstore.Repo { return q.git }

// Writer starts a pack of what comes in.
func (q *Quarantine) Writer() (*pack.Writer, error) {
	return pack.Create(q.git.PackDir(), refs.FetchMark)
}

// Came takes a blob that came in, for [pack.Limits.Blob]: what can be checked of a stream is, while the rest of
// the pack still comes.
func (q *Quarantine) Came(id pack.ID, content []byte) []byte { return q.ahead.take(id, content) }

// Finish ends a pack. It can be checked while the disk still takes it in; [Quarantine.Adopt] waits for that.
func (q *Quarantine) Finish(w *pack.Writer) error {
	size := w.Size()
	_, durable, err := w.CloseEarly()
	q.ahead.wait()
	q.unpack.came(size)
	if err == nil {
		q.durable = append(q.durable, durable)
	}
	return err
}

// Check looks at a lane that came in: every object of it that is new, every signature, every record, every
// byte. The error wraps [ErrRewritten] if the lane does not go on from where it is here, and [ErrRefused] if it
// breaks a rule. The key is what the device is known by, if no lane of it is here; "" if it is not known.
func (q *Quarantine) Check(ctx context.Context, l refs.Lane, key string) (Arrival, error) {
	a := Arrival{Lane: l, Kinds: map[string]int{}}
	var err error
	if a.Old, err = q.store.Ref(l.Local()); err != nil {
		return a, err
	}
	if a.Key, err = q.r.KeyOf(l.Device); err != nil {
		return a, err
	}
	a.Key = cmp.Or(a.Key, key)
	err = q.check(ctx, &a)
	return a, err
}

func (q *Quarantine) check(ctx context.Context, a *Arrival) error {
	v := &arriver{ctx: ctx, git: q.git, a: a, seen: map[pack.ID]struct{}{}, grown: map[objects.Hash][]int{},
		sums: map[objects.Hash][]objects.Hash{}, points: map[objects.Hash]pack.ID{}, ahead: q.ahead, unpack: &q.unpack,
		body: q.r.CheckBody, takes: q.r.AcceptsLamport}
	if err := v.check(); err != nil {
		return err
	}
	for id := range v.seen {
		q.seen[id] = struct{}{}
	}
	return nil
}

// Adopt makes lanes that were checked part of the store: first what they hold, then where they are. What came
// in and belongs to none of them is left behind.
func (q *Quarantine) Adopt(ctx context.Context, arrivals []Arrival) error {
	if len(arrivals) == 0 {
		return nil
	}
	if err := q.adoptPacks(); err != nil {
		return fmt.Errorf("adopt fetched data: %w", err)
	}
	if err := moveLanes(ctx, q.r, arrivals); err != nil {
		return fmt.Errorf("adopt fetched data: %w", err)
	}
	return q.r.MergePacks(ctx, arrivals[0].Lane)
}

// moveLanes moves lanes to where they arrived, those of some projects at once: each lane waits for the disk
// several times, and for the lock of its project. If there is an error, others may have moved.
func moveLanes(ctx context.Context, r *refs.Repo, arrivals []Arrival) error {
	const most = 8
	of := map[refs.Project][]Arrival{}
	for _, a := range arrivals {
		of[a.Project] = append(of[a.Project], a)
	}
	projects := slices.Sorted(maps.Keys(of))
	errs := make([]error, len(projects))
	free := make(chan struct{}, most)
	var wait sync.WaitGroup
	for i, p := range projects {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			for _, a := range of[p] {
				if errs[i] = moveLane(ctx, r, a); errs[i] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// moveLane moves a lane that this device does not write, or no longer.
func moveLane(ctx context.Context, r *refs.Repo, a Arrival) error {
	unlock, err := r.LockLane(ctx, a.Project)
	if err != nil {
		return err
	}
	defer unlock()
	return r.Of(a.Lane).Update(ctx, a.Local(), a.Old, a.Tip)
}

// adoptPacks moves the packs over, or copies of them what was checked if there is more in them.
func (q *Quarantine) adoptPacks() error {
	var all []pack.ID
	for id, err := range q.git.Packs().All() {
		if err != nil {
			return err
		}
		all = append(all, id)
	}
	wanted := slices.DeleteFunc(slices.Clone(all), func(id pack.ID) bool { _, ok := q.seen[id]; return !ok })
	if len(wanted) < len(all) {
		return q.copy(wanted)
	}
	if err := q.git.Packs().Close(); err != nil {
		return err
	}
	for _, durable := range q.durable {
		if err := durable(); err != nil {
			return err
		}
	}
	q.durable = nil
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
			if err := pack.Wanted(to); err != nil {
				return err
			}
		}
	}
	return pack.SyncDir(q.store.PackDir())
}

func (q *Quarantine) copy(ids []pack.ID) error {
	if err := q.git.Packs().Order(ids); err != nil {
		return err
	}
	w, err := pack.Create(q.store.PackDir(), refs.FetchMark)
	if err != nil {
		return err
	}
	for _, id := range ids {
		e, err := q.git.Packs().Entry(id)
		if err == nil {
			err = w.Add(e)
		}
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	_, err = w.Close()
	return err
}
