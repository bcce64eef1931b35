package notes

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// A found is a file in a place.
type found struct {
	place Place
	file  string // name of the note
	path  string
	size  int64
	time  time.Time
}

// maxDepth is the number of directories in a place above a note.
const maxDepth = 3

// scan lists the notes in places. It reads no file. A place that cannot be read has none; complete reports whether all
// of a place's files are listed, by its directory.
func scan(places []Place) (out []found, complete map[string]bool) {
	complete = map[string]bool{}
	for _, p := range places {
		var walk func(dir, name string, depth int) bool
		walk = func(dir, name string, depth int) bool {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return false
			}
			all := true
			for _, e := range entries {
				at := name + "/" + e.Name()
				switch {
				case strings.HasPrefix(e.Name(), "."):
				case e.IsDir() && depth < maxDepth:
					all = walk(filepath.Join(dir, e.Name()), at, depth+1) && all
				case e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".md"):
					fi, err := e.Info()
					if _, _, bad := records.ParseNoteFile(at); err != nil || bad != nil {
						continue // deleted meanwhile, or a name that not every device can write
					}
					out = append(out, found{p, at, filepath.Join(dir, e.Name()), fi.Size(), fi.ModTime()})
				}
			}
			return all
		}
		if _, seen := complete[p.Dir]; !seen {
			complete[p.Dir] = walk(p.Dir, p.Name, 0)
		}
	}
	return out, complete
}

// A seen file of notes: what a hook compares before it reads anything.
type seen struct {
	Size int64 `json:"size"`
	Time int64 `json:"time"` // nanoseconds
}

// freshness is the age that a file must have for its size and time to prove that it is unchanged.
const freshness = 2 * time.Second

// stamps are the content of a file with the sizes and times of the notes at the last capture.
type stamps struct {
	Version int             `json:"version"`
	Files   map[string]seen `json:"files"`
}

const stampsVersion = 1

// stampFile returns the file with the stamps for a working directory.
func stampFile(store, cwd string) string {
	return filepath.Join(store, "cache", "noted", objects.Sum([]byte(cwd)).String()[:16]+".json")
}

func readStamps(file string) map[string]seen {
	b, err := os.ReadFile(file)
	var s stamps
	if err != nil || json.Unmarshal(b, &s) != nil || s.Version != stampsVersion {
		return nil
	}
	return s.Files
}

// Changed reports whether a note of a working directory may have changed since the last capture. It opens no store and
// reads no note, so that a hook may ask at any time.
func (c Client) Changed(store, cwd string) bool {
	files, complete := scan(c.Places(cwd))
	was := readStamps(stampFile(store, cwd))
	if was == nil {
		return len(files) > 0
	}
	for _, f := range files {
		if s, ok := was[f.path]; !ok || s != (seen{f.size, f.time.UnixNano()}) {
			return true
		}
	}
	if len(was) == len(files) {
		return false
	}
	for path := range was { // deleted, unless its place is gone as a whole
		if !slices.ContainsFunc(files, func(f found) bool { return f.path == path }) {
			for dir, all := range complete {
				if all && strings.HasPrefix(path, dir+string(filepath.Separator)) {
					return true
				}
			}
		}
	}
	return false
}

// writeStamps stores the stamps of files. A file that is too young, or that was left for a later capture, gets one that
// proves nothing, but tells when it is deleted.
func writeStamps(file string, files []found, left map[string]bool, now time.Time) {
	s := stamps{Version: stampsVersion, Files: map[string]seen{}}
	for _, f := range files {
		s.Files[f.path] = seen{Size: -1}
		if now.Sub(f.time) > freshness && !left[f.path] {
			s.Files[f.path] = seen{f.size, f.time.UnixNano()}
		}
	}
	b, err := json.Marshal(s)
	if err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = os.WriteFile(file, b, 0o600) // without it, or with a part of it, the next capture reads the notes again
	}
}

// readNote reads a note. ok is false if it is no note: too long, or not text.
func readNote(path string) (text string, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, records.MaxNote+1))
	if err != nil {
		return "", false, err
	}
	return string(b), len(b) <= records.MaxNote && utf8.Valid(b), nil
}
