package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	bodies "github.com/memvcs/mem/layers/records"
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

// Source returns where the session's file was when it was captured last.
func (s *Session) Source() string {
	for _, p := range slices.Backward(s.Points) {
		if p.Source != "" {
			return p.Source
		}
	}
	return ""
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

func ApplyTo[T any](r refs.Record, f func(T)) error {
	var b T
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID.Short(), r.Kind, err)
	}
	f(b)
	return nil
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

// A StoredNaming is what a user called a session or a version.
type StoredNaming struct {
	records.NameBody
	Stamp records.Stamp
}

// A storedPurge is a purge with the record that says it.
type StoredPurge struct {
	Stamp bodies.Stamp
	Sum   objects.Hash // of its body
	Body  bodies.Purge
}

// A StoredRelation relates a session of the project to another project.
type StoredRelation struct {
	records.RelationBody
	Stamp records.Stamp
	Time  time.Time
}

type StoredRevoke struct {
	records.RevokeBody
	Stamp records.Stamp
	Time  time.Time
}

type StoredUse struct {
	records.Use
	Stamp records.Stamp
}

// A bulk is what the outline leaves out of one record.
type Bulk struct {
	Params []byte             // of a version's or composition's recipe
	typed  []records.TypedKey // of a session's snapshot
	keys   []transcript.Key   // of a composition
	queue  transcript.Queue   // of a session's snapshot
}

// Bulks are the bulk of a project's records, by record.
type Bulks struct {
	Tips []refs.Tip
	Of   map[objects.Hash]Bulk
}

// A guestName is what devices that are not trusted call a project.
type guestName struct {
	Name  string
	Stamp records.Stamp
}

// A storedName is what a project is called at some tips, as long as the same devices are trusted: see [DB.StillHeeds].
type StoredName struct {
	Tips           []refs.Tip
	Name, Identity string
	Heeded         []string
	Unheeded       []string
	Strangers      []string
}

// Purges is what is to be forgotten, made for looking up.
type Purges struct {
	All      []StoredPurge
	sessions map[string]bool
	Records  map[string]bool
	Passages map[string][]int // by key of the session: which of all have some
	Acked    map[string]bool  // device and sum: who has forgotten it
	Ids      map[string]bool  // messages that are forgotten as a whole
	Parts    map[string]bool  // and those of which a part is
}

// FromStranger reports whether a device is not trusted.
func (st *State) FromStranger(device string) bool {
	_, found := slices.BinarySearch(st.Strangers, device)
	return found
}
