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
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

var (
	// ErrURL says that an address is none that memory can travel to.
	ErrURL = errors.New("not the address of a remote")
	// ErrAuth says that the remote wants to know who it is, and was not satisfied.
	ErrAuth = errors.New("authentication needed")
	// ErrAbsent says that there is no repository.
	ErrAbsent = errors.New("no git repository there")
	// ErrProtocol says that the other side does not speak git's protocol.
	ErrProtocol = errors.New("the remote does not answer as git does")
	// ErrTooMany says that there are more branches than a memory can have.
	ErrTooMany = errors.New("it has too many branches")
	// ErrDropped says that the connection broke off. Nothing was taken over but what was reported; the next try goes on.
	ErrDropped = errors.New("the connection broke off")
	// ErrRejected says that the remote did not move a branch. The error is a [*RejectedError].
	ErrRejected = errors.New("rejected by the remote")
	// ErrLacking says that the remote does not have all objects of a branch that was wanted.
	ErrLacking = errors.New("the remote lacks objects of a branch")
)

// A World is what a client needs of the outside.
type World struct {
	Command     func(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd
	Getenv      func(string) string
	Proxy       func(*http.Request) (*url.URL, error) // nil: none
	Say         func(line string)                     // what the remote says to people; nil: nobody listens
	Agent       string                                // name and version of this program
	Quiet       time.Duration                         // how long a server may send nothing; 0: 10 seconds
	Mark        string                                // of temporary files that this device leaves in a directory
	LockTimeout time.Duration                         // how long others may keep a directory locked; 0: 10 seconds
}

// A Service is what is wanted of a remote.
type Service string

// The services of git.
const (
	Upload  Service = "git-upload-pack"  // fetch from it
	Receive Service = "git-receive-pack" // push to it
)

// A Session is a conversation with a remote: its branches are known, and one fetch or push may follow.
type Session interface {
	// Refs returns the branches that the remote has, in no order.
	Refs() []gitstore.Ref
	// Fetch receives what the wanted commits need and those in have do not.
	Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer, l pack.Limits) (pack.Receipt, error)
	// Push sends a batch. The error wraps [ErrRejected] if the remote did not take all of it.
	Push(ctx context.Context, b Batch) error
	// Close ends the conversation.
	Close() error
}

// A Dropper is a session with a remote that can be told to take out of it, at once and for ever, what no branch
// leads to. A server does that when it likes to.
type Dropper interface {
	Drop(ctx context.Context) error
}

// A Client talks to one remote. It is not safe for use by several goroutines.
type Client struct {
	url   URL
	world World
	http  *http.Client
	login login

	telling sync.WaitGroup // git's helpers that a password was right
}

// New returns a client. It does nothing before it is asked.
func New(u URL, w World) *Client {
	c := &Client{url: u, world: w}
	if u.Web() {
		c.http = newHTTPClient(w.Proxy)
	}
	return c
}

// Open begins a conversation.
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

// A Batch is what one push sends.
type Batch struct {
	Updates []Update
	Objects int
	Size    int64 // of the entries
	Entries func(yield func(pack.Entry) error) error
}

// A RejectedError says which branches a remote did not move, and why.
type RejectedError struct {
	Unpack string // why it took nothing at all; "" if it did
	Refs   []string
	Why    []string // one a branch
}

func (e *RejectedError) Error() string {
	if e.Unpack != "" {
		return ErrRejected.Error() + ": " + e.Unpack
	}
	s := ErrRejected.Error()
	for i, ref := range e.Refs {
		s += "; " + ref + ": " + e.Why[i]
	}
	return s
}

// Unwrap returns [ErrRejected].
func (e *RejectedError) Unwrap() error { return ErrRejected }
