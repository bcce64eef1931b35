package layers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// A Proof is what looking at every byte of the store found of what was forgotten: nothing, but what other devices have in their
// lanes until they sync.
type Proof struct {
	Bytes   int64 // that were looked at: files as they are, objects of git unpacked, streams decompressed
	Objects int
	Left    []string       // where something is left: paths, and places in repositories
	Others  map[string]int // by device: places in its lanes
}

// prove looks for what was forgotten at every byte of the store. For a secret it looks for the value and its spellings, for an expression
// for what matches it; otherwise for the names of what went. Said is what other devices have to forget for it.
func (m *Memory) prove(ctx context.Context, o ForgetOptions, gone []string, said []Purge) (Proof, error) {
	v := &prover{m: m, o: o, said: said, out: Proof{Others: map[string]int{}}}
	switch {
	case o.Secret != nil:
		v.needles = spellings(o.Secret)
	case o.Match == nil:
		for _, name := range gone {
			v.needles = append(v.needles, []byte(name))
		}
	}
	lanes, err := m.allLanes()
	if err != nil {
		return v.out, err
	}
	for _, l := range lanes {
		if err := v.lane(ctx, l); err != nil {
			return v.out, err
		}
	}
	if err := v.hidden(ctx); err != nil {
		return v.out, err
	}
	if err := v.repositories(ctx); err != nil {
		return v.out, err
	}
	if err := v.files(); err != nil {
		return v.out, err
	}
	aside, err := m.repo.Damaged()
	if err != nil {
		return v.out, err
	}
	for _, file := range aside {
		v.out.Left = append(v.out.Left, file+", which is damaged")
	}
	slices.Sort(v.out.Left)
	v.out.Left = slices.Compact(v.out.Left)
	return v.out, nil
}

// Holds looks for a text at every byte of the store, objects unpacked and streams decompressed, and returns where it is. What
// other devices have in their lanes does not count, nor what nothing leads to: that goes with the next sweep.
func (m *Memory) Holds(ctx context.Context, text []byte) ([]string, error) {
	p, err := m.prove(ctx, ForgetOptions{}, []string{string(text)}, nil)
	return slices.DeleteFunc(p.Left, func(where string) bool { return strings.HasSuffix(where, unreached) }), err
}

// unreached ends what is said of an object that nothing leads to.
const unreached = ", which nothing leads to"

type prover struct {
	m       *Memory
	o       ForgetOptions
	said    []Purge
	needles [][]byte
	out     Proof
}

// allLanes returns the lanes of all projects, those of [refs.Home] too.
func (m *Memory) allLanes() ([]refs.Lane, error) {
	lanes, err := m.repo.Lanes()
	if err != nil {
		return nil, err
	}
	selves, err := m.repo.Selves()
	for _, d := range selves {
		lanes = append(lanes, refs.Lane{Project: refs.Home, Device: d})
	}
	return lanes, err
}

// lane looks at everything that a lane leads to, streams decompressed.
func (v *prover) lane(ctx context.Context, l refs.Lane) error {
	return v.m.repo.Outgoing(ctx, l, func(string) bool { return false }, func(piece refs.Piece) error {
		found, err := v.findsIn(piece.Content, piece.Kind == "object" || piece.Kind == "stream")
		if err != nil || !found {
			return err
		}
		if l.Device != v.m.repo.Device().ID {
			v.out.Others[l.Device]++
			return nil
		}
		v.out.Left = append(v.out.Left, "memory.git "+piece.Kind+" "+piece.Name.Short())
		return nil
	})
}

