// Package layers is what a memory can do: one method of [Memory] per journey.
//
// Sessions come in ([Memory.Add]), are refined and compressed ([Memory.Compress]),
// composed under a budget ([Memory.Compose]) and written out again ([Memory.Checkout]). What a project
// is follows from the records of its lanes alone ([State]); names that people type are resolved by
// [Memory.Resolve]. Front ends parse, call one method, print.
package layers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// Options are what a Memory needs of the outside world.
type Options struct {
	Now         func() time.Time // called by several goroutines at once
	Rand        io.Reader
	LockTimeout time.Duration
	Workers     int          // how many files are worked on at once; 0 means one
	Model       string       // whose tokens are counted when a session does not say; "" is the newest
	Rules       redact.Rules // what is taken out of transcripts before they are stored
	Gate        redact.Rules // what must not be in what is pushed; the zero value is Rules
	EnvFiles    bool         // whether Rules also take out the values of the .env files of a project
	Caps        Caps         // on what models may cost; the zero value allows nothing
	World       remote.World // what talking to remotes needs
	MaxCache    int64        // bytes that the cache may take; 0 is no limit
	LargeFile   int64        // from which size on an overflow file is stored in pieces; 0 is the usual one
	Growing     func()       // called once, before the first transcript that is new or has grown is compressed; may be nil
}

// A Memory is an open store. Its methods may be called from several goroutines at once.
type Memory struct {
	repo  *refs.Repo
	opts  Options
	slots chan struct{} // one for each worker: files are worked on at once in all groups together
	grows sync.Once     // for Options.Growing

	cacheDir *os.File    // held open while m is, or nil without a cache
	cache    os.FileInfo // of cacheDir

	outlines     sync.Map // of the projects looked at last, by project
	markedStates sync.Map // outlines with what revocations hide, by project
	traced       sync.Map // what sessions have of revoked sources, by cache file

	rules sync.Map // with the values of the .env files there, by directory

	countedMu sync.Mutex
	counted   map[refs.Project]map[objects.Hash]int // tokens counted by this Memory, by original

	parcels parcelSizes
}

func (o Options) refs() refs.Options {
	return refs.Options{Now: o.Now, Rand: o.Rand, LockTimeout: o.LockTimeout, Body: CheckBody}
}

// Init makes a memory in dir, for a device of the given name, and opens it. It may be repeated.
func Init(ctx context.Context, dir, device string, o Options) (*Memory, error) {
	r, err := refs.Init(ctx, dir, device, o.refs())
	if err != nil {
		return nil, err
	}
	return onRepo(r, o), nil
}

func onRepo(r *refs.Repo, o Options) *Memory {
	m := &Memory{repo: r, opts: o, slots: make(chan struct{}, max(1, o.Workers))}
	m.openCache()
	r.OnFirst(m.nameProject)
	return m
}

// Open opens the memory in dir. The error wraps [refs.ErrNotRepo] if there is none.
func Open(dir string, o Options) (*Memory, error) {
	r, err := refs.Open(dir, o.refs())
	if err != nil {
		return nil, err
	}
	return onRepo(r, o), nil
}

// OpenObjects is [Open] to read objects by their names and nothing else: it has no cache.
func OpenObjects(dir string, o Options) (*Memory, error) {
	r, err := refs.Open(dir, o.refs())
	if err != nil {
		return nil, err
	}
	return &Memory{repo: r, opts: o}, nil
}

// Close writes what was counted to the cache and releases what the memory holds open.
func (m *Memory) Close() error {
	m.writeTokens()
	m.evictSometimes()
	if m.cacheDir != nil {
		m.cacheDir.Close() // nothing was written to it
	}
	return m.repo.Close()
}

// growing calls Options.Growing, once.
func (m *Memory) growing() {
	if m.opts.Growing != nil {
		m.grows.Do(m.opts.Growing)
	}
}

// Repo returns the store below, for plumbing.
func (m *Memory) Repo() *refs.Repo { return m.repo }

// State returns what the project p is now.
func (m *Memory) State(ctx context.Context, p refs.Project) (st *State, err error) {
	err = m.repo.Look(ctx, p, func(tx *refs.Tx) error {
		st, err = m.state(ctx, tx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.withRevoked(ctx, st)
}

// Outline is State without what only adding and deriving need: the parameters of recipes, the keys of typed
// messages and the queues of scans. It is what lists and names are made of, and much faster to have. It may be
// shared with other callers and must not be changed.
func (m *Memory) Outline(ctx context.Context, p refs.Project) (*State, error) {
	st, err := m.bare(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.withRevoked(ctx, st)
}

// ErrNotTranscript says that a file holds no session of Claude Code.
var ErrNotTranscript = errors.New("not a transcript")

// A NotFoundError says that nothing has the name, and what has a name like it.
type NotFoundError struct {
	What       string // "session", "version", "composition", "message"
	Name       string
	Of         string // the session that has no such version; else empty
	Candidates []string
	Guests     []string // what devices that are not trusted call so, as it is named here
}

func (e *NotFoundError) Error() string {
	if len(e.Guests) > 0 {
		return fmt.Sprintf("'%s' is a %s of a device that is not trusted only", e.Name, e.What)
	}
	if e.Of != "" {
		return fmt.Sprintf("'%s' is not a %s of %s", e.Name, e.What, e.Of)
	}
	return fmt.Sprintf("no %s is called '%s'", e.What, e.Name)
}

// An AmbiguousError says that a name stands for several things.
type AmbiguousError struct {
	What       string
	Name       string
	Candidates []string // each with its title
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("'%s' matches %d %ss: %s", e.Name, len(e.Candidates), e.What, strings.Join(e.Candidates, ", "))
}
