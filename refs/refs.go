// Package refs opens a memory: the two git repositories, their lanes and the content of the lanes.
//
// A lane is the branch refs/heads/p/<project>/<device>. It is linear, and only its device writes and signs it, so
// two machines never conflict: the state of a project follows from the union of its lanes. memory.git contains the
// data that can be pushed: records, objects, and the clean streams of sessions. originals.git contains the patches
// that turn a clean stream back into the exact original bytes; it has lanes of the same form and is pushed only if
// the user asks for it.
//
// [Repo.View] reads and [Repo.Update] writes: one commit or nothing. Content is hashed and compressed before, in a
// [Stage], outside any lock. The order on disk is pack, index, directory, then the ref; the ref of memory.git is the
// commit point. The store is valid at every instant, and a crash leaves at most temporary files, which the next
// writer removes. go-git moves no ref here and decides no durability, because it does not fsync and loses updates
// (docs/trust.md).
//
// Below, package lane reads lanes and package disk writes files. Above, package incoming adds the lanes of other
// devices, and package repair checks a store and repairs it.
package refs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
)

// Options contains what a Repo needs from outside: clock, randomness and the grammar of records.
type Options struct {
	Now         func() time.Time // called by several goroutines at once
	Rand        io.Reader        // for new device ids and keys
	LockTimeout time.Duration    // how long an Update waits for another one; 0 means 10 s

	// Body returns an error if the body of a record is malformed. Such a record is never written, a fetched lane
	// that contains one is refused, and [Tx.Records] skips those in the store. If Body is nil, every body is valid.
	Body func(kind string, body json.RawMessage) error
}

func (o Options) body(r Record) error {
	if o.Body == nil {
		return nil
	}
	return o.Body(r.Kind, r.Body)
}

// CheckBody returns an error if the body of a record is malformed; see [Options].
func (r *Repo) CheckBody(rec Record) error { return r.opts.body(rec) }

// A Repo is an open memory. Its methods may be called from several goroutines at once.
type Repo struct {
	dir         string
	opts        Options
	memory      *gitstore.Repo
	originals   *gitstore.Repo
	device      lane.Device
	firstRecord func(context.Context, *Tx) (string, any, error) // see OnFirstCommit
}

// OnFirstCommit adds a record to the first commit of each new lane. f returns its kind and body; an empty kind adds
// none. It must be called before any update.
func (r *Repo) OnFirstCommit(f func(context.Context, *Tx) (kind string, body any, err error)) {
	r.firstRecord = f
}

func timeout(o Options) time.Duration {
	if o.LockTimeout == 0 {
		return 10 * time.Second
	}
	return o.LockTimeout
}

// Dir returns the directory of the store.
func (r *Repo) Dir() string { return r.dir }

// Device returns this device.
func (r *Repo) Device() lane.Device { return r.device }

// Close closes the open files of the Repo.
func (r *Repo) Close() error { return errors.Join(r.memory.Close(), r.originals.Close()) }

// Projects returns the ids of all projects that have a lane, sorted, without [Home].
func (r *Repo) Projects() ([]Project, error) {
	all, err := r.Tips()
	delete(all, Home)
	return slices.Sorted(maps.Keys(all)), err
}

// Tips returns the tips of the lanes of all projects, including [Home], sorted by device within a project.
func (r *Repo) Tips() (map[Project][]Tip, error) {
	all, err := r.lanes(false)
	if err != nil {
		return nil, err
	}
	out := map[Project][]Tip{}
	for _, l := range all { // sorted by device
		out[l.Project] = append(out[l.Project], Tip{Device: l.Device, Commit: l.Tip.String()})
	}
	return out, nil
}

// A Tx is a snapshot of the union of a project's lanes and, inside a [Repo.Update], the changes staged on top of
// this device's lane. It must not be used after its function has returned. Only Get may be called from several
// goroutines at once.
type Tx struct {
	r         *Repo
	project   Project
	lanes     []*lane.Snapshot // this device's first, then by device id
	write     bool
	restart   bool           // allows to create a lost lane again
	stage     *Stage         // of memory.git, made when first needed
	patches   *Stage         // of originals.git
	originals *lane.Snapshot // this device's lane in originals.git; nil until needed
	lamport   uint64
	added     [][]byte // the records, encoded
	trailers  []string
	subject   string // replaces the message of Update if not empty
	ctx       context.Context
}

// A Stage prepares content for a [Repo.Update]: it is hashed, compressed and written to a pack of its own, outside
// any lock. [Tx.Adopt] makes it part of a commit. A Stage that is closed without that leaves nothing behind. Its
// methods may be called from several goroutines at once.
type Stage struct {
	r      *Repo
	git    *gitstore.Repo
	dir    string // of git, in the store
	ctx    context.Context
	mark   string
	unlock func()

	mu     sync.Mutex
	w      *pack.Writer // nil before anything is put
	puts   []put
	grown  []Growth
	closed bool
}

// A put is a blob and its path in the lane.
type put struct {
	path []string
	id   pack.ID
}

// A Growth describes the segments that a stage appends to a stream.
type Growth struct {
	Stream   objects.Hash
	Base     int           // segments before
	Segments int           // segments after
	Size     int64         // size of the content after, in bytes
	Stored   int64         // size of the new segments, in bytes
	Sum      objects.Hash  // hash of the content after
	Heads    []stream.Head // of the new segments
	blobs    []pack.ID     // the new segments
	point    pack.ID       // the new growth point
	whole    bool          // the stream is one whole object, and is named after it
}
