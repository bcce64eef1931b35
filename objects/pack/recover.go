package pack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
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

// Recover repairs a damaged pack of dir. If the pack is intact, it is received again, which writes a new index; if the
// index is intact, the intact objects go to a new pack; otherwise both files are removed. Before that it links the
// damaged files into the directory aside, so nothing is ever lost.
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
	if err != nil {
		return Recovery{Unknown: true}, err
	}
	if !fi.Mode().IsRegular() || d.Pack != nil && d.Index != nil {
		return giveUpPack(dir, base, aside, dryRun)
	}
	p, err := OpenFile(base + ".pack")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var fill func(*Writer) error
	if d.Pack == nil {
		var head [headerSize]byte
		if err := readAt(p, head[:], 0); err != nil {
			return r, err
		}
		r.Objects = int(binary.BigEndian.Uint32(head[8:]))
		fill = func(w *Writer) error {
			_, err := w.Receive(p, Limits{Bytes: math.MaxInt64, Objects: math.MaxUint32, Object: math.MaxInt64, Ratio: 1032})
			return err
		}
	} else {
		s, err := openSalvage(p, base, &r)
		if err != nil {
			return r, err
		}
		fill = s.copy
	}
	if dryRun {
		return r, nil
	}
	if err := r.setAside(base, ".idx", aside); err != nil {
		return r, err
	}
	if d.Pack != nil {
		if err := r.setAside(base, ".pack", aside); err != nil {
			return r, err
		}
	}
	r.Pack, err = Write(dir, mark, fill)
	if err != nil && isDamage(err) {
		return giveUpPack(dir, base, aside, dryRun)
	}
	if err != nil || r.Pack == d.Name {
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

// A salvager copies the intact objects of a damaged pack with an intact index.
type salvager struct {
	f    *os.File
	end  int64
	good []item          // in the order of the pack
	size map[int64]int64 // of the intact entries, by offset
	at   map[ID]int64    // their offsets
}

// openSalvage finds the intact objects, and adds the others to r.Lost.
func openSalvage(f *os.File, base string, r *Recovery) (*salvager, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x, err := openIndex(base + ".idx")
	if err != nil {
		return nil, err
	}
	items, err := x.items()
	if err = errors.Join(err, x.close()); err != nil {
		return nil, err
	}
	s := &salvager{f: f, end: st.Size() - int64(idSize), size: map[int64]int64{}, at: map[ID]int64{}}
	for i, it := range items {
		next := s.end
		if i+1 < len(items) {
			next = min(next, items[i+1].off)
		}
		crc := crc32.NewIEEE()
		n, err := io.Copy(crc, io.NewSectionReader(f, it.off, max(0, next-it.off)))
		if err != nil {
			return nil, err
		}
		if n > 0 && crc.Sum32() == it.crc {
			s.size[it.off], s.at[it.id] = n, it.off
		}
	}
	for _, it := range items {
		if err := s.check(it); err == nil {
			s.good = append(s.good, it)
		} else if isDamage(err) {
			r.Lost = append(r.Lost, it.id)
		} else {
			return nil, err
		}
	}
	slices.SortFunc(r.Lost, ID.Compare)
	r.Objects = len(s.good)
	return s, nil
}

// check checks an object: a whole one by the CRC-32 of its entry, a delta by the name of its content.
func (s *salvager) check(it item) error {
	k, err := s.kind(it.off)
	if err != nil || !k.isDelta() {
		return err
	}
	k, data, err := s.object(it.off, 0)
	if err == nil && Name(k, data) != it.id {
		err = fmt.Errorf("object %s: %w", it.id, ErrCorrupt)
	}
	return err
}

// kind returns the kind of an intact entry.
func (s *salvager) kind(off int64) (Kind, error) {
	if s.size[off] == 0 {
		return 0, fmt.Errorf("entry at byte %d: %w", off, ErrNotFound)
	}
	var head [1]byte
	err := readAt(s.f, head[:], off)
	return entryKind(head[0]), err
}

// copy adds the intact objects to w: whole ones unchanged, the others without deltas.
func (s *salvager) copy(w *Writer) error {
	for _, it := range s.good {
		k, err := s.kind(it.off)
		if err == nil && !k.isDelta() {
			n := s.size[it.off]
			err = w.addFrom(it.id, it.crc, io.NewSectionReader(s.f, it.off, n), n)
		} else if err == nil {
			var data []byte
			if k, data, err = s.object(it.off, 0); err == nil {
				err = w.Add(Encode(k, data, 6))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object returns the object of an intact entry, with deltas resolved.
func (s *salvager) object(off int64, depth int) (Kind, []byte, error) {
	if _, err := s.kind(off); err != nil {
		return 0, nil, err
	}
	br := bufio.NewReader(nil)
	h, err := readEntryHeader(br, s.f, off, s.end)
	if err != nil && !errors.Is(err, ErrDelta) {
		return 0, nil, err
	}
	if h.size > MaxSize || depth > maxChain {
		return 0, nil, fmt.Errorf("entry at byte %d: %d bytes: %w", off, h.size, ErrTooLarge)
	}
	var base ID
	from := off
	switch h.kind {
	case offsetDelta:
		back, err := readDistance(br)
		if err != nil {
			return 0, nil, err
		}
		from -= back
	case refDelta:
		if _, err := io.ReadFull(br, base[:]); err != nil {
			return 0, nil, asCorrupt(err)
		}
		from = s.at[base]
	}
	data, err := inflate(br, h)
	if err != nil || !h.kind.isDelta() {
		return h.kind, data, err
	}
	k, of, err := s.object(from, depth+1)
	if err != nil {
		return 0, nil, err
	}
	data, err = applyDelta(of, data, MaxSize)
	return k, data, err
}