// hidden counts the records of other devices that are hidden and are about the same, since this forgetting or an earlier one:
// what was made of forgotten text need not hold a name or a word of it.
func (v *prover) hidden(ctx context.Context) error {
	about, records := map[string]bool{}, map[string]bool{}
	for _, p := range v.said {
		for _, s := range p.Sessions {
			about[s] = true
		}
		for _, x := range p.Passages {
			about[x.Session] = true
		}
		for _, r := range p.Records {
			records[r] = true
		}
	}
	same := func(r refs.Record) bool {
		return records[recordName(stampOf(r))] || slices.ContainsFunc(sessionsIn(r.Kind, r.Body), func(s string) bool { return about[purgeKey(s)] })
	}
	for _, p := range v.o.places() {
		if p.ID == refs.Home {
			continue
		}
		var all []refs.Record
		err := v.m.repo.View(ctx, p.ID, func(tx *refs.Tx) (err error) {
			all, err = tx.Records(ctx, nil)
			return err
		})
		if err != nil {
			return err
		}
		seen, err := v.m.unpurged(ctx, p.ID, all)
		if err != nil {
			return err
		}
		shown, held := map[objects.Hash]bool{}, map[string]int{}
		for _, r := range seen {
			shown[r.ID] = true
		}
		for _, r := range all {
			if !shown[r.ID] && same(r) && r.Device != v.m.repo.Device().ID {
				held[r.Device]++
			}
		}
		for d, n := range held {
			v.out.Others[d] = max(v.out.Others[d], n)
		}
	}
	return nil
}

// finds looks at some bytes.
func (v *prover) finds(b []byte, words bool) bool {
	v.out.Bytes += int64(len(b))
	if holds(b, v.needles) {
		return true
	}
	return words && v.o.Match != nil && slices.ContainsFunc(bytes.Split(b, newline), v.o.Match.Match)
}

// findsIn is finds of content of any length.
func (v *prover) findsIn(r io.Reader, words bool) (bool, error) {
	needles := needleWindows(v.needles)
	read := &counter{r: io.TeeReader(r, needles)}
	matched := false
	var err error
	if words && v.o.Match != nil {
		matched, err = matchesLine(v.o.Match, read, windowSize)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, read)
	}
	v.out.Bytes += read.n
	return needles.done() || matched, err
}

// repositories looks whether every object of both repositories belongs to a lane, and at those of originals.git.
func (v *prover) repositories(ctx context.Context) error {
	return v.m.repo.Objects(ctx, func(repo string, g *gitstore.Repo, id pack.ID, live bool) error {
		v.out.Objects++
		if !live {
			v.out.Left = append(v.out.Left, repo+" object "+id.String()[:10]+unreached)
		}
		if repo != "originals.git" {
			return nil
		}
		_, b, err := g.Read(id)
		if err == nil && v.finds(b, false) {
			v.out.Left = append(v.out.Left, repo+" object "+id.String()[:10])
		}
		return err
	})
}

// files looks at all files of the store as they are on the disk.
func (v *prover) files() error {
	root := v.m.repo.Dir()
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || len(v.out.Others) > 0 && strings.HasPrefix(rel, "memory.git") && strings.HasSuffix(rel, ".pack") {
			return err // where other devices have it: their lanes were looked at one by one
		}
		found, n, err := fileHolds(path, v.needles)
		v.out.Bytes += n
		if err == nil && v.o.Match != nil && strings.HasPrefix(filepath.ToSlash(rel), "cache/") {
			found, err = v.matches(path)
		}
		if found {
			v.out.Left = append(v.out.Left, filepath.ToSlash(rel))
		}
		return err
	})
}

// matches looks in a file of the cache for what an expression matches.
func (v *prover) matches(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return matchesLine(v.o.Match, f, windowSize)
}

// fileHolds looks for needles in a file piece by piece.
func fileHolds(path string, needles [][]byte) (found bool, size int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	most := 0
	for _, n := range needles {
		most = max(most, len(n))
	}
	buf := make([]byte, 0, 1<<20+most)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		size += int64(n)
		buf = buf[:len(buf)+n]
		if holds(buf, needles) {
			return true, size, nil
		}
		if keep := max(0, most-1); len(buf) > keep {
			buf = append(buf[:0], buf[len(buf)-keep:]...)
		}
		if err == io.EOF {
			return false, size, nil
		}
		if err != nil {
			return false, size, err
		}
	}
}
