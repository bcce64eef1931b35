package state

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// PurgeKey returns the name of a session or a message in purges: a hash of its random ID, which cannot be inverted.
func PurgeKey(id string) string { return objects.Sum([]byte("mem purge 1\n" + id)).String()[:32] }

// RecordName returns the name of a record in purges: its device and Lamport time, nothing of its content.
func RecordName(s records.Stamp) string { return s.Device + "/" + strconv.FormatUint(s.Lamport, 10) }

// NewPurges returns an index of purges, which are in the order of records.
func NewPurges(all []StoredPurge) *Purges {
	p := &Purges{All: all, sessions: map[string]bool{}, Records: map[string]bool{}, Passages: map[string][]int{},
		Acked: map[string]bool{}}
	for i, q := range all {
		p.Acked[q.Stamp.Device+q.Sum.String()] = true
		for _, s := range q.Body.Sessions {
			p.sessions[s] = true
		}
		for _, r := range q.Body.Records {
			p.Records[r] = true
		}
		for _, x := range q.Body.Passages {
			if list := p.Passages[x.Session]; len(list) == 0 || list[len(list)-1] != i {
				p.Passages[x.Session] = append(list, i)
			}
		}
	}
	return p
}

// KeysOf returns the names in purges of a session as a device has it: that of the session, and that of its branch there.
func KeysOf(session, device string) []string {
	if _, branch := records.CutDevice(session); branch != "" || device == "" {
		return []string{PurgeKey(session)}
	}
	return []string{PurgeKey(session), PurgeKey(records.SessionOn(session, device))}
}

// Messages returns the keys of the messages that were deleted as a whole.
func (p *Purges) Messages() map[string]bool {
	out := map[string]bool{}
	for _, q := range p.All {
		for _, x := range q.Body.Passages {
			if x.ID != "" && !x.Part {
				out[x.ID] = true
			}
		}
	}
	return out
}

// Parts returns the keys of the messages of which a part was deleted by the purges that f selects. A purge of copies has
// no parts of its own: another one has them.
func (p *Purges) Parts(f func(StoredPurge) bool) map[string]bool {
	out := map[string]bool{}
	for _, q := range p.All {
		if q.Body.Cause == records.CauseCopy || !f(q) {
			continue
		}
		for _, x := range q.Body.Passages {
			if x.ID != "" && x.Part {
				out[x.ID] = true
			}
		}
	}
	return out
}

// By returns the device that made a deletion. The others have the same purge when they have applied it.
func (p *Purges) By(q StoredPurge) string {
	return p.All[slices.IndexFunc(p.All, func(o StoredPurge) bool { return o.Sum == q.Sum })].Stamp.Device
}

// Place reports whether a message without an ID was deleted as number n of a session of a device.
func (p *Purges) Place(session, device string, n int) bool {
	return slices.ContainsFunc(KeysOf(session, device), func(key string) bool {
		return slices.ContainsFunc(p.Passages[key], func(i int) bool {
			return slices.ContainsFunc(p.All[i].Body.Passages, func(x records.Passage) bool {
				return x.Session == key && x.ID == "" && x.N == n
			})
		})
	})
}

