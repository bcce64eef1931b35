package pack

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// minMerge is the minimum number of packs in a merge, if there are as many.
const minMerge = 16

// Merge copies small packs of dir into one and returns the number of merged packs. It marks the merged packs as
// superseded, for [Expire] to remove: readers of this package skip them, but plain git may be reading the directory,
// and git fsck lists the packs once and opens each later. Merge chooses the smallest packs, at least 16 if there are as
// many, and adds the next larger one while its size is at most twice the sum so far. So the work of all merges grows
// with n log n.
//
// Entries are copied unchanged; each is checked by its CRC-32. The new pack is durable before an old one is marked,
// and no object is dropped. Packs with deltas or with a .keep or .promisor file are skipped. So are damaged ones, which
// are named in an error that wraps [ErrCorrupt], returned together with the number of merged packs. The caller holds
// the merge lock; writers and readers need none.
func Merge(dir, mark string) (int, error) { return merge(dir, mark, chooseSmallest, supersede) }

// MergeAll is [Merge] of all packs that can be merged. It removes the merged packs.
func MergeAll(dir, mark string) (int, error) {
	return merge(dir, mark, func(cs []candidate) []candidate { return cs }, removePack)
}

// chooseSmallest chooses the packs of a merge.
func chooseSmallest(cs []candidate) []candidate {
	var sum int64
	for i, c := range cs {
		if i >= minMerge && c.size > 2*sum {
			return cs[:i]
		}
		sum += c.size
	}
	return cs
}

// A candidate is a pack that may be merged.
type candidate struct {
	base string
	size int64
}

// errSkip means that an intact pack cannot be merged.
var errSkip = errors.New("pack has deltas")

// A packError names the pack that stopped a merge.
type packError struct {
	base string
	err  error
}

func (e *packError) Error() string { return fmt.Sprintf("pack %s: %v", filepath.Base(e.base), e.err) }
func (e *packError) Unwrap() error { return e.err }

// merge merges the packs that choose returns, and tries again without each one that cannot be merged. It calls dispose
// with each merged pack.
func merge(dir, mark string, choose func([]candidate) []candidate, dispose func(base string) error) (int, error) {
	var damaged []error
	skip := map[string]bool{}
	for {
		all, err := candidates(dir, skip)
		if err != nil {
			return 0, fmt.Errorf("merge packs: %w", err)
		}
		n, err := mergePacks(dir, mark, choose(all), dispose)
		var at *packError
		if !errors.As(err, &at) || skip[at.base] {
			if err != nil {
				err = fmt.Errorf("merge packs: %w", err)
			}
			return n, errors.Join(append(damaged, err)...)
		}
		skip[at.base] = true
		if errors.Is(err, ErrCorrupt) {
			damaged = append(damaged, fmt.Errorf("merge packs: %w", err))
		}
	}
}

// candidates returns the packs that may be merged, the smallest first.
func candidates(dir string, skip map[string]bool) ([]candidate, error) {
	bases, err := listPacks(dir)
	if err != nil {
		return nil, err
	}
	var cs []candidate
	for _, base := range bases {
		kept, err := isKept(base)
		if err != nil {
			return nil, err
		}
		if kept || skip[base] {
			continue
		}
		st, err := os.Stat(base + ".pack")
		if err != nil {
			return nil, err
		}
		cs = append(cs, candidate{base, st.Size()})
	}
	slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(a.size, b.size) })
	return cs, nil
}

// isKept reports whether a pack has a file that forbids its removal.
func isKept(base string) (bool, error) {
	for _, ext := range []string{".keep", ".promisor"} {
		_, err := os.Lstat(base + ext)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// mergePacks does one merge. If a pack prevents it, the error is a packError.
func mergePacks(dir, mark string, cs []candidate, dispose func(string) error) (int, error) {
	if len(cs) < 2 {
		return 0, nil
	}
	var bases []string
	for _, c := range cs {
		bases = append(bases, c.base)
	}
	replaced, err := replacePacks(dir, mark, bases, func(ID) bool { return true }, dispose)
	if !replaced {
		return 0, err
	}
	return len(cs), err
}

// replacePacks writes the kept objects of packs to a new pack, unless there are none, and calls dispose with each old
// pack. It reports whether it got as far as that.
func replacePacks(dir, mark string, old []string, keep func(ID) bool, dispose func(string) error) (bool, error) {
	name, err := Write(dir, mark, func(w *Writer) error {
		for _, base := range old {
			if err := copyKept(w, base, keep); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if err := removeMultiPackIndex(dir); err != nil {
		return false, err // git would open the old packs
	}
	var errs []error
	for _, base := range old {
		if filepath.Base(base) != name {
			errs = append(errs, dispose(base))
		}
	}
	return true, errors.Join(append(errs, SyncDir(dir))...)
}

// mergeRead is the number of bytes of a pack that are read at once: most entries are small.
const mergeRead = 256 << 10

// copyKept adds the entries of a pack for which keep returns true to w.
func copyKept(w *Writer, base string, keep func(ID) bool) (err error) {
	x, err := openIndex(base + ".idx")
	if err != nil {
		return asPackError(base, err)
	}
	p, err := OpenFile(base + ".pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	end, err := checkPack(p, x)
	if err != nil {
		return asPackError(base, err)
	}
	items, err := x.items()
	if err != nil {
		return asPackError(base, err)
	}
	return asPackError(base, copyEntries(w, p, end, items, keep))
}

// copyEntries adds the entries for which keep returns true to w. items are those of the pack p, whose entries end at end.
func copyEntries(w *Writer, p io.ReaderAt, end int64, items []item, keep func(ID) bool) error {
	var buf []byte // a part of the pack, from offset at
	at := int64(0)
	for i, it := range items {
		next := end
		if i+1 < len(items) {
			next = items[i+1].off
		}
		if it.off < headerSize || next <= it.off || next > end {
			return fmt.Errorf("object %s from byte %d to %d: %w", it.id, it.off, next, ErrCorrupt)
		}
		if !keep(it.id) {
			continue
		}
		if it.off < at || next > at+int64(len(buf)) {
			n := int(min(max(next-it.off, mergeRead), end-it.off))
			buf, at = slices.Grow(buf[:0], n)[:n], it.off
			if err := readAt(p, buf, at); err != nil {
				return err
			}
		}
		raw := buf[it.off-at : next-at]
		if crc32.ChecksumIEEE(raw) != it.crc {
			return fmt.Errorf("object %s: wrong CRC-32: %w", it.id, ErrCorrupt)
		}
		if entryKind(raw[0]).IsDelta() {
			return errSkip
		}
		if err := w.add(it.id, it.crc, raw); err != nil {
			return err
		}
	}
	return nil
}

// asPackError wraps an error that excludes one pack from a merge. I/O errors stop the whole merge.
func asPackError(base string, err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, errSkip) {
		return &packError{base, err}
	}
	return err
}

// removeMultiPackIndex removes git's multi-pack-index, which may name the packs to be removed.
func removeMultiPackIndex(dir string) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "multi-pack-index") {
			err = errors.Join(err, removeFile(filepath.Join(dir, name)))
		}
	}
	return err
}

// removePack removes the pack before its index, so that no pack is ever without an index.
func removePack(base string) error {
	for _, ext := range append([]string{".pack"}, companionExts...) {
		if err := removeFile(base + ext); err != nil {
			return err
		}
	}
	return nil
}
