package pack

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fanIn is the minimum number of packs in a merge, if there are as many.
const fanIn = 16

// Merge copies small packs of dir into one and returns how many it merged. What was merged stays for
// [Expire] to remove, and nobody here reads it any more: plain git may be reading the directory, and
// git fsck lists the packs once and opens each later. Merge takes the smallest packs, at least 16, and
// goes on as long as the next is not larger than twice what it has: so the work of all merges grows
// with n log n, not with the square.
//
// Entries are copied as they are; each is checked by its CRC-32. The new pack is durable before an
// old one is given up, and no object is dropped. Packs with a .keep or .promisor file and packs with
// deltas are left alone; so are damaged ones, but they are named in an error that wraps
// [ErrCorrupt], returned beside the number of those that were merged. The caller holds the lock
// of those who merge; writers and readers need none.
func Merge(dir, mark string) (int, error) { return merge(dir, mark, smallest, supersede) }

// MergeAll is [Merge] of all packs that can be merged. It removes what it merged.
func MergeAll(dir, mark string) (int, error) {
	return merge(dir, mark, func(cs []candidate) []candidate { return cs }, removePack)
}

// smallest chooses the packs of a merge.
func smallest(cs []candidate) []candidate {
	var sum int64
	for i, c := range cs {
		if i >= fanIn && c.size > 2*sum {
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

// A packError says which pack made a merge stop.
type packError struct {
	base string
	err  error
}

func (e *packError) Error() string { return fmt.Sprintf("pack %s: %v", filepath.Base(e.base), e.err) }
func (e *packError) Unwrap() error { return e.err }

// merge repeats until all packs that choose returns are intact, and leaves out the others. It calls dispose with each
// pack that was merged.
func merge(dir, mark string, choose func([]candidate) []candidate, dispose func(base string) error) (int, error) {
	var damaged []error
	left := map[string]bool{}
	for {
		all, err := candidates(dir, left)
		if err != nil {
			return 0, fmt.Errorf("merge packs: %w", err)
		}
		n, err := mergeThese(dir, mark, choose(all), dispose)
		var at *packError
		if !errors.As(err, &at) || left[at.base] {
			if err != nil {
				err = fmt.Errorf("merge packs: %w", err)
			}
			return n, errors.Join(append(damaged, err)...)
		}
		left[at.base] = true
		if errors.Is(err, ErrCorrupt) {
			damaged = append(damaged, fmt.Errorf("merge packs: %w", err))
		}
	}
}

// candidates returns the packs that may be merged, the smallest first.
func candidates(dir string, left map[string]bool) ([]candidate, error) {
	bases, err := listPacks(dir)
	if err != nil {
		return nil, err
	}
	var cs []candidate
	for _, base := range bases {
		kept, err := hasAny(base, ".keep", ".promisor")
		if err != nil {
			return nil, err
		}
		if kept || left[base] {
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

func hasAny(base string, exts ...string) (bool, error) {
	for _, ext := range exts {
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

// mergeThese does one merge. If a pack prevents it, the error is a packError.
func mergeThese(dir, mark string, cs []candidate, dispose func(string) error) (int, error) {
	if len(cs) < 2 {
		return 0, nil
	}
	w, err := Create(dir, mark)
	if err != nil {
		return 0, err
	}
	for _, c := range cs {
		if err := copyPack(w, c.base); err != nil {
			return 0, errors.Join(err, w.Abort())
		}
	}
	name, err := w.Close()
	if err != nil {
		return 0, err
	}
	var errs []error
	if err := dropMultiIndex(dir); err != nil {
		return 0, err // git would open the old packs
	}
	for _, c := range cs {
		if filepath.Base(c.base) != name {
			errs = append(errs, dispose(c.base))
		}
	}
	return len(cs), errors.Join(append(errs, SyncDir(dir))...)
}

// mergeRead is how much of a pack is read at once: most entries are small.
const mergeRead = 256 << 10

// copyPack adds all entries of a pack to w.
func copyPack(w *Writer, base string) error { return copyKept(w, base, func(ID) bool { return true }) }

// copyKept adds those entries of a pack to w that are kept.
func copyKept(w *Writer, base string, keep func(ID) bool) (err error) {
	x, err := openIndex(base + ".idx")
	if err != nil {
		return inPack(base, err)
	}
	defer func() { err = errors.Join(err, x.close()) }()
	p, err := OpenFile(base + ".pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	end, err := checkPack(p, x)
	if err != nil {
		return inPack(base, err)
	}
	items, err := x.items()
	if err != nil {
		return inPack(base, err)
	}
	var buf []byte // what of the pack lies from byte at on
	at := int64(0)
	for i, it := range items {
		next := end
		if i+1 < len(items) {
			next = items[i+1].off
		}
		if it.off < headerSize || next <= it.off || next > end {
			return inPack(base, fmt.Errorf("object %s lies from byte %d to %d: %w", it.id, it.off, next, ErrCorrupt))
		}
		if !keep(it.id) {
			continue
		}
		if it.off < at || next > at+int64(len(buf)) {
			n := int(min(max(next-it.off, mergeRead), end-it.off))
			buf, at = slices.Grow(buf[:0], n)[:n], it.off
			if err := readAt(p, buf, at); err != nil {
				return inPack(base, err)
			}
		}
		raw := buf[it.off-at : next-at]
		if crc32.ChecksumIEEE(raw) != it.crc {
			return inPack(base, fmt.Errorf("object %s: wrong CRC-32: %w", it.id, ErrCorrupt))
		}
		if k := Kind(raw[0] >> 4 & 7); k == offsetDelta || k == refDelta {
			return inPack(base, errSkip)
		}
		if err := w.add(it.id, it.crc, raw); err != nil {
			return err
		}
	}
	return nil
}

// inPack wraps an error that excludes one pack from a merge. Errors of the disk stop the whole merge.
func inPack(base string, err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, errSkip) {
		return &packError{base, err}
	}
	return err
}

// dropMultiIndex removes git's index over several packs, which may name those to be removed.
func dropMultiIndex(dir string) error {
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

// removePack removes the pack before its index, so that no pack is ever without one.
func removePack(base string) error {
	for _, ext := range append([]string{".pack"}, beside...) {
		if err := removeFile(base + ext); err != nil {
			return err
		}
	}
	return nil
}
