package refs

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

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// The control files of a store are the small files beside the objects that decide what mem does.
// docs/formats.md lists them all, with how damage of each is found.

// notes are the control files whose form only a part of mem knows: those that [Repo.WriteNote] writes, and the
// mark of a clone.
var notes = []string{"forgotten.json", "forgetting.json", cloneFile}

// summedFiles returns the control files in dir that hold JSON with a sum, as paths in the store, with what each
// decodes to.
func summedFiles(dir string) map[string]any {
	out := map[string]any{lane.DeviceFile: &lane.DeviceJSON{}, remotesFile: &remotesJSON{}}
	for _, name := range notes {
		out[name] = nil
	}
	keys, err := filepath.Glob(filepath.Join(dir, keysDir, "*.json"))
	if err != nil {
		panic("refs: a pattern is malformed: " + err.Error())
	}
	for _, k := range keys {
		out[keysDir+"/"+filepath.Base(k)] = nil
	}
	return out
}

// checkControls checks all control files but device.json, which needs to be compared with the lanes.
func (c *checker) checkControls(r *Repo) error {
	files := summedFiles(r.dir)
	delete(files, lane.DeviceFile)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := checkSmall(r.dir, name, files[name]); err != nil {
			c.bad(name, "%v", err)
		}
	}
	return eachFormer(r.dir, func(name string, b []byte) error {
		if _, bad := soundLines(b); bad > 0 {
			c.bad(name, "%d of its lines are no name of a commit with its sum", bad)
		}
		return nil
	})
}

// formerLine is the line of a commit in a file of [formerDir]: its name, and the first digits of the BLAKE3 of that.
func formerLine(id string) string { return id + " " + objects.Sum([]byte(id)).String()[:8] }

// soundLine reports whether a line is one of [formerLine], or of an older mem, which wrote no sum.
func soundLine(line string) bool {
	id, _, summed := strings.Cut(line, " ")
	if _, err := pack.ParseID(id); err != nil {
		return false
	}
	return !summed || line == formerLine(id)
}

// soundLines returns the good lines of a file of [formerDir] as they should be, and how many are not. A damaged
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

// eachFormer calls f with the files of [formerDir] in the store, as paths in it.
func eachFormer(dir string, f func(name string, b []byte) error) error {
	at := path.Join(memoryDir, "mem", formerDir)
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

// former puts the files of [formerDir] right: a line that cannot be goes, so that a remote that has its commit
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
			kept, err := pack.SetAside(file, m.aside(memoryDir))
			if err := errors.Join(err, disk.WriteFile(file, good)); err != nil {
				return fmt.Errorf("mend %s: %w", name, err)
			}
			did.Kept = keptAs(memoryDir, kept)
		}
		m.did = append(m.did, did)
		return nil
	})
}
