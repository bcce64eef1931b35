package layers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// stateVersion is the version of the cached form of a State; another one is rebuilt.
const stateVersion = 1

// A State is what a project is: a pure function of the records of its lanes, whatever their order.
// It is kept in the cache and brought up to date from the records that came since.
type State struct {
	Format       int            `json:"format"`
	Tips         []refs.Tip     `json:"tips"`
	Project      refs.Project   `json:"project"`
	Name         string         `json:"name"`
	Identity     string         `json:"identity"`
	NameStamp    stamp          `json:"name_stamp"`
	Sessions     []*Session     `json:"sessions"`     // by id
	Versions     []*Version     `json:"-"`            // in the order of records
	Compositions []*Composition `json:"-"`            // in the order of records
	Stored       storedLists    `json:"lists"`        // Versions and Compositions with what their records do not say
	Sets         []assignment   `json:"sets"`         // the winning ones
	Paths        []pathBody     `json:"paths"`        // of the home project only
	Unknown      int            `json:"unknown_kind"` // records of kinds this program does not know

	byID  map[string]*Session
	typed map[transcript.Key]string // who wrote it first
}

// stamp is where a record stands among all others, and so which of two assignments wins.
type stamp struct {
	Lamport uint64       `json:"l"`
	Device  string       `json:"d"`
	Record  objects.Hash `json:"r"`
}

func stampOf(r refs.Record) stamp { return stamp{r.Lamport, r.Device, r.ID} }

func (s stamp) compare(o stamp) int {
	return cmp.Or(cmp.Compare(s.Lamport, o.Lamport), cmp.Compare(s.Device, o.Device), s.Record.Compare(o.Record))
}

type assignment struct {
	setBody
	Stamp stamp `json:"stamp"`
}

type storedLists struct {
	Versions     []storedItem[Version]     `json:"versions"`
	Compositions []storedItem[Composition] `json:"compositions"`
}

type storedItem[T any] struct {
	Stamp stamp     `json:"s"`
	Time  time.Time `json:"t"`
	Body  *T        `json:"b"`
}

// A Session is all that is known of one conversation.
type Session struct {
	ID     string  `json:"id"`
	Points []Point `json:"points"` // growth points, in the order of records; the last is the session now
	// Deleted says that the session was taken out of the lists; its bytes stay.
	Deleted bool `json:"-"`
}

// A Point is a snapshot with its place among the records.
type Point struct {
	Stamp stamp     `json:"s"`
	Time  time.Time `json:"t"`
	Snapshot
}

// Now returns the newest snapshot.
func (s *Session) Now() *Point { return &s.Points[len(s.Points)-1] }

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

// Markers returns the markers of the session now, in order.
func (s *Session) Markers() []Mark {
	var out []Mark
	for _, p := range s.chain(s.Now()) {
		out = append(out, p.Markers...)
	}
	return out
}

// session returns the session with the full id, or nil.
func (st *State) session(id string) *Session {
	if st.byID == nil {
		st.byID = make(map[string]*Session, len(st.Sessions))
		for _, s := range st.Sessions {
			st.byID[s.ID] = s
		}
	}
	return st.byID[id]
}

// apply adds one record to the state.
func (st *State) apply(r refs.Record) error {
	switch r.Kind {
	case kindProject:
		return st.applyProject(r)
	case kindPath:
		return applyTo(r, func(b pathBody) { st.Paths = append(st.Paths, b) })
	case kindSession:
		return applyTo(r, func(b Snapshot) { st.addPoint(Point{stampOf(r), r.Time, b}) })
	case kindVersion:
		return applyTo(r, func(b Version) {
			st.Stored.Versions = append(st.Stored.Versions, storedItem[Version]{stampOf(r), r.Time, &b})
		})
	case kindComposition:
		return applyTo(r, func(b Composition) {
			st.Stored.Compositions = append(st.Stored.Compositions, storedItem[Composition]{stampOf(r), r.Time, &b})
		})
	case kindSet:
		return applyTo(r, func(b setBody) { st.assign(assignment{b, stampOf(r)}) })
	case "device":
		return nil
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
		if s := stampOf(r); st.Name == "" || s.compare(st.NameStamp) > 0 {
			st.Name, st.Identity, st.NameStamp = b.Name, b.Identity, s
		}
	})
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
	for i, b := range st.Sets {
		if b.Target == a.Target && b.Field == a.Field {
			if a.Stamp.compare(b.Stamp) > 0 {
				st.Sets[i] = a
			}
			return
		}
	}
	st.Sets = append(st.Sets, a)
}

