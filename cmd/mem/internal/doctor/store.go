package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// permissions checks that only the user can access the store. It reports whether the store may be opened.
func (x *Exam) permissions() bool {
	const check = "permissions"
	found, err := disk.Exposed(x.Dir, x.Fix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true // open reports the error
	case err != nil:
		x.fail(check, term.Shell("chmod", "-R", "u+rwX,go=", x.Dir), "%v", err)
	case found.Foreign > 0:
		x.fail(check, "sudo chown -R \"$USER\" "+term.Shell(x.Dir), "%s to another user, such as %s", belong(found.Foreign),
			found.First)
		return false
	case found.Open > 0 && x.Fix:
		x.fixed(check, "%s private again, such as %s", term.Count(found.Open, "file"), found.First)
	case found.Open > 0:
		x.fail(check, "mem doctor --fix", "others can read %s, such as %s", term.Count(found.Open, "file"), found.First)
	default:
		x.ok(check, "directories 0700, files 0600")
	}
	return true
}

func belong(n int) string {
	if n == 1 {
		return "1 file belongs"
	}
	return tokens.Commas(n) + " files belong"
}

// clockDrift is the maximum accepted difference between the clocks of devices.
const clockDrift = 5 * time.Minute

// clock checks for operations from the future.
func (x *Exam) clock() {
	const check = "clock"
	now := x.E.Now()
	newest, found, err := history.Future(x.Ctx, x.m.DB, now.Add(clockDrift))
	switch {
	case err != nil:
		x.fail(check, "mem fsck --repair", "%v", err)
	case found && newest.Device == x.m.Repo().Device().ID:
		x.warn(check, SetClock(), "the clock shows %s, but the newest operation of this device is of %s", term.TimeText(now),
			term.TimeText(newest.Time))
	case found:
		x.warn(check, SetClock()+"  # on that device", "the clock shows %s, but the newest operation of %s is of %s",
			term.TimeText(now), newest.Name, term.TimeText(newest.Time))
	default:
		x.ok(check, "no operation is from the future")
	}
	ahead, err := sessions.Ahead(x.Ctx, x.m.DB, clockDrift)
	switch {
	case err != nil:
		x.fail(check, "mem fsck --repair", "%v", err)
	case ahead != nil:
		p := ahead.Now()
		x.warn(check, "mem show "+term.ShortID(ahead.ID), "session %s ends %s but was captured %s, which counts as its time",
			term.ShortID(ahead.ID), term.TimeText(p.Scan.Last), term.TimeText(p.Time))
	}
}

// spool checks for notes of hooks that were not processed.
func (x *Exam) spool() {
	const check = "hook notes"
	dir, fallback := hooks.FallbackNotes(x.Dir, os.TempDir())
	if fallback > 0 && !x.Fix {
		x.warn(check, "mem hook "+hooks.Work, "%s of hooks in %s: the memory could not be written then",
			term.Count(fallback, "note"), dir)
		return
	}
	n := hooks.Spooled(x.Dir) + fallback
	left := n
	if n > 0 && x.Fix {
		if err := x.foldSpool(); err != nil {
			x.fail(check, "mem hook "+hooks.Work, "process %s: %v", term.Count(n, "note"), err)
			return
		}
		_, fallback = hooks.FallbackNotes(x.Dir, os.TempDir())
		left = hooks.Spooled(x.Dir) + fallback
	}
	switch {
	case left > 0:
		x.warn(check, "mem hook "+hooks.Work, "%s of hooks not processed yet", term.Count(left, "note"))
	case n > 0:
		x.fixed(check, "%s of hooks processed", term.Count(n, "note"))
	default:
		x.ok(check, "empty")
	}
}

// foldSpool folds the spool in a hook worker, a separate process with the memory limit of hooks.
func (x *Exam) foldSpool() error {
	self, err := x.E.Executable()
	if err != nil {
		return err
	}
	return x.E.Command(x.Ctx, []string{"MEM_DIR=" + x.Dir, "MEM_HOOK="}, self, "hook", hooks.Work).Run()
}

// clone checks for an interrupted clone.
func (x *Exam) clone() {
	const check = "clone"
	from, err := refs.UnfinishedClone(x.Dir)
	switch {
	case err != nil:
		x.fail(check, "mem fsck --repair", "%v", err)
	case from != "":
		x.warn(check, term.Shell("mem", "clone", from), "the clone of %s was interrupted", from)
	}
}

