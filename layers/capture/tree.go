package capture

import (
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/worktree"
	"github.com/memvcs/mem/objects"
)

// written are the files that this memory wrote for the user last, by path, each with a seal of its bytes: the
// hash of exact bytes may not leave originals.git. It is a cache: without it, such a file is replaced only with
// --force, as any other.
type written struct {
	version int
	seals   map[string]string
}

const (
	writtenVersion = 1
	mostWritten    = 2000 // files; of more, those that are gone are dropped
)

func (m Ops) readWritten() *written {
	w := &written{}
	if state.DecodeCache(m.CachePath("written"), w.code) {
		return w
	}
	return &written{version: writtenVersion, seals: map[string]string{}}
}

func (m Ops) sealWritten(path string, sum objects.Hash) string {
	return m.Refs.Seal("file " + path + "\n" + sum.String())
}

// WriteTree lets f stage files in the directory dir and commits them. f returns their names.
func (m Ops) WriteTree(dir string, force, dryRun bool, f func(*worktree.Tree) ([]string, error)) (done CheckedOut,
	err error) {
	w := m.readWritten()
	t, err := worktree.Open(dir, worktree.Options{Force: force, DryRun: dryRun,
		Wrote: func(path string, sum objects.Hash) bool {
			return w.seals[path] == m.sealWritten(path, sum)
		}})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	names, err := f(t)
	if err != nil {
		return done, err
	}
	err = t.Commit(func(path string, sum objects.Hash) { w.seals[path] = m.sealWritten(path, sum) })
	if !dryRun {
		w.prune()
		m.WriteCacheBytes(m.CachePath("written"), state.Encode(w.code))
	}
	if err != nil {
		return done, err
	}
	for _, name := range names {
		done.Files = append(done.Files, t.Path(name))
	}
	done.Created = t.Created()
	return done, nil
}

// prune drops files that are gone when there are many.
func (w *written) prune() {
	if len(w.seals) <= mostWritten {
		return
	}
	maps.DeleteFunc(w.seals, func(path, _ string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}

func (w *written) code(c *records.Codec) {
	records.Number(c, &w.version)
	if w.version != writtenVersion {
		c.Failed = true
		return
	}
	if c.Reading {
		w.seals = map[string]string{}
	}
	paths := slices.Sorted(maps.Keys(w.seals))
	records.List(c, &paths, func(path *string) {
		records.Word(c, path)
		seal := w.seals[*path]
		records.Word(c, &seal)
		w.seals[*path] = seal
	})
}
