package pack

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A Recovery is the result of [Recover].
type Recovery struct {
	Objects int  // intact objects
	Lost    []ID // names of damaged objects
	Unknown bool // the index is damaged, too: nothing tells what the pack had
	Pack    string
	Aside   map[string]string // the names of the damaged files in aside, by ".pack" and ".idx"
}

// Recover repairs a damaged pack of dir. If the pack is intact, it rebuilds the index; if the index is intact, it
// writes the intact objects to a new pack; otherwise it removes both. Before that it links the damaged files into the
// directory aside, so nothing is ever lost.
// With dryRun it writes nothing. It can be interrupted at any point and repeated. The caller must have locked merges.
func Recover(dir, mark, aside string, d Damage, dryRun bool) (Recovery, error) {
	r, err := recoverPack(dir, mark, aside, d, dryRun)
	if err != nil {
		err = fmt.Errorf("recover %s: %w", d.Name, err)
	}
	return r, err
}

func recoverPack(dir, mark, aside string, d Damage, dryRun bool) (r Recovery, err error) {
	base := filepath.Join(dir, d.Name)
	fi, err := os.Lstat(base + ".pack")
	if err != nil || !fi.Mode().IsRegular() || d.Pack != nil && d.Index != nil {
		if err != nil {
			return Recovery{Unknown: true}, err
		}
		return giveUpPack(dir, base, aside, dryRun)
	}
	s, err := openSalvage(base, d.Index == nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.f.Close()) }()
	items, err := s.all(&r)
	r.Objects = len(items)
	if err != nil && isDamage(err) {
		return giveUpPack(dir, base, aside, dryRun)
	}
	if err != nil || dryRun {
		return r, err
	}
	if err := r.setAside(base, ".idx", aside); err != nil {
		return r, err
	}
	if d.Pack == nil {
		r.Pack = d.Name
		return r, s.reindex(dir, mark, base, items)
	}
	if err := r.setAside(base, ".pack", aside); err != nil {
		return r, err
	}
	if r.Pack, err = s.copy(dir, mark, items); err != nil || r.Pack == d.Name {
		return r, err // the new pack has the same name: it has replaced the damaged one
	}
	return r, errors.Join(removePack(base), SyncDir(dir))
}

// giveUpPack sets a pack and its index aside and removes both.
func giveUpPack(dir, base, aside string, dryRun bool) (Recovery, error) {
	r := Recovery{Unknown: true}
	if dryRun {
		return r, nil
	}
	return r, errors.Join(r.setAside(base, ".pack", aside), r.setAside(base, ".idx", aside), removePack(base), SyncDir(dir))
}

// isDamage reports whether an error is about the content of a pack and not about reading it.
func isDamage(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNotFound)
}

func (r *Recovery) setAside(base, ext, aside string) error {
	name, err := SetAside(base+ext, aside)
	if name != "" {
		if r.Aside == nil {
			r.Aside = map[string]string{}
		}
		r.Aside[ext] = name
	}
	return err
}

// SetAside links a file into the directory to, which it creates, and returns the name of the link: the same name, or
// one with a number appended if another file has it. An existing link with the same content is reused. If the file does
// not exist, the name is "".
func SetAside(file, to string) (name string, err error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	name = filepath.Base(file)
	err = os.Link(file, filepath.Join(to, name))
	for i := 1; errors.Is(err, os.ErrExist); i++ {
		same, err1 := sameContent(file, filepath.Join(to, name))
		switch {
		case errors.Is(err1, os.ErrNotExist):
			return "", nil
		case same || err1 != nil:
			return name, err1
		}
		name = fmt.Sprintf("%s.%d", filepath.Base(file), i)
		err = os.Link(file, filepath.Join(to, name))
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil { // no hard links on this file system, or a symbolic link
		err = copyFile(file, filepath.Join(to, name))
	}
	return name, errors.Join(err, SyncDir(to))
}

func sameContent(a, b string) (bool, error) {
	x, err := ReadFile(a)
	if err != nil {
		return false, err
	}
	y, err := ReadFile(b)
	return bytes.Equal(x, y), err
}

func copyFile(from, to string) error {
	if fi, err := os.Stat(from); err != nil || !fi.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is not a file", from))
	}
	b, err := ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// A salvager reads the intact objects of a pack.
type salvager struct {
	f    *os.File
	end  int64
	idx  []item // in the order of the pack; nil if there is no good index
	at   map[ID]int64
	size map[int64]int64 // of entries that were read, in the pack
	buf  []byte
}

func openSalvage(base string, indexed bool) (*salvager, error) {
	f, err := OpenFile(base + ".pack")
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &salvager{f: f, end: st.Size(), at: map[ID]int64{}, size: map[int64]int64{}}
	if !indexed {
		return s, nil
	}
	x, err := openIndex(base + ".idx")
	if err == nil {
		s.idx, err = x.items()
		err = errors.Join(err, x.close())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, it := range s.idx {
		s.at[it.id] = it.off
	}
	return s, nil
}

// all finds the intact objects, in the order of the pack.
func (s *salvager) all(r *Recovery) ([]item, error) {
	if s.idx == nil {
		return s.scan()
	}
	return s.indexed(r)
}

func (s *salvager) indexed(r *Recovery) (items []item, err error) {
	for _, it := range s.idx {
		id, crc, err := s.check(it.off)
		switch {
		case err == nil && id == it.id:
			items = append(items, item{id, crc, it.off})
		case err == nil || isDamage(err):
			r.Lost = append(r.Lost, it.id)
		default:
			return nil, err
		}
	}
	slices.SortFunc(r.Lost, ID.Compare)
	return items, nil
}

// scan reads an intact pack without an index.
func (s *salvager) scan() (items []item, err error) {
	var pending []int64 // deltas before their base
	for off := int64(headerSize); off < s.end-int64(idSize); {
		id, crc, err := s.check(off)
		size, read := s.size[off]
		switch {
		case err == nil:
			items = append(items, item{id, crc, off})
			s.at[id] = off
		case read && errors.Is(err, ErrNotFound):
			pending = append(pending, off)
		default:
			return nil, err
		}
		off += size
	}
	for len(pending) > 0 {
		n := len(pending)
		pending = slices.DeleteFunc(pending, func(off int64) bool {
			id, crc, err := s.check(off)
			if err == nil {
				items = append(items, item{id, crc, off})
				s.at[id] = off
			}
			return err == nil
		})
		if len(pending) == n {
			return nil, fmt.Errorf("%d deltas without their base: %w", n, ErrCorrupt)
		}
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.off, b.off) })
	return items, nil
}

