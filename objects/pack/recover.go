package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
			_, err := w.Receive(p, Limits{Bytes: math.MaxInt64, Objects: math.MaxUint32, Object: MaxSize, Ratio: 1032})
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
	x    *index
	end  int64
	good []item // in the order of the pack
}

// openSalvage finds the intact objects, and adds the others to r.Lost.
func openSalvage(f *os.File, base string, r *Recovery) (*salvager, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &salvager{f: f, end: st.Size() - int64(idSize)}
	if s.x, err = openIndex(base + ".idx"); err != nil {
		return nil, err
	}
	items, err := s.x.items()
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if _, _, err := s.read(it); err == nil {
			s.good = append(s.good, it)
		} else if isDamage(err) {
			r.Lost = append(r.Lost, it.id)
		} else {
			return nil, err
		}
	}
	slices.SortFunc(r.Lost, Compare)
	r.Objects = len(s.good)
	return s, nil
}

// read returns an object, with deltas resolved, if its content has its name.
func (s *salvager) read(it item) (Kind, []byte, error) {
	u := unpacker{p: s.f, end: s.end, find: s.x.find}
	k, data, err := u.object(it.off)
	if err == nil && Name(k, data) != it.id {
		err = fmt.Errorf("object %s: %w", it.id, ErrCorrupt)
	}
	return k, data, err
}

// copy adds the intact objects to w. Segments are compressed already: they are the blobs that another compression does
// not shorten.
func (s *salvager) copy(w *Writer) error {
	for _, it := range s.good {
		k, data, err := s.read(it)
		if err != nil {
			return err
		}
		e := Encode(k, data, 1)
		if e.Size() > len(data) {
			e = Encode(k, data, 0)
		}
		if err := w.Add(e); err != nil {
			return err
		}
	}
	return nil
}
