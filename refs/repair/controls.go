package repair

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// The control files of a store are the small files beside the objects that decide what mem does.
// docs/formats.md lists them all, with how damage of each is found.

// checkControls checks all control files but device.json, which needs to be compared with the lanes.
func (c *checker) checkControls(r *refs.Repo) error {
	files := refs.SummedFiles(r.Dir())
	delete(files, lane.DeviceFile)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := checkSmall(r.Dir(), name, files[name]); err != nil {
			c.bad(name, "%v", err)
		}
	}
	return eachFormer(r.Dir(), func(name string, b []byte) error {
		if _, bad := soundLines(b); bad > 0 {
			c.bad(name, "%d of its lines are no name of a commit with its sum", bad)
		}
		return nil
	})
}

// soundLine reports whether a line is one of [refs.FormerLine], or of an older mem, which wrote no sum.
func soundLine(line string) bool {
	id, _, summed := strings.Cut(line, " ")
	if _, err := pack.ParseID(id); err != nil {
		return false
	}
	return !summed || line == refs.FormerLine(id)
}

// soundLines returns the good lines of a file of [refs.FormerDir] as they should be, and how many are not. A damaged
// byte is put right.
func soundLines(b []byte) (good []byte, bad int) {
	if len(b) == 0 {
		return nil, 0
	}
	end := len(b) - 1
	if b[end] != '\n' {
		bad++ // of the last line, whatever else is wrong with it
		if last := string(b[bytes.LastIndexByte(b, '\n')+1 : end]); !soundLine(last) {
			end++
		}
	}
	for line := range strings.SplitSeq(string(b[:end]), "\n") {
		if !soundLine(line) {
			bad++
			fixed, ok := disk.MendByte([]byte(line), func(b []byte) bool {
				return bytes.IndexByte(b, ' ') > 0 && soundLine(string(b))
			})
			if !ok {
				continue
			}
			line = string(fixed)
		}
		good = append(append(good, line...), '\n')
	}
	return good, bad
}

// eachFormer calls f with the files of [refs.FormerDir] in the store, as paths in it.
func eachFormer(dir string, f func(name string, b []byte) error) error {
	at := path.Join(refs.MemoryDir, "mem", refs.FormerDir)
	files, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), ".") {
			continue // being written
		}
		b, rerr := pack.ReadFile(filepath.Join(dir, filepath.FromSlash(at), file.Name()))
		if errors.Is(rerr, os.ErrNotExist) {
			continue
		}
		if rerr == nil {
			rerr = f(at+"/"+file.Name(), b)
		}
		if err = rerr; err != nil {
			return err
		}
	}
	return err
}

// former puts the files of [refs.FormerDir] right: a line that cannot be goes, so that a remote that has its commit
// looks rewritten by another.
func (m *mender) former() error {
	return eachFormer(m.store, func(name string, b []byte) error {
		good, bad := soundLines(b)
		if bad == 0 {
			return nil
		}
		did := Mending{Where: name, What: fmt.Sprintf("%d of its lines are no name of a commit with its sum", bad),
			Done: "its good lines were kept"}
		if !m.dryRun {
			file := filepath.Join(m.store, filepath.FromSlash(name))
			kept, err := pack.SetAside(file, m.aside(refs.MemoryDir))
			if err := errors.Join(err, disk.WriteFile(file, good)); err != nil {
				return fmt.Errorf("mend %s: %w", name, err)
			}
			did.Kept = refs.KeptAs(refs.MemoryDir, kept)
		}
		m.did = append(m.did, did)
		return nil
	})
}
