package layers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/refs"
)

// peerBody is what the user says of another device: the body of a "peer" record, of which the last one about a device wins.
type peerBody struct {
	Device  string `json:"device"`
	Key     string `json:"key"` // that it was known by then
	Name    string `json:"name,omitempty"`
	Trusted bool   `json:"trusted,omitempty"`
	Revoked bool   `json:"revoked,omitempty"` // it loses access to encrypted remotes
}

// home calls f with the bodies of a kind of record of this device's own project, in their order.
func home[T any](ctx context.Context, m *Memory, kind string, f func(stamp, T)) error {
	all, err := m.upper(ctx, refs.Home)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Kind != kind {
			continue
		}
		var b T
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return fmt.Errorf("record %s: %s body: %w", r.Stamp.Record.Short(), kind, err)
		}
		f(r.Stamp, b)
	}
	return nil
}

// Trust says which devices the user trusts. What others wrote is shown, and never injected or promoted.
type Trust struct {
	own     string
	trusted map[string]bool
}

// Of reports whether what a device wrote may be used without the user looking at it.
func (t Trust) Of(device string) bool { return device == t.own || t.trusted[device] }

// Trust returns which devices are trusted: this one, those that this store belonged to before, and those that
// "mem device trust" named.
func (m *Memory) Trust(ctx context.Context) (Trust, error) {
	t := Trust{own: m.repo.Device().ID, trusted: map[string]bool{}}
	selves, err := m.repo.Selves()
	if err != nil {
		return t, err
	}
	for _, d := range selves {
		t.trusted[d] = true
	}
	err = home(ctx, m, kindPeer, func(_ stamp, b peerBody) { t.trusted[b.Device] = b.Trusted })
	return t, err
}

// Strangers returns the names of the devices whose lanes are here and that are not trusted, by id.
func (m *Memory) Strangers(ctx context.Context) (map[string]string, error) {
	lanes, err := m.repo.Lanes()
	if err != nil {
		return nil, err
	}
	trust, err := m.Trust(ctx)
	if err != nil || !slices.ContainsFunc(lanes, func(l refs.Lane) bool { return !trust.Of(l.Device) }) {
		return nil, err
	}
	devices, err := m.Devices(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, d := range devices {
		if !d.Trusted {
			out[d.ID] = d.Name
		}
	}
	return out, nil
}

// peers returns the user's last word on each device.
func (m *Memory) peers(ctx context.Context) (map[string]peerBody, error) {
	out := map[string]peerBody{}
	return out, home(ctx, m, kindPeer, func(_ stamp, b peerBody) { out[b.Device] = b })
}

// A Device is an installation of mem that wrote something in this memory.
type Device struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Key         string    `json:"key"`
	Fingerprint string    `json:"fingerprint"`
	Own         bool      `json:"own"`
	Trusted     bool      `json:"trusted"`
	Projects    int       `json:"projects"`
	Last        time.Time `json:"last"` // it wrote something
}