// Gone returns the messages of a session that were deleted as a whole, by their numbers, sorted.
func (p *Purges) Gone(s *Session) (out []int) {
	for _, key := range KeysOf(s.FileID(), s.Now().Stamp.Device) {
		for _, i := range p.Passages[key] {
			for _, x := range p.All[i].Body.Passages {
				if x.Session == key && x.Generation == s.Now().Generation && !x.Part {
					out = append(out, x.N)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Session reports whether a whole session of a device was deleted.
func (p *Purges) Session(id, device string) bool {
	return len(p.sessions) > 0 && slices.ContainsFunc(KeysOf(id, device), p.Deleted)
}

// Deleted reports whether the whole session with that name in purges was deleted.
func (p *Purges) Deleted(key string) bool { return p.sessions[key] }

// Hides reports whether a record is about deleted text, in a lane that has not deleted it yet.
func (p *Purges) Hides(kind string, s records.Stamp, body []byte) bool {
	if len(p.All) == 0 || kind == records.KindPurge || kind == "device" {
		return false
	}
	if p.Records[RecordName(s)] {
		return true
	}
	about := SessionsIn(kind, body)
	if slices.ContainsFunc(about, func(id string) bool { return p.Session(id, s.Device) }) {
		return true
	}
	if !slices.Contains([]string{records.KindSession, records.KindVersion, records.KindComposition, "exchange", "distilled"},
		kind) {
		return false
	}
	return slices.ContainsFunc(about, func(id string) bool { return p.Before(id, s) })
}

// Before reports whether a record of a session is older than a purge of messages of the session, and from a device that
// has not applied the purge.
func (p *Purges) Before(session string, s records.Stamp) bool {
	return slices.ContainsFunc(KeysOf(session, s.Device), func(key string) bool {
		return slices.ContainsFunc(p.Passages[key], func(i int) bool {
			q := p.All[i]
			return s.Lamport < q.Stamp.Lamport && !p.Acked[s.Device+q.Sum.String()]
		})
	})
}

// SessionsIn returns the sessions that a record is about.
func SessionsIn(kind string, body []byte) []string {
	type word struct {
		Session string `json:"session"`
	}
	var b struct {
		Session json.RawMessage `json:"session"`
		Parent  json.RawMessage `json:"parent"`
		By      json.RawMessage `json:"by"`
		Target  json.RawMessage `json:"target"`
		Member  json.RawMessage `json:"member"`
		Parts   []word          `json:"parts"`
		Words   []word          `json:"words"`
		Word    *word           `json:"word"`

		Sessions json.RawMessage `json:"sessions"`
	}
	if json.Unmarshal(body, &b) != nil {
		return nil // an unknown form
	}
	text := func(raw json.RawMessage, prefix string) string {
		var s string
		if raw == nil || json.Unmarshal(raw, &s) != nil || !strings.HasPrefix(s, prefix) {
			return ""
		}
		return s[len(prefix):]
	}
	out := []string{text(b.Session, ""), text(b.Target, "session/"), text(b.Member, "session/")}
	switch kind {
	case records.KindSession:
		out = append(out, text(b.Parent, ""))
	case records.KindUse:
		out = append(out, text(b.By, ""))
	case permanent.KindReflect:
		var spoke []string
		if b.Sessions != nil && json.Unmarshal(b.Sessions, &spoke) == nil {
			out = append(out, spoke...)
		}
	}
	for _, w := range append(b.Parts, b.Words...) {
		out = append(out, w.Session)
	}
	if b.Word != nil {
		out = append(out, b.Word.Session)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// PurgesIn returns the purges among records.
func PurgesIn(list []refs.Record) (out []StoredPurge, err error) {
	for _, r := range list {
		if r.Kind == records.KindPurge {
			if err := ApplyTo(r, func(b records.Purge) {
				out = append(out, StoredPurge{StampOf(r), objects.Sum(r.Body), b})
			}); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b StoredPurge) int { return a.Stamp.Compare(b.Stamp) })
	return out, nil
}

// purgesOf returns the purges of a project.
func (m *DB) purgesOf(ctx context.Context, tx *refs.Tx, p refs.Project) (*Purges, error) {
	up, err := m.upperRecords(ctx, tx, p, upperLayers)
	if err != nil {
		return nil, err
	}
	all, err := PurgesIn(up)
	return NewPurges(all), err
}

// Unpurged returns records without the hidden ones.
func Unpurged(list []refs.Record) ([]refs.Record, error) {
	all, err := PurgesIn(list)
	if err != nil || len(all) == 0 {
		return list, err
	}
	q := NewPurges(all)
	return slices.DeleteFunc(slices.Clone(list), func(r refs.Record) bool {
		return q.Hides(r.Kind, StampOf(r), r.Body)
	}), nil
}

// Waiting returns the sessions of other devices that are hidden until these have deleted messages of them.
func (m *DB) Waiting(ctx context.Context, p refs.Project) (out []*Session, err error) {
	var all []refs.Record
	err = m.Refs.View(ctx, p, func(tx *refs.Tx) (err error) {
		all, err = tx.Records(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	list, err := PurgesIn(all)
	if err != nil {
		return nil, err
	}
	purges, st := NewPurges(list), NewState(p)
	for _, r := range all {
		if r.Kind == records.KindSession || r.Kind == records.KindName {
			if err := st.Apply(r); err != nil {
				return nil, err
			}
		}
	}
	st.Finish(m.Refs.Device().ID)
	for _, s := range st.Sessions {
		if !slices.ContainsFunc(s.Points, func(q records.Point) bool {
			return !purges.Before(q.Session, q.Stamp) || purges.Session(q.Session, q.Stamp.Device)
		}) {
			out = append(out, s)
		}
	}
	return out, nil
}
