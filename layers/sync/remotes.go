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
func Remotes(db *state.DB) ([]refs.Remote, error) { return db.Refs.Remotes() }

// Remote returns the remote with a name. Without a name it returns "origin" or the only remote. The error wraps
// [ErrNoRemote] or [ErrWhichRemote], or is a [*state.NotFoundError].
func Remote(db *state.DB, name string) (refs.Remote, error) {
	all, err := db.Refs.Remotes()
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
func AddRemote(ctx context.Context, db *state.DB, name string, u remote.URL) error {
	return addRemote(ctx, db, refs.Remote{Name: name, URL: u.String()})
}

// AddRawRemote is [AddRemote] for a remote that may receive exact originals with their secrets, unencrypted.
func AddRawRemote(ctx context.Context, db *state.DB, name string, u remote.URL) error {
	return addRemote(ctx, db, refs.Remote{Name: name, URL: u.String(), Originals: true})
}

func addRemote(ctx context.Context, db *state.DB, r refs.Remote) error {
	if err := refs.CheckRemoteName(r.Name); err != nil {
		return err
	}
	return db.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
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
func RemoveRemote(ctx context.Context, db *state.DB, name string) error {
	return changeRemote(ctx, db, name, nil)
}

// RenameRemote renames a remote.
func RenameRemote(ctx context.Context, db *state.DB, name, to string) error {
	if err := refs.CheckRemoteName(to); err != nil {
		return err
	}
	return db.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
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
func SetRemoteURL(ctx context.Context, db *state.DB, name string, u remote.URL) error {
	return changeRemote(ctx, db, name, func(r *refs.Remote) {
		if r.URL != u.String() {
			*r = refs.Remote{Name: name, URL: u.String(), Sealed: r.Sealed, Originals: r.Originals && r.Sealed != ""}
		}
	})
}

// changeRemote changes a remote with fn, or removes it if fn is nil.
func changeRemote(ctx context.Context, db *state.DB, name string, fn func(*refs.Remote)) error {
	return db.Refs.EditRemotes(ctx, func(all []refs.Remote) ([]refs.Remote, error) {
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
func Client(ctx context.Context, db *state.DB, r refs.Remote, progress func(int64)) (connection, error) {
	c, err := plainClient(db, r)
	if err != nil || r.Sealed == "" {
		return plain{c}, err
	}
	return vault(ctx, db, r, c, progress)
}

func plainClient(db *state.DB, r refs.Remote) (*remote.Client, error) {
	u, _, err := remote.ParseURL(r.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("remote %s: %w", r.Name, err)
	}
	w := db.Opts.World
	w.Mark, w.LockTimeout = db.Refs.Device().ID, db.Opts.LockTimeout
	return remote.New(u, w), nil
}
