package layers

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// A Status says how a session in a list stands to the file it came from.
type Status string

// The states of a session.
const (
	Stored    Status = "stored"    // in memory; the file is as it was, or gone
	Changed   Status = "changed"   // in memory; the file has grown or was rewritten
	Untracked Status = "untracked" // only a file
	Removed   Status = "removed"   // taken out of the lists; the bytes are there
	Revoked   Status = "revoked"   // hidden, because its source is revoked; the bytes are there
)

// An Item is one session in a list.
type Item struct {
	ID       string
	Status   Status
	Title    string
	Last     time.Time // of the last message; of an untracked file, when it was changed
	Messages int
	Tokens   int
	Counted  bool // the tokens are known; else Tokens is 0
	Bytes    int64
	Versions []*Version
	Markers  int
	Parent   string
	Path     string // the file, if it is there
	Extra    int64  // bytes the file has more than memory
	Device   string // that captured the session last
	Session  *Session
}

// ListOptions say what to list.
type ListOptions struct {
	Claude    string // the configuration directory of Claude Code; "" looks at no files
	Dir       string // the working directory, whose files count as the project's too
	Subagents bool
	Removed   bool
	Revoked   bool
	Forgotten bool // the files of sessions that are not taken in again, as untracked ones
	// Unreadable is told of what of Claude Code's files cannot be read, and the list is that of the rest. Without
	// it that ends the listing.
	Unreadable func(error) error
}

func (o ListOptions) unreadable(err error) error {
	if o.Unreadable == nil {
		return err
	}
	return o.Unreadable(err)
}

// List returns the sessions of a project, in memory or only in Claude Code's files, the newest first.
// It reads no transcript in memory and at most the start of untracked files.
func (m *Memory) List(ctx context.Context, p Project, o ListOptions) ([]Item, *State, error) {
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	files, _, err := m.clientFiles(ctx, p, st, o)
	if err != nil {
		return nil, nil, err
	}
	if err := m.beneath(ctx, p, st, o, "", files); err != nil {
		return nil, nil, err
	}
	known := m.knownTokens(p.ID)
	versions := map[string][]*Version{}
	for _, v := range st.Versions {
		if (!v.Deleted || o.Removed && o.Revoked) && (v.Revoked == "" || o.Revoked) {
			versions[v.Session] = append(versions[v.Session], v)
		}
	}
	found := m.readSeen(p.ID)
	found.reads = true
	found.forget(files)
	var items []Item
	for _, s := range st.Sessions {
		f, onDisk := files[s.ID]
		delete(files, s.ID)
		if s.Parent() != "" && !o.Subagents || s.Deleted && !o.Removed || s.Revoked != "" && !o.Revoked {
			continue
		}
		it := m.item(s, versions[s.ID], known)
		if onDisk {
			it.Path = f.path
			extra, changed := m.changedFile(ctx, p.ID, s, f, found)
			if f.dir {
				more, also, err := m.changedBeside(ctx, st, s, f, found)
				if err != nil {
					if err := o.unreadable(err); err != nil {
						return nil, nil, err
					}
				}
				extra, changed = extra+more, changed || also
			}
			if changed && it.Status == Stored {
				it.Status, it.Extra = Changed, extra
			}
		}
		items = append(items, it)
	}
	if err := m.withoutOthers(ctx, p, files); err != nil {
		return nil, nil, err
	}
	for id, f := range files {
		if st.purged.session(id) && !o.Forgotten {
			continue
		}
		if _, ok := subagentOf(f.path); !ok { // it comes with its session
			items = append(items, m.untracked(id, f, found))
		}
	}
	m.writeSeen(p.ID, found)
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.ID, b.ID)) })
	return items, st, nil
}

func (m *Memory) item(s *Session, versions []*Version, known map[objects.Hash]int) Item {
	now := s.Now()
	it := Item{ID: s.ID, Status: Stored, Title: now.Scan.Title, Last: now.Scan.Last, Messages: now.Scan.Messages, Bytes: now.Size, Versions: s.withoutGuests(versions), Markers: s.marked(), Parent: s.Parent(), Session: s, Device: now.Stamp.Device}
	if it.Last.IsZero() {
		it.Last = now.Time
	}
	if s.Deleted {
		it.Status = Removed
	}
	if s.Revoked != "" {
		it.Status = Revoked
	}
	it.Tokens, it.Counted = m.Tokens(now, known)
	return it
}

func (m *Memory) untracked(id string, f clientFile, s *seen) Item {
	it := Item{ID: id, Status: Untracked, Last: f.modified, Bytes: f.size, Path: f.path, Extra: f.size, Title: s.title(f)}
	return it
}

// firstTitle looks for the title of a session at the start of its file.
func firstTitle(path string) string {
	f, _, err := openSource(path)
	if err != nil {
		return "" // listing goes on; adding it will say what is wrong
	}
	defer f.Close()
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	buf := make([]byte, 64<<10)
	n, err := f.Read(buf)
	if err != nil {
		return ""
	}
	sc.Write(buf[:n])
	return sc.Summary().Title
}

// clientNameMax is how long a name that [ClientDir] makes is without its hash.
const clientNameMax = 200

// ClientDir returns the name of the directory in which Claude Code keeps the sessions of the working
// directory dir: each UTF-16 unit that is no ASCII letter or digit becomes '-'; a name longer than 200 is
// cut there and gets a hash of the whole path. The name cannot be turned back.
func ClientDir(dir string) string {
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	var h int32
	for i, u := range units {
		name[i] = '-'
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name[i] = byte(u)
		}
		h = h*31 + int32(u)
	}
	if len(name) <= clientNameMax {
		return string(name)
	}
	abs := int64(h)
	if abs < 0 {
		abs = -abs
	}
	return string(name[:clientNameMax]) + "-" + strconv.FormatInt(abs, 36)
}
