package state

import (
	"cmp"
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
	next := make(chan int)
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Rank is where a kind stands in a list.
func Rank(kind string) int {
	return slices.Index([]string{"session", "messages", "file", "version", "composition", "facts", "concept", "rule"},
		kind) & 0xff
}

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

// A DB is an open store. Its methods may be called from several goroutines at once.
type DB struct {
	Refs  *refs.Repo
	Opts  Options
	Slots chan struct{} // one for each worker: files are worked on at once in all groups together
	grows sync.Once     // for Options.Growing

	CacheDir *os.File    // held open while m is, or nil without a cache
	cache    os.FileInfo // of cacheDir

	Outlines     sync.Map // of the projects looked at last, by project
	MarkedStates sync.Map // outlines with what revocations hide, by project
	Traced       sync.Map // what sessions have of revoked sources, by cache file

	cacheGrew atomic.Int64 // bytes written to what may be evicted, since it was measured

	EnvRules sync.Map // with the values of the .env files there, by directory

	CountedMu sync.Mutex
	Counted   map[refs.Project]map[objects.Hash]int // tokens counted by this Memory, by original

	Parcels parcelSizes
}

func (o Options) Refs() refs.Options {
	return refs.Options{Now: o.Now, Rand: o.Rand, LockTimeout: o.LockTimeout, Body: records.CheckBody}
}

// OpenObjects is [Open] to read objects by their names and nothing else: it has no cache.
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

// Repo returns the store below, for plumbing.
func (m *DB) Repo() *refs.Repo { return m.Refs }

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

// LargeFile is the size from which on an overflow file is stored as a stream of its own: it is never in memory
// as a whole then, and may be of any size.
const LargeFile = 4 << 20

const (
	// wholeBytes is about how much one push sends at once. Before git answers a fetch it looks for differences
	// between large objects that lie in different packs, about a second for each 20 MB, and finds none: what is
	// pushed first is best one pack. Hosts take up to 2 GB.
	wholeBytes = 1 << 30
	// parcelBytes is that after a push of more broke off, until one has gone through. What has arrived stays, so
	// that an interrupted push goes on from there.
	parcelBytes = 64 << 20
)

// parcelSizes are the two in bytes; zero is wholeBytes and parcelBytes.
type parcelSizes struct{ whole, Part int64 }

func (s parcelSizes) Largest() int64  { return cmp.Or(s.whole, wholeBytes) }
func (s parcelSizes) Smallest() int64 { return cmp.Or(s.Part, parcelBytes) }

// Caps are what models may cost on one day, in UTC, on all devices that this one knows of. Less than zero is no cap.
type Caps struct {
	Tokens int
	Micros int64 // millionths of a dollar
}
