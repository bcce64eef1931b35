package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

var (
	// ErrNoRemote reports that no remote is configured.
	ErrNoRemote = errors.New("there is no remote")
	// ErrWhichRemote reports that the name of a remote is required.
	ErrWhichRemote = errors.New("there are several remotes, and none is called origin")
	// ErrRemoteExists reports that the name of a remote is in use.
	ErrRemoteExists = errors.New("the remote exists already")
)

// Remotes returns the remotes, sorted by name.
func (m Ops) Remotes() ([]refs.Remote, error) { return m.Refs.Remotes() }

// Remote returns the remote with a name. Without a name it returns "origin" or the only remote. The error wraps
// [ErrNoRemote] or [ErrWhichRemote], or is a [*state.NotFoundError].
func (m Ops) Remote(name string) (refs.Remote, error) {
	all, err := m.Refs.Remotes()
	if err != nil {
		return refs.Remote{}, err
	}
	var names []string
	for _, r := range all {
		if r.Name == name || name == "" && (r.Name == "origin" || len(all) == 1) {
			return r, nil
		}
		names = append(names, r.Name)
	}
	switch {
	case len(all) == 0 && name == "":
		return refs.Remote{}, ErrNoRemote
	case name == "":
		return refs.Remote{}, fmt.Errorf("%w: %s", ErrWhichRemote, strings.Join(names, ", "))
	}
	return refs.Remote{}, &state.NotFoundError{What: "remote", Name: name, Candidates: names}
}

// AddRemote adds a remote. It does not connect to it.
func (m Ops) AddRemote(ctx context.Context, name string, u remote.URL) error {
	return m.addRemote(ctx, refs.Remote{Name: name, URL: u.String()})
}

// AddRawRemote is [Ops.AddRemote] for a remote that may receive exact originals with their secrets, unencrypted.
func (m Ops) AddRawRemote(ctx context.Context, name string, u remote.URL) error {
	return m.addRemote(ctx, refs.Remote{Name: name, URL: u.String(), Originals: true})
}

func (m Ops) addRemote(ctx context.Context, r refs.Remote) error {
	if err := refs.CheckRemoteName(r.Name); err != nil {
		return err
	}
	return m.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
		if indexRemote(all, r.Name) >= 0 {
			return nil, fmt.Errorf("remote %s: %w", r.Name, ErrRemoteExists)
		}
		return append(all, r), nil
	})
}

// nameOf returns the name of a remote for errors. A remote without a name is an archive.
func nameOf(r refs.Remote) string { return cmp.Or(r.Name, "the archive") }

func indexRemote(all []refs.Remote, name string) int {
	return slices.IndexFunc(all, func(r refs.Remote) bool { return r.Name == name })
}

// RemoveRemote removes a remote. Its data stays there.
func (m Ops) RemoveRemote(ctx context.Context, name string) error {
	return m.changeRemote(ctx, name, nil)
}

// RenameRemote renames a remote.
func (m Ops) RenameRemote(ctx context.Context, name, to string) error {
	if err := refs.CheckRemoteName(to); err != nil {
		return err
	}
	return m.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
		i := indexRemote(all, name)
		if i < 0 {
			return nil, missingRemote(all, name)
		}
		if indexRemote(all, to) >= 0 {
			return nil, fmt.Errorf("remote %s: %w", to, ErrRemoteExists)
		}
		all[i].Name = to
		return all, nil
	})
}

// SetRemoteURL changes the URL of a remote. Consents are for the old URL and are asked again.
func (m Ops) SetRemoteURL(ctx context.Context, name string, u remote.URL) error {
	return m.changeRemote(ctx, name, func(r *refs.Remote) {
		if r.URL != u.String() {
			*r = refs.Remote{Name: name, URL: u.String(), Sealed: r.Sealed, Originals: r.Originals && r.Sealed != ""}
		}
	})
}

// changeRemote changes a remote with fn, or removes it if fn is nil.
func (m Ops) changeRemote(ctx context.Context, name string, fn func(*refs.Remote)) error {
	return m.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
		i := indexRemote(all, name)
		if i < 0 {
			return nil, missingRemote(all, name)
		}
		if fn == nil {
			return slices.Delete(all, i, i+1), nil
		}
		fn(&all[i])
		return all, nil
	})
}

func missingRemote(all []refs.Remote, name string) error {
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	return &state.NotFoundError{What: "remote", Name: name, Candidates: names}
}

// A connection is an open connection to a remote.
type connection interface {
	Public(context.Context) (bool, error)
	Open(context.Context, remote.Service) (remote.Session, error)
	Close() error
}

// plain is a connection to a remote that is not encrypted.
type plain struct{ *remote.Client }

func (plain) Close() error { return nil }

// Client returns a connection to a remote. The caller closes it.
func (m Ops) Client(ctx context.Context, r refs.Remote, progress func(int64)) (connection, error) {
	c, err := m.plainClient(r)
	if err != nil || r.Sealed == "" {
		return plain{c}, err
	}
	return m.vault(ctx, r, c, progress)
}

func (m Ops) plainClient(r refs.Remote) (*remote.Client, error) {
	u, _, err := remote.ParseURL(r.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("remote %s: %w", r.Name, err)
	}
	w := m.Opts.World
	w.Mark, w.LockTimeout = m.Refs.Device().ID, m.Opts.LockTimeout
	return remote.New(u, w), nil
}
