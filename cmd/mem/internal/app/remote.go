package app

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// world returns the environment that package remote needs.
func world(e *Env) remote.World {
	return remote.World{
		Command: e.Command, Getenv: e.Getenv, Proxy: http.ProxyFromEnvironment, Agent: "mem/" + Release,
		Print: func(line string) { e.Note("remote: %s", line) },
	}
}

// RemoteURL parses the address of a remote and warns of a password in it.
func RemoteURL(e *Env, s string) (remote.URL, error) {
	u, stripped, err := remote.ParseURL(s, e.Path)
	if errors.Is(err, remote.ErrURL) {
		return u, WithHint(Usagef("%v", err), "mem remote add origin git@host:me/memory.git")
	}
	if stripped {
		e.Warn("the user and password in the address are not stored; git's credential helper is asked instead")
	}
	return u, err
}

// WarnUnswept warns of deleted data that a remote may still have.
func WarnUnswept(e *Env, r refs.Remote, s sync.Sweep) {
	if len(s.Unswept) == 0 {
		return
	}
	e.Warn("%s", UnsweptText(r, s))
	e.Hint("%s", SweepHint(r, s.Why))
}

// UnsweptText says what deleted data a remote may still have.
func UnsweptText(r refs.Remote, s sync.Sweep) string {
	text := fmt.Sprintf("deleted data of %s may still be on %s", term.Branches(len(s.Unswept)), r.Name)
	if s.Why != nil {
		text += ": " + s.Why.Error()
	}
	return text
}

// SweepHint returns the command that deletes unreachable data on a remote, after an error.
func SweepHint(r refs.Remote, why error) string {
	confirm := term.Shell("mem", "gc", "--remote", r.Name)
	switch {
	case errors.Is(why, remote.ErrNoSweep):
		return confirm + " --confirm  # after git gc --prune=now there, or when the host says that it is deleted"
	case errors.Is(why, sync.ErrReachable):
		return term.Shell("mem", "push", "--all", r.Name) + "; " + term.Shell("git", "-C", r.URL, "for-each-ref") +
			"  # delete the refs that mem did not make; then: " + confirm
	case why != nil && filepath.IsAbs(r.URL):
		return term.Shell("git", "-C", r.URL, "gc", "--prune=now") + " && " + confirm + " --confirm"
	}
	return confirm
}

// ShortCommit returns the first digits of a commit id.
func ShortCommit(id string) string { return id[:min(10, len(id))] }
