package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// Parallel calls f(0) to f(n-1) on up to workers goroutines.
func Parallel(n, workers int, f func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// Rank returns the position of a kind in lists. Unknown kinds come last.
func Rank(kind string) int {
	return slices.Index([]string{"session", "messages", "file", "version", "composition", "facts", "concept", "rule"},
		kind) & 0xff
}

// Options are the environment and the settings of a store.
type Options struct {
	Now         func() time.Time // safe for concurrent use
	Rand        io.Reader
	LockTimeout time.Duration
	Workers     int          // files processed at once; 0 means one
	Model       string       // whose tokens are counted if a session does not name a model; "" is the newest
	Rules       redact.Rules // applied to transcripts before they are stored
	Gate        redact.Rules // applied to data before a push; the zero value is Rules
	EnvFiles    bool         // Rules also cover the values in the .env files of a project
	Caps        Caps         // limits on the cost of models; the zero value allows nothing
	World       remote.World // for connections to remotes
	MaxCache    int64        // bytes that the cache may take; 0 is no limit
	PushBytes   int64        // sent at once; 0 is [PushBytes]
	LargeFile   int64        // the size from which an overflow file is stored as a stream; 0 is [LargeFile]
	Growing     func()       // called once, before the first transcript bytes are compressed; may be nil
}

// A DB is an open store. It is safe for concurrent use.
type DB struct {
	Refs  *refs.Repo
	Opts  Options
	Slots chan struct{} // a semaphore of Options.Workers for all operations together
	grows sync.Once     // for Options.Growing

	CacheDir *os.File    // open until the DB is closed, nil without a cache
	cache    os.FileInfo // of CacheDir

	Outlines     sync.Map // by project: the outlines that were read last
	MarkedStates sync.Map // outlines in which revoked things are marked, by project
	Traced       sync.Map // the text of revoked sources in sessions, by cache file

	cacheGrew atomic.Int64 // bytes written to the cache since it was measured

	EnvRules sync.Map // rules with the values of .env files, by directory

	CountedMu sync.Mutex
	Counted   map[refs.Project]map[objects.Hash]int // tokens counted by this process, by original; see CountedMu
}

// Refs returns the options of package refs.
func (o Options) Refs() refs.Options {
	return refs.Options{Now: o.Now, Rand: o.Rand, LockTimeout: o.LockTimeout, Body: records.CheckBody}
}

// OpenObjects opens a store without a cache, to read objects by their names only.
func OpenObjects(dir string, o Options) (*DB, error) {
	r, err := refs.Open(dir, o.Refs())
	if err != nil {
		return nil, err
	}
	return &DB{Refs: r, Opts: o}, nil
}

// Growing calls Options.Growing, once.
func (m *DB) Growing() {
	if m.Opts.Growing != nil {
		m.grows.Do(m.Opts.Growing)
	}
}

// Repo returns the underlying repository, for plumbing commands.
func (m *DB) Repo() *refs.Repo { return m.Refs }

// ErrNotTranscript reports a file that does not contain a session of Claude Code.
var ErrNotTranscript = errors.New("not a transcript")

// A NotFoundError reports a name that nothing has.
type NotFoundError struct {
	What       string // "session", "version", "composition", "message"
	Name       string
	Of         string   // the session that has no such version; "" for other things
	Candidates []string // similar names
	Waits      string   // the device that must sync before the session is shown again; "" for other things
}

func (e *NotFoundError) Error() string {
	if e.Waits != "" {
		return fmt.Sprintf("%s waits for %s: messages of it were forgotten, and it is hidden here until that device has synced",
			e.Name, e.Waits)
	}
	if e.Of != "" {
		return fmt.Sprintf("'%s' is not a %s of %s", e.Name, e.What, e.Of)
	}
	return fmt.Sprintf("no %s is called '%s'", e.What, e.Name)
}

// An AmbiguousError reports a name that several things have.
type AmbiguousError struct {
	What       string
	Name       string
	Candidates []string // each with its title
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("'%s' matches %d %ss: %s", e.Name, len(e.Candidates), e.What, strings.Join(e.Candidates, ", "))
}

// LargeFile is the size in bytes from which an overflow file is stored as a stream, so that it is never in memory as a
// whole.
const LargeFile = 4 << 20

// PushBytes is about how much one push sends at once, in bytes. A push that is interrupted continues after the last such part. Before git
// answers a fetch it compares large objects in different packs, which takes about a second for each 20 MB and finds nothing: a first
// push should be few packs.
const PushBytes = 256 << 20

// Caps limit what models may cost in one day (UTC), on all devices that this one knows of. Less than zero is no limit.
type Caps struct {
	Tokens int
	Micros int64 // millionths of a dollar
}
