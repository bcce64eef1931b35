package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs/sealed"
)

// Trust has the devices that the user trusts. The lanes of others stay outside the state.
type Trust struct {
	Own     string
	Trusted map[string]bool
}

// Of reports whether a device is trusted, so that its data may be used without review.
func (t Trust) Of(device string) bool { return device == t.Own || t.Trusted[device] }

// Trust returns the trusted devices: this one, the earlier identities of this store, and those that the user trusted
// with "mem device trust".
func (m *DB) Trust(ctx context.Context) (Trust, error) {
	t := Trust{Own: m.Refs.Device().ID, Trusted: map[string]bool{}}
	selves, err := m.Refs.OwnDevices()
	if err != nil {
		return t, err
	}
	for _, d := range selves {
		t.Trusted[d] = true
	}
	err = Home(ctx, m, records.KindPeer, func(b records.PeerBody) { t.Trusted[b.Device] = b.Trusted })
	return t, err
}

// PlaceLanes moves the lanes of trusted devices in and those of untrusted devices out.
func (m *DB) PlaceLanes(ctx context.Context) error {
	trust, err := m.Trust(ctx)
	if err != nil {
		return err
	}
	return m.Refs.Place(ctx, trust.Of)
}

// A Device is an installation of mem with data in this memory.
type Device struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	OwnName     string    `json:"own_name,omitempty"` // the device's name for itself, if Name is not
	Key         string    `json:"key"`
	Fingerprint string    `json:"fingerprint"`
	Own         bool      `json:"own"`
	Trusted     bool      `json:"trusted"`
	Dropped     bool      `json:"dropped,omitempty"` // its data was removed here, and is not fetched
	Projects    int       `json:"projects"`
	Last        time.Time `json:"last"` // the time of its last record
	// Waiting is the data of an untrusted device, which nothing reads.
	Waiting *Waiting `json:"waiting,omitempty"`
}

// Waiting counts the data of an untrusted device.
type Waiting struct {
	Sessions int   `json:"sessions"`
	Projects int   `json:"projects"`
	Bytes    int64 `json:"bytes"` // as they are stored
}

// Members returns the members of the encrypted remotes, from the keyrings that were fetched last.
func (m *DB) Members() (out []sealed.Member, err error) {
	remotes, err := m.Refs.Remotes()
	for _, r := range remotes {
		if r.Sealed == "" {
			continue
		}
		v, err := sealed.Open(m.Refs, nil, r.Sealed, sealed.Options{})
		if errors.Is(err, sealed.ErrNoKey) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("remote %s: %w", r.Name, err)
		}
		out = append(out, v.Keyring().Members...)
	}
	return out, err
}
