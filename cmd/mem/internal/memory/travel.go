package memory

import (
	"errors"
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs/remote"
)

// world is what talking to remotes needs of this one.
func world(e *app.Env) remote.World {
	return remote.World{
		Command: e.Command, Getenv: e.Getenv, Proxy: http.ProxyFromEnvironment, Agent: "mem/" + app.Release,
		Say: func(line string) { e.Note("remote: %s", line) },
	}
}

// RemoteURL reads an address that the user typed.
func RemoteURL(e *app.Env, s string) (remote.URL, error) {
	u, stripped, err := remote.ParseURL(s, e.Path)
	if errors.Is(err, remote.ErrURL) {
		return u, app.WithHint(app.Usagef("%v", err), "mem remote add origin git@host:me/memory.git")
	}
	if stripped {
		e.Warn("the user and password in the address are not stored; git's credential helper is asked instead")
	}
	return u, err
}

// TravelError adds to an error of a remote what can be done about it.
func TravelError(err error) error {
	if err = SealError(err); err == nil {
		return nil
	}
	var stalled *remote.StalledError
	switch {
	case errors.As(err, &stalled):
		return app.WithHint(err,
			"run the same command again: received data stays; a server that needs longer: mem -c remote.quiet=1m ...")
	case errors.Is(err, sync.ErrNoRemote):
		return app.WithCode(app.ExitNo, app.WithHint(err, "mem remote add origin git@host:me/memory.git"))
	case errors.Is(err, sync.ErrWhichRemote):
		return app.WithCode(app.ExitUsage, app.WithHint(err, "name one; a remote called origin is meant where none is named"))
	case errors.Is(err, sync.ErrRemoteExists):
		return app.WithHint(err, "mem remote list")
	case errors.Is(err, sync.ErrIncomplete):
		return app.WithHint(err, "mem fsck --repair")
	case errors.Is(err, sync.ErrPublic):
		return app.WithCode(app.ExitNo, app.WithHint(err,
			"make the repository private: memory holds what you and Claude wrote"))
	case errors.Is(err, remote.ErrAuth):
		return app.WithCode(app.ExitAuth, app.WithHint(err,
			"for https: git credential approve, or a helper (git help credentials); for ssh: ssh-add, ssh -T"))
	case errors.Is(err, remote.ErrAbsent):
		return app.WithHint(err, "make an empty private repository there; in a directory: git init --bare DIR")
	case errors.Is(err, remote.ErrTooMany):
		return app.WithHint(err, "git ls-remote --heads shows them: a memory has one for each device and project")
	case errors.Is(err, remote.ErrDropped):
		return app.WithHint(err, "run the same command again: received data stays")
	case errors.Is(err, remote.ErrURL):
		return app.WithHint(err, "mem remote set-url")
	}
	return err
}

// short writes the first digits of a commit's name.
func ShortCommit(id string) string { return id[:min(10, len(id))] }

// Moved writes how a branch moved, as git does.
func Moved(old, now string) string { return ShortCommit(old) + ".." + ShortCommit(now) }
