package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// The ioctl that cuts a file system off its disk (EXT4_IOC_SHUTDOWN): no more data reaches the disk, not even the
// journal. Losses and reordering within a disk are not simulated.
const (
	shutdown     = 0x8004587d
	withoutFlush = 2
)

// mountOptions returns the options of the mounts, which use them in turn.
func mountOptions() []string {
	return []string{"data=ordered", "data=writeback", "data=journal", "data=ordered,nobarrier"}
}

// PowerCuts simulates n power cuts of a file system while several commands write to it. After each, the kernel replays
// the journal and the store is checked. It needs root, a loop device and mkfs.ext4; otherwise the error is a
// [*Skipped].
func (r *Rig) PowerCuts(ctx context.Context, n int) (all []Promise, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine, and with it its private mounts
		all, err = r.powerCuts(ctx, n)
	}()
	<-done
	return all, err
}

func (r *Rig) powerCuts(ctx context.Context, n int) ([]Promise, error) {
	if os.Geteuid() != 0 {
		return nil, skipped("a power cut needs root, to mount a disk of its own")
	}
	dir, err := r.dir("power")
	if err != nil {
		return nil, err
	}
	d := &disk{Rig: r, image: filepath.Join(dir, "image"), at: filepath.Join(dir, "disk"), tally: newTally(),
		duration: 20 * time.Millisecond}
	if err := d.make(ctx); err != nil {
		return nil, err
	}
	err = d.cuts(ctx, n)
	if d.mounted {
		err = errors.Join(err, syscall.Unmount(d.at, syscall.MNT_DETACH))
	}
	if err != nil {
		return nil, err
	}
	r.note("%d power cuts; acknowledged %s", n, counts(d.acks))
	return []Promise{
		{What: "acknowledged data survives a power cut", Times: n,
			Of: fmt.Sprintf("cuts of ext4, %d commands acknowledged", sum(d.acks))},
		{What: "after a power cut the store is valid without any repair", Times: d.fscks, Of: "runs of mem fsck --full"},
	}, RemoveAll(dir)
}

// A disk is a file system whose power can be cut.
type disk struct {
	*Rig
	*tally
	image, at string
	mounted   bool
	store     *Store
	sessions  []*session
	composed  map[string]bool // acknowledged compositions by name
	started   uint64          // sessions
	duration  time.Duration   // average duration of a command
}

// make creates and mounts the file system, in a mount namespace of this thread.
func (d *disk) make(ctx context.Context) error {
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		for _, path := range []string{"/sbin/mkfs.ext4", "/usr/sbin/mkfs.ext4"} {
			if _, e := os.Stat(path); e == nil {
				mkfs, err = path, nil
			}
		}
	}
	if err != nil {
		return skipped("a power cut needs mkfs.ext4: apt-get install e2fsprogs")
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return skipped("a power cut needs a mount namespace: %v", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return skipped("a power cut needs a mount namespace: %v", err)
	}
	f, err := os.OpenFile(d.image, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(96<<20), f.Close(), os.MkdirAll(d.at, 0o700)); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, mkfs, "-q", "-F", "-O", "^metadata_csum_seed",
		d.image).CombinedOutput(); err != nil {
		return skipped("mkfs.ext4: %v: %s", err, out)
	}
	if err := d.mount(ctx, 0); err != nil {
		return skipped("a power cut needs a loop device: %v", err)
	}
	return nil
}

func (d *disk) mount(ctx context.Context, i int) error {
	options := mountOptions()
	out, err := exec.CommandContext(ctx, "mount", "-t", "ext4", "-o", "loop,"+options[i%len(options)], d.image,
		d.at).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount: %w: %s", err, strings.TrimSpace(string(out)))
	}
	d.mounted = true
	return nil
}

