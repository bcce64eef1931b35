// Package remote talks to git repositories elsewhere: a directory, a host over ssh, a server over http. It lists
// their branches, fetches packs from them and pushes packs to them.
//
// It implements git's protocol itself (versions 0 and 1, which every server knows), because go-git's client holds a
// whole push in memory and packs it again. A push copies our packs unchanged; its length is known in advance, so it
// needs no buffer. A directory needs no protocol: packs are written into it as into our own store, so neither end
// needs git. For ssh it runs the user's own program, with the user's keys and agent. For http it uses net/http, and
// asks git's credential helpers when a server requires authentication. No token is ever stored.
//
// Incoming data is only counted here ([pack.Limits]); package incoming verifies it.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

var (
	// ErrURL means that an address is not a valid remote URL.
	ErrURL = errors.New("not the address of a remote")
	// ErrAuth means that the remote requires authentication, or rejected the credentials.
	ErrAuth = errors.New("authentication needed")
	// ErrAbsent means that there is no repository.
	ErrAbsent = errors.New("no git repository there")
	// ErrProtocol means that the remote does not follow git's protocol.
	ErrProtocol = errors.New("the remote does not answer as git does")
	// ErrTooMany means that the remote has more branches than a memory can have.
	ErrTooMany = errors.New("it has too many branches")
	// ErrDropped means that the connection was interrupted. Reported results are valid, and a retry continues.
	ErrDropped = errors.New("the connection broke off")
	// ErrRejected means that the remote rejected the update of a branch. The error is a [*RejectedError].
	ErrRejected = errors.New("rejected by the remote")
	// ErrMissing means that the remote lacks objects of a wanted branch.
	ErrMissing = errors.New("the remote lacks objects of a branch")
)

// A World contains what a client needs from outside.
type World struct {
	Command     func(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd
	Getenv      func(string) string
	Proxy       func(*http.Request) (*url.URL, error) // nil: none
	Print       func(line string)                     // messages of the remote to the user; may be nil
	Agent       string                                // name and version of this program
	Quiet       time.Duration                         // maximum time without data from a server; 0: 10 seconds
	Mark        string                                // of the temporary files of this device in a directory
	LockTimeout time.Duration                         // maximum wait for the locks of a directory; 0: 10 seconds
}

// A Service is a service of git on a remote.
type Service string

// The services of git.
const (
	Upload  Service = "git-upload-pack"  // fetch from it
	Receive Service = "git-receive-pack" // push to it
)

// A Session is a connection to a remote whose branches are known. One fetch or push may follow.
type Session interface {
	// Refs returns the branches of the remote, unsorted.
	Refs() []gitstore.Ref
	// Fetch receives the objects of the wanted commits that are not reachable from those in have.
	Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer, l pack.Limits) (pack.Receipt, error)
	// Push sends a batch. The error wraps [ErrRejected] if the remote did not accept all of it.
	Push(ctx context.Context, b Batch) error
	// Close ends the session.
	Close() error
}

// A Client talks to one remote. It is not safe for use by several goroutines.
type Client struct {
	url   URL
	world World
	http  *http.Client
	login login

	approving sync.WaitGroup // running calls of git credential approve
}

// New returns a client. It does not connect.
func New(u URL, w World) *Client {
	c := &Client{url: u, world: w}
	if u.web() {
		c.http = newHTTPClient(w.Proxy)
	}
	return c
}

// Open connects to the remote.
func (c *Client) Open(ctx context.Context, s Service) (Session, error) {
	switch c.url.Scheme {
	case "file":
		return c.openDir()
	case "ssh":
		return openSSH(ctx, c.url, s, c.world)
	}
	return c.openHTTP(ctx, s)
}

// An Update moves a branch of the remote from Old, zero if there is none, to New.
type Update struct {
	Ref      string
	Old, New pack.ID
}

// A Batch contains the objects and updates of one push.
type Batch struct {
	Updates []Update
	Objects int
	Size    int64 // of the entries
	Entries func(yield func(pack.Entry) error) error
}

// A RejectedError lists the branches that a remote did not update, with its reasons.
type RejectedError struct {
	Unpack string // the reason for rejecting everything; "" if it did not
	Refs   []string
	Why    []string // one reason for each branch
}

func (e *RejectedError) Error() string {
	if e.Unpack != "" {
		return ErrRejected.Error() + ": " + e.Unpack
	}
	var b strings.Builder
	b.WriteString(ErrRejected.Error())
	for i, ref := range e.Refs {
		fmt.Fprintf(&b, "; %s: %s", ref, e.Why[i])
	}
	return b.String()
}

// Unwrap returns [ErrRejected].
func (e *RejectedError) Unwrap() error { return ErrRejected }
