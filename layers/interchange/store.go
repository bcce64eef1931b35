package interchange

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The supported tools.
const (
	contextEngTool   = "cc_context_eng"
	memoryKeeperTool = "memory-keeper"
)

// Limits of a store.
const (
	maxJSON    = 64 << 20 // bytes of a JSON file
	maxEntries = 50_000   // of a directory or a list
	maxOmitted = 2_000    // omissions of a project
)

// A Store is an open store with what it contains.
type Store struct {
	Tool     string
	Projects []storeProject

	root *os.Root
	dir  string
}

// A storeProject is one project of a store.
type storeProject struct {
	Name     string
	Dir      string // its working directory, "" if unknown
	Sessions []storeSession
	Facts    []storeFact
	Concepts []storeConcept
	Rules    []storeRule
	Omitted  []omission
}

// A storeSession is a registered session.
type storeSession struct {
	ID      string
	Name    string // in the store, if it is not the ID
	File    string // its transcript on this machine: a regular file of the store; "" if there is none
	Size    int64
	Outside string // the path of the transcript outside the store; it may be gone
	Problem string // why its transcript cannot be read
	Title   string
	Tags    []string
	Markers []storeMarker
}

// A storeMarker is a keepit marker.
type storeMarker struct {
	ID     string
	UUID   string // of the message
	Weight int    // hundredths
	Text   string
}

// The kinds of a [storeFact].
const (
	decisionKind = "decision"
	patternKind  = "pattern"
	issueKind    = "issue"
	actionKind   = "action"
)

// A storeFact is a statement about a session or a project. It has no evidence.
type storeFact struct {
	ID         string
	Kind       string
	Text       string
	Session    string // the name of its session in the store, "" for none
	Exchange   string // the ID of its exchange in the session
	Keywords   []string
	Files      []string
	Resolved   bool // of an issue
	Resolution string
}

// A storeConcept is a group of exchanges.
type storeConcept struct {
	ID, Name, Topic, Summary string
	Exchanges                []string
}

// A storeRule is permanent knowledge.
type storeRule struct {
	ID         string
	Type       string // rule, solution or core_logic
	Text       string
	Problem    string
	Files      []string
	Confidence int // hundredths
}

// An omission is a part of a store that is not imported.
type omission struct {
	Kind string // file, session, version, ...
	Name string
	Why  string
	// Redundant says that memory derives or does not need this part: nothing is lost.
	Redundant bool
}

// errNone reports a directory without a supported store.
var errNone = errors.New("no store of another memory tool")

// OpenStore reads the store in dir, in its .claude/memory or in its projects. The error wraps [errNone] if there is none.
func OpenStore(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{root: root, dir: dir}
	if err := s.read(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) read() error {
	for _, read := range []func() (bool, error){s.contextEng, s.memoryKeeper} {
		if found, err := read(); found || err != nil {
			return err
		}
	}
	return errNone
}

// Path returns the path of a file of the store.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// list returns the sorted entries of a directory, none if it does not exist.
func (s *Store) list(name string) ([]fs.DirEntry, error) {
	d, err := s.root.Open(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if fi, err := d.Stat(); err != nil || !fi.IsDir() {
		return nil, err
	}
	entries, err := d.ReadDir(maxEntries)
	if err != nil && len(entries) == 0 {
		return nil, nil // the end of an empty directory
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// regular returns the size of a regular file. ok is false for anything else, links included.
func (s *Store) regular(name string) (size int64, ok bool) {
	fi, err := s.root.Lstat(filepath.FromSlash(name))
	if err != nil || !fi.Mode().IsRegular() {
		return 0, false
	}
	if real, err := s.root.Stat(filepath.FromSlash(name)); err != nil || !os.SameFile(real, fi) {
		return 0, false
	}
	return fi.Size(), true
}

// bytes reads a regular file of at most limit bytes.
func (s *Store) bytes(name string, limit int64) ([]byte, error) {
	size, ok := s.regular(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case size > limit:
		return nil, fmt.Errorf("%s has %d bytes: at most %d are read", name, size, limit)
	}
	return s.root.ReadFile(filepath.FromSlash(name))
}

// isName reports whether s is a valid name of a file, not a path.
func isName(s string) bool {
	return s != "" && len(s) <= 255 && s != "." && s != ".." && !strings.ContainsAny(s, "/\\:\x00") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) &&
		filepath.IsLocal(s)
}

// baseOf returns the last element of a path of any operating system.
func baseOf(p string) string {
	return path.Base(strings.ReplaceAll(strings.TrimRight(p, "/\\"), "\\", "/"))
}