// finish brings lists into their order and fills in what follows from the records.
func (st *State) finish() {
	slices.SortFunc(st.Sessions, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	for _, s := range st.Sessions {
		slices.SortFunc(s.Points, func(a, b Point) int { return a.Stamp.compare(b.Stamp) })
		s.Deleted = false
	}
	slices.SortFunc(st.Stored.Versions, func(a, b storedItem[Version]) int { return a.Stamp.compare(b.Stamp) })
	slices.SortFunc(st.Stored.Compositions, func(a, b storedItem[Composition]) int { return a.Stamp.compare(b.Stamp) })
	slices.SortFunc(st.Sets, func(a, b assignment) int { return a.Stamp.compare(b.Stamp) })
	st.Versions, st.Compositions = st.Versions[:0], st.Compositions[:0]
	for _, v := range st.Stored.Versions {
		v.Body.ID, v.Body.Device, v.Body.Time = v.Stamp.Record, v.Stamp.Device, v.Time
		v.Body.Deleted = false
		st.Versions = append(st.Versions, v.Body)
	}
	for _, c := range st.Stored.Compositions {
		c.Body.ID, c.Body.Device, c.Body.Time = c.Stamp.Record, c.Stamp.Device, c.Time
		c.Body.Deleted = false
		st.Compositions = append(st.Compositions, c.Body)
	}
	for _, a := range st.Sets {
		st.applySet(a)
	}
}

func (st *State) applySet(a assignment) {
	kind, name, _ := strings.Cut(a.Target, "/")
	if a.Field != "deleted" {
		return
	}
	switch kind {
	case "session":
		if s := st.session(name); s != nil {
			s.Deleted = a.Value
		}
	case "version":
		for _, v := range st.Versions {
			if v.ID.String() == name {
				v.Deleted = a.Value
			}
		}
	case "composition":
		for _, c := range st.Compositions {
			if c.Name == name {
				c.Deleted = a.Value && stampBefore(st, c, a.Stamp)
			}
		}
	}
}

// stampBefore reports whether the composition was made before the assignment: composing a name again
// brings it back.
func stampBefore(st *State, c *Composition, s stamp) bool {
	for _, item := range st.Stored.Compositions {
		if item.Body == c {
			return item.Stamp.compare(s) < 0
		}
	}
	return true
}

// state returns the state of a project as a transaction sees it, using and refreshing the cache.
func (m *Memory) state(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	tips := tx.Tips()
	file := m.cachePath("state", string(p)+".json")
	st := readState(file, p)
	if slices.Equal(st.Tips, tips) {
		st.finish()
		return st, nil
	}
	ok, err := tx.Follows(st.Tips)
	if err != nil {
		return nil, err
	}
	if !ok {
		st = &State{Format: stateVersion, Project: p}
	}
	records, err := tx.Records(ctx, st.Tips)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := st.apply(r); err != nil {
			return nil, err
		}
	}
	st.Tips = tips
	st.finish()
	writeCache(file, st)
	return st, nil
}

// readState returns the cached state, or an empty one: a cache may be deleted or torn at any time.
func readState(file string, p refs.Project) *State {
	st := &State{}
	if !readCache(file, st) || st.Format != stateVersion || st.Project != p {
		return &State{Format: stateVersion, Project: p}
	}
	return st
}

// seenElsewhere reports whether a typed message is known from another session or from a composition.
func (st *State) seenElsewhere(k transcript.Key, session string) bool {
	if st.typed == nil {
		st.typed = map[transcript.Key]string{}
		for _, c := range st.Compositions {
			for _, k := range c.Typed {
				st.typed[k] = "composition " + c.Name
			}
		}
		for _, s := range st.Sessions {
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
	return ok && first != session
}
