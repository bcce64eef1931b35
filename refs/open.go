package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Init creates a memory in dir, for a device with the given display name, and opens it. It keeps existing files, so it
// can be repeated, also after an interruption.
func Init(ctx context.Context, dir, deviceName string, opts Options) (*Repo, error) {
	if err := makeRoot(dir); err != nil {
		return nil, err
	}
	unlock, err := disk.Lock(ctx, filepath.Join(dir, "init.lock"), timeout(opts))
	if err != nil {
		return nil, fmt.Errorf("init %s: %w", dir, err)
	}
	defer unlock()
	for _, part := range []string{MemoryDir, OriginalsDir} {
		if err := gitstore.Init(filepath.Join(dir, part)); err != nil {
			return nil, fmt.Errorf("init %s: %w", dir, err)
		}
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
	_ = r.KeepReserve() // a store works without its reserve; "mem doctor" reports a missing one
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

// initHome makes the first commit of both repositories and sets HEAD to its branch.
func (r *Repo) initHome(ctx context.Context) error {
	ref := lane.Ref(Home, r.device.ID)
	id, err := r.memory.Ref(ref)
	if err != nil {
		return err
	}
	if id.IsZero() {
		err := r.Update(ctx, Home, "init device "+r.device.Name, func(tx *Tx) error { return tx.touchBoth() })
		if err != nil {
			return err
		}
	}
	if err := r.memory.SetHEAD(ref); err != nil {
		return err
	}
	return r.originals.SetHEAD(ref)
}

// Open opens the memory in dir. The error wraps [ErrNotRepo] if there is none and [ErrUnsafe] if the directory
// belongs to another user or others may write to it.
func Open(dir string, opts Options) (*Repo, error) {
	return open(dir, opts, lane.ReadDevice)
}

// OpenDamaged is [Open] for repairs: device.json may be missing or damaged. [Repo.Update] must not be called then.
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
		if hasPacks(dir) {
			return nil, fmt.Errorf("open memory: %s has no HEAD: %w", filepath.Join(dir, MemoryDir), ErrDamaged)
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepo)
	} else if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	if err := disk.CheckPrivate(dir); err != nil {
		return nil, err
	}
	if err := checkLayout(dir); err != nil {
		return nil, err
	}
	r := &Repo{dir: dir, opts: opts}
	r.opts.LockTimeout = timeout(opts)
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

// hasPacks reports whether memory.git contains data. After an interrupted [Init] it contains no pack.
func hasPacks(dir string) bool {
	packs, err := disk.Match(filepath.Join(dir, MemoryDir, "objects", "pack"), "*.pack")
	return err == nil && len(packs) > 0
}

// damaged adds [ErrDamaged] to errors that a repair can fix.
func damaged(err error) error {
	if errors.Is(err, gitstore.ErrNoRepository) || errors.Is(err, pack.ErrNotFile) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
