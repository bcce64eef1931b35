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

// DamagedDir is the directory that keeps damaged files after a repair has replaced them.
const DamagedDir = "damaged"

// RepairMark is part of the names of a repair's temporary files.
const RepairMark = "repair"

// DamagedPath returns the path in the store of a file of a part that is kept in [DamagedDir]; "" if name is "".
func DamagedPath(part, name string) string {
	if name == "" {
		return ""
	}
	return filepath.Join(DamagedDir, part, name)
}

// The directories of the two repositories in a store.
const (
	MemoryDir    = "memory.git"
	OriginalsDir = "originals.git"
)
