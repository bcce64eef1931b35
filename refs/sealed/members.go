package sealed

import (
	"context"
	"errors"
	"fmt"

	"filippo.io/age"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// updateKeyring updates the keyring of the remote before a push: it must be the newest one and include
// this device but no revoked devices.
func (s *session) updateKeyring(ctx context.Context) error {
	k, err := s.v.desired(ctx)
	if err != nil {
		return err
	}
	if k.equal(s.v.st.Keyring) && !s.keyringTip.IsZero() && !s.outdated {
		return nil
	}
	if err := s.publish(ctx, k); errors.Is(err, remote.ErrRejected) {
		return fmt.Errorf("another device changed it meanwhile, try again: %v", err) // not wrapped: the lane was not rejected
	} else if err != nil {
		return err
	}
	inner, err := s.v.client.Open(ctx, s.service)
	if err != nil {
		return err // Close closes the former connection again, which does nothing
	}
	s.inner = inner
	return nil
}

// desired returns the keyring as this device wants it.
func (v *Vault) desired(ctx context.Context) (k Keyring, err error) {
	k = v.st.Keyring
	me := Member{Device: v.repo.Device().ID, Name: v.o.Name}
	if me.Key, err = v.key(); err != nil {
		return k, err
	}
	if was, ok := k.member(me.Key); ok && was.Device != "" && was.Device != me.Device {
		// The store was copied and became a new device: the other device keeps the key.
		if err := v.addKey(ctx); err != nil {
			return k, err
		}
		if me.Key, err = v.key(); err != nil {
			return k, err
		}
	}
	k = k.with(me)
	return k.without(func(m Member) bool {
		return m.Device != "" && m.Device != me.Device && v.o.Revoked != nil && v.o.Revoked(m.Device)
	})
}

func (k Keyring) member(key string) (Member, bool) {
	for _, m := range k.Members {
		if m.Key == key {
			return m, true
		}
	}
	return Member{}, false
}

// publish pushes k as the keyring of the remote. The session cannot be used afterwards.
func (s *session) publish(ctx context.Context, k Keyring) error {
	b, err := k.seal()
	if err != nil {
		return err
	}
	entries := map[pack.ID]pack.Entry{}
	c := &commitWriter{sink: func(e pack.Entry) error { entries[e.ID] = e; return nil }}
	if _, err := c.Write(b); err != nil {
		return err
	}
	if err := c.finish(s.keyringTip); err != nil {
		return err
	}
	batch := c.batch(func(id pack.ID) (pack.Entry, error) { return entries[id], nil })
	now := batch.Updates[0].New
	batch.Updates[0] = remote.Update{Ref: keysRef, Old: s.keyringTip, New: now}
	if err := errors.Join(s.inner.Push(ctx, batch), s.inner.Close()); err != nil {
		return err
	}
	s.keyringTip, s.outdated = now, false
	return s.v.saveKeyring(ctx, k, now)
}

// changeKeyring publishes the keyring that fn returns for the current one of the remote.
func (v *Vault) changeKeyring(ctx context.Context, fn func(Keyring) (Keyring, error)) error {
	for try := 0; ; try++ {
		opened, err := v.Open(ctx, remote.Receive)
		if err != nil {
			return err
		}
		s := opened.(*session)
		k, err := v.desired(ctx)
		if err == nil {
			k, err = fn(k)
		}
		if err != nil {
			return errors.Join(err, s.inner.Close())
		}
		if k.equal(v.st.Keyring) && !s.keyringTip.IsZero() && !s.outdated {
			return s.inner.Close()
		}
		err = s.publish(ctx, k)
		if !errors.Is(err, remote.ErrRejected) || try == 3 {
			return err
		}
	}
}

// Approve adds another device as a member.
func (v *Vault) Approve(ctx context.Context, r Request, name string) error {
	return v.changeKeyring(ctx, func(k Keyring) (Keyring, error) {
		return k.with(Member{Key: r.Key, Device: r.Device, Name: name}), nil
	})
}

// RenewRecovery replaces the recovery key and returns the new one. The old one cannot decrypt later pushes.
func (v *Vault) RenewRecovery(ctx context.Context) (recovery string, err error) {
	paper, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	return paper.String(), v.changeKeyring(ctx, func(k Keyring) (Keyring, error) {
		if k, err = k.without(func(m Member) bool { return m.Recovery }); err != nil {
			return k, err
		}
		return k.with(Member{Key: paper.Recipient().String(), Recovery: true, Name: "recovery key"}), nil
	})
}

// A JoinResult is the result of [Join].
type JoinResult struct {
	ID       string // of the secret
	Created  bool   // the remote was empty; Join has encrypted it
	Recovery string // the recovery key, if it was created; it is stored nowhere
	Readable bool   // this device can read the remote
	// ReadOnly is the reason why the device could not become a member; it can read until the keyring changes. Nil for a
	// member.
	ReadOnly  error
	Originals bool    // originals.git is pushed too
	Request   Request // for a member to approve, if the device cannot read
}

// JoinOptions contains the options of [Join].
type JoinOptions struct {
	Recovery  string // the recovery key; "" if it has none
	Originals bool   // push originals.git too, if the remote is empty
}

// Join turns an empty remote into an encrypted one, or makes this device a member of an encrypted remote with the
// recovery key or a key that it has. Without either, the result contains a [Request].
func Join(ctx context.Context, r *refs.Repo, c *remote.Client, how JoinOptions, o Options) (j JoinResult, err error) {
	s, err := c.Open(ctx, remote.Upload)
	if err != nil {
		return j, err
	}
	all := s.Refs()
	if err := s.Close(); err != nil {
		return j, err
	}
	for _, ref := range all {
		if _, ok := lane.ParseRemoteRef(ref.Name); ok {
			return j, ErrPlain
		}
	}
	v := &Vault{repo: r, client: c, o: o}
	defer func() { err = errors.Join(err, v.Close()) }()
	if v.id, err = newID(o.Rand); err != nil {
		return j, err
	}
	if !IsEncrypted(all) {
		return v.create(ctx, how.Originals)
	}
	if how.Recovery != "" {
		if ok, err := v.useExistingKey(ctx); err == nil && ok { // an interrupted Join added this key
			return JoinResult{ID: v.id, Readable: true, Originals: v.st.Keyring.Originals}, nil
		}
		readOnly, err := v.joinWithRecovery(ctx, how.Recovery)
		return JoinResult{ID: v.id, Readable: true, ReadOnly: readOnly, Originals: v.st.Keyring.Originals}, err
	}
	if ok, err := v.useExistingKey(ctx); err != nil || ok {
		return JoinResult{ID: v.id, Readable: true, Originals: v.st.Keyring.Originals}, err
	}
	if err := v.addKey(ctx); err != nil {
		return j, err
	}
	key, err := v.key()
	return JoinResult{ID: v.id, Request: Request{key, r.Device().ID}}, err
}

// create creates the first keyring.
func (v *Vault) create(ctx context.Context, originals bool) (j JoinResult, err error) {
	if err := v.addKey(ctx); err != nil {
		return j, err
	}
	me := Member{Device: v.repo.Device().ID, Name: v.o.Name}
	if me.Key, err = v.key(); err != nil {
		return j, err
	}
	k, recovery, err := newKeyring(me, originals, v.o.Rand)
	if err != nil {
		return j, err
	}
	inner, err := v.client.Open(ctx, remote.Receive)
	if err != nil {
		return j, err
	}
	s := &session{v: v, inner: inner, service: remote.Receive}
	if err := s.publish(ctx, k); err != nil {
		return j, err
	}
	return JoinResult{ID: v.id, Created: true, Recovery: recovery, Readable: true, Originals: originals}, nil
}

// useExistingKey reports whether an existing key of this device decrypts the keyring of the remote.
func (v *Vault) useExistingKey(ctx context.Context) (bool, error) {
	names, err := v.repo.Secrets()
	if err != nil {
		return false, err
	}
	for _, name := range names {
		old, err := Open(v.repo, v.client, name, v.o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if err = errors.Join(old.readKeyring(ctx), old.Close()); err == nil {
			v.id, v.st = name, old.st
			return true, nil
		}
		if !errors.Is(err, ErrNoKey) && !errors.Is(err, ErrKeyring) {
			return false, err
		}
	}
	return false, nil
}

// readKeyring reads only the keyring of the remote.
func (v *Vault) readKeyring(ctx context.Context) error {
	inner, err := v.client.Open(ctx, remote.Upload)
	if err != nil {
		return err
	}
	s := &session{v: v, inner: inner, service: remote.Upload}
	for _, ref := range inner.Refs() {
		if ref.Name == keysRef {
			s.keyringTip = ref.ID
		}
	}
	return errors.Join(s.loadKeyring(ctx), inner.Close())
}

// joinWithRecovery decrypts the keyring with the recovery key and makes this device a member. If the remote cannot be
// written, readOnly is the reason, and the remote can still be read.
func (v *Vault) joinWithRecovery(ctx context.Context, recovery string) (readOnly, err error) {
	v.st.Keys = []string{recovery} // only in memory: the recovery key is never stored
	err = v.readKeyring(ctx)
	if errors.Is(err, ErrNoKey) {
		return nil, fmt.Errorf("this recovery key does not open it: %w", ErrNoKey)
	}
	if err == nil {
		err = v.addKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	readOnly = v.changeKeyring(ctx, func(k Keyring) (Keyring, error) { return k, nil })
	return readOnly, ctx.Err()
}
