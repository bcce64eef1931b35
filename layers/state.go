package layers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
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
	NameStamp    stamp
	Sessions     []*Session     // by id
	Versions     []*Version     // in the order of records
	Compositions []*Composition // in the order of records
	Stored       storedLists    // Versions and Compositions with what their records do not say
	Sets         []assignment   // the winning ones
	Keepits      []override     // the winning ones
	Uses         []storedUse    // in the order of records
	Paths        []storedPath   // of the home project only, in the order of records
	Costs        []Cost         // of the home project only, sorted
	Revokes      []storedRevoke // in the order of records
	Unknown      int            // records of kinds this program does not know
	Purges       []storedPurge  // that are heeded, in the order of records
	Unheeded     []string       // devices that the user does not trust and that have others
	Strangers    []string       // devices with a lane that the user does not trust, sorted: see strangers.go
	Guest        guestName

	bulk  *bulks // nil in an outline
	byID  map[string]*Session
	sets  map[[2]string]int         // where the assignment to a field of a target is in Sets
	typed map[transcript.Key]string // who wrote it first
	costs map[Cost]int              // where the costs of a kind are in Costs

	purged *purges // Purges
}

// stamp is where a record stands among all others, and so which of two assignments wins.
type stamp struct {
	Lamport uint64
	Device  string
	Record  objects.Hash
}

func stampOf(r refs.Record) stamp { return stamp{r.Lamport, r.Device, r.ID} }

func (s stamp) compare(o stamp) int {
	return cmp.Or(cmp.Compare(s.Lamport, o.Lamport), cmp.Compare(s.Device, o.Device), s.Record.Compare(o.Record))
}

type assignment struct {
	setBody
	Stamp stamp
}

type override struct {
	Override
	Stamp stamp
	First stamp // of the first record that speaks of the text: names of added markers follow from it
}

type storedLists struct {
	Versions     []storedItem[Version]
	Compositions []storedItem[Composition]
}

// A storedPath is what a device says of one of its directories; it means nothing on another device.
type storedPath struct {
	Stamp stamp
	pathBody
}

type storedItem[T any] struct {
	Stamp stamp
	Time  time.Time
	Body  *T
}

// A Session is all that is known of one conversation.
type Session struct {
	ID     string
	Points []Point // growth points, in the order of records; see Now
	// Deleted says that the session was taken out of the lists; its bytes stay.
	Deleted   bool
	Guests    []Point    // of devices that are not trusted, if a trusted one has the session too: they change nothing of it
	Guest     string     // the device of Now if only devices that are not trusted have the session, else ""
	Revoked   string     // why it is hidden, "" if it is not
	Overrides []Override // on its markers, in the order in which they were first spoken of
	Used      Rehearsal

	now int // where Now is in Points
}

// A Point is a snapshot with its place among the records.
type Point struct {
	Stamp stamp
	Time  time.Time
	Snapshot
}

