// Package refs opens a memory: the two git repositories, the lanes in them and what lanes hold.
//
// A lane is the branch refs/heads/p/<project>/<device>. It is linear, and only its device writes and
// signs it, so two machines never conflict: what a project is follows from the union of its lanes.
// memory.git holds what may travel: records, objects, and the clean streams of sessions.
// originals.git holds the patches that turn a clean stream back into the exact bytes it came from;
// it has lanes of the same shape and never leaves the machine.
//
// Reading happens in [Repo.View], writing in [Repo.Update]: one commit or nothing. Content is hashed
// and compressed before, in a [Stage], outside any lock. The order on disk is pack, index, directory,
// then the ref; the ref of memory.git is the commit point. At every instant the store is valid, and a
// crash leaves at most temporary files, which the next writer sweeps. go-git moves no ref here and
// decides no durability, because it fsyncs nothing and loses updates (docs/trust.md).
//
// Below, package lane reads lanes and package disk writes files. Above, package incoming takes in the lanes
// of other devices, and package repair checks a store and puts it right.
package refs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Options are what a Repo needs of the outside world.
type Options struct {
	Now         func() time.Time // called by several goroutines at once
	Rand        io.Reader        // for new device ids and keys
	LockTimeout time.Duration    // how long an Update waits for another one; 0 means 10 s

	// Body reports why a record of a kind says nothing: its body is malformed. A lane from elsewhere that holds
	// such a record is refused, none is written, and those that are here already are not among [Tx.Records]. May
	// be nil: then bodies may hold anything.
	Body func(kind string, body json.RawMessage) error
}

func (o Options) body(r Record) error {
	if o.Body == nil {
		return nil
	}
	return o.Body(r.Kind, r.Body)
}

// CheckBody reports why a record says nothing; see [Options].
func (r *Repo) CheckBody(rec Record) error { return r.opts.body(rec) }

// A Repo is an open memory. Its methods may be called from several goroutines at once.
type Repo struct {
	dir       string
	opts      Options
	memory    *gitstore.Repo
	originals *gitstore.Repo
	device    lane.Device
	signs     sync.Once
	first     func(context.Context, *Tx) (string, any, error) // see OnFirst
}

// OnFirst lets the first commit of each lane that an update begins hold one more record: that of which f
// returns kind and body, none if the kind is empty. It is to be called before any update.
func (r *Repo) OnFirst(f func(context.Context, *Tx) (kind string, body any, err error)) { r.first = f }

// Init makes a memory in dir, for a device with the given display name, and opens it. It can be
// repeated, and done again after it was interrupted: what is there stays as it is.
func Init(ctx context.Context, dir, deviceName string, opts Options) (*Repo, error) {
	if err := makeRoot(dir); err != nil {
		return nil, err
	}
	unlock, err := disk.Lock(ctx, filepath.Join(dir, "init.lock"), timeout(opts))
	if err != nil {
		return nil, fmt.Errorf("init %s: %w", dir, err)
	}
	defer unlock()
	err = atOnce(gitstore.Init, filepath.Join(dir, MemoryDir), filepath.Join(dir, OriginalsDir))
	if err != nil {
		return nil, fmt.Errorf("init %s: %w", dir, err)
	}
	if err := lane.EnsureDevice(dir, deviceName, opts.Rand); err != nil {
		return nil, fmt.Errorf("init %s: %w", dir, err)
	}
	r, err := Open(dir, opts)
	if err != nil {
		return nil, err
	}
	if err := r.initHome(ctx); err != nil {
		return nil, fmt.Errorf("init %s: %w", dir, err)
	}
	_ = r.KeepReserve() // a disk that is nearly full takes the rest of the store all the same; "mem doctor" tells
	return r, nil
}

