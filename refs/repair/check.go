// Package repair checks a store and repairs damage.
//
// [Check] verifies everything and reports [Problem]s. [FixFiles] repairs the control files and [FixRepositories] the
// two repositories: from intact data, from a remote, and with branches that start again. Data that cannot be restored
// is reported as [Loss], and [GiveUp] continues without it. Nothing is deleted: damaged files are moved away
// ([Damaged]).
package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
)

// A Problem is a finding of a check.
type Problem struct {
	Where string `json:"where"` // the repository and the ref or path
	What  string `json:"what"`
	// Device is set if the finding is not damage, but data of another device that is invalid and ignored.
	Device string `json:"-"`
}

func (p Problem) String() string { return p.Where + ": " + p.What }

// Counts contains the amounts that a check has verified.
type Counts = incoming.Counts

// Check verifies every lane of both repositories: the names and files of refs, the chain of signed commits, the
// closed grammar of trees, the name and form of every record, the heads of segments and the growth points. It
// verifies HEAD, git's settings, device.json and the other control files, and the checksums of all packs and
// indexes, so it finds every flipped bit. With full it also hashes every object and stream with BLAKE3 and reads
// every directory of every commit. Problems are reported; an error means that the check could not continue.
func Check(ctx context.Context, r *refs.Repo, full bool, report func(Problem)) (Counts, error) {
	c := &checker{ctx: ctx, r: r, full: full, report: report, keys: map[string]string{}}
	for _, p := range r.Parts() {
		if err := c.part(r, p); err != nil {
			return c.n, err
		}
	}
	c.where = r.Dir()
	c.device(r)
	return c.n, c.checkControls(r)
}

func (c *checker) part(r *refs.Repo, p refs.Part) error {
	c.where, c.git = p.Dir, p.Git
	if err := gitstore.VerifyFiles(p.Git.Dir(), homeBranches(r.Dir(), r.Device().ID), func(file string, err error) {
		c.bad(file, "%v", err)
	}); err != nil {
		return fmt.Errorf("check %s: %w", p.Dir, err)
	}
	branches, err := p.Git.VerifyRefs(func(file, _ string, err error) { c.bad(file, "%v", err) })
	if err != nil {
		return fmt.Errorf("list refs of %s: %w", p.Dir, err)
	}
	known, err := p.Git.RegisteredRefs()
	if err != nil {
		return fmt.Errorf("list refs of %s: %w", p.Dir, err)
	}
	for _, name := range known {
		if !contains(branches, name) {
			c.bad(name, "the branch is missing")
		}
	}
	outside, err := p.Git.Refs(lane.OutsidePrefix)
	if err != nil {
		c.bad(lane.OutsidePrefix, "%v", err)
	}
	for _, ref := range append(branches, outside...) {
		c.where = p.Dir + " " + ref.Name
		if l, ok := lane.ParseLocalRef(ref.Name); ok {
			l.Originals = p.Dir == refs.OriginalsDir
			c.branch(ref, l)
		} else {
			c.bad("", "not the name of a lane")
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	c.where = p.Dir
	if _, err := pack.Verify(p.Git.PackDir(), func(d pack.Damage) {
		if d.Pack != nil {
			c.bad(d.Name+".pack", "%v", d.Pack)
		}
		if d.Index != nil {
			c.bad(d.Name+".idx", "%v", d.Index)
		}
	}); err != nil {
		return fmt.Errorf("verify packs of %s: %w", p.Dir, err)
	}
	return p.Git.VerifyLoose(func(file string, err error) { c.bad(file, "%v", err) })
}

// homeBranches returns the branches that HEAD may name: the lanes in [refs.Home] of this device and of its former ids.
func homeBranches(dir, device string) []string {
	out := []string{lane.Ref(refs.Home, device)}
	for _, part := range []string{refs.MemoryDir, refs.OriginalsDir} {
		entries, err := os.ReadDir(filepath.Join(dir, part, filepath.FromSlash(lane.Prefix+string(refs.Home))))
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			if lane.ValidDevice(e.Name()) {
				out = append(out, lane.Ref(refs.Home, e.Name()))
			}
		}
	}
	return out
}

// device checks that the key in device.json is the one in this device's lanes.
func (c *checker) device(r *refs.Repo) {
	d, err := lane.ReadDevice(r.Dir())
	if err != nil {
		return // reported by checkControls
	}
	if key := c.keys[d.ID]; key != "" && key != d.PublicKey() {
		c.bad(lane.DeviceFile, "its key is not the one of this device's lanes")
	}
}

// checkFile checks that a control file is unchanged since it was written. A missing file is no error.
func checkFile(dir, name string) error {
	b, err := pack.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.CheckSum(b)
	}
	return err
}

type checker struct {
	ctx    context.Context
	r      *refs.Repo
	full   bool
	report func(Problem)
	where  string
	git    *gitstore.Repo
	n      Counts
	keys   map[string]string
}

func (c *checker) bad(path, format string, args ...any) {
	where := c.where
	if path != "" {
		where += ":" + path
	}
	c.report(Problem{Where: where, What: fmt.Sprintf(format, args...)})
}

// branch checks the lane of a branch. If there are problems and the branch has moved meanwhile, it checks again,
// because a sweep deletes the former objects of a restarted lane.
func (c *checker) branch(ref gitstore.Ref, l refs.Lane) {
	report, before := c.report, c.n
	defer func() { c.report = report }()
	for try := 0; ; try++ {
		var found []Problem
		c.report = func(p Problem) { found = append(found, p) }
		l.Tip = ref.ID
		c.lane(l)
		now, err := c.git.Ref(ref.Name)
		if len(found) == 0 || err != nil || now.IsZero() || now == ref.ID || try == 5 {
			for _, p := range found {
				report(p)
			}
			return
		}
		ref.ID, c.n = now, before
	}
}

// lane checks one lane. The device's key comes from the device record that the lane must contain; a lane of
// originals.git uses the key from memory.git, which is checked first.
func (c *checker) lane(l refs.Lane) {
	key, err := incoming.Audit(c.ctx, c.r, c.git, l, c.keys[l.Device], c.full, &c.n, func(path string, err error) {
		var ignored *incoming.IgnoredError
		if errors.As(err, &ignored) {
			c.report(Problem{Where: c.where + ":" + path, What: err.Error(), Device: l.Device})
		} else {
			c.bad(path, "%v", err)
		}
	})
	if c.keys[l.Device] = key; err != nil {
		c.bad("", "%v", err)
	}
}