// chain returns the snapshots of the same device and generation as p up to p: together they tell of
// all markers and typed messages.
func (s *Session) chain(p *Point) []Point {
	var out []Point
	for _, q := range s.Points {
		if q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation && q.Stamp.compare(p.Stamp) <= 0 {
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
func (s *Session) Markers() []Mark {
	var out []Mark
	for _, p := range s.chain(s.Now()) {
		out = append(out, p.Markers...)
	}
	return s.overridden(out)
}

// marked returns how many markers the session has now.
func (s *Session) marked() int {
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

// session returns the session with the full id, or nil.
func (st *State) session(id string) *Session {
	st.index()
	return st.byID[id]
}

// index makes session quick. Goroutines that share a state need it to have been made.
func (st *State) index() {
	if st.byID != nil {
		return
	}
	st.byID = make(map[string]*Session, len(st.Sessions))
	for _, s := range st.Sessions {
		st.byID[s.ID] = s
	}
}

// apply adds one record to the state.
func (st *State) apply(r refs.Record) error {
	if st.purged != nil && st.purged.hides(r.Kind, stampOf(r), r.Body) {
		return nil
	}
	switch r.Kind {
	case kindProject:
		return st.applyProject(r)
	case kindPath:
		return applyTo(r, func(b pathBody) { st.Paths = append(st.Paths, storedPath{stampOf(r), b}) })
	case kindSession:
		return applyTo(r, func(b Snapshot) { st.addPoint(Point{stampOf(r), r.Time, b}) })
	case kindVersion:
		return applyTo(r, func(b Version) {
			b.key = b.Derivation.Key()
			st.Stored.Versions = append(st.Stored.Versions, storedItem[Version]{stampOf(r), r.Time, &b})
		})
	case kindComposition:
		return applyTo(r, func(b Composition) {
			b.Name = st.nameBy(b.Name, r.Device)
			st.Stored.Compositions = append(st.Stored.Compositions, storedItem[Composition]{stampOf(r), r.Time, &b})
		})
	case kindSet:
		return applyTo(r, func(b setBody) { st.assign(assignment{st.assignedBy(b, r.Device), stampOf(r)}) })
	case kindKeepit:
		if st.stranger(r.Device) {
			return nil
		}
		return applyTo(r, func(b Override) { st.override(override{b, stampOf(r), stampOf(r)}) })
	case kindUse:
		if st.stranger(r.Device) {
			return nil
		}
		return applyTo(r, func(b Use) { st.Uses = append(st.Uses, storedUse{b, stampOf(r)}) })
	case kindRevoke:
		return applyTo(r, func(b revokeBody) { st.Revokes = append(st.Revokes, storedRevoke{b, stampOf(r), r.Time}) })
	case kindCost:
		return applyTo(r, func(b costBody) { st.addCost(b.on(r.Time)) })
	case "device":
		return nil
	}
	if slices.Contains(upperKinds, r.Kind) {
		return nil // see upper.go
	}
	st.Unknown++
	return nil
}

func applyTo[T any](r refs.Record, f func(T)) error {
	var b T
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID.Short(), r.Kind, err)
	}
	f(b)
	return nil
}

func (st *State) applyProject(r refs.Record) error {
	return applyTo(r, func(b projectBody) {
		if st.stranger(r.Device) {
			st.Guest.claim(stampOf(r), b)
			return
		}
		if s := stampOf(r); st.Name == "" || s.compare(st.NameStamp) > 0 {
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

func (st *State) addPoint(p Point) {
	s := st.session(p.Session)
	if s == nil {
		s = &Session{ID: p.Session}
		st.byID[s.ID] = s
		st.Sessions = append(st.Sessions, s)
	}
	s.Points = append(s.Points, p)
}

// assign keeps the winner of all assignments to the same field.
func (st *State) assign(a assignment) {
	if st.sets == nil {
		st.sets = map[[2]string]int{}
		for i, b := range st.Sets {
			st.sets[[2]string{b.Target, b.Field}] = i
		}
	}
	at := [2]string{a.Target, a.Field}
	i, ok := st.sets[at]
	switch {
	case !ok:
		st.sets[at] = len(st.Sets)
		st.Sets = append(st.Sets, a)
	case a.Stamp.compare(st.Sets[i].Stamp) > 0:
		st.Sets[i] = a
	}
}

// finish brings lists into their order and fills in what follows from the records.
func (st *State) finish() {
	order(st.Sessions, func(a, b **Session) int { return cmp.Compare((*a).ID, (*b).ID) })
	for _, s := range st.Sessions {
		st.seat(s)
		order(s.Points, func(a, b *Point) int { return a.Stamp.compare(b.Stamp) })
		order(s.Guests, func(a, b *Point) int { return a.Stamp.compare(b.Stamp) })
		s.settle()
		s.Guest = ""
		if d := s.Now().Stamp.Device; st.stranger(d) {
			s.Guest = d
		}
		s.Deleted, s.Overrides = false, nil
	}
	order(st.Keepits, func(a, b *override) int { return a.First.compare(b.First) })
	for _, o := range st.Keepits {
		if s := st.session(o.Session); s != nil {
			s.Overrides = append(s.Overrides, o.Override)
		}
	}
	order(st.Stored.Versions, func(a, b *storedItem[Version]) int { return a.Stamp.compare(b.Stamp) })
	order(st.Stored.Compositions, func(a, b *storedItem[Composition]) int { return a.Stamp.compare(b.Stamp) })
	order(st.Paths, func(a, b *storedPath) int { return a.Stamp.compare(b.Stamp) })
	order(st.Sets, func(a, b *assignment) int { return a.Stamp.compare(b.Stamp) })
	order(st.Costs, func(a, b *Cost) int { return a.compare(*b) })
	order(st.Revokes, func(a, b *storedRevoke) int { return a.Stamp.compare(b.Stamp) })
	st.sets, st.costs = nil, nil
	st.Versions = slices.Grow(st.Versions[:0], len(st.Stored.Versions))
	for _, v := range st.Stored.Versions {
		v.Body.ID, v.Body.Device, v.Body.Time, v.Body.Deleted = v.Stamp.Record, v.Stamp.Device, v.Time, false
		v.Body.guest = st.stranger(v.Stamp.Device)
		st.Versions = append(st.Versions, v.Body)
	}
	st.Compositions = slices.Grow(st.Compositions[:0], len(st.Stored.Compositions))
	for _, c := range st.Stored.Compositions {
		c.Body.ID, c.Body.Device, c.Body.Time, c.Body.Deleted = c.Stamp.Record, c.Stamp.Device, c.Time, false
		st.Compositions = append(st.Compositions, c.Body)
	}
	st.applySets()
	st.applyUses()
}

// nameVersions tells versions of the same label apart, and those of devices that are not trusted from all others. What a bare label means
// on the device own never changes by a pull.
func (st *State) nameVersions(own string) {
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
		v.shown = ""
		if v.guest || v.Device != own && twice[name{v.Session, v.Label}] {
			v.shown = v.Label + "~" + v.Device[:8]
		}
	}
}

// order sorts a list that mostly is in order already. Its elements may be large: they are compared where they lie.
func order[T any](s []T, compare func(a, b *T) int) {
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
	versions, compositions := map[string]*Version{}, map[string][]storedItem[Composition]{}
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
			if s := st.session(name); s != nil {
				s.Deleted = a.Value
			}
		case guestTarget + "session":
			if s := st.session(name); s != nil && s.Guest != "" {
				s.Deleted = a.Value
			}
		case "version":
			if v := versions[name]; v != nil {
				v.Deleted = a.Value
			}
		case guestTarget + "version":
			if v := versions[name]; v != nil && v.guest {
				v.Deleted = a.Value
			}
		case "composition":
			for _, c := range compositions[name] { // composing a name again brings it back
				c.Body.Deleted = a.Value && c.Stamp.compare(a.Stamp) < 0
			}
		}
	}
}

// seenElsewhere reports whether a typed message is known from another session or from a composition. If it
// was never seen, it is the session's from now on.
func (st *State) seenElsewhere(k transcript.Key, session string) bool {
	if st.typed == nil {
		st.typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			if st.stranger(c.Device) {
				continue
			}
			for _, k := range c.Typed {
				st.typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
			if s.Guest != "" {
				continue // else a device that is not trusted could take words away from the user
			}
			for _, p := range s.Points {
				for _, t := range p.Typed {
					if _, ok := st.typed[t.Key]; !ok {
						st.typed[t.Key] = s.ID
					}
				}
			}
		}
	}
	first, ok := st.typed[k]
	if !ok {
		st.typed[k] = session
	}
	return ok && first != session
}
