package capture

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A PendingFile is a session file that is new or has changed since it was captured.
type PendingFile struct {
	Source
	Known    bool // the session is in memory
	Size     int64
	Modified time.Time
}

// Pending returns the session files of a project and of its subagents that are new or have changed since they were
// captured, the last modified first, without removed and forgotten sessions. It reads the directories of
// [FilesOf] and o.SessionDir. It reads no transcript except, once, the start of those in directories that may
// be nested in the project.
func Pending(ctx context.Context, db *state.DB, p state.Project, o ListOptions) ([]PendingFile, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	files, parents, err := filesOf(ctx, db, p, st, o)
	if err != nil {
		return nil, err
	}
	for _, path := range parents {
		subagents, err := Subagents(path)
		if err != nil {
			if err := o.NoteUnreadable(err); err != nil {
				return nil, err
			}
		}
		for _, src := range subagents {
			f := clientFile(src.Path)
			id := f.sessionID(st)
			if files[id].Path == "" && f.stat() {
				files[id] = f
			}
		}
	}
	found := ReadFileCache(db, p.ID)
	settle(ctx, db, st, files, found)
	var out []PendingFile
	for id, f := range files {
		s := st.Session(id)
		if st.Purged.Session(id, db.Refs.Device().ID) {
			continue
		}
		if s == nil && IsFork(ctx, db, st, id, f, found) {
			continue
		}
		src := Source{Path: f.Path}
		if _, subagent := SubagentOf(f.Path); f.Dir || s == nil || subagent {
			src = SourceOf(f.Path)
		}
		src.Cwd = f.cwd
		if s != nil {
			_, changed := ChangedFile(ctx, db, p.ID, s, f, found)
			if _, also := changedOverflow(ctx, db, p.ID, s, src, found); !changed && !also {
				continue
			}
		}
		out = append(out, PendingFile{src, s != nil, f.Size, f.Modified})
	}
	WriteFileCache(db, p.ID, found)
	slices.SortFunc(out, func(a, b PendingFile) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}
