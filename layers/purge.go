package layers

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// kindPurge is the kind of the record that says what was forgotten for ever. It names nothing by its content: beside what is
// left of a session the hash of what was there would let anybody test guesses.
const kindPurge = "purge"

// A Purge is the body of a "purge" record. A device that had to forget something of its own lane for it writes the same body
// into its lane: that is how others know that it did.
type Purge struct {
	Cause    string      `json:"cause"`              // revision, match, secret, tool, since
	Sessions []string    `json:"sessions,omitempty"` // [purgeKey] of sessions: nothing about them is taken in again
	Records  []string    `json:"records,omitempty"`  // device/lamport of records that no session or passage names
	Passages []Passage   `json:"passages,omitempty"`
	Labels   []LabelMark `json:"labels,omitempty"` // so that no number is used twice
}

// A Passage is a message that was forgotten, all of it or a part.
type Passage struct {
	Session    string `json:"session"` // purgeKey
	Generation int    `json:"generation"`
	N          int    `json:"n"`
	ID         string `json:"id,omitempty"`   // purgeKey of its uuid, if it has one
	Part       bool   `json:"part,omitempty"` // who does not know which part forgets all of it
}

// A LabelMark is the last number that a device gave a version of a session.
type LabelMark struct {
	Session string `json:"session"` // purgeKey
	Device  string `json:"device"`
	Last    int    `json:"last"`
}

// purgeKey is what a purge calls a session or a message: it is known by its random id, which it does not tell.
func purgeKey(id string) string { return objects.Sum([]byte("mem purge 1\n" + id)).String()[:32] }

// recordName names a record by who made it and when, not by what it says.
func recordName(s stamp) string { return s.Device + "/" + strconv.FormatUint(s.Lamport, 10) }

// A storedPurge is a purge with the record that says it.
type storedPurge struct {
	Stamp stamp
	Sum   objects.Hash // of its body
	Body  Purge
}

// purges is what is to be forgotten, made for looking up.
type purges struct {
	all      []storedPurge
	sessions map[string]bool
	records  map[string]bool
	passages map[string][]int // by key of the session: which of all have some
	acked    map[string]bool  // device and sum: who has forgotten it
	ids      map[string]bool  // messages that are forgotten as a whole
	parts    map[string]bool  // and those of which a part is
}

func newPurges(all []storedPurge) *purges {
	p := &purges{all: all, sessions: map[string]bool{}, records: map[string]bool{}, passages: map[string][]int{}, acked: map[string]bool{}, ids: map[string]bool{}, parts: map[string]bool{}}
	for i, q := range all {
		p.acked[q.Stamp.Device+q.Sum.String()] = true
		for _, s := range q.Body.Sessions {
			p.sessions[s] = true
		}
		for _, r := range q.Body.Records {
			p.records[r] = true
		}
		for _, x := range q.Body.Passages {
			if list := p.passages[x.Session]; len(list) == 0 || list[len(list)-1] != i {
				p.passages[x.Session] = append(list, i)
			}
			if x.ID != "" {
				p.ids[x.ID] = p.ids[x.ID] || !x.Part
				p.parts[x.ID] = true
			}
		}
	}
	return p
}

// session reports whether a session was forgotten as a whole.
func (p *purges) session(id string) bool { return len(p.sessions) > 0 && p.sessions[purgeKey(id)] }

// hides reports whether a record speaks of what was forgotten, in a lane that has not forgotten it yet.
func (p *purges) hides(kind string, s stamp, body []byte) bool {
	if len(p.all) == 0 || kind == kindPurge || kind == "device" {
		return false
	}
	if p.records[recordName(s)] {
		return true
	}
	about := sessionsIn(kind, body)
	if slices.ContainsFunc(about, p.session) {
		return true
	}
	if !slices.Contains([]string{kindSession, kindVersion, kindComposition, "exchange", "distilled"}, kind) {
		return false
	}
	return slices.ContainsFunc(about, func(id string) bool { return p.before(id, s) })
}

// before reports whether something of a session was said before messages of it were forgotten, by a device that has not done so yet.
func (p *purges) before(session string, s stamp) bool {
	return slices.ContainsFunc(p.passages[purgeKey(session)], func(i int) bool {
		q := p.all[i]
		return s.Lamport < q.Stamp.Lamport && !p.acked[s.Device+q.Sum.String()]
	})
}

// sessionsIn returns the sessions that a record is about.
func sessionsIn(kind string, body []byte) []string {
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
		return nil // of a form that is not known here: it is about nothing that is
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
	case kindSession:
		out = append(out, text(b.Parent, ""))
	case kindUse:
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

// purgesIn returns the purges among records.
func purgesIn(records []refs.Record) (out []storedPurge, err error) {
	for _, r := range records {
		if r.Kind == kindPurge {
			if err := applyTo(r, func(b Purge) { out = append(out, storedPurge{stampOf(r), objects.Sum(r.Body), b}) }); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b storedPurge) int { return a.Stamp.compare(b.Stamp) })
	return out, nil
}

// heeded returns those purges that count here: those of this device and of devices that the user trusts. Another one cannot
// make this memory forget anything.
func (m *Memory) heeded(ctx context.Context, p refs.Project, all []storedPurge) ([]storedPurge, error) {
	if len(all) == 0 || p == refs.Home {
		return all, nil
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(q storedPurge) bool { return !trust.Of(q.Stamp.Device) }), nil
}

// purgesOf returns what a project is to forget.
func (m *Memory) purgesOf(ctx context.Context, tx *refs.Tx, p refs.Project) (*purges, error) {
	up, err := m.upperRecords(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	var records []refs.Record
	for _, u := range up {
		if u.Kind == kindPurge {
			records = append(records, refs.Record{ID: u.Stamp.Record, Kind: u.Kind, Device: u.Stamp.Device, Lamport: u.Stamp.Lamport, Body: u.Body})
		}
	}
	all, err := purgesIn(records)
	if err == nil {
		all, err = m.heeded(ctx, p, all)
	}
	return newPurges(all), err
}

// unpurged leaves out the records that are hidden.
func (m *Memory) unpurged(ctx context.Context, p refs.Project, records []refs.Record) ([]refs.Record, error) {
	all, err := purgesIn(records)
	if err == nil {
		all, err = m.heeded(ctx, p, all)
	}
	if err != nil || len(all) == 0 {
		return records, err
	}
	q := newPurges(all)
	return slices.DeleteFunc(slices.Clone(records), func(r refs.Record) bool { return q.hides(r.Kind, stampOf(r), r.Body) }), nil
}