// Devices returns this device and all whose lanes are here, this one first, then by name.
func (m *Memory) Devices(ctx context.Context) ([]Device, error) {
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	peers, err := m.peers(ctx)
	if err != nil {
		return nil, err
	}
	lanes, err := m.repo.Lanes()
	if err != nil {
		return nil, err
	}
	own := m.repo.Device()
	found := map[string]*Device{own.ID: {ID: own.ID, Name: own.Name, Key: own.PublicKey(), Own: true}}
	for _, l := range lanes {
		d := found[l.Device]
		if d == nil {
			d = &Device{ID: l.Device}
			found[l.Device] = d
		}
		d.Projects++
		if err := m.repo.Describe(l, func(name, key string, at time.Time) {
			if at.After(d.Last) {
				d.Last = at
				if !d.Own {
					d.Name, d.Key = name, key
				}
			}
		}); err != nil {
			return nil, err
		}
	}
	var out []Device
	for _, d := range found {
		d.Trusted = trust.Of(d.ID)
		d.Name = cmp.Or(peers[d.ID].Name, d.Name)
		d.Fingerprint = refs.Fingerprint(d.Key)
		out = append(out, *d)
	}
	tellApart(out)
	slices.SortFunc(out, func(a, b Device) int {
		if a.Own != b.Own {
			if a.Own {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// tellApart adds to the names of devices that are called the same what tells them apart, as it is with versions: vm~562364fe.
// What a bare name means on the device own never changes by a pull.
func tellApart(all []Device) {
	called := map[string]int{}
	for _, d := range all {
		called[d.Name]++
	}
	for i := range all {
		if d := &all[i]; !d.Own && called[d.Name] > 1 {
			d.Name += "~" + d.ID[:min(8, len(d.ID))]
		}
	}
}

// Device finds a device by its name, or by the beginning of its id or fingerprint. The error is a [*NotFoundError] or an
// [*AmbiguousError].
func (m *Memory) Device(ctx context.Context, name string) (Device, error) {
	all, err := m.Devices(ctx)
	if err != nil {
		return Device{}, err
	}
	return deviceNamed(all, name)
}

// Reader finds a device as [Memory.Device] does, also one of which nothing is here and that is only known to read an encrypted remote.
func (m *Memory) Reader(ctx context.Context, name string) (Device, error) {
	all, err := m.Devices(ctx)
	if err != nil {
		return Device{}, err
	}
	n := len(all)
	members, err := m.members()
	if err != nil {
		return Device{}, err
	}
	for _, k := range members {
		if k.Device == "" || slices.ContainsFunc(all, func(d Device) bool { return d.ID == k.Device }) {
			continue // the recovery key, or one that is here
		}
		all = append(all, Device{ID: k.Device, Name: k.Name})
	}
	for i := n; i < len(all); i++ {
		if slices.ContainsFunc(all[:i], func(d Device) bool { return d.Name == all[i].Name }) {
			all[i].Name += "~" + all[i].ID[:min(8, len(all[i].ID))]
		}
	}
	return deviceNamed(all, name)
}

func deviceNamed(all []Device, name string) (Device, error) {
	var found []Device
	var names, candidates []string
	for _, d := range all {
		names = append(names, d.Name)
		bare, _, _ := strings.Cut(d.Name, "~")
		if d.Name == name {
			return d, nil
		}
		if bare == name || len(name) >= 4 && strings.HasPrefix(d.ID, name) || d.Fingerprint == name {
			found = append(found, d)
			candidates = append(candidates, d.Name)
		}
	}
	switch len(found) {
	case 0:
		return Device{}, &NotFoundError{What: "device", Name: name, Candidates: names}
	case 1:
		return found[0], nil
	}
	return Device{}, &AmbiguousError{What: "device", Name: name, Candidates: candidates}
}

// ErrOwnDevice says that this device cannot be trusted or not: it is the one that does it.
var ErrOwnDevice = errors.New("that is this device")

// TrustDevice says whether the user trusts a device from now on.
func (m *Memory) TrustDevice(ctx context.Context, d Device, trusted bool) error {
	if d.Own {
		return ErrOwnDevice
	}
	verb := "trust"
	if !trusted {
		verb = "revoke"
	}
	return m.setPeer(ctx, d, verb+" device "+d.Name, func(b *peerBody) { b.Trusted, b.Revoked = trusted, !trusted })
}

// RenameDevice gives a device another name: this one for all to see from its next commit on, others only here.
func (m *Memory) RenameDevice(ctx context.Context, d Device, name string) error {
	if d.Own {
		return m.repo.RenameDevice(ctx, name)
	}
	return m.setPeer(ctx, d, "call device "+d.Name+" "+name, func(b *peerBody) { b.Name = name })
}

func (m *Memory) setPeer(ctx context.Context, d Device, message string, change func(*peerBody)) error {
	peers, err := m.peers(ctx)
	if err != nil {
		return err
	}
	was := peers[d.ID]
	b := was
	b.Device, b.Key = d.ID, d.Key
	change(&b)
	if b == was {
		return nil
	}
	err = m.repo.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "device")
		_, err := tx.Add(kindPeer, b)
		return err
	})
	m.outlines.Clear() // they depend on who is trusted
	return err
}
