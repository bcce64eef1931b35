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
	"github.com/memvcs/mem/refs/sealed"
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

// RemoteError adds hints and an exit status to an error of a remote.
func RemoteError(err error) error {
	if err = SealError(err); err == nil {
		return nil
	}
	var stalled *remote.StalledError
	switch {
	case errors.As(err, &stalled):
		return WithHint(err,
			"run the same command again: received data stays; a server that needs longer: mem -c remote.quiet=1m ...")
	case errors.Is(err, sync.ErrNoRemote):
		return WithCode(ExitNo, WithHint(err, "mem remote add origin git@host:me/memory.git"))
	case errors.Is(err, sync.ErrWhichRemote):
		return WithCode(ExitUsage, WithHint(err, "name one; without a name, the remote origin is used"))
	case errors.Is(err, sync.ErrRemoteExists):
		return WithHint(err, "mem remote list")
	case errors.Is(err, sync.ErrIncomplete):
		return WithHint(err, "mem fsck --repair")
	case errors.Is(err, sync.ErrPublic):
		return WithCode(ExitNo, WithHint(err,
			"make the repository private: memory contains your conversations with Claude"))
	case errors.Is(err, remote.ErrAuth):
		return WithCode(ExitAuth, WithHint(err,
			"for https: git credential approve, or a helper (git help credentials); for ssh: ssh-add, ssh -T"))
	case errors.Is(err, remote.ErrAbsent):
		return WithHint(err, "create an empty private repository there; in a directory: git init --bare DIR")
	case errors.Is(err, remote.ErrTooMany):
		return WithHint(err, "git ls-remote --heads lists them: a memory has one for each device and project")
	case errors.Is(err, remote.ErrDropped):
		return WithHint(err, "run the same command again: received data stays")
	case errors.Is(err, remote.ErrURL):
		return WithHint(err, "mem remote set-url")
	}
	return err
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

// Moved returns the old and new commit of a branch, in git's form.
func Moved(old, now string) string { return ShortCommit(old) + ".." + ShortCommit(now) }

// SealError adds hints and an exit status to an error of an encrypted remote.
func SealError(err error) error {
	var waiting *sealed.NotMemberError
	switch {
	case errors.As(err, &waiting):
		return WithCode(ExitAuth, WithHint(err, "on a device that can read it: mem device approve "+
			waiting.Request.String()+" NAME; then here: mem pull",
			"or with the recovery key: mem remote rm NAME, then mem remote add --encrypt --recovery-key FILE NAME URL"))
	case errors.Is(err, sealed.ErrNoKey):
		return WithCode(ExitAuth, err)
	case errors.Is(err, sealed.ErrPlain):
		return WithCode(ExitNo, WithHint(err, "use an empty repository for an encrypted remote"))
	case errors.Is(err, sealed.ErrKeyring):
		return WithCode(ExitNo, WithHint(err,
			"nothing was fetched from it; if the remote was restored from a backup, mem push restores the newest keyring"))
	case errors.Is(err, sync.ErrNotSealed):
		return WithCode(ExitNo, WithHint(err, "mem remote add --encrypt NAME URL"))
	}
	return err
}
