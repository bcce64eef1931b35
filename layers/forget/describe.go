package forget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// describe lists the deleted items for display, in a fixed order.
func (f *deletion) describe() {
	add := func(t DeletedItem) {
		t.Project, t.Count = f.p.Name, max(1, t.Count)
		f.items = append(f.items, t)
	}
	for _, s := range f.st.Sessions {
		f.describeSession(s, add)
	}
	type key struct{ kind, name, device string }
	counts := map[key]int{}
	for _, r := range f.records {
		if _, anew := f.regrown[r.ID]; anew || r.Kind == records.KindSession && f.drop[r.ID] {
			continue // described with its session
		}
		if f.drop[r.ID] {
			t, named := f.item(r)
			if t.Device = f.elsewhere(r.Device); named {
				add(t)
			} else {
				counts[key{t.Kind, t.Name, t.Device}]++
			}
		} else if f.own(r.Device) && f.bodies[r.ID] != nil {
			counts[key{kind: "part of a record", name: r.Kind}]++
		}
	}
	for k, n := range counts {
		add(DeletedItem{Kind: k.kind, Name: k.name, Device: k.device, Count: n})
	}
	for _, n := range f.Seals.Files {
		add(DeletedItem{Kind: "file", Name: n[:8]})
	}
	slices.SortStableFunc(f.items, compareItems)
	f.items = slices.CompactFunc(f.items, func(a, b DeletedItem) bool { // earlier states of a composition
		return b.Kind == "composition" && a.Kind == b.Kind && a.Name == b.Name && a.Device == b.Device
	})
}

// compareItems orders items for display. The state of a composition that the user can make again comes first.
func compareItems(a, b DeletedItem) int {
	later := map[bool]int{true: 1}
	earlier := func(t DeletedItem) int { return later[t.Composition == nil] }
	return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(state.Rank(a.Kind), state.Rank(b.Kind)),
		strings.Compare(a.Kind, b.Kind), cmp.Compare(later[a.Copy], later[b.Copy]), strings.Compare(a.Name, b.Name), cmp.Compare(earlier(a), earlier(b)))
}

// describeSession adds a deleted session, or its deleted messages.
func (f *deletion) describeSession(s *state.Session, add func(DeletedItem)) {
	devices := map[string]int{}
	for _, p := range s.Points {
		if f.drop[p.Stamp.Record] {
			devices[f.elsewhere(p.Stamp.Device)]++
		}
	}
	for _, d := range sortedKeys(devices) {
		t := DeletedItem{Kind: "session", Name: records.ShortID(s.ID), Device: d}
		f.pins(s, &t)
		f.sizeOfSession(s, &t)
		add(t)
	}
	if n := f.passed.count(s.ID) + f.redacted.count(s.ID); n > 0 && (f.purges == nil || f.touched(s)) {
		t := DeletedItem{Kind: "messages", Name: f.places(s), Count: n, Redacted: f.passed.count(s.ID) == 0,
			Copy: f.o.copies != nil && f.ranges[s.ID] == nil}
		if t.Redacted {
			t.Waits = ""
		} else if f.purges == nil && !f.remains(s.ID) {
			t.Waits = s.Now().Stamp.Device
		} else if f.purges == nil {
			t.Newer, t.NewerOf = f.newerElsewhere(s)
		}
		f.pins(s, &t)
		f.size(s, &t)
		add(t)
		f.noteSources(s)
	}
}

// pins sets the numbers of the deleted messages with pinned texts.
func (f *deletion) pins(s *state.Session, t *DeletedItem) {
	for _, k := range s.Markers() {
		if (t.Kind == "session" || f.passed[s.ID][s.Now().Generation][k.N]) && !slices.Contains(t.Pins, k.N) {
			t.Pins = append(t.Pins, k.N)
		}
	}
}

