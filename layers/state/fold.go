package state

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Apply adds one record to the state.
func (st *State) Apply(r refs.Record) error {
	if st.Purged != nil && st.Purged.Hides(r.Kind, StampOf(r), r.Body) {
		return nil
	}
	switch r.Kind {
	case records.KindProject:
		return st.applyProject(r)
	case records.KindPath:
		return ApplyTo(r, func(b records.PathBody) { st.Paths = append(st.Paths, StoredPath{StampOf(r), b}) })
	case records.KindSession:
		return ApplyTo(r, func(b records.Snapshot) {
			st.AddPoint(records.Point{Stamp: StampOf(r), Time: r.Time, Snapshot: b})
		})
	case records.KindVersion:
		return ApplyTo(r, func(b records.Version) {
			b.Key = b.Derivation.Key()
			st.Stored.Versions = append(st.Stored.Versions, StoredItem[records.Version]{StampOf(r), r.Time, &b})
		})
	case records.KindComposition:
		return ApplyTo(r, func(b records.Composition) {
			st.Stored.Compositions = append(st.Stored.Compositions, StoredItem[records.Composition]{StampOf(r), r.Time, &b})
		})
	case records.KindSet:
		return ApplyTo(r, func(b records.SetBody) { st.Sets = append(st.Sets, assignment{b, StampOf(r)}) })
	case records.KindName:
		return ApplyTo(r, func(b records.NameBody) { st.Names = append(st.Names, StoredNaming{b, StampOf(r)}) })
	case records.KindRelation:
		return ApplyTo(r, func(b records.RelationBody) {
			st.Relations = append(st.Relations, StoredRelation{b, StampOf(r), r.Time})
		})
	case records.KindKeepit:
		return ApplyTo(r, func(b records.Override) { st.override(override{b, StampOf(r), StampOf(r)}) })
	case records.KindUse:
		return ApplyTo(r, func(b records.Use) { st.Uses = append(st.Uses, StoredUse{b, StampOf(r)}) })
	case records.KindRevoke:
		return ApplyTo(r, func(b records.RevokeBody) { st.Revokes = append(st.Revokes, StoredRevoke{b, StampOf(r), r.Time}) })
	case records.KindCost:
		return ApplyTo(r, func(b records.CostBody) { st.addCost(b.Dated(r.Time)) })
	case "device", records.KindNote: // see [DB.Notes]
		return nil
	}
	if slices.Contains(UpperKinds, r.Kind) {
		return nil // see upper.go
	}
	st.Unknown++
	return nil
}

// Finish brings lists into their order and fills in what follows from the records. own is this device.
func (st *State) Finish(own string) {
	st.own = own
	st.divide()
	Order(st.Keepits, func(a, b *override) int { return a.First.Compare(b.First) })
	for _, o := range st.Keepits {
		for _, s := range st.SessionsNamed(o.Session) {
			s.Overrides = append(s.Overrides, o.Override)
		}
	}
	Order(st.Stored.Versions, func(a, b *StoredItem[records.Version]) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Stored.Compositions, func(a, b *StoredItem[records.Composition]) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Paths, func(a, b *StoredPath) int { return a.Stamp.Compare(b.Stamp) })
	st.Sets = lastOf(st.Sets, func(a *assignment) string { return a.Field + "\x00" + a.Target },
		func(a *assignment) records.Stamp { return a.Stamp })
	st.Names = lastOf(st.Names, func(n *StoredNaming) string { return n.Slot() },
		func(n *StoredNaming) records.Stamp { return n.Stamp })
	st.Relations = lastOf(st.Relations, func(r *StoredRelation) string { return r.Slot() },
		func(r *StoredRelation) records.Stamp { return r.Stamp })
	Order(st.Costs, func(a, b *records.Cost) int { return a.Compare(*b) })
	Order(st.Revokes, func(a, b *StoredRevoke) int { return a.Stamp.Compare(b.Stamp) })
	st.costAt = nil
	st.Versions = slices.Grow(st.Versions[:0], len(st.Stored.Versions))
	made := map[objects.Hash]string{} // sessions of the outputs of versions
	for _, v := range st.Stored.Versions {
		b := v.Body
		if id := st.IDOf(b.Session, b.Origin(), v.Stamp.Device); id != b.Session {
			b = new(*b)
			b.Session = id
		}
		made[b.Derivation.Output] = b.Session
		b.ID, b.Device, b.Time, b.Deleted = v.Stamp.Record, v.Stamp.Device, v.Time, false
		st.Versions = append(st.Versions, b)
	}
	st.Compositions = slices.Grow(st.Compositions[:0], len(st.Stored.Compositions))
	for _, c := range st.Stored.Compositions {
		b := c.Body
		for i, p := range b.Parts {
			if id := cmp.Or(made[p.Output], st.IDOf(p.Session, p.Output, c.Stamp.Device)); id != p.Session && p.Project == st.Project {
				b = new(*b)
				b.Parts = slices.Clone(b.Parts)
				b.Parts[i].Session = id
			}
		}
		b.ID, b.Device, b.Time, b.Deleted = c.Stamp.Record, c.Stamp.Device, c.Time, false
		st.Compositions = append(st.Compositions, b)
	}
	st.applyNames()
	st.applySets()
	st.applyUses()
	st.tellApart()
	st.nameVersions()
}

