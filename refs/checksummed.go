package refs

import (
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// ChecksummedFiles returns the control files in dir that are JSON with a checksum: their paths in the store, and a
// pointer to the type that each decodes to, nil if package refs does not know it.
func ChecksummedFiles(dir string) (map[string]any, error) {
	out := map[string]any{lane.DeviceFile: &lane.DeviceJSON{}, remotesFile: &remotesJSON{}}
	for _, name := range noteFiles {
		out[name] = nil
	}
	keys, err := disk.Match(filepath.Join(dir, keysDir), "*.json")
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		out[keysDir+"/"+filepath.Base(k)] = nil
	}
	return out, nil
}

// noteFiles are the control files of [Repo.WriteNote], most of whose content other packages define, and the mark of a
// clone.
var noteFiles = []string{"forgotten.json", "forgetting.json", FormerFile, cloneFile}
