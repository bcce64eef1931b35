package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Undecided returns the untrusted devices with lanes in the projects that the user has neither trusted nor revoked.
// Without projects, the lanes of all projects count.
func Undecided(ctx context.Context, db *state.DB, projects []refs.Project) ([]state.Device, error) {
	outside, err := db.Refs.Outside()
	if err != nil || len(outside) == 0 {
		return nil, err
	}
	all, err := Devices(ctx, db)
	if err != nil {
		return nil, err
	}
	peers, err := Peers(ctx, db)
	return slices.DeleteFunc(all, func(d state.Device) bool {
		return d.Trusted || peers[d.ID].Revoked || !slices.ContainsFunc(outside, func(l refs.Lane) bool {
			return l.Device == d.ID && (len(projects) == 0 || slices.Contains(projects, l.Project))
		})
	}), err
}

// Waiting is [Devices] with the waiting data of untrusted devices counted.
func Waiting(ctx context.Context, db *state.DB) ([]state.Device, error) {
	all, err := Devices(ctx, db)
	if err != nil {
		return nil, err
	}
	outside, err := db.Refs.Outside()
	if err != nil {
		return nil, err
	}
	for i := range all {
		d := &all[i]
		lanes := slices.DeleteFunc(slices.Clone(outside), func(l refs.Lane) bool { return l.Device != d.ID })
		if len(lanes) == 0 {
			continue
		}
		if d.Waiting, err = waiting(ctx, db, lanes); err != nil {
			return nil, fmt.Errorf("device %s: %w", d.Name, err)
		}
	}
	return all, nil
}

