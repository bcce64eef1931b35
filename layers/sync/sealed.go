package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// ErrNotSealed reports a remote that is not encrypted.
var ErrNotSealed = errors.New("the remote is not encrypted")

// IsSealed reports whether branches are those of an encrypted remote.
func IsSealed(all []gitstore.Ref) bool { return sealed.IsEncrypted(all) }

// vault returns a connection to an encrypted remote.
func vault(ctx context.Context, db *state.DB, r refs.Remote, c *remote.Client, progress func(int64)) (*sealed.Vault, error) {
	o, err := sealOptions(ctx, db)
	if err != nil {
		return nil, err
	}
	o.Limits.Progress = progress
	v, err := sealed.Open(db.Refs, c, r.Sealed, o)
	if err != nil {
		return nil, fmt.Errorf("remote %s: %w", r.Name, err)
	}
	return v, nil
}

func sealOptions(ctx context.Context, db *state.DB) (sealed.Options, error) {
	peers, err := trust.Peers(ctx, db)
	revoked := func(device string) bool { return peers[device].Revoked }
	return sealed.Options{Name: db.Refs.Device().Name, Revoked: revoked, Rand: db.Opts.Rand, Limits: Limits(nil)}, err
}

// A Seal has the options of an encrypted remote.
type Seal struct {
	Recovery  string // recovery key of an existing remote, "" if unknown
	Originals bool   // allow exact bytes, if the remote is new
}

// AddSealed adds an encrypted remote: it initialises an empty repository, or joins an existing remote. Unlike
// [AddRemote] it connects to the remote. The result is not open if another device must approve this one first.
func AddSealed(ctx context.Context, db *state.DB, name string, u remote.URL, s Seal) (j sealed.JoinResult, err error) {
	if err := refs.CheckRemoteName(name); err != nil {
		return j, err
	}
	all, err := db.Refs.Remotes()
	if err != nil {
		return j, err
	}
	if indexRemote(all, name) >= 0 {
		return j, fmt.Errorf("remote %s: %w", name, ErrRemoteExists)
	}
	if s.Recovery != "" {
		if s.Recovery, err = sealed.ParseRecovery(s.Recovery); err != nil {
			return j, err
		}
	}
	r := refs.Remote{Name: name, URL: u.String()}
	c, err := plainClient(db, r)
	if err != nil {
		return j, err
	}
	if public, err := c.Public(ctx); err != nil {
		return j, err
	} else if public {
		return j, ErrPublic
	}
	o, err := sealOptions(ctx, db)
	if err != nil {
		return j, err
	}
	join := sealed.JoinOptions{Recovery: s.Recovery, Originals: s.Originals}
	if j, err = sealed.Join(ctx, db.Refs, c, join, o); err != nil {
		return j, err
	}
	r.Sealed, r.Originals = j.ID, j.Originals
	return j, addRemote(ctx, db, r)
}

// opened calls f with a connection to an encrypted remote.
func opened(ctx context.Context, db *state.DB, r refs.Remote, f func(*sealed.Vault) error) (err error) {
	if r.Sealed == "" {
		return fmt.Errorf("%s: %w", r.Name, ErrNotSealed)
	}
	unlock, err := db.Refs.LockRemote(ctx, r.Name)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := plainClient(db, r)
	if err != nil {
		return err
	}
	v, err := vault(ctx, db, r, c, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return f(v)
}

// Approve gives the device of a request access to the encrypted remote r, including its past data. It lifts a
// revocation of the device but does not trust it.
func Approve(ctx context.Context, db *state.DB, r refs.Remote, request sealed.Request, name string) error {
	err := opened(ctx, db, r, func(v *sealed.Vault) error { return v.Approve(ctx, request, name) })
	if err != nil {
		return err
	}
	peers, err := trust.Peers(ctx, db)
	was := peers[request.Device]
	if err != nil || !was.Revoked {
		return err
	}
	return trust.SetPeer(ctx, db, state.Device{ID: was.Device, Key: was.Key}, "allow device "+name+" to read again",
		func(b *records.PeerBody) { b.Revoked = false })
}

// RenewRecovery replaces the recovery key of an encrypted remote and returns the new one. The old key cannot read
// later pushes.
func RenewRecovery(ctx context.Context, db *state.DB, r refs.Remote) (recovery string, err error) {
	err = opened(ctx, db, r, func(v *sealed.Vault) error {
		recovery, err = v.RenewRecovery(ctx)
		return err
	})
	return recovery, err
}

// CheckSealed returns the problems of the keys of an encrypted remote.
func CheckSealed(db *state.DB, r refs.Remote) error { return sealed.Check(db.Refs, r.Sealed) }

// lanes returns the local lanes, with those of untrusted devices.
func (f *fetcher) lanes() ([]refs.Lane, error) {
	if f.originals {
		return f.m.Refs.OriginalLanes()
	}
	return f.m.Refs.AllLanes()
}

func (f *fetcher) quarantine(ctx context.Context) (*incoming.Quarantine, error) {
	if f.originals {
		return incoming.BeginOriginals(ctx, f.m.Refs, f.o.Remote)
	}
	return incoming.Begin(ctx, f.m.Refs)
}

// broken records the branches of an encrypted remote that could not be read.
func (f *fetcher) broken() {
	v, ok := f.client.(*sealed.Vault)
	if !ok {
		return
	}
	for _, b := range v.Broken() {
		l, _ := lane.ParseRemoteRef(b.Lane)
		i := slices.IndexFunc(f.out.Lanes, func(o FetchedLane) bool { return o.Lane.Ref() == b.Lane })
		if i < 0 {
			i, f.out.Lanes = len(f.out.Lanes), append(f.out.Lanes, f.lane(l, refs.Lane{}, "refused"))
		}
		f.out.Lanes[i].Status, f.out.Lanes[i].Why = "refused", b.Err.Error()
	}
}
