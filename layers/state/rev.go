package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Covers returns the first and the last message that a version covers.
func (r Rev) Covers() (from, to int, err error) {
	plan, err := r.Version.Plan()
	return plan.Since + 1, PointOf(r.Session, r.Version.Origin()).Scan.Values, err
}

// Earlier returns the session before its file was rewritten or replaced: the last growth point of each generation of
// each device except the current one, the newest first, without duplicates and prefixes of the current file.
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

// EarlierName returns the name of the n-th earlier original.
func EarlierName(n int) string { return fmt.Sprintf("original@{%d}", n) }

// EarlierName returns the name of the earlier original of a revision.
func (r Rev) EarlierName() string {
	return EarlierName(1 + slices.IndexFunc(r.Session.Earlier(), func(p *records.Point) bool {
		return p.Stamp == r.Point.Stamp
	}))
}

// ErrNotRemovable reports a revision that cannot be removed from the lists.
var ErrNotRemovable = errors.New("only sessions, versions and compositions can be hidden")

// Target returns the target of assignments for the revision, and its name for messages.
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

// Hidden reports whether the session, version or composition that r names is hidden.
func (r Rev) Hidden() bool {
	switch r.Kind {
	case IsSession:
		return r.Session.Deleted
	case IsVersion:
		return r.Version.Deleted
	case IsComposition:
		return r.Composition.Deleted
	}
	return false
}

// Users returns the names of the compositions that use what rev names, except summaries of weeks and months, which
// contain their own text and are made again when needed.
func (st *State) Users(rev Rev) []string {
	var names []string
	for _, c := range st.Compositions {
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

// A Kind is the kind of thing that a revision names.
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

// A Rev is a resolved revision. Kind determines which fields are set.
type Rev struct {
	Kind        Kind
	Project     Project
	Session     *Session
	Version     *records.Version
	Composition *records.Composition
	Concept     *concepts.Concept
	Rule        *permanent.Rule
	Point       *records.Point // of an earlier original
	Hash        objects.Hash   // of its object: the clean original, or the output of a version or composition
	Commit      string
	From, To    int // of messages
	Fact        *facts.Fact
	How         string // how the name was resolved, for display
}

// A Scope determines where names are looked up.
type Scope struct {
	Project Project  // searched first
	Last    *Session // the previous session of the command, for bare labels; nil is "@"
	Strict  bool     // search no other project
	Removed bool     // find removed compositions too, if no other has the name
}

// FullIDLength is the length of a session's UUID. A name of this length is searched in all projects.
const FullIDLength = 36

// SubagentPrefix is the result of [Session.Matches] for the start of a subagent's ID without "agent-".
const SubagentPrefix = "prefix of a subagent's id"

// Matches returns how a name matches the session, "" if it does not.
func (s *Session) Matches(name string) string {
	i := strings.LastIndexByte(name, '~')
	if i >= 4 && len(name)-i > 4 && strings.HasPrefix(s.FileID(), name[:i]) && s.On(name[i+1:]) {
		return "session on a device"
	}
	switch {
	case s.ID == name:
		return "full id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, name):
		return "prefix of an id"
	case len(name) >= 4 && strings.HasPrefix(s.ID, "agent-"+name):
		return SubagentPrefix
	case name != "" && slices.Contains(s.Tags, name):
		return "tag"
	case name != "" && (strings.EqualFold(s.Title(), name) || strings.EqualFold(s.OwnTitle(), name)):
		return "title"
	case strings.HasSuffix(name, "…") && strings.HasPrefix(s.Title(), strings.TrimSuffix(name, "…")):
		return "beginning of a title" // as a list prints it
	}
	return ""
}

// Shown reports whether the session is in the lists.
func (s *Session) Shown() bool { return !s.Deleted && s.Revoked == "" }

// Recent returns the sessions of a state, the newest first, without subagents, deleted and hidden ones.
func (st *State) Recent() []*Session {
	var out []*Session
	for _, s := range st.Sessions {
		if s.Shown() && s.Parent() == "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(b.Now().Ended().Compare(a.Now().Ended()), cmp.Compare(a.ID, b.ID))
	})
	return out
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

// PointOf returns the growth point with that content, or else the session as it is now.
func PointOf(s *Session, h objects.Hash) *records.Point {
	if p := s.Point(h); p != nil {
		return p
	}
	return s.Now()
}

// Name returns the name of the revision as it is displayed.
func (r Rev) Name() string {
	switch r.Kind {
	case IsComposition:
		return r.Composition.Name
	case IsVersion:
		return records.ShortID(r.Session.ID) + ":" + r.Version.Name()
	case IsMessages:
		if r.From > r.To {
			return fmt.Sprintf("%s#%d..", records.ShortID(r.Session.ID), r.From)
		}
		if r.From == r.To {
			return fmt.Sprintf("%s#%d", records.ShortID(r.Session.ID), r.From)
		}
		return fmt.Sprintf("%s#%d..%d", records.ShortID(r.Session.ID), r.From, r.To)
	case IsSession, IsOriginal:
		return records.ShortID(r.Session.ID) + ":original"
	case IsEarlier:
		return records.ShortID(r.Session.ID) + ":" + r.EarlierName()
	case IsL1:
		return records.ShortID(r.Session.ID) + ":L1"
	case IsCommit:
		return "commit " + r.Commit[:min(7, len(r.Commit))]
	case IsConcept:
		return r.Concept.ID
	case IsRule:
		return r.Rule.ID
	}
	return "b3:" + r.Hash.Short()
}

// A Project is a body of work whose sessions belong together.
type Project struct {
	ID       refs.Project `json:"id"`
	Name     string       `json:"name"`     // for display; never a path
	Identity string       `json:"identity"` // ID is the hash of it
}
