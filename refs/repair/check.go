// Package repair checks a store and repairs damage.
//
// [Check] verifies everything and reports [Problem]s. [FixFiles] repairs the control files and [FixRepositories] the
// two repositories: from intact data, from a remote, and with branches that start again. Data that cannot be restored
// is reported as [Loss], and [GiveUp] continues without it. Nothing is deleted: damaged files are moved away
// ([Damaged]).
package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
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
type Counts struct {
	Lanes    int   `json:"lanes"`
	Commits  int   `json:"commits"`
	Objects  int   `json:"objects"`
	Records  int   `json:"records"`
	Streams  int   `json:"streams"`
	Segments int   `json:"segments"`
	Patches  int   `json:"patches"`
	Bytes    int64 `json:"bytesHashed"` // of content
}

// Check verifies every lane of both repositories: the names and files of refs, the chain of signed commits, the
// closed grammar of trees, the name and form of every record, the heads of segments and the growth points. It
// verifies HEAD, git's settings, device.json and the other control files, and the checksums of all packs and
// indexes, so it finds every flipped bit. With full it also hashes every object and stream with BLAKE3 and reads
// every directory of every commit. Problems are reported; an error means that the check could not continue.
func Check(ctx context.Context, r *refs.Repo, full bool, report func(Problem)) (Counts, error) {
	c := &checker{ctx: ctx, r: r, full: full, report: report}
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
			c.branch(ref, l.Device)
		} else {
			c.bad("", "not the name of a lane")
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	c.where = p.Dir
	if _, err := pack.Verify(p.Git.PackDir(), func(file string, err error) { c.bad(file, "%v", err) }); err != nil {
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

// ignored reports invalid data of another device, which has no effect.
func (c *checker) ignored(path, device string, err error) {
	c.report(Problem{Where: c.where + ":" + path, What: err.Error(), Device: device})
}

// branch checks the lane of a branch. If there are problems and the branch has moved meanwhile, it checks again,
// because a sweep deletes the former objects of a restarted lane.
func (c *checker) branch(ref gitstore.Ref, device string) {
	report, before := c.report, c.n
	defer func() { c.report = report }()
	for try := 0; ; try++ {
		var found []Problem
		c.report = func(p Problem) { found = append(found, p) }
		c.lane(ref.ID, device)
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
func (c *checker) lane(tip pack.ID, device string) {
	c.n.Lanes++
	l, err := lane.At(c.git, tip, device)
	if err != nil {
		c.bad("", "%v", err)
		return
	}
	if c.keys == nil {
		c.keys = map[string]string{}
	}
	streams := map[string]int{}
	err = l.Root.Walk(c.git, nil, func(path []string, id pack.ID) error {
		p := strings.Join(path, "/")
		if err := c.blob(l, p, id, streams); err != nil {
			c.bad(p, "%v", err)
		}
		return c.ctx.Err()
	})
	if err != nil {
		c.bad("", "%v", err)
	}
	c.streams(l, streams)
	c.commits(tip, device)
}

// blob checks one blob of a lane. Its path decides what it must contain.
func (c *checker) blob(l *lane.Snapshot, path string, id pack.ID, streams map[string]int) error {
	m := lane.PathPattern().FindStringSubmatch(path)
	if m == nil {
		return errors.New("path not allowed in a lane")
	}
	if m[1] != "" {
		return nil // read when the lane was opened
	}
	if m[14] != "" {
		streams[m[15]+m[16]+m[17]+m[18]]++
		return nil
	}
	name := strings.Join(m[3:8], "")
	if m[8] != "" {
		name = strings.Join(m[9:14], "")
	}
	h, err := objects.ParseHash(name)
	if err != nil {
		return err
	}
	switch {
	case m[8] != "":
		return c.record(l, h, id)
	case m[2] == "patches":
		c.n.Patches++
		_, err := c.git.Get(id, pack.Blob)
		return err
	case m[2] == "points":
		c.n.Objects++
		return l.CheckPoint(h)
	}
	c.n.Objects++
	if !c.full {
		ok, err := c.git.Has(id)
		if err == nil && !ok {
			err = objects.ErrNotFound
		}
		return err
	}
	b, err := c.git.Get(id, pack.Blob)
	if err != nil {
		return err
	}
	c.n.Bytes += int64(len(b))
	if objects.Sum(b) != h {
		return objects.ErrCorrupt
	}
	return nil
}

func (c *checker) record(l *lane.Snapshot, h objects.Hash, id pack.ID) error {
	c.n.Records++
	b, err := c.git.Get(id, pack.Blob)
	if err != nil {
		return err
	}
	rec, err := lane.CheckRecord(b, h)
	if err != nil {
		return err
	}
	if rec.Device != l.Device {
		return fmt.Errorf("record of the device %s", rec.Device)
	}
	if rec.Kind == "device" {
		var d lane.DeviceBody
		if err := json.Unmarshal(rec.Body, &d); err != nil {
			return err
		}
		if was := c.keys[l.Device]; was != "" && was != d.Key {
			return errors.New("another key for the same device")
		}
		c.keys[l.Device] = d.Key
	}
	err = c.r.CheckBody(rec)
	if err == nil && rec.Lamport > lane.MaxLamport {
		err = fmt.Errorf("Lamport time %d", rec.Lamport)
	}
	if err != nil && l.Device != c.r.Device().ID {
		c.ignored(strings.Join(lane.RecordPath(h), "/"), l.Device, err)
		return nil
	}
	return err
}

// streams checks that the segments of every stream are contiguous; with full it hashes their content.
func (c *checker) streams(l *lane.Snapshot, counts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		c.n.Streams++
		c.n.Segments += n
		h, err := objects.ParseHash(name)
		if err == nil && c.full {
			var size int64
			size, err = stream.NewReader(n, l.Blobs(h)).WriteTo(io.Discard)
			c.n.Bytes += size
		} else if err == nil {
			err = checkHeads(n, l.Blobs(h))
		}
		if err != nil {
			c.bad("streams/"+name, "%v", err)
		}
	}
}

func checkHeads(n int, blobs stream.Blobs) error {
	var end int64
	for i := range n {
		b, err := blobs(i)
		if err != nil {
			return err
		}
		h, _, err := stream.ParseHead(b)
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if h.Offset != end {
			return fmt.Errorf("segment %d: starts at %d, want %d: %w", i, h.Offset, end, objects.ErrCorrupt)
		}
		end = h.End()
	}
	return nil
}

// commits checks the commits of a lane: each has at most one parent, is signed by the lane's device, has a tree
// that exists, and a Lamport time not greater than that of its child.
func (c *checker) commits(tip pack.ID, device string) {
	var later uint64
	var chain []pack.ID
	for id := tip; !id.IsZero(); {
		c.n.Commits++
		commit, err := c.git.Commit(id)
		if err != nil {
			c.bad("", "commit %s: %v", id, err)
			return
		}
		n, err := lane.LamportOf(commit)
		if err == nil && later == 0 && !c.r.AcceptsLamport(n) {
			c.ahead(device, n)
		}
		if err == nil && later != 0 && n > later {
			err = fmt.Errorf("its Lamport time %d is after that of its child, %d", n, later)
		}
		later = n
		if err == nil && commit.Email != device+"@mem.invalid" {
			err = fmt.Errorf("its author %q is not the lane's device", commit.Email)
		}
		if err == nil {
			err = lane.VerifySignature(c.keys[device], commit.Signature, commit.Payload())
		}
		if err != nil {
			c.bad("", "commit %s: %v", id, err)
		}
		if ok, err := c.git.Has(commit.Tree); err != nil || !ok {
			c.bad("", "commit %s: tree %s is missing", id, commit.Tree)
		} else if c.full && len(chain) < lane.MaxCommits {
			chain = append(chain, id)
		}
		id = commit.Parent
	}
	slices.Reverse(chain)
	for _, err := range lane.Additions(c.ctx, c.git, chain, map[pack.ID]struct{}{}) {
		if err != nil {
			c.bad("", "%v", err)
		}
	}
}

// ahead reports a lane whose Lamport time no store would accept.
func (c *checker) ahead(device string, n uint64) {
	if err := fmt.Errorf("%w: %d", refs.ErrAhead, n); device == c.r.Device().ID {
		c.bad("", "%v", err)
	} else {
		c.ignored("", device, err)
	}
}