// newerElsewhere returns how many messages at the end of a session only another device captured, and that device. Its lane
// is hidden as soon as a message before them is deleted, because it has that message too.
func (f *deletion) newerElsewhere(s *state.Session) (int, string) {
	now := s.Now()
	if f.own(now.Stamp.Device) {
		return 0, ""
	}
	own := 0
	for _, p := range s.Points {
		if f.own(p.Stamp.Device) && p.Generation == now.Generation {
			own = max(own, p.Scan.Values)
		}
	}
	return now.Scan.Values - own, now.Stamp.Device
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// touched reports whether a stream of the session is rewritten.
func (f *deletion) touched(s *state.Session) bool {
	return slices.ContainsFunc(s.Points, func(p records.Point) bool { _, anew := f.regrown[p.Stamp.Record]; return anew })
}

// elsewhere returns the device of a lane, "" for this one.
func (f *deletion) elsewhere(device string) string {
	if f.own(device) {
		return ""
	}
	return device
}

// places returns the deleted messages of a session as text.
func (f *deletion) places(s *state.Session) string {
	var all []int
	for _, m := range []messages{f.passed, f.redacted} {
		for _, numbers := range m[s.ID] {
			all = append(all, sortedKeys(numbers)...)
		}
	}
	return numbered(s, all)
}

// numbered returns messages of a session as text: 9b2c1d4e#12,14..18.
func numbered(s *state.Session, all []int) string {
	parts := ranges(all)
	const most = 12
	if len(parts) > most {
		parts = append(parts[:most], "...")
	}
	return records.ShortID(s.ID) + "#" + strings.Join(parts, ",")
}

// ranges returns numbers as text: 12 and 14..18.
func ranges(all []int) (parts []string) {
	slices.Sort(all)
	all = slices.Compact(all)
	for i := 0; i < len(all); {
		k := i
		for k+1 < len(all) && all[k+1] == all[k]+1 {
			k++
		}
		part := fmt.Sprint(all[i])
		if k > i {
			part += fmt.Sprintf("..%d", all[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return parts
}

// item describes a deleted record. named is false if the record has no name.
func (f *deletion) item(r refs.Record) (t DeletedItem, named bool) {
	switch r.Kind {
	case records.KindVersion:
		var v records.Version
		if json.Unmarshal(r.Body, &v) == nil {
			t = DeletedItem{Kind: "version", Name: records.ShortID(v.Session) + ":" + v.Label}
			if f.remake(r, v) {
				t.Version = &v
			}
			return t, true
		}
	case records.KindComposition:
		var c records.Composition
		if json.Unmarshal(r.Body, &c) == nil {
			t = DeletedItem{Kind: "composition", Name: c.Name}
			if f.recompose(r, &c) {
				t.Composition = &c
			}
			return t, true
		}
	case facts.KindExchange:
		var x facts.Exchange
		if json.Unmarshal(r.Body, &x) == nil {
			return DeletedItem{Kind: "facts", Name: fmt.Sprintf("%s#%d..%d", records.ShortID(x.Session), x.From, x.To),
				Count: len(x.Facts)}, true
		}
	case records.KindNote:
		var n records.Note
		if json.Unmarshal(r.Body, &n) == nil {
			return DeletedItem{Kind: "note", Name: n.File, Count: 1}, true
		}
	case concepts.Kind:
		return DeletedItem{Kind: "concept", Name: "c:" + r.ID.Short()}, true
	case permanent.Kind:
		return DeletedItem{Kind: "rule", Name: "r:" + r.ID.Short()}, true
	}
	return DeletedItem{Kind: "record", Name: r.Kind}, false
}

// remake reports whether the user can make a deleted version of this device again from what remains of the session.
func (f *deletion) remake(r refs.Record, v records.Version) bool {
	hidden := slices.ContainsFunc(f.st.Versions, func(x *records.Version) bool { return x.ID == r.ID && x.Deleted })
	return f.own(r.Device) && !hidden && !f.direct[r.ID] && v.For == "" && f.remains(v.Session)
}

// recompose reports whether the user can make a deleted composition of this device again. It removes the sessions of
// which nothing remains from the parts, and the labels of deleted versions.
func (f *deletion) recompose(r refs.Record, c *records.Composition) bool {
	if !f.own(r.Device) || f.direct[r.ID] || c.Tier != "" {
		return false
	}
	for i, s := range f.st.Stored.Compositions {
		newer := s.Body.Name == c.Name && s.Stamp.Compare(state.StampOf(r)) > 0
		if newer || s.Stamp.Record == r.ID && f.st.Compositions[i].Deleted {
			return false
		}
	}
	c.Parts = slices.DeleteFunc(slices.Clone(c.Parts), func(p records.CompositionPart) bool {
		return p.Project == f.p.ID && f.deletedWhole(p.Session)
	})
	for i, p := range c.Parts {
		if !slices.ContainsFunc(f.st.Versions, func(v *records.Version) bool {
			return f.own(v.Device) && v.Session == p.Session && v.Derivation.Output == p.Output && !f.drop[v.ID]
		}) {
			c.Parts[i].Label = ""
		}
	}
	return len(c.Parts) > 0
}

// deletedWhole reports whether nothing remains of a session on any device.
func (f *deletion) deletedWhole(session string) bool {
	return f.st.Session(session) == nil || f.sessions[session] || f.st.Purged.Session(session, "")
}

// remains reports whether a session can still be read. If messages of it are deleted, the lanes of other devices are
// hidden until they have deleted them too.
func (f *deletion) remains(session string) bool {
	if f.deletedWhole(session) {
		return false
	}
	return len(f.passed[session]) == 0 || slices.ContainsFunc(f.st.Session(session).Points, func(p records.Point) bool {
		return f.own(p.Stamp.Device) || f.purges != nil && !f.purges.Before(session, p.Stamp)
	})
}
