package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Covers returns which messages a version is about.
func (r Rev) Covers() (from, to int, err error) {
	plan, err := r.Version.Plan()
	return plan.Since + 1, PointOf(r.Session, r.Version.Origin()).Scan.Values, err
}

// Earlier returns how the session was, each as far as it was captured, before its file was rewritten or another
// took its place: the last growth point of each generation of each device but that of now, the newest first.
// Those that hold less of the same file as the one before are left out.
func (s *Session) Earlier() []*records.Point {
	now := s.Now()
	seen := map[objects.Hash]bool{now.Original: true}
	var heads []*records.Point
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		same := func(q *records.Point) bool { return q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation }
		if p.Generation == now.Generation && p.Reaches(now) <= 0 || slices.ContainsFunc(heads, same) || same(now) {
			continue
		}
		heads = append(heads, p)
	}
	return slices.DeleteFunc(heads, func(p *records.Point) bool {
		again := seen[p.Original]
		seen[p.Original] = true
		return again
	})
}

// EarlierName is how people write the n-th earlier original.
func EarlierName(n int) string { return fmt.Sprintf("original@{%d}", n) }

// EarlierName writes which earlier original a revision names.
func (r Rev) EarlierName() string {
	return EarlierName(1 + slices.IndexFunc(r.Session.Earlier(), func(p *records.Point) bool {
		return p.Stamp == r.Point.Stamp
	}))
}

// ErrNotRemovable says that a revision names nothing that can be taken out of the lists.
var ErrNotRemovable = errors.New("only sessions, versions and compositions can be removed")

func (r Rev) Target() (target, what string, err error) {
	switch r.Kind {
	case IsSession:
		return "session/" + r.Session.ID, records.ShortID(r.Session.ID), nil
	case IsVersion:
		return "version/" + r.Version.ID.String(), records.ShortID(r.Session.ID) + ":" + r.Version.Name(), nil
	case IsComposition:
		return "composition/" + r.Composition.Name, r.Composition.Name, nil
	}
	return "", "", ErrNotRemovable
}

