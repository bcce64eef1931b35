package refs

import (
	"path/filepath"

	"github.com/memvcs/mem/objects/gitstore"
)

// A Part is one of the two repositories of a store.
type Part struct {
	Dir string // its name in the store
	Git *gitstore.Repo
}

// Parts returns memory.git and originals.git.
func (r *Repo) Parts() []Part { return []Part{{MemoryDir, r.memory}, {OriginalsDir, r.originals}} }

// DamagedDir is where damaged files are kept, under their names, when something better took their place.
const DamagedDir = "damaged"

// RepairMark is in the names of the temporary files of a repair.
const RepairMark = "repair"

// KeptAs returns where a damaged file of a part of the store is that was put aside under that name; "" for none.
func KeptAs(part, name string) string {
	if name == "" {
		return ""
	}
	return filepath.Join(DamagedDir, part, name)
}

const (
	MemoryDir    = "memory.git"
	OriginalsDir = "originals.git"
)
