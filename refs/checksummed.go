package refs

import (
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// ChecksummedFiles returns the control files in dir that are JSON with a checksum ([disk.WithSum]), as paths in the
// store. Some of them need not exist.
func ChecksummedFiles(dir string) ([]string, error) {
	out := []string{cloneFile, lane.DeviceFile, "forgotten.json", FormerFile, remotesFile}
	keys, err := disk.Match(filepath.Join(dir, keysDir), "*.json")
	for _, k := range keys {
		out = append(out, keysDir+"/"+filepath.Base(k))
	}
	return out, err
}
