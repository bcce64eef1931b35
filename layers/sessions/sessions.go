// Package sessions lists the sessions of a project, each with the state of its file, and sets what a user says about them:
// titles, tags, and relations to other projects. It also names compositions, and finds the messages that several sessions
// share ([Copies]).
package sessions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Ended returns the time for the order of the list; see [records.Point.Ended].
func (it Item) Ended() time.Time {
	if it.Session == nil {
		return it.Last
	}
	return it.Session.Now().Ended()
}

// A Status compares a session with its file.
type Status string

// The states of a session.
const (
	Stored    Status = "stored"    // in memory; the file is unchanged or missing
	Changed   Status = "changed"   // in memory; the file has grown or was rewritten
	Untracked Status = "untracked" // only a file
	Removed   Status = "removed"   // hidden by the user; the bytes are kept
	Revoked   Status = "revoked"   // hidden, because its source is revoked; the bytes are kept
)

// An Item is one session in a list.
type Item struct {
	ID       string
	OtherOf  string // the session with the ID in the name of an untracked file, which has other turns; "" if it is this one
	Status   Status
	Title    string
	Last     time.Time // time of the last message; of an untracked file, of the last change
	Messages int
	Tokens   int
	Counted  bool // the tokens are known; else Tokens is 0
	Bytes    int64
	Versions []*records.Version
	Markers  int
	Parent   string
	Path     string // the file, if it is there
	Extra    int64  // bytes of the file beyond the stored ones
	Device   string // that captured the session last
	Session  *state.Session
}

// List returns the sessions of a project in memory, the newest first, with the state of Claude Code's files of them. A further file of a
// session, in another directory, that has other turns is listed as untracked. It reads no transcript in memory.
func List(ctx context.Context, db *state.DB, p state.Project, o capture.ListOptions) ([]Item, *state.State, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, nil, err
	}
	files, err := capture.FilesOf(ctx, db, p, st, o)
	if err != nil {
		return nil, nil, err
	}
	known := capture.KnownTokens(db, p.ID)
	versions := versionsOf(st, o)
	found := capture.ReadFileCache(db, p.ID)
	found.ReadModified = true
	found.Prune(files)
	var items []Item
	for _, s := range st.Sessions {
		f, onDisk := files[s.FileID()]
		onDisk = onDisk && st.Session(s.FileID()) == s
		if s.Parent() != "" && !o.Subagents || s.Deleted && !o.Removed || s.Revoked != "" && !o.Revoked {
			continue
		}
		it := item(db, s, versions[s.ID], known)
		if onDisk {
			it.Path = f.Path
			extra, changed, err := compare(ctx, db, st, s, f, found)
			if err != nil {
				if err := o.NoteUnreadable(err); err != nil {
					return nil, nil, err
				}
			}
			if changed && it.Status == Stored {
				it.Status, it.Extra = Changed, extra
			}
		}
		items = append(items, it)
	}
	for id, f := range files { // others are not in memory: see ListUntracked
		f.Forgotten = st.Purged.Session(id, db.Refs.Device().ID)
		if other := (capture.Source{Path: f.Path}).SessionID() != id; other && st.Session(id) == nil &&
			(o.Forgotten || !f.Forgotten) {
			items = append(items, untracked(id, f, found))
		}
	}
	capture.WriteFileCache(db, p.ID, found)
	slices.SortFunc(items, newestFirst)
	return items, st, nil
}

func newestFirst(a, b Item) int { return cmp.Or(b.Ended().Compare(a.Ended()), cmp.Compare(a.ID, b.ID)) }

// ListAll returns the sessions of a project like [List], with those that are only in Claude Code's files.
func ListAll(ctx context.Context, db *state.DB, p state.Project, o capture.ListOptions) ([]Item, *state.State, error) {
	var err error
	if o.Read, err = o.ReadFiles(); err != nil {
		return nil, nil, err
	}
	items, st, err := List(ctx, db, p, o)
	if err != nil {
		return nil, nil, err
	}
	more, of, err := ListUntracked(ctx, db, o)
	for i, it := range more {
		if of[i].ID == p.ID {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, newestFirst)
	return items, st, err
}

// versionsOf returns the listed versions by session.
func versionsOf(st *state.State, o capture.ListOptions) map[string][]*records.Version {
	versions := map[string][]*records.Version{}
	for _, v := range st.Versions {
		if (!v.Deleted || o.Removed && o.Revoked) && (v.Revoked == "" || o.Revoked) {
			versions[v.Session] = append(versions[v.Session], v)
		}
	}
	return versions
}

// compare reports whether the files of a session have changed, and by how many bytes they exceed the stored ones. The
// error is about the files next to the session file.
func compare(ctx context.Context, db *state.DB, st *state.State, s *state.Session, f capture.ClientFile,
	found *capture.FileCache) (extra int64, changed bool, err error) {
	extra, changed = capture.ChangedFile(ctx, db, st.Project, s, f, found)
	if changed && saysNothing(f.Path, f.Size, extra) {
		extra, changed = 0, false
	}
	if !f.Dir {
		return extra, changed, nil
	}
	more, also, err := capture.ChangedCompanions(ctx, db, st, s, f, found)
	return extra + more, changed || also, err
}

func item(db *state.DB, s *state.Session, versions []*records.Version, known map[objects.Hash]int) Item {
	now := s.Now()
	it := Item{ID: s.ID, Status: Stored, Title: s.Title(), Last: now.Ended(), Messages: now.Scan.Messages,
		Bytes: now.Size, Versions: versions, Markers: s.Marked(), Parent: s.Parent(), Session: s,
		Device: now.Stamp.Device}
	if it.Last.IsZero() {
		it.Last = now.Time
	}
	if s.Deleted {
		it.Status = Removed
	}
	if s.Revoked != "" {
		it.Status = Revoked
	}
	it.Tokens, it.Counted = markers.Tokens(db, now, known)
	return it
}

// ListUntracked returns the session files that [capture.Untracked] finds in all projects, and the project of each.
func ListUntracked(ctx context.Context, db *state.DB, o capture.ListOptions) (items []Item, of []state.Project, err error) {
	list, err := capture.Untracked(ctx, db, o)
	if err != nil {
		return nil, nil, err
	}
	caches := map[refs.Project]*capture.FileCache{}
	for _, f := range list {
		p := f.Project
		if capture.NoSession(f.Path) {
			if o.Ignored != nil {
				o.Ignored(p, f.Path)
			}
			continue
		}
		if caches[p.ID] == nil {
			caches[p.ID] = capture.ReadFileCache(db, p.ID)
		}
		items, of = append(items, untracked(capture.Source{Path: f.Path}.SessionID(), f, caches[p.ID])), append(of, p)
	}
	for p, found := range caches {
		capture.WriteFileCache(db, p, found)
	}
	return items, of, nil
}

func untracked(id string, f capture.ClientFile, s *capture.FileCache) Item {
	it := Item{ID: id, Status: Untracked, Last: f.Modified, Bytes: f.Size, Path: f.Path, Extra: f.Size, Title: s.Title(f)}
	if of := (capture.Source{Path: f.Path}).SessionID(); of != id {
		it.OtherOf = of
	}
	return it
}
