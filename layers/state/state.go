package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A State is the content of a project: a pure function of the records of its lanes, in any order. It is cached, and
// updated from the records that arrived since.
type State struct {
	Tips         []refs.Tip
	Project      refs.Project
	Name         string
	Identity     string
	NameStamp    records.Stamp
	Files        []*Session             // by id, as devices captured them
	Sessions     []*Session             `cache:"-"` // by id: Files, and each that went on differently as several, see branches.go
	Versions     []*records.Version     `cache:"-"` // in the order of records
	Compositions []*records.Composition `cache:"-"` // in the order of records
	Stored       storedLists            // Versions and Compositions with their stamps, as the records have them
	Sets         []assignment           // the last of each target and field
	Names        []StoredNaming         // the last of each slot
	Relations    []StoredRelation       // the last of each slot, in the order of records
	Keepits      []override             // the last of each text
	Uses         []StoredUse            // in the order of records
	Paths        []StoredPath           // of the home project only, in the order of records
	Costs        []records.Cost         // of the home project only, sorted
	Revokes      []StoredRevoke         // in the order of records
	Unknown      int                    // the number of records of unknown kinds
	Purges       []StoredPurge          // in the order of records

	own      string                    // this device
	ByID     map[string]*Session       `cache:"-"` // Sessions
	branches map[string][]*Session     // of Sessions by the ID of their file, if there are several
	fileAt   map[string]*Session       // Files
	costAt   map[records.Cost]int      // positions in Costs
	Typed    map[transcript.Key]string `cache:"-"` // the first session or composition with a typed message

	Purged *Purges `cache:"-"` // the index of Purges
}

// StampOf returns the stamp of a record.
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
	First records.Stamp // of the first record about the text: added markers are named in this order
}

type storedLists struct {
	Versions     []StoredItem[records.Version]
	Compositions []StoredItem[records.Composition]
}

// A StoredPath is a directory of a device, with the project that it belongs to there.
type StoredPath struct {
	Stamp records.Stamp
	records.PathBody
}

// A StoredItem is a record of a version or a composition.
type StoredItem[T any] struct {
	Stamp records.Stamp
	Time  time.Time
	Body  *T
}

// A Session is one conversation.
type Session struct {
	ID        string
	Points    []records.Point    // growth points, in the order of records; see Now
	Deleted   bool               `cache:"-"` // removed from the lists; its bytes remain
	Renamed   string             `cache:"-"` // the title that the user gave it, "" for none
	Tags      []string           `cache:"-"` // sorted
	Revoked   string             `cache:"-"` // why it is hidden, "" if it is not
	Overrides []records.Override `cache:"-"` // of its markers, in the order of their first records
	Used      records.Rehearsal  `cache:"-"`
	Apart     []string           `cache:"-"` // what tells it from sessions with the same title in their transcripts
	File      string             `cache:"-"` // of a branch: the ID of its file, see branches.go; "" for others
	Under     string             `cache:"-"` // the session that started it as a subagent, if that is a branch

	NowAt int `cache:"-"` // the position of Now in Points
}

// Chain returns the snapshots of the same device and generation as p up to p. Together they have all markers and typed
// messages.
func (s *Session) Chain(p *records.Point) []records.Point {
	var out []records.Point
	for _, q := range s.Points {
		if q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation && q.Stamp.Compare(p.Stamp) <= 0 {
			out = append(out, q)
		}
	}
	return out
}

// Source returns the path of the session's file when it was captured last.
func (s *Session) Source() string {
	for _, p := range slices.Backward(s.Points) {
		if p.Source != "" {
			return p.Source
		}
	}
	return ""
}

// ApplyTo calls f with the decoded body of a record.
func ApplyTo[T any](r refs.Record, f func(T)) error {
	var b T
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID.Short(), r.Kind, err)
	}
	f(b)
	return nil
}

// Order sorts a list, which is usually sorted already. compare gets pointers because elements may be large.
func Order[T any](s []T, compare func(a, b *T) int) {
	for i := 1; i < len(s); i++ {
		if compare(&s[i-1], &s[i]) > 0 {
			slices.SortFunc(s, func(a, b T) int { return compare(&a, &b) })
			return
		}
	}
}

// A StoredNaming is a name that a user gave to a session or a version.
type StoredNaming struct {
	records.NameBody
	Stamp records.Stamp
}

// A StoredPurge is a purge with the stamp of its record.
type StoredPurge struct {
	Stamp records.Stamp
	Sum   objects.Hash // of its body
	Body  records.Purge
}

// A StoredRelation relates a session of the project to another project.
type StoredRelation struct {
	records.RelationBody
	Stamp records.Stamp
	Time  time.Time
}

// A StoredRevoke revokes a source, or ends that.
type StoredRevoke struct {
	records.RevokeBody
	Stamp records.Stamp
	Time  time.Time
}

// A StoredUse is a use with the stamp of its record.
type StoredUse struct {
	records.Use
	Stamp records.Stamp
}

// Purges is an index of purges.
type Purges struct {
	All      []StoredPurge
	sessions map[string]bool  // keys of deleted sessions
	Records  map[string]bool  // names of deleted records
	Passages map[string][]int // positions in All of the purges with messages of a session, by key of the session
	Acked    map[string]bool  // device and sum of the purges that a device has applied
}