// applySets applies the winning assignments. A hidden session hides its subagents, except one that was shown later.
func (st *State) applySets() {
	if len(st.Sets) == 0 {
		return
	}
	versions, compositions := map[string]*records.Version{}, map[string][]StoredItem[records.Composition]{}
	for _, v := range st.Versions {
		versions[v.ID.String()] = v
	}
	for i, c := range st.Stored.Compositions {
		c.Body = st.Compositions[i]
		compositions[c.Body.Name] = append(compositions[c.Body.Name], c)
	}
	set, hidden := map[string]records.Stamp{}, map[string]records.Stamp{} // sessions, when they were set and hidden
	for _, a := range st.Sets {
		kind, name, _ := strings.Cut(a.Target, "/")
		if a.Field != "deleted" {
			continue
		}
		switch kind {
		case "session":
			for _, s := range st.SessionsNamed(name) {
				s.Deleted, set[s.ID] = a.Value, a.Stamp
				if a.Value {
					hidden[s.ID] = a.Stamp
				}
			}
		case "version":
			if v := versions[name]; v != nil {
				v.Deleted = a.Value
			}
		case "composition":
			for _, c := range compositions[name] { // composing the name again restores it
				c.Body.Deleted = a.Value && c.Stamp.Compare(a.Stamp) < 0
			}
		}
	}
	for _, s := range st.Sessions {
		if at, ok := hidden[s.Parent()]; ok && set[s.ID].Compare(at) < 0 {
			s.Deleted = true
		}
	}
}

func (st *State) applyProject(r refs.Record) error {
	return ApplyTo(r, func(b records.ProjectBody) {
		if b.Name == "" {
			return // it names nothing, in any order of records
		}
		if s := StampOf(r); s.Compare(st.NameStamp) > 0 {
			st.Name, st.Identity, st.NameStamp = strings.Map(onLine, b.Name), b.Identity, s
		}
	})
}

// onLine replaces control characters by spaces: names of other devices are printed on one line.
func onLine(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// AddPoint adds a growth point to its session. Call Finish after the last one.
func (st *State) AddPoint(p records.Point) {
	if st.fileAt == nil {
		st.fileAt = make(map[string]*Session, len(st.Files))
		for _, s := range st.Files {
			st.fileAt[s.ID] = s
		}
	}
	s := st.fileAt[p.Session]
	if s == nil {
		s = &Session{ID: p.Session}
		st.fileAt[s.ID] = s
		st.Files = append(st.Files, s)
	}
	s.Points = append(s.Points, p)
}

// lastOf brings a list into the order of records, and keeps the last item of each slot.
func lastOf[T any](list []T, slot func(*T) string, stamp func(*T) records.Stamp) []T {
	Order(list, func(a, b *T) int { return stamp(a).Compare(stamp(b)) })
	last := make(map[string]int, len(list))
	for i := range list {
		last[slot(&list[i])] = i
	}
	n := 0
	for i := range list {
		if last[slot(&list[i])] == i {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// nameVersions sets the names under which versions are shown: the label, with the device if another device has the same
// label. A pull never changes what a bare label means on this device.
func (st *State) nameVersions() {
	type name struct{ session, label string }
	devices := map[name]string{}
	twice := map[name]bool{}
	for _, v := range st.Versions {
		n := name{v.Session, v.Label}
		if d, ok := devices[n]; ok && d != v.Device {
			twice[n] = true
		}
		devices[n] = v.Device
	}
	for _, v := range st.Versions {
		v.Shown = ""
		if v.Device != st.own && twice[name{v.Session, v.Label}] {
			v.Shown = v.Label + "~" + v.Device[:8]
		}
	}
}
