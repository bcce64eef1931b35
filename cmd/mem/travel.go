package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs/remote"
)

// world is what talking to remotes needs of this one.
func (e *Env) world() remote.World {
	return remote.World{
		Command: e.command, Getenv: e.Getenv, Proxy: http.ProxyFromEnvironment, Agent: "mem/" + release,
		Say: func(line string) { e.note("remote: %s", line) },
	}
}

// remoteURL reads an address that the user typed.
func (e *Env) remoteURL(s string) (remote.URL, error) {
	u, stripped, err := remote.ParseURL(s, e.path)
	if errors.Is(err, remote.ErrURL) {
		return u, withHint(usagef("%v", err), "mem remote add origin git@host:me/memory.git")
	}
	if stripped {
		e.warn("the user and password in the address are not stored; git's credential helper is asked instead")
	}
	return u, err
}

// ask asks a question with the answers yes and no. Where there is nobody to ask it is an error that names --yes.
func (e *Env) ask(format string, args ...any) (bool, error) {
	question := sanitizeLine(fmt.Sprintf(format, args...))
	if !e.Term.Stdin || !e.Term.Stderr {
		return false, withHint(usagef("%s: there is nobody to ask", question), "answer yes with --yes")
	}
	fmt.Fprintf(e.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// travelError adds to an error of a remote what can be done about it.
func travelError(err error) error {
	if err = sealError(err); err == nil {
		return nil
	}
	var stalled *remote.StalledError
	switch {
	case errors.As(err, &stalled):
		return withHint(err, "the same command again: what has arrived stays; a server that needs longer: mem -c remote.quiet=1m ...")
	case errors.Is(err, sync.ErrNoRemote):
		return withCode(exitNo, withHint(err, "mem remote add origin git@host:me/memory.git"))
	case errors.Is(err, sync.ErrWhichRemote):
		return withCode(exitUsage, withHint(err, "name one; a remote called origin is meant where none is named"))
	case errors.Is(err, sync.ErrRemoteExists):
		return withHint(err, "mem remote list")
	case errors.Is(err, sync.ErrIncomplete):
		return withHint(err, "mem fsck --repair")
	case errors.Is(err, sync.ErrPublic):
		return withCode(exitNo, withHint(err, "make the repository private: memory holds what you and Claude wrote"))
	case errors.Is(err, remote.ErrAuth):
		return withCode(exitAuth, withHint(err, "for https: git credential approve, or a helper (git help credentials); for ssh: ssh-add, ssh -T"))
	case errors.Is(err, remote.ErrAbsent):
		return withHint(err, "make an empty private repository there; in a directory: git init --bare DIR")
	case errors.Is(err, remote.ErrTooMany):
		return withHint(err, "git ls-remote --heads shows them: a memory has one for each device and project")
	case errors.Is(err, remote.ErrDropped):
		return withHint(err, "the same command again: what has arrived stays")
	case errors.Is(err, remote.ErrURL):
		return withHint(err, "mem remote set-url")
	}
	return err
}

// short writes the first digits of a commit's name.
func shortCommit(id string) string { return id[:min(10, len(id))] }

// moved writes how a branch moved, as git does.
func moved(old, now string) string { return shortCommit(old) + ".." + shortCommit(now) }
