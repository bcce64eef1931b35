package trust_test

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/trust"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestDeviceNamed finds devices, some of which have names that look like others.
func TestDeviceNamed(t *testing.T) {
	t.Parallel()
	id := func(digits string) string { return digits + strings.Repeat("0", 32-len(digits)) }
	all := []state.Device{
		{ID: id("aaaa1"), Name: "laptop", Own: true, Fingerprint: "SHA256:a"},
		{ID: id("bbbb2"), Name: "desk~bbbb2000", Fingerprint: "SHA256:b"},
		{ID: id("cccc3"), Name: "desk~cccc3000", Fingerprint: "SHA256:c"},
		{ID: id("dddd4"), Name: "phone", Fingerprint: "SHA256:d"},
		{ID: id("0bad5"), Name: "desk~bbbb2000", Fingerprint: "SHA256:5"}, // named like others
		{ID: id("0bad6"), Name: "dddd4", Fingerprint: "SHA256:6"},
		{ID: id("0bad7"), Name: "laptop~0bad7000", Fingerprint: "SHA256:7"},
		{ID: id("0bad8"), Name: "SHA256:d"},
		{ID: id("0bad9"), Name: id("cccc3")},
	}
	for name, want := range map[string]string{
		"laptop": "aaaa1", "desk~cccc3000": "cccc3", "phone": "dddd4", "SHA256:d": "dddd4", id("dddd4"): "dddd4",
		"cccc3": "cccc3", id("cccc3"): "cccc3", "aaaa": "aaaa1", "phone~dddd4000": "dddd4", "phone~cccc3000": "none",
		"desk": "ambiguous", "desk~bbbb2000": "ambiguous", "dddd4": "ambiguous", "0bad": "ambiguous", "tablet": "none",
	} {
		d, err := trust.DeviceNamed(all, name)
		got := strings.TrimRight(d.ID, "0")
		if ambiguous := (*state.AmbiguousError)(nil); errors.As(err, &ambiguous) {
			got = "ambiguous"
		} else if err != nil {
			got = "none"
		}
		if got != want {
			t.Errorf("%s is the device %s, want %s (%v)", name, got, want, err)
		}
	}
}

func store(t *testing.T) *state.DB {
	t.Helper()
	m, err := state.Init(t.Context(), filepath.Join(t.TempDir(), "memory"), "laptop", state.Options{Now: time.Now,
		Rand: rand.Reader, LockTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Refs.Close() })
	return m
}

// TestSetPeerMeanwhile renames a device while it is revoked: the revocation stays.
func TestSetPeerMeanwhile(t *testing.T) {
	t.Parallel()
	m, d := store(t), state.Device{ID: strings.Repeat("b", 32), Key: "key"}
	if err := trust.TrustDevice(t.Context(), m, d, true); err != nil {
		t.Fatal(err)
	}
	revoked := false
	err := trust.SetPeer(t.Context(), m, d, "rename", func(b *records.PeerBody) {
		if !revoked {
			revoked = true
			if err := trust.TrustDevice(t.Context(), m, d, false); err != nil {
				t.Error(err)
			}
		}
		b.Name = "desk"
	})
	if err != nil {
		t.Fatal(err)
	}
	peers, err := trust.Peers(t.Context(), m)
	if got := peers[d.ID]; err != nil || got.Trusted || !got.Revoked || got.Name != "desk" {
		t.Errorf("the settings are %+v, %v, want desk, revoked", got, err)
	}
}

// TestDropDeviceLocked drops a device while text is deleted: it waits, because both drop the cache.
func TestDropDeviceLocked(t *testing.T) {
	t.Parallel()
	m, d := store(t), state.Device{ID: strings.Repeat("b", 32), Key: "key"}
	unlock, err := m.Refs.LockForget(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.DropDevice(t.Context(), m, d); !errors.Is(err, refs.ErrLocked) {
		t.Errorf("DropDevice = %v, want ErrLocked", err)
	}
	unlock()
	if err := trust.DropDevice(t.Context(), m, d); err != nil {
		t.Error(err)
	}
}