// waiting counts the data in lanes of an untrusted device.
func waiting(ctx context.Context, db *state.DB, lanes []refs.Lane) (*state.Waiting, error) {
	w := &state.Waiting{}
	sessions, projects := map[string]bool{}, map[refs.Project]bool{} // as the lists count them: without subagents
	for _, l := range lanes {
		err := db.Refs.RecordsOf(ctx, l, func(r refs.Record) {
			var s records.Snapshot
			if r.Kind == records.KindSession && json.Unmarshal(r.Body, &s) == nil && s.Parent == "" && s.Scan.Parent() == "" {
				sessions[string(l.Project)+s.Session], projects[l.Project] = true, true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	w.Sessions, w.Projects = len(sessions), len(projects)
	if w.Sessions == 0 {
		w.Projects = len(lanes) // of something else, such as rules
	}
	var err error
	w.Bytes, err = db.Refs.SizeOf(ctx, lanes)
	return w, err
}

// Peers returns the user's last settings for each device, by ID.
func Peers(ctx context.Context, db *state.DB) (map[string]records.PeerBody, error) {
	out := map[string]records.PeerBody{}
	return out, state.Home(ctx, db, records.KindPeer, func(b records.PeerBody) { out[b.Device] = b })
}

// Devices returns this device, the devices with lanes here, and dropped ones. This device is the first; the others
// are sorted by name.
func Devices(ctx context.Context, db *state.DB) ([]state.Device, error) {
	trust, err := db.Trust(ctx)
	if err != nil {
		return nil, err
	}
	peers, err := Peers(ctx, db)
	if err != nil {
		return nil, err
	}
	found, err := laneDevices(db)
	if err != nil {
		return nil, err
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
		own := d.Name
		if d.Name = cmp.Or(peers[d.ID].Name, d.Name); d.Name != own {
			d.OwnName = own
		}
		d.Fingerprint = lane.Fingerprint(d.Key)
		out = append(out, *d)
	}
	disambiguate(out)
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

// laneDevices returns this device and the devices of all lanes here, by ID.
func laneDevices(db *state.DB) (map[string]*state.Device, error) {
	lanes, err := db.Refs.Lanes()
	if err != nil {
		return nil, err
	}
	outside, err := db.Refs.Outside()
	if err != nil {
		return nil, err
	}
	lanes = append(lanes, outside...)
	own := db.Refs.Device()
	found := map[string]*state.Device{own.ID: {ID: own.ID, Name: own.Name, Key: own.PublicKey(), Own: true}}
	for _, l := range lanes {
		d := found[l.Device]
		if d == nil {
			d = &state.Device{ID: l.Device}
			found[l.Device] = d
		}
		d.Projects++
		if err := db.Refs.Describe(l, func(name, key string, at time.Time) {
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
	return found, nil
}

// disambiguate adds the start of the ID to equal names, as for versions: vm~562364fe. This device keeps its name, so
// that a pull never changes what the name means here.
func disambiguate(all []state.Device) {
	called := map[string]int{}
	for _, d := range all {
		called[d.Name]++
	}
	for i := range all {
		if d := &all[i]; !d.Own && called[d.Name] > 1 {
			d.OwnName = cmp.Or(d.OwnName, d.Name)
			d.Name += "~" + d.ID[:min(8, len(d.ID))]
		}
	}
}

// Device finds a device by its name, or by a prefix of its ID or fingerprint. The error is a [*state.NotFoundError]
// or a [*state.AmbiguousError].
func Device(ctx context.Context, db *state.DB, name string) (state.Device, error) {
	all, err := Devices(ctx, db)
	if err != nil {
		return state.Device{}, err
	}
	return DeviceNamed(all, name)
}

// Reader is [Device] for devices without data here that can read an encrypted remote, too.
func Reader(ctx context.Context, db *state.DB, name string) (state.Device, error) {
	all, err := Devices(ctx, db)
	if err != nil {
		return state.Device{}, err
	}
	n := len(all)
	members, err := db.Members()
	if err != nil {
		return state.Device{}, err
	}
	for _, k := range members {
		if k.Device == "" || slices.ContainsFunc(all, func(d state.Device) bool { return d.ID == k.Device }) {
			continue // the recovery key or a device with lanes here
		}
		all = append(all, state.Device{ID: k.Device, Name: k.Name})
	}
	for i := n; i < len(all); i++ {
		if slices.ContainsFunc(all[:i], func(d state.Device) bool { return d.Name == all[i].Name }) {
			all[i].Name += "~" + all[i].ID[:min(8, len(all[i].ID))]
		}
	}
	return DeviceNamed(all, name)
}

// DeviceNamed finds a device. Any device can take a name that looks like the ID or the name of another one, so such a
// name is ambiguous. A whole ID, a fingerprint and the name of this device are not.
func DeviceNamed(all []state.Device, name string) (state.Device, error) {
	var found, bare []state.Device
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
		base, _, _ := strings.Cut(d.Name, "~")
		named, id, long := strings.Cut(name, "~") // as the name was while another device had it, too
		switch {
		case d.ID == name || d.Fingerprint == name && name != "" || d.Own && d.Name == name:
			return d, nil
		case d.Name == name || len(name) >= 4 && strings.HasPrefix(d.ID, name), long && len(id) >= 4 && d.Name == named && strings.HasPrefix(d.ID, id):
			found = append(found, d)
		case base == name:
			bare = append(bare, d)
		}
	}
	if len(found) == 0 {
		found = bare
	}
	switch len(found) {
	case 0:
		return state.Device{}, &state.NotFoundError{What: "device", Name: name, Candidates: names}
	case 1:
		return found[0], nil
	}
	var candidates []string
	for _, d := range found {
		same := func(o state.Device) bool { return o.Name == d.Name && o.ID != d.ID }
		if d.Name == name || slices.ContainsFunc(found, same) {
			d.Name += " (" + d.ID + ")"
		}
		candidates = append(candidates, d.Name)
	}
	return state.Device{}, &state.AmbiguousError{What: "device", Name: name, Candidates: candidates}
}

// ErrOwnDevice reports an operation that is not possible on this device itself.
var ErrOwnDevice = errors.New("that is this device")

// TrustDevice sets whether the user trusts a device, and moves its lanes in or out. After an interruption its lanes are
// still outside, or it is still trusted.
func TrustDevice(ctx context.Context, db *state.DB, d state.Device, trusted bool) error {
	if d.Own {
		return ErrOwnDevice
	}
	selves, err := db.Refs.OwnDevices()
	if err != nil {
		return err
	}
	if !trusted && !slices.Contains(selves, d.ID) {
		trust, err := db.Trust(ctx)
		if err == nil {
			err = db.Refs.Place(ctx, func(device string) bool { return device != d.ID && trust.Of(device) })
		}
		if err != nil {
			return err
		}
	}
	verb := "trust"
	if !trusted {
		verb = "revoke"
	}
	err = SetPeer(ctx, db, d, verb+" device "+d.Name, func(b *records.PeerBody) {
		b.Trusted, b.Revoked = trusted, !trusted
		b.Dropped = b.Dropped && !trusted
	})
	if err != nil {
		return err
	}
	return db.PlaceLanes(ctx)
}

// DropDevice distrusts a device and removes its lanes and their bytes from this store. A fetch ignores its lanes
// until the device is trusted again. A second run removes what a killed run left.
func DropDevice(ctx context.Context, db *state.DB, d state.Device) error {
	selves, err := db.Refs.OwnDevices()
	if err != nil {
		return err
	}
	if d.Own || slices.Contains(selves, d.ID) {
		return ErrOwnDevice
	}
	unlock, err := db.Refs.LockForget(ctx) // it drops the cache
	if err != nil {
		return err
	}
	defer unlock()
	err = SetPeer(ctx, db, d, "drop device "+d.Name, func(b *records.PeerBody) {
		if name, _, _ := strings.Cut(d.Name, "~"); b.Name == "" { // its lanes, which have the name, are removed
			b.Name = name
		}
		b.Trusted, b.Revoked, b.Dropped = false, true, true
	})
	if err == nil {
		err = db.Refs.DropDevice(ctx, d.ID)
	}
	if err == nil {
		err = db.DropCache()
	}
	if err == nil {
		err = db.Refs.Sweep(ctx)
	}
	return err
}

// Dropped returns the devices whose lanes are ignored.
func Dropped(ctx context.Context, db *state.DB) (map[string]bool, error) {
	peers, err := Peers(ctx, db)
	out := map[string]bool{}
	for id, b := range peers {
		out[id] = b.Dropped
	}
	return out, err
}

// RenameDevice renames a device: this one for everybody from its next commit, other ones only here.
func RenameDevice(ctx context.Context, db *state.DB, d state.Device, name string) error {
	if d.Own {
		return db.Refs.RenameDevice(ctx, name)
	}
	return SetPeer(ctx, db, d, "call device "+d.Name+" "+name, func(b *records.PeerBody) { b.Name = name })
}

// SetPeer changes the user's settings for a device. It calls change again if another process has changed them
// meanwhile.
func SetPeer(ctx context.Context, db *state.DB, d state.Device, message string, change func(*records.PeerBody)) error {
	peers, err := Peers(ctx, db)
	if err != nil {
		return err
	}
	changed := func(was records.PeerBody) records.PeerBody {
		b := was
		b.Device, b.Key = d.ID, d.Key
		change(&b)
		return b
	}
	if was := peers[d.ID]; changed(was) == was {
		return nil
	}
	return db.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		was, err := peerAt(ctx, db, tx, d.ID)
		if err != nil {
			return err
		}
		b := changed(was)
		if b == was {
			return nil
		}
		tx.Trailer("Op", "device")
		_, err = tx.Add(records.KindPeer, b)
		return err
	})
}

// peerAt returns the user's last settings for a device in a transaction.
func peerAt(ctx context.Context, db *state.DB, tx *refs.Tx, device string) (last records.PeerBody, err error) {
	all, err := db.UpperAt(ctx, tx, refs.Home)
	if err != nil {
		return last, err
	}
	for _, r := range all {
		if r.Kind != records.KindPeer || err != nil {
			continue
		}
		err = state.ApplyTo(r, func(b records.PeerBody) {
			if b.Device == device {
				last = b
			}
		})
	}
	return last, err
}