// store checks that what the records name exists. Only "mem fsck" reads the rest.
func (x *Exam) store() {
	const check = "store"
	c, err := repair.CheckExistence(x.Ctx, x.m.DB)
	all, failed := x.m.Repo().Projects()
	if err == nil {
		err = failed
	}
	switch {
	case err != nil:
		x.fail(check, "mem fsck --repair", "%v", err)
	case len(c.Problems) > 0:
		x.fail(check, "mem fsck --repair", "%s, such as %s", term.Count(len(c.Problems), "problem"), c.Problems[0])
	case len(c.Ignored) > 0:
		p := c.Ignored[0]
		device := term.ShortID(p.Device)
		x.warn(check, term.Shell("mem", "device", "drop", device), "%s wrong, the first of device %.8s: %s",
			term.Count(len(c.Ignored), "statement"), p.Device, p)
	default:
		x.ok(check, "%s: every object that a record names exists; mem fsck verifies them", term.Count(len(all), "project"))
	}
}

// cache checks the size of the cache.
func (x *Exam) cache() {
	const check = "cache"
	now, err := x.m.EvictCache(!x.Fix)
	switch {
	case err != nil:
		x.fail(check, term.Shell("chmod", "-R", "u+rwX", filepath.Join(x.Dir, "cache")), "%v", err)
	case now.Freed > 0 && x.Fix:
		x.fixed(check, "%s deleted, %s left, the limit is %s", app.BytesText(now.Freed), app.BytesText(now.Bytes),
			app.BytesText(now.Max))
	case now.Freed > 0:
		x.warn(check, "mem doctor --fix", "%s is over the limit of %s (storage.maxCacheSize)",
			app.BytesText(now.Bytes+now.Freed), app.BytesText(now.Max))
	case now.Bytes > now.Max:
		x.warn(check, fmt.Sprintf("mem config set storage.maxCacheSize %dMB", 2*now.Bytes/1_000_000+1),
			"%s cannot shrink to the limit of %s (storage.maxCacheSize)",
			app.BytesText(now.Bytes), app.BytesText(now.Max))
	default:
		x.ok(check, "%s of %s", app.BytesText(now.Bytes), app.BytesText(now.Max))
	}
}

// The free space below which the doctor warns, and below which it reports a failure.
const (
	lowSpace = 1 << 30
	minSpace = 64 << 20
)

// reserve checks the file that reserves space for forgetting on a full disk, and prints nothing if its size is right.
// Its content is irrelevant. Its blocks cannot be counted on a compressing file system, so the fix always allocates
// them.
func (x *Exam) reserve() {
	const check = "reserve"
	n, err := x.m.Repo().Reserve()
	if err == nil && x.Fix {
		if err = x.m.Repo().KeepReserve(); err == nil && n < refs.ReserveSize {
			x.fixed(check, "%s reserved for mem forget and mem gc on a full disk", app.BytesText(refs.ReserveSize))
			return
		}
	}
	switch {
	case err != nil:
		x.warn(check, "mem doctor --fix", "%v: mem forget and mem gc may fail on a full disk", err)
	case n < refs.ReserveSize:
		x.warn(check, "mem doctor --fix", "%s of %s reserved: mem forget and mem gc may fail on a full disk",
			app.BytesText(n), app.BytesText(refs.ReserveSize))
	}
}

// disk checks that the store is writable and that space is left.
func (x *Exam) disk() {
	const check = "disk"
	for _, dir := range []string{x.Dir, filepath.Join(x.Dir, "memory.git"), filepath.Join(x.Dir, "originals.git")} {
		if err := mayWrite(dir); err != nil {
			fix := term.Shell("chmod", "-R", "u+w", dir)
			if isReadOnlyDisk(err) {
				fix = term.Shell("df", dir) + "  # that disk is mounted read-only"
			}
			x.fail(check, fix, "%s cannot be written: %v", dir, err)
			return
		}
	}
	x.reserve()
	free, ok := freeSpace(x.Dir)
	switch {
	case !ok:
	case free < minSpace:
		x.fail(check, "mem gc", "%s free", app.BytesText(int64(free)))
	case free < lowSpace:
		x.warn(check, "mem gc", "%s free", app.BytesText(int64(free)))
	default:
		x.ok(check, "%s free", app.BytesText(int64(min(free, 1<<62))))
	}
}
