package repair

import (
	"bytes"
	"context"
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
	"github.com/memvcs/mem/refs/lane"
)

// checkControls checks the control files, which docs/formats.md lists, except device.json: [checker.device] compares
// that with the lanes.
func (c *checker) checkControls(r *refs.Repo) error {
	files, err := refs.ChecksummedFiles(r.Dir())
	if err != nil {
		return err
	}
	delete(files, lane.DeviceFile)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := checkFile(r.Dir(), name, files[name]); err != nil {
			c.bad(name, "%v", err)
		}
	}
	missing, err := r.MissingFormer(c.ctx)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		c.bad(r.FormerPath(p), "%s", formerMissing)
	}
	return eachFormer(r.Dir(), func(name string, b []byte) error {
		if _, bad := validLines(b); bad > 0 {
			c.bad(name, "%d of its lines are not a commit name with its checksum", bad)
		}
		return nil
	})
}

// formerMissing is the fault of a file that [refs.Repo.MissingFormer] returns.
const formerMissing = "it lacks commits of the lane from before it restarted"

// FixFormer adds to the files of [refs.FormerDir] the commits that remotes had of restarted lanes of this device. With
// dryRun it only returns the fixes that it would make.
func FixFormer(ctx context.Context, r *refs.Repo, dryRun bool) (fixes []Fix, err error) {
	missing, err := r.MissingFormer(ctx)
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		if !dryRun {
			err = errors.Join(err, r.AddFormer(p, missing[p]))
		}
		fixes = append(fixes, Fix{Where: r.FormerPath(p), What: formerMissing,
			Done: "added the commits that the remotes were known to have"})
	}
	return fixes, err
}

// validLine reports whether a line is a [refs.FormerLine], or a commit name without a checksum.
func validLine(line string) bool {
	id, _, summed := strings.Cut(line, " ")
	if _, err := pack.ParseID(id); err != nil {
		return false
	}
	return !summed || line == refs.FormerLine(id)
}

// validLines returns the valid lines of a file of [refs.FormerDir] and the number of invalid ones.
func validLines(b []byte) (good []byte, bad int) {
	if len(b) == 0 {
		return nil, 0
	}
	end := len(b) - 1
	if b[end] != '\n' {
		bad++ // the last line, whether or not it is valid otherwise
		if last := string(b[bytes.LastIndexByte(b, '\n')+1 : end]); !validLine(last) {
			end++
		}
	}
	for line := range strings.SplitSeq(string(b[:end]), "\n") {
		if !validLine(line) {
			bad++
			continue
		}
		good = append(append(good, line...), '\n')
	}
	return good, bad
}

// eachFormer calls f with the path in the store and the content of each file of [refs.FormerDir].
func eachFormer(dir string, f func(name string, b []byte) error) error {
	at := path.Join(refs.MemoryDir, "mem", refs.FormerDir)
	files, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), ".") {
			continue // being written
		}
		b, err := pack.ReadFile(filepath.Join(dir, filepath.FromSlash(at), file.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = f(at+"/"+file.Name(), b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// formerFiles removes damaged lines from the files of [refs.FormerDir]. A remote that still
// has the commit of a removed line looks as if another device had rewritten it.
func (m *fixer) formerFiles() error {
	return eachFormer(m.store, func(name string, b []byte) error {
		good, bad := validLines(b)
		if bad == 0 {
			return nil
		}
		fix := Fix{Where: name, What: fmt.Sprintf("%d of its lines are not a commit name with its checksum", bad),
			Done: "kept its valid lines"}
		if !m.dryRun {
			file := filepath.Join(m.store, filepath.FromSlash(name))
			var err error
			if fix.Kept, err = m.replace(refs.MemoryDir, file, good); err != nil {
				return fmt.Errorf("repair %s: %w", name, err)
			}
		}
		m.fixes = append(m.fixes, fix)
		return nil
	})
}
