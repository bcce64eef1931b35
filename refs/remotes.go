package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/refs/lane"
)

const remotesFile = "remotes.json"

// A Remote is a remote repository and this device's knowledge of it.
type Remote struct {
	Name     string             `json:"name"`
	URL      string             `json:"url"` // without user and password, except the user of ssh
	Projects map[Project]Pushed `json:"projects,omitempty"`
	Marks    map[string]Mark    `json:"marks,omitempty"` // by branch
	Sent     time.Time          `json:"sent,omitzero"`   // when something was pushed last
	// Sealed is the name of the secret that decrypts an encrypted remote; "" for a plain one.
	Sealed string `json:"sealed,omitempty"`
	// Originals reports whether originals.git is pushed too.
	Originals bool `json:"originals,omitempty"`
	// Unswept are the branches whose former or unfinished data may still be on the remote, with the former commit there;
	// "" if a push did not finish. An entry is durable before the push starts.
	Unswept map[string]string `json:"unswept,omitempty"`
}

// Pushed marks a project that the user pushes to a remote.
type Pushed struct {
	Since time.Time `json:"since"`
}

// A Mark is the newest commit of a lane that was seen on a remote. A remote with an older one was rolled back.
type Mark struct {
	Tip     string `json:"tip"`
	Lamport uint64 `json:"lamport"`
}

// ErrRemotes means that remotes.json is malformed.
var ErrRemotes = errors.New("malformed list of remotes")

// Remotes returns the remotes, sorted by name.
func (r *Repo) Remotes() ([]Remote, error) {
	var file remotesJSON
	if _, err := r.ReadNote(remotesFile, &file); errors.Is(err, ErrDamaged) {
		return nil, fmt.Errorf("%w: %v", ErrRemotes, err)
	} else if err != nil {
		return nil, err
	}
	slices.SortFunc(file.Remotes, func(a, b Remote) int { return strings.Compare(a.Name, b.Name) })
	for i, m := range file.Remotes {
		if CheckRemoteName(m.Name) != nil || i > 0 && file.Remotes[i-1].Name == m.Name {
			return nil, fmt.Errorf("read %s: remote %q: %w", filepath.Join(r.dir, remotesFile), m.Name, ErrRemotes)
		}
	}
	return file.Remotes, nil
}

// EditRemotes atomically replaces the list of remotes by the one that fn returns.
func (r *Repo) EditRemotes(ctx context.Context, fn func([]Remote) ([]Remote, error)) error {
	unlock, err := r.lock(ctx, "remotes.lock", "change remotes")
	if err != nil {
		return err
	}
	defer unlock()
	remotes, err := r.Remotes()
	if err != nil {
		return err
	}
	if remotes, err = fn(remotes); err != nil {
		return err
	}
	if remotes == nil {
		remotes = []Remote{}
	}
	b, err := json.MarshalIndent(remotesJSON{remotes}, "", "  ")
	if err != nil {
		return err
	}
	return r.WriteNote(remotesFile, append(b, '\n'))
}

// remotesJSON is the file remotes.json.
type remotesJSON struct {
	Remotes []Remote `json:"remotes"`
}

// LockRemote prevents other processes from pushing to the same remote until it is unlocked.
func (r *Repo) LockRemote(ctx context.Context, name string) (unlock func(), err error) {
	if err := CheckRemoteName(name); err != nil {
		return nil, err
	}
	return r.lock(ctx, "push-"+name+".lock", "push to "+name)
}

// CheckRemoteName returns an error for names that are unsafe on a command line or in a file name.
func CheckRemoteName(s string) error {
	bad := s == "" || len(s) > 60 || s[0] == '-' || s[0] == '.'
	for _, c := range []byte(s) {
		bad = bad || !(c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
			'A' <= c && c <= 'Z')
	}
	if bad {
		return fmt.Errorf("%.80q is not a name for a remote: want letters, digits, '-', '_' and '.'", s)
	}
	return nil
}

// MarkOf returns the mark of the local tip of a lane.
func (r *Repo) MarkOf(l Lane) (Mark, error) {
	c, err := r.GitOf(l).Commit(l.Tip)
	if err != nil {
		return Mark{}, err
	}
	n, err := lane.LamportOf(c)
	return Mark{l.Tip.String(), n}, err
}
