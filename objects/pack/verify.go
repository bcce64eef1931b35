package pack

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Damage contains the errors of a pack, of its index, or of both.
type Damage struct {
	Name  string // without ".pack"
	Pack  error
	Index error
}

// Verify reads all packs and indexes of dir and compares them with their checksums, so it finds every flipped bit. It
// calls bad for each pack of which a file is damaged or missing, and returns the number of bytes read.
func Verify(dir string, bad func(Damage)) (int64, error) {
	names, err := readNames(dir)
	if err != nil {
		return 0, err
	}
	slices.Sort(names)
	var total int64
	for _, file := range names {
		name, ok := strings.CutSuffix(file, ".pack")
		if !ok || !strings.HasPrefix(file, "pack-") {
			continue
		}
		base := filepath.Join(dir, name)
		d := Damage{Name: name}
		var n, m int64
		n, d.Pack = verifyFile(base+".pack", "PACK")
		m, d.Index = verifyFile(base+".idx", idxMagic)
		total += n + m
		if d.Pack == nil && d.Index == nil {
			d.Index = checkPair(base)
		}
		if d.Pack == nil && d.Index == nil || isGone(base) {
			continue // intact, or removed by a merge meanwhile
		}
		bad(d)
	}
	return total, nil
}

func isGone(base string) bool {
	_, err := os.Stat(base + ".pack")
	return errors.Is(err, os.ErrNotExist)
}

// checkPair checks that a pack and its index belong together.
func checkPair(base string) error {
	x, err := openIndex(base + ".idx")
	if err != nil {
		return err
	}
	p, err := OpenFile(base + ".pack")
	if err != nil {
		return err
	}
	_, err = checkPack(p, x)
	return errors.Join(err, p.Close())
}

// verifyFile checks the header of a file, and compares its last 20 bytes with the SHA-1 of all bytes before.
func verifyFile(file, magic string) (int64, error) {
	f, err := OpenFile(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	body := fi.Size() - int64(idSize)
	if body < int64(len(magic)) {
		return 0, fmt.Errorf("%d bytes: %w", fi.Size(), ErrCorrupt)
	}
	r := bufio.NewReaderSize(f, int(min(fi.Size(), 1<<20)))
	if head, err := r.Peek(len(magic)); err != nil || string(head) != magic {
		return 0, fmt.Errorf("begins with %q: %w", head, ErrCorrupt)
	}
	h := sha1.New()
	if n, err := io.CopyN(h, r, body); err != nil {
		return n, err
	}
	var sum ID
	if _, err := io.ReadFull(r, sum[:]); err != nil {
		return body, err
	}
	if !bytes.Equal(h.Sum(nil), sum[:]) {
		return fi.Size(), fmt.Errorf("checksum does not match: %w", ErrCorrupt)
	}
	return fi.Size(), nil
}
