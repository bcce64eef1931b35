package state

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/records"
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
			b.Name = st.nameBy(b.Name, r.Device)
			st.Stored.Compositions = append(st.Stored.Compositions, StoredItem[records.Composition]{StampOf(r), r.Time, &b})
		})
	case records.KindSet:
		return ApplyTo(r, func(b records.SetBody) { st.assign(assignment{st.assignedBy(b, r.Device), StampOf(r)}) })
	case records.KindName:
		if st.FromStranger(r.Device) {
			return nil
		}
		return ApplyTo(r, func(b records.NameBody) { st.name(StoredNaming{b, StampOf(r)}) })
	case records.KindRelation:
		if st.FromStranger(r.Device) {
			return nil
		}
		return ApplyTo(r, func(b records.RelationBody) { st.relate(StoredRelation{b, StampOf(r), r.Time}) })
	case records.KindKeepit:
		if st.FromStranger(r.Device) {
			return nil
		}
		return ApplyTo(r, func(b records.Override) { st.override(override{b, StampOf(r), StampOf(r)}) })
	case records.KindUse:
		if st.FromStranger(r.Device) {
			return nil
		}
		return ApplyTo(r, func(b records.Use) { st.Uses = append(st.Uses, StoredUse{b, StampOf(r)}) })
	case records.KindRevoke:
		return ApplyTo(r, func(b records.RevokeBody) { st.Revokes = append(st.Revokes, StoredRevoke{b, StampOf(r), r.Time}) })
	case records.KindCost:
		return ApplyTo(r, func(b records.CostBody) { st.addCost(b.On(r.Time)) })
	case "device":
		return nil
	}
	if slices.Contains(UpperKinds, r.Kind) {
		return nil // see upper.go
	}
	st.Unknown++
	return nil
}

// Finish brings lists into their order and fills in what follows from the records.
func (st *State) Finish() {
	Order(st.Sessions, func(a, b **Session) int { return cmp.Compare((*a).ID, (*b).ID) })
	for _, s := range st.Sessions {
		st.seat(s)
		Order(s.Points, func(a, b *records.Point) int { return a.Stamp.Compare(b.Stamp) })
		Order(s.Guests, func(a, b *records.Point) int { return a.Stamp.Compare(b.Stamp) })
		s.settle()
		s.Guest = ""
		if d := s.Now().Stamp.Device; st.FromStranger(d) {
			s.Guest = d
		}
		s.Deleted, s.Overrides, s.Renamed, s.Tags = false, nil, "", nil
	}
	Order(st.Keepits, func(a, b *override) int { return a.First.Compare(b.First) })
	for _, o := range st.Keepits {
		if s := st.Session(o.Session); s != nil {
			s.Overrides = append(s.Overrides, o.Override)
		}
	}
	Order(st.Stored.Versions, func(a, b *StoredItem[records.Version]) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Stored.Compositions, func(a, b *StoredItem[records.Composition]) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Paths, func(a, b *StoredPath) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Sets, func(a, b *assignment) int { return a.Stamp.Compare(b.Stamp) })
	Order(st.Costs, func(a, b *records.Cost) int { return a.Compare(*b) })
	Order(st.Revokes, func(a, b *StoredRevoke) int { return a.Stamp.Compare(b.Stamp) })
	st.setAt, st.costAt = nil, nil
	st.Versions = slices.Grow(st.Versions[:0], len(st.Stored.Versions))
	for _, v := range st.Stored.Versions {
		v.Body.ID, v.Body.Device, v.Body.Time, v.Body.Deleted = v.Stamp.Record, v.Stamp.Device, v.Time, false
		v.Body.ByStranger = st.FromStranger(v.Stamp.Device)
		st.Versions = append(st.Versions, v.Body)
	}
	st.Compositions = slices.Grow(st.Compositions[:0], len(st.Stored.Compositions))
	for _, c := range st.Stored.Compositions {
		c.Body.ID, c.Body.Device, c.Body.Time, c.Body.Deleted = c.Stamp.Record, c.Stamp.Device, c.Time, false
		st.Compositions = append(st.Compositions, c.Body)
	}
	st.applyNames()
	st.orderRelations()
	st.applySets()
	st.applyUses()
}

// applySets carries out the winning assignments.
func (st *State) applySets() {
	if len(st.Sets) == 0 {
		return
	}
	versions, compositions := map[string]*records.Version{}, map[string][]StoredItem[records.Composition]{}
	for _, v := range st.Versions {
		versions[v.ID.String()] = v
	}
	for _, c := range st.Stored.Compositions {
		compositions[c.Body.Name] = append(compositions[c.Body.Name], c)
	}
	for _, a := range st.Sets {
		kind, name, _ := strings.Cut(a.Target, "/")
		if a.Field != "deleted" {
			continue
		}
		switch kind {
		case "session":
			if s := st.Session(name); s != nil {
				s.Deleted = a.Value
			}
		case guestTarget + "session":
			if s := st.Session(name); s != nil && s.Guest != "" {
				s.Deleted = a.Value
			}
		case "version":
			if v := versions[name]; v != nil {
				v.Deleted = a.Value
			}
		case guestTarget + "version":
			if v := versions[name]; v != nil && v.ByStranger {
				v.Deleted = a.Value
			}
		case "composition":
			for _, c := range compositions[name] { // composing a name again brings it back
				c.Body.Deleted = a.Value && c.Stamp.Compare(a.Stamp) < 0
			}
		}
	}
}

func (st *State) applyProject(r refs.Record) error {
	return ApplyTo(r, func(b records.ProjectBody) {
		if st.FromStranger(r.Device) {
			st.Guest.claim(StampOf(r), b)
			return
		}
		if s := StampOf(r); st.Name == "" || s.Compare(st.NameStamp) > 0 {
			st.Name, st.Identity, st.NameStamp = strings.Map(onLine, b.Name), b.Identity, s
		}
	})
}

// onLine keeps what a device called a project on the line where it is printed.
func onLine(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func (st *State) AddPoint(p records.Point) {
	s := st.Session(p.Session)
	if s == nil {
		s = &Session{ID: p.Session}
		st.ByID[s.ID] = s
		st.Sessions = append(st.Sessions, s)
	}
	s.Points = append(s.Points, p)
}

// assign keeps the winner of all assignments to the same field.
func (st *State) assign(a assignment) {
	if st.setAt == nil {
		st.setAt = map[[2]string]int{}
		for i, b := range st.Sets {
			st.setAt[[2]string{b.Target, b.Field}] = i
		}
	}
	at := [2]string{a.Target, a.Field}
	i, ok := st.setAt[at]
	switch {
	case !ok:
		st.setAt[at] = len(st.Sets)
		st.Sets = append(st.Sets, a)
	case a.Stamp.Compare(st.Sets[i].Stamp) > 0:
		st.Sets[i] = a
	}
}

// NameVersions tells versions of the same label apart, and those of devices that are not trusted from all
// others. What a bare label means on the device own never changes by a pull.
func (st *State) NameVersions(own string) {
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
		if v.ByStranger || v.Device != own && twice[name{v.Session, v.Label}] {
			v.Shown = v.Label + "~" + v.Device[:8]
		}
	}
}