// check reads the entry at off and returns the name of its object and the CRC-32 of the entry.
func (s *salvager) check(off int64) (id ID, crc uint32, err error) {
	k, data, err := s.object(off, 0)
	if err != nil {
		return id, 0, err
	}
	raw := make([]byte, s.size[off])
	if err := readAt(s.f, raw, off); err != nil {
		return id, 0, err
	}
	return Name(k, data), crc32.ChecksumIEEE(raw), nil
}

// object returns the object of the entry at off, with deltas resolved.
func (s *salvager) object(off int64, depth int) (Kind, []byte, error) {
	f := &markReader{r: io.NewSectionReader(s.f, off, s.end-off), limit: s.end, sum: sha1.New(),
		buf: slices.Grow(s.buf[:0], 1<<10)}
	in := &receiver{f: f, l: Limits{Object: MaxSize}}
	k, size, _, err := decodeHeader(f)
	switch {
	case err != nil:
		return 0, nil, err
	case size > MaxSize || size > 1032*(s.end-off):
		return 0, nil, fmt.Errorf("%d bytes: %w", size, ErrTooLarge)
	case depth > maxChain:
		return 0, nil, fmt.Errorf("an endless chain of deltas: %w", ErrCorrupt)
	}
	base := int64(-1)
	switch k {
	case Commit, Tree, Blob, Tag:
	case offsetDelta:
		back, err := in.distance()
		if err != nil || back <= 0 || back > off-headerSize {
			return 0, nil, fmt.Errorf("delta at byte %d: its base is %d bytes before it: %w", off, back, ErrCorrupt)
		}
		base = off - back
	case refDelta:
		b, err := in.f.next(idSize)
		if err != nil {
			return 0, nil, err
		}
		if at, ok := s.at[ID(b)]; ok {
			base = at
		}
	default:
		return 0, nil, fmt.Errorf("entry of kind %d: %w", k, ErrCorrupt)
	}
	var b bytes.Buffer
	if err := in.copy(&b, size); err != nil {
		return 0, nil, err
	}
	data := b.Bytes()
	s.size[off], s.buf = f.offset(), f.buf
	if !k.isDelta() {
		return k, data, nil
	}
	if base < 0 {
		return 0, nil, fmt.Errorf("base of a delta: %w", ErrNotFound)
	}
	k, from, err := s.object(base, depth+1)
	if err != nil {
		return 0, nil, err
	}
	data, err = applyDelta(from, data, MaxSize)
	return k, data, err
}

// reindex writes the index of an intact pack.
func (s *salvager) reindex(dir, mark, base string, items []item) error {
	if err := checkMark(mark); err != nil {
		return err
	}
	var sum ID
	if err := readAt(s.f, sum[:], s.end-int64(idSize)); err != nil {
		return err
	}
	idx := encodeIndex(items, sum)
	f, err := (&Writer{dir: dir, mark: mark}).writeIndex(idx)
	if err != nil {
		return err
	}
	if err = syncAndClose(f); err == nil {
		err = os.Rename(f.Name(), base+".idx")
	}
	if err != nil {
		return errors.Join(err, removeFile(f.Name()))
	}
	return SyncDir(dir)
}

// copy writes a pack of the intact objects. It copies their entries unchanged where possible.
func (s *salvager) copy(dir, mark string, items []item) (string, error) {
	return Write(dir, mark, func(w *Writer) error {
		for _, it := range items {
			e, err := s.entry(it)
			if err == nil {
				err = w.Add(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *salvager) entry(it item) (Entry, error) {
	raw := make([]byte, s.size[it.off])
	if err := readAt(s.f, raw, it.off); err != nil {
		return Entry{}, err
	}
	if k := entryKind(raw[0]); !k.isDelta() {
		return Entry{ID: it.id, Kind: k, crc: it.crc, raw: raw}, nil
	}
	k, data, err := s.object(it.off, 0)
	if err != nil {
		return Entry{}, err
	}
	return Encode(k, data, 6), nil
}