// makeRoot makes the directory of a store, private to the user.
func makeRoot(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, sub := range []string{"cache", "spool"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	return disk.CheckPrivate(dir)
}

// initHome makes the first commit of both repositories and lets HEAD name it.
func (r *Repo) initHome(ctx context.Context) error {
	ref := lane.Ref(Home, r.device.ID)
	id, err := r.memory.Ref(ref)
	if err != nil {
		return err
	}
	if id.IsZero() {
		err := r.Update(ctx, Home, "init device "+r.device.Name, func(tx *Tx) error { return tx.both() })
		if err != nil {
			return err
		}
	}
	return atOnce(func(g *gitstore.Repo) error { return g.SetHEAD(ref) }, r.memory, r.originals)
}

// atOnce does something with two things that waits for the disk. The error is that of the first.
func atOnce[T any](do func(T) error, a, b T) error {
	other := make(chan error, 1)
	go func() { other <- do(b) }()
	return cmp.Or(do(a), <-other)
}

// Open opens the memory in dir. The error wraps [ErrNotRepo] if there is none and [ErrUnsafe] if the
// directory belongs to somebody else or others may write to it.
func Open(dir string, opts Options) (*Repo, error) {
	return open(dir, opts, lane.ReadDevice)
}

// OpenDamaged is [Open] of a store whose device may have been lost, to repair it. It must not be written to by
// [Repo.Update].
func OpenDamaged(dir string, opts Options) (*Repo, error) {
	return open(dir, opts, func(dir string) (lane.Device, error) {
		d, err := lane.ReadDevice(dir)
		var lost *DeviceError
		if errors.As(err, &lost) {
			return lane.Device{}, nil
		}
		return d, err
	})
}

func open(dir string, opts Options, device func(dir string) (lane.Device, error)) (*Repo, error) {
	if _, err := os.Lstat(filepath.Join(dir, MemoryDir, "HEAD")); errors.Is(err, os.ErrNotExist) {
		if holds(dir) {
			return nil, fmt.Errorf("open memory: %s has no HEAD: %w", filepath.Join(dir, MemoryDir), ErrDamaged)
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepo)
	} else if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	if err := disk.CheckPrivate(dir); err != nil {
		return nil, err
	}
	if err := checkShape(dir); err != nil {
		return nil, err
	}
	r := &Repo{dir: dir, opts: opts}
	if opts.LockTimeout == 0 {
		r.opts.LockTimeout = 10 * time.Second
	}
	var err error
	if r.device, err = device(dir); err != nil {
		return nil, err
	}
	if r.memory, err = gitstore.Open(filepath.Join(dir, MemoryDir)); err != nil {
		return nil, fmt.Errorf("open memory: %w", damaged(err))
	}
	if r.originals, err = gitstore.Open(filepath.Join(dir, OriginalsDir)); err != nil {
		return nil, fmt.Errorf("open originals: %w", damaged(err))
	}
	return r, nil
}

// holds reports whether there is something of a memory in dir: a directory where one was begun holds no pack.
func holds(dir string) bool {
	packs, err := filepath.Glob(filepath.Join(dir, MemoryDir, "objects", "pack", "*.pack"))
	return err == nil && len(packs) > 0
}

// damaged marks what a repair can do something about.
func damaged(err error) error {
	if errors.Is(err, gitstore.ErrNoRepository) || errors.Is(err, pack.ErrNotFile) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

func timeout(o Options) time.Duration {
	if o.LockTimeout == 0 {
		return 10 * time.Second
	}
	return o.LockTimeout
}

// Dir returns the directory of the store.
func (r *Repo) Dir() string { return r.dir }

// Device returns this device.
func (r *Repo) Device() lane.Device { return r.device }

// Close releases the files the Repo holds open.
func (r *Repo) Close() error { return errors.Join(r.memory.Close(), r.originals.Close()) }

// Projects returns the ids of all projects that have a lane, sorted, without [Home].
func (r *Repo) Projects() ([]Project, error) {
	all, err := r.Tips()
	delete(all, Home)
	return slices.Sorted(maps.Keys(all)), err
}

// Tips returns the tips of the lanes of all projects, [Home] among them, each sorted by device: it is [Tx.Tips]
// for all of them, in one reading.
func (r *Repo) Tips() (map[Project][]Tip, error) {
	all, err := r.memory.Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	out := map[Project][]Tip{}
	for _, ref := range all { // sorted by name
		if p, device, ok := lane.Split(ref.Name); ok {
			out[p] = append(out[p], Tip{Device: device, Commit: ref.ID.String()})
		}
	}
	return out, nil
}