// unmount waits for background programs and unmounts the file system.
func (d *disk) unmount() error {
	var err error
	for end := d.Uptime() + time.Minute; d.Uptime() < end; {
		if err = syscall.Unmount(d.at, 0); err == nil {
			d.mounted = false
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("unmount %s: %w", d.at, err)
}

// cutPower shuts the file system down without a flush.
func (d *disk) cutPower() error {
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	defer f.Close()
	how := uint32(withoutFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		return skipped("this kernel cannot cut a file system off: %v", errno)
	}
	return nil
}

// reset replaces the store with an empty one.
func (d *disk) reset(ctx context.Context) error {
	if d.store != nil {
		if err := os.RemoveAll(d.store.Home); err != nil {
			return err
		}
	}
	home := filepath.Join(d.at, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	at, err := os.Open(home)
	if err != nil {
		return err
	}
	if err := errors.Join(at.Sync(), at.Close()); err != nil { // the home directory must survive the cut
		return err
	}
	if d.store, err = NewStore(ctx, d.Bin, d.Path, home); err != nil {
		return err
	}
	d.sessions, d.composed = nil, map[string]bool{}
	for range parallelism {
		d.started++
		d.sessions = append(d.sessions, newSession(d.store, d.started, fmt.Sprintf("/home/user/app%d", d.started%2)))
	}
	return nil
}

// cuts repeatedly loads the disk and cuts its power, sometimes with a new store.
func (d *disk) cuts(ctx context.Context, n int) error {
	rnd := random(d.Seed + 77)
	for i := range n {
		if i%25 == 0 {
			if err := d.reset(ctx); err != nil {
				return err
			}
		}
		if err := d.load(ctx, &rnd, rnd.IntN(10)); err != nil {
			return err
		}
		if err := d.unmount(); err != nil {
			return err
		}
		if err := d.mount(ctx, i+1); err != nil {
			return err
		}
		if err := d.check(ctx, fmt.Sprintf("after power cut %d", i+1)); err != nil {
			return err
		}
		if i%10 == 0 {
			if err := d.checkCheckout(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCheckout writes an original into a new directory and cuts the power right after. The file must survive.
func (d *disk) checkCheckout(ctx context.Context, i int) error {
	at := slices.IndexFunc(d.sessions, func(l *session) bool { return l.acked >= 0 })
	if at < 0 {
		return nil
	}
	l, to := d.sessions[at], filepath.Join(d.store.Home, "out", fmt.Sprint(i), "original.jsonl")
	if err := d.store.Do(ctx, "checkout", "--force", l.ID+":original", "-o", to); err != nil {
		return err
	}
	if err := errors.Join(d.cutPower(), d.unmount(), d.mount(ctx, i+1)); err != nil {
		return err
	}
	got, err := os.ReadFile(to)
	if err != nil {
		return brokenf("original checked out before a power cut: %v", err)
	}
	return l.checkRestored(got, "checked out before a power cut")
}

// A completion is the result of a command on a session.
type completion struct {
	session *session
	kind    string
	at      int
	res     Result
}

// load runs one command per session at a time, cuts the power around the end of a random number of them, and waits for
// all to end.
func (d *disk) load(ctx context.Context, rnd *random, power int) error {
	results := make(chan completion, len(d.sessions))
	running := 0
	next := func(l *session) error {
		kind, p, err := d.startCommand(ctx, rnd, l)
		if err != nil {
			return err
		}
		at := l.last()
		running++
		go func() { results <- completion{l, kind, at, p.wait()} }()
		return nil
	}
	for _, l := range d.sessions {
		if err := next(l); err != nil {
			return err
		}
	}
	out := time.NewTimer(time.Hour)
	defer out.Stop()
	begin, count := d.Uptime(), 0
	scheduleCut := func() { out.Reset(time.Duration(rnd.next() % uint64(time.Duration(len(d.sessions))*d.duration))) }
	if power == 0 {
		scheduleCut()
	}
	off := false
	for running > 0 {
		select {
		case <-out.C:
			off = true
			if err := d.cutPower(); err != nil {
				return err
			}
		case e := <-results:
			running--
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := d.acknowledge(e, off); err != nil {
				return err
			}
			if count++; count == power {
				d.duration = (d.Uptime() - begin) / time.Duration(count)
				scheduleCut()
			}
			if !off {
				if err := next(e.session); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// startCommand starts a random command on a session.
func (d *disk) startCommand(ctx context.Context, rnd *random, l *session) (string, *process, error) {
	kind := "add"
	argv := []string{d.Bin, "add", l.file}
	stdin := ""
	switch k := rnd.IntN(12); {
	case l.acked >= 0 && k < 2:
		kind, argv = "compress", []string{d.Bin, "compress", l.ID, "--ratio", fmt.Sprint(2 + rnd.IntN(20)), "--json"}
	case l.acked >= 0 && k < 3:
		kind, argv = "gc", []string{d.Bin, "gc"}
	case l.acked >= 0 && k < 4:
		kind, argv = "compose", []string{d.Bin, "compose", compositionOf(l), l.ID, "--budget", "4k"}
	default:
		if err := l.grow(1 + rnd.IntN(3)); err != nil {
			return "", nil, err
		}
		if k < 8 {
			file, err := l.payload(d.store)
			if err != nil {
				return "", nil, err
			}
			kind, argv, stdin = "hook", []string{d.Bin, "hook", "Stop"}, file
		}
	}
	p, err := d.store.start(ctx, stdin, argv)
	return kind, p, err
}

// compositionOf returns the name of the composition of a session.
func compositionOf(l *session) string { return "context-" + l.ID[:8] }

// acknowledge records the acknowledgement of a command. Without a power cut it must succeed.
func (d *disk) acknowledge(e completion, off bool) error {
	if e.res.Code != 0 {
		if off || e.res.Code == 5 || e.res.Code == 11 { // a budget that cannot be met; a lock timeout on a slow disk
			return nil
		}
		return brokenf("%s", e.res)
	}
	if e.kind == "hook" && off {
		return nil // a hook never fails its session, so without power its status says nothing
	}
	d.acks[e.kind]++
	switch e.kind {
	case "add":
		e.session.acked = max(e.session.acked, e.at)
	case "hook":
		e.session.noted = max(e.session.noted, e.at)
	case "compress":
		return e.session.addVersion(e.res)
	case "compose":
		d.composed[compositionOf(e.session)] = true
	}
	return nil
}

// check checks the store after the journal was replayed. Files of Claude Code may be lost and are written again.
func (d *disk) check(ctx context.Context, when string) error {
	if err := d.store.Do(ctx, "fsck", "--full"); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	d.fscks++
	v, err := d.store.view(ctx, d.Now)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if err := v.checkCompositions(d.composed, when); err != nil {
		return err
	}
	for _, l := range d.sessions {
		if err := l.checkVersions(v, when); err != nil {
			return err
		}
		if l.acked >= 0 {
			got, err := d.store.Read(ctx, d.Now, l.ID)
			if err != nil {
				return fmt.Errorf("%s: %w", when, err)
			}
			if err := l.checkPrefix(got, when); err != nil {
				return err
			}
		}
		if err := l.rewrite(); err != nil {
			return err
		}
	}
	if err := d.store.Drain(ctx, d.Uptime); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	for _, l := range d.sessions {
		l.acked = max(l.acked, l.noted)
		if l.acked < 0 {
			continue
		}
		got, err := d.store.Original(ctx, l.ID)
		if err != nil {
			return fmt.Errorf("%s and a drain: %w", when, err)
		}
		if err := l.checkPrefix(got, when+" and a drain"); err != nil {
			return err
		}
	}
	return nil
}