// Users returns the names of the compositions that use what rev names. Summaries of weeks and months do not count: they
// hold their own text, and are made again when they need to be.
func (st *State) Users(rev Rev) []string {
	var names []string
	guest := rev.Session != nil && rev.Session.Guest != "" || rev.Version != nil && rev.Version.ByStranger
	for _, c := range st.Compositions {
		if !guest && st.FromStranger(c.Device) {
			continue // such a device can keep nothing in the lists
		}
		if c.Deleted || c.Tier != "" || rev.Kind == IsComposition || slices.Contains(names, c.Name) {
			continue
		}
		if slices.ContainsFunc(c.Parts, func(p records.CompositionPart) bool {
			return p.Session == rev.Session.ID && (rev.Kind == IsSession || p.Output == rev.Version.Derivation.Output)
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}

// UsedBy returns the names of the compositions that use a version.
func (st *State) UsedBy(v *records.Version) []string {
	return st.Users(Rev{Kind: IsVersion, Session: &Session{ID: v.Session}, Version: v})
}

// A Kind says what a revision names.
type Kind string

// The kinds of revisions.
const (
	IsSession     Kind = "session"
	IsOriginal    Kind = "original"
	IsEarlier     Kind = "past-original" // the original before its file was rewritten
	IsL1          Kind = "L1"
	IsL2          Kind = "L2" // the facts of a session
	IsFact        Kind = "fact"
	IsVersion     Kind = "version"
	IsComposition Kind = "composition"
	IsMessages    Kind = "messages"
	IsObject      Kind = "object"
	IsCommit      Kind = "commit"
	IsConcept     Kind = "concept"
	IsRule        Kind = "rule"
)

// A Rev is what a revision names. Which fields are set follows from Kind.
type Rev struct {
	Kind        Kind
	Project     Project
	Session     *Session
	Version     *records.Version
	Composition *records.Composition
	Concept     *concepts.Concept
	Rule        *permanent.Rule
	Point       *records.Point // of an earlier original
	Hash        objects.Hash   // of the object it is: the clean original, the version's or composition's output
	Commit      string
	From, To    int // of messages
	Fact        *facts.Fact
	Device      string // that the name of the session ended in, or the start of its id
	How         string // how the name was resolved, for people
}

// A Scope is where names are looked up.
type Scope struct {
	Project Project  // looked in first
	Last    *Session // the session named last in the command, for bare labels; nil is "@"
	Strict  bool     // look in no other project
}

// FullIDLength is the length of a session's UUID; a name as long is looked for everywhere.
const FullIDLength = 36

// SubagentPrefix is how a name fits that is the beginning of a subagent's id without "agent-".
const SubagentPrefix = "prefix of a subagent's id"

// Matches reports how a name fits the session, "" if it does not.
func (s *Session) Matches(name string) string {
	switch {
	case s.ID == name:
		return "full id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, name):
		return "prefix of an id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, "agent-"+name):
		return SubagentPrefix
	case name != "" && slices.Contains(s.Tags, name):
		return "tag"
	case name != "" && strings.EqualFold(s.Title(), name):
		return "title"
	}
	return ""
}

// Shown reports whether the session is in the lists.
func (s *Session) Shown() bool { return !s.Deleted && s.Revoked == "" }

// Recent returns the sessions of a state, the newest first, without subagents, deleted and hidden ones, and
// those that only devices which are not trusted have.
func (st *State) Recent() []*Session {
	var out []*Session
	for _, s := range st.Sessions {
		if s.Shown() && s.Parent() == "" && s.Guest == "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(b.Now().Scan.Last.Compare(a.Now().Scan.Last), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Newest returns the first session of [State.Recent] without sorting the others, nil if there is none.
func (st *State) Newest() *Session {
	var best *Session
	for _, s := range st.Sessions {
		if best != nil {
			if c := best.Now().Scan.Last.Compare(s.Now().Scan.Last); c > 0 || c == 0 && best.ID < s.ID {
				continue
			}
		}
		if s.Shown() && s.Parent() == "" && s.Guest == "" {
			best = s
		}
	}
	return best
}

// VersionsOf returns the versions of a session in the order they were made, without deleted and hidden ones.
func (st *State) VersionsOf(session string) []*records.Version {
	return slices.DeleteFunc(st.AllVersionsOf(session), func(v *records.Version) bool {
		return v.Deleted || v.Revoked != ""
	})
}

// AllVersionsOf returns the versions of a session in the order they were made, deleted and hidden ones included.
func (st *State) AllVersionsOf(session string) []*records.Version {
	var out []*records.Version
	for _, v := range st.Versions {
		if v.Session == session {
			out = append(out, v)
		}
	}
	return out
}

// OwnVersionsOf returns the versions of a session that lists name beside it: not those of devices that are not
// trusted, unless only such devices have the session.
func (st *State) OwnVersionsOf(s *Session) []*records.Version {
	return s.WithoutGuests(st.VersionsOf(s.ID))
}

func (s *Session) WithoutGuests(all []*records.Version) []*records.Version {
	if s.Guest != "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(v *records.Version) bool { return v.ByStranger })
}

// PointOf returns the growth point with that content, or else the session as it is now.
func PointOf(s *Session, h objects.Hash) *records.Point {
	if p := s.Point(h); p != nil {
		return p
	}
	return s.Now()
}

// NameOf writes what a revision names as people write it.
func NameOf(rev Rev) string {
	switch rev.Kind {
	case IsComposition:
		return rev.Composition.Name
	case IsVersion:
		return records.ShortID(rev.Session.ID) + ":" + rev.Version.Name()
	case IsMessages:
		if rev.From > rev.To {
			return fmt.Sprintf("%s#%d..", records.ShortID(rev.Session.ID), rev.From)
		}
		return fmt.Sprintf("%s#%d..%d", records.ShortID(rev.Session.ID), rev.From, rev.To)
	case IsSession, IsOriginal:
		return records.ShortID(rev.Session.ID) + ":original"
	case IsEarlier:
		return records.ShortID(rev.Session.ID) + ":" + rev.EarlierName()
	case IsL1:
		return records.ShortID(rev.Session.ID) + ":L1"
	case IsCommit:
		return "commit " + rev.Commit[:min(7, len(rev.Commit))]
	case IsConcept:
		return rev.Concept.ID
	case IsRule:
		return rev.Rule.ID
	}
	return "b3:" + rev.Hash.Short()
}

// Name writes what the revision names as people write it.
func (r Rev) Name() string { return NameOf(r) }

// A Project is a body of work whose sessions belong together.
type Project struct {
	ID       refs.Project `json:"id"`
	Name     string       `json:"name"`     // for people; never a path
	Identity string       `json:"identity"` // what the id is a hash of
}
