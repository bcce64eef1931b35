package devices

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Strangers returns the names of the devices whose lanes are here and that are not trusted, by id.
func (m Ops) Strangers(ctx context.Context) (map[string]string, error) {
	lanes, err := m.Refs.Lanes()
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

// Peers returns the user's last word on each device.
func (m Ops) Peers(ctx context.Context) (map[string]records.PeerBody, error) {
	out := map[string]records.PeerBody{}
	return out, state.Home(ctx, m.DB, records.KindPeer, func(_ records.Stamp, b records.PeerBody) { out[b.Device] = b })
}

// Devices returns this device, the devices whose lanes are here, and those that were dropped; this one first,
// then by name.
func (m Ops) Devices(ctx context.Context) ([]state.Device, error) {
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	peers, err := m.Peers(ctx)
	if err != nil {
		return nil, err
	}
	lanes, err := m.Refs.Lanes()
	if err != nil {
		return nil, err
	}
	own := m.Refs.Device()
	found := map[string]*state.Device{own.ID: {ID: own.ID, Name: own.Name, Key: own.PublicKey(), Own: true}}
	for _, l := range lanes {
		d := found[l.Device]
		if d == nil {
			d = &state.Device{ID: l.Device}
			found[l.Device] = d
		}
		d.Projects++
		if err := m.Refs.Describe(l, func(name, key string, at time.Time) {
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
	for id, b := range peers {
		if !b.Dropped {
			continue
		}
		if found[id] == nil {
			found[id] = &state.Device{ID: id, Name: id[:8], Key: b.Key}
		}
		found[id].Dropped = true
	}
	var out []state.Device
	for _, d := range found {
		d.Trusted = trust.Of(d.ID)
		d.Name = cmp.Or(peers[d.ID].Name, d.Name)
		d.Fingerprint = lane.Fingerprint(d.Key)
		out = append(out, *d)
	}
	tellApart(out)
	slices.SortFunc(out, func(a, b state.Device) int {
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

// tellApart adds to the names of devices that are called the same what tells them apart, as it is with
// versions: vm~562364fe. What a bare name means on the device own never changes by a pull.
func tellApart(all []state.Device) {
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

// Device finds a device by its name, or by the beginning of its id or fingerprint. The error is a
// [*NotFoundError] or an [*AmbiguousError].
func (m Ops) Device(ctx context.Context, name string) (state.Device, error) {
	all, err := m.Devices(ctx)
	if err != nil {
		return state.Device{}, err
	}
	return deviceNamed(all, name)
}

// Reader finds a device as [Ops.Device] does, also one of which nothing is here and that is only known to read
// an encrypted remote.
func (m Ops) Reader(ctx context.Context, name string) (state.Device, error) {
	all, err := m.Devices(ctx)
	if err != nil {
		return state.Device{}, err
	}
	n := len(all)
	members, err := m.Members()
	if err != nil {
		return state.Device{}, err
	}
	for _, k := range members {
		if k.Device == "" || slices.ContainsFunc(all, func(d state.Device) bool { return d.ID == k.Device }) {
			continue // the recovery key, or one that is here
		}
		all = append(all, state.Device{ID: k.Device, Name: k.Name})
	}
	for i := n; i < len(all); i++ {
		if slices.ContainsFunc(all[:i], func(d state.Device) bool { return d.Name == all[i].Name }) {
			all[i].Name += "~" + all[i].ID[:min(8, len(all[i].ID))]
		}
	}
	return deviceNamed(all, name)
}

func deviceNamed(all []state.Device, name string) (state.Device, error) {
	var found []state.Device
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
		return state.Device{}, &state.NotFoundError{What: "device", Name: name, Candidates: names}
	case 1:
		return found[0], nil
	}
	return state.Device{}, &state.AmbiguousError{What: "device", Name: name, Candidates: candidates}
}

// ErrOwnDevice says that this device cannot be trusted or not: it is the one that does it.
var ErrOwnDevice = errors.New("that is this device")

// TrustDevice says whether the user trusts a device from now on.
func (m Ops) TrustDevice(ctx context.Context, d state.Device, trusted bool) error {
	if d.Own {
		return ErrOwnDevice
	}
	verb := "trust"
	if !trusted {
		verb = "revoke"
	}
	return m.SetPeer(ctx, d, verb+" device "+d.Name, func(b *records.PeerBody) {
		b.Trusted, b.Revoked = trusted, !trusted
		b.Dropped = b.Dropped && !trusted
	})
}

// DropDevice ends the trust in a device and removes its lanes from this store, with every byte that only they
// hold. A fetch leaves them out until the device is trusted again. Dropping it again removes what a killed run
// left.
func (m Ops) DropDevice(ctx context.Context, d state.Device) error {
	selves, err := m.Refs.Selves()
	if err != nil {
		return err
	}
	if d.Own || slices.Contains(selves, d.ID) {
		return ErrOwnDevice
	}
	err = m.SetPeer(ctx, d, "drop device "+d.Name, func(b *records.PeerBody) {
		if name, _, _ := strings.Cut(d.Name, "~"); b.Name == "" { // no lane tells it any more
			b.Name = name
		}
		b.Trusted, b.Revoked, b.Dropped = false, true, true
	})
	if err == nil {
		err = m.Refs.DropDevice(ctx, d.ID)
	}
	if err == nil {
		err = m.DropCache()
	}
	if err == nil {
		err = m.Refs.Sweep(ctx)
	}
	return err
}

// Dropped returns the devices whose lanes are left out.
func (m Ops) Dropped(ctx context.Context) (map[string]bool, error) {
	peers, err := m.Peers(ctx)
	out := map[string]bool{}
	for id, b := range peers {
		out[id] = b.Dropped
	}
	return out, err
}

// RenameDevice gives a device another name: this one for all to see from its next commit on, others only here.
func (m Ops) RenameDevice(ctx context.Context, d state.Device, name string) error {
	if d.Own {
		return m.Refs.RenameDevice(ctx, name)
	}
	return m.SetPeer(ctx, d, "call device "+d.Name+" "+name, func(b *records.PeerBody) { b.Name = name })
}

func (m Ops) SetPeer(ctx context.Context, d state.Device, message string, change func(*records.PeerBody)) error {
	peers, err := m.Peers(ctx)
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
	err = m.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "device")
		_, err := tx.Add(records.KindPeer, b)
		return err
	})
	m.Outlines.Clear() // they depend on who is trusted
	return err
}
