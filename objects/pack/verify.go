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

// Verify reads every pack of dir and its index to the last byte and compares them with the checksums at
// their ends, so that no flipped bit goes unseen. It calls bad for each file that is damaged or lacks
// its other half, and returns how many bytes it read.
func Verify(dir string, bad func(file string, err error)) (int64, error) {
	names, err := readNames(dir)
	if err != nil {
		return 0, err
	}
	slices.Sort(names)
	var total int64
	for _, name := range names {
		if !strings.HasPrefix(name, "pack-") || !strings.HasSuffix(name, ".pack") {
			continue
		}
		base := filepath.Join(dir, strings.TrimSuffix(name, ".pack"))
		for _, file := range []string{base + ".pack", base + ".idx"} {
			n, err := verifyFile(file)
			total += n
			if errors.Is(err, os.ErrNotExist) {
				if _, e := os.Stat(base + ".pack"); errors.Is(e, os.ErrNotExist) {
					continue // merged into another pack meanwhile
				}
			}
			if err != nil {
				bad(filepath.Base(file), err)
			}
		}
	}
	return total, nil
}

// verifyFile compares the last 20 bytes of a file with the SHA-1 of all before them.
func verifyFile(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	body := fi.Size() - int64(len(ID{}))
	if body < 0 {
		return 0, fmt.Errorf("%d bytes: %w", fi.Size(), ErrCorrupt)
	}
	r := bufio.NewReaderSize(f, 1<<20)
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
