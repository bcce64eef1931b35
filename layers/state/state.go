package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// A State is what a project is: a pure function of the records of its lanes, whatever their order.
// It is kept in the cache and brought up to date from the records that came since.
type State struct {
	Format       int
	Tips         []refs.Tip
	Project      refs.Project
	Name         string
	Identity     string
	NameStamp    records.Stamp
	Sessions     []*Session             // by id
	Versions     []*records.Version     // in the order of records
	Compositions []*records.Composition // in the order of records
	Stored       storedLists            // Versions and Compositions with what their records do not say
	Sets         []assignment           // the winning ones
	Names        []StoredNaming         // the winning ones
	Relations    []StoredRelation       // the winning ones, in the order of records
	Keepits      []override             // the winning ones
	Uses         []StoredUse            // in the order of records
	Paths        []StoredPath           // of the home project only, in the order of records
	Costs        []records.Cost         // of the home project only, sorted
	Revokes      []StoredRevoke         // in the order of records
	Unknown      int                    // records of kinds this program does not know
	Purges       []StoredPurge          // that are heeded, in the order of records
	Unheeded     []string               // devices that the user does not trust and that have others
	Strangers    []string               // devices with a lane that the user does not trust, sorted: see strangers.go
	Guest        guestName

	bulk   *Bulks // nil in an outline
	ByID   map[string]*Session
	setAt  map[[2]string]int         // where the assignment to a field of a target is in Sets
	NameAt map[string]int            // where what is said of a slot is in Names
	Typed  map[transcript.Key]string // who wrote it first
	saidOf map[string]int            // where what is said of a session and a project is in Relations
	costAt map[records.Cost]int      // where the costs of a kind are in Costs

	Purged *Purges // Purges
}

func StampOf(r refs.Record) records.Stamp {
	return records.Stamp{Lamport: r.Lamport, Device: r.Device, Record: r.ID}
}

type assignment struct {
	records.SetBody
	Stamp records.Stamp
}

type override struct {
	records.Override
	Stamp records.Stamp
	First records.Stamp // of the first record that speaks of the text: names of added markers follow from it
}

type storedLists struct {
	Versions     []StoredItem[records.Version]
	Compositions []StoredItem[records.Composition]
}

// A storedPath is what a device says of one of its directories; it means nothing on another device.
type StoredPath struct {
	Stamp records.Stamp
	records.PathBody
}

type StoredItem[T any] struct {
	Stamp records.Stamp
	Time  time.Time
	Body  *T
}

// A Session is all that is known of one conversation.
type Session struct {
	ID     string
	Points []records.Point // growth points, in the order of records; see Now
	// Deleted says that the session was taken out of the lists; its bytes stay.
	Deleted bool
	Renamed string   // the title that the user gave it, "" for none
	Tags    []string // that the user gave it, sorted
	// of devices that are not trusted, if a trusted one has the session too: they change nothing of it
	Guests    []records.Point
	Guest     string             // the device of Now if only devices that are not trusted have the session, else ""
	Revoked   string             // why it is hidden, "" if it is not
	Overrides []records.Override // on its markers, in the order in which they were first spoken of
	Used      records.Rehearsal

	NowAt int // where Now is in Points
}

// Chain returns the snapshots of the same device and generation as p up to p: together they tell of
// all markers and typed messages.
func (s *Session) Chain(p *records.Point) []records.Point {
	var out []records.Point
	for _, q := range s.Points {
		if q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation && q.Stamp.Compare(p.Stamp) <= 0 {
			out = append(out, q)
		}
	}
	return out
}

// Parent returns the session that started this one as a subagent, "" if it is none.
func (s *Session) Parent() string { return cmp.Or(s.Now().Parent, s.Now().Scan.Parent()) }

// Source returns where the session's file was when it was captured last.
func (s *Session) Source() string {
	for _, p := range slices.Backward(s.Points) {
		if p.Source != "" {
			return p.Source
		}
	}
	return ""
}

// Markers returns the markers of the session now, in order.
func (s *Session) Markers() []records.Mark {
	var out []records.Mark
	for _, p := range s.Chain(s.Now()) {
		out = append(out, p.Markers...)
	}
	return s.overridden(out)
}

// Marked returns how many markers the session has now.
func (s *Session) Marked() int {
	if len(s.Overrides) > 0 {
		return len(s.Markers())
	}
	n, now := 0, s.Now()
	for i := range s.Points {
		if q := &s.Points[i]; q.Stamp.Device == now.Stamp.Device && q.Generation == now.Generation {
			n += len(q.Markers)
		}
	}
	return n
}

// Session returns the session with the full id, or nil.
func (st *State) Session(id string) *Session {
	st.Index()
	return st.ByID[id]
}

// Index makes session quick. Goroutines that share a state need it to have been made.
func (st *State) Index() {
	if st.ByID != nil {
		return
	}
	st.ByID = make(map[string]*Session, len(st.Sessions))
	for _, s := range st.Sessions {
		st.ByID[s.ID] = s
	}
}

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

func ApplyTo[T any](r refs.Record, f func(T)) error {
	var b T
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID.Short(), r.Kind, err)
	}
	f(b)
	return nil
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

// Order sorts a list that mostly is in order already. Its elements may be large: they are compared where they lie.
func Order[T any](s []T, compare func(a, b *T) int) {
	for i := 1; i < len(s); i++ {
		if compare(&s[i-1], &s[i]) > 0 {
			slices.SortFunc(s, func(a, b T) int { return compare(&a, &b) })
			return
		}
	}
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

// SeenElsewhere reports whether a typed message is known from another session or from a composition. If it
// was never seen, it is the session's from now on.
func (st *State) SeenElsewhere(k transcript.Key, session string) bool {
	if st.Typed == nil {
		st.Typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			if st.FromStranger(c.Device) {
				continue
			}
			for _, k := range c.Typed {
				st.Typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
			if s.Guest != "" {
				continue // else a device that is not trusted could take words away from the user
			}
			for _, p := range s.Points {
				for _, t := range p.Typed {
					if _, ok := st.Typed[t.Key]; !ok {
						st.Typed[t.Key] = s.ID
					}
				}
			}
		}
	}
	first, ok := st.Typed[k]
	if !ok {
		st.Typed[k] = session
	}
	return ok && first != session
}
