package state_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A world is some devices that work on one project, each with a wrong clock of its own, and now and then meet.
type world struct {
	rng     *rand.Rand
	devices []*peer
	all     map[objects.Hash]refs.Record
}

// A peer is a device and the records that it has.
type peer struct {
	name  string
	clock time.Time
	has   map[objects.Hash]refs.Record
	last  uint64 // lamport
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 17)), all: map[objects.Hash]refs.Record{}}
	for i := range 2 + w.rng.IntN(4) {
		clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(w.rng.IntN(21)-10, 0, 0)
		w.devices = append(w.devices, &peer{name: fmt.Sprintf("%d0b55d1c0ffee000", i), clock: clock, has: map[objects.Hash]refs.Record{}})
	}
	for range 8 + w.rng.IntN(32) {
		d := w.devices[w.rng.IntN(len(w.devices))]
		if w.rng.IntN(4) == 0 {
			d.meet(w.devices[w.rng.IntN(len(w.devices))])
			continue
		}
		w.write(d)
	}
	return w
}

// meet brings what another device has.
func (d *peer) meet(o *peer) {
	maps.Copy(d.has, o.has)
	d.last = max(d.last, o.last)
}

// write lets a device say something.
func (w *world) write(d *peer) {
	kind, body := w.statement(d)
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // bodies of records always encode
	}
	d.last++
	d.clock = d.clock.Add(time.Duration(w.rng.IntN(7200)-600) * time.Second) // clocks go backwards, too
	r := refs.Record{Kind: kind, Device: d.name, Lamport: d.last, Time: d.clock, Body: b}
	enc, err := json.Marshal(r)
	if err != nil {
		panic(err) // as above
	}
	r.ID = objects.Sum(enc)
	d.has[r.ID], w.all[r.ID] = r, r
}

// statement makes up something that is said of few things, so that much is said of the same.
func (w *world) statement(d *peer) (kind string, body any) {
	n := w.rng.IntN
	session := fmt.Sprintf("s%d", n(4))
	fact := func() facts.Fact {
		k := n(6)
		return facts.Fact{Session: session, Kind: facts.Issue, Text: fmt.Sprint(k), Verdict: facts.Verified, Trust: facts.Trust(n(3)), Evidence: []facts.Evidence{{Message: k, Quote: "q"}}}
	}
	switch n(19) {
	case 18:
		to := refs.Project(fmt.Sprintf("%016x", n(3)))
		reason := fmt.Sprint("reason ", n(3))
		return records.KindRelation, records.RelationBody{Session: session, To: to, Reason: reason, Removed: n(3) == 0}
	case 17:
		if n(2) == 0 {
			return records.KindName, records.NameBody{Target: "session/" + session, Field: records.FieldTitle, Name: fmt.Sprint("title ", n(3)), Removed: n(3) == 0}
		}
		return records.KindName, records.NameBody{Target: "session/" + session, Field: records.FieldTag, Name: fmt.Sprint("tag", n(3)), Removed: n(3) == 0}
	case 16:
		src := records.Origin{Kind: []string{records.SessionSource, records.ToolSource, records.HostSource}[n(3)], Name: fmt.Sprint("s", n(4))}
		return records.KindRevoke, records.RevokeBody{Origin: src, Revoked: n(3) > 0}
	case 0:
		return records.KindProject, records.ProjectBody{Identity: "i", Name: fmt.Sprint("name", n(3))}
	case 1, 2, 3:
		p := records.Snapshot{Session: session, Generation: n(2), Original: objects.Sum([]byte{byte(n(9))}), Size: int64(n(100)), Segments: 1 + n(3)}
		p.Scan.Values = n(40)
		return records.KindSession, p
	case 4, 5:
		return records.KindVersion, records.Version{Session: session, Label: fmt.Sprintf("v%03d", 1+n(3)), Ratio: float64(n(40))}
	case 6:
		return records.KindComposition, records.Composition{Name: fmt.Sprint("c", n(3)), Budget: n(1000)}
	case 7:
		return records.KindSet, records.SetBody{Target: w.target(d, session), Field: "deleted", Value: n(3) > 0}
	case 8:
		return records.KindKeepit, records.Override{Session: session, Generation: n(2), Message: n(3), Start: n(2), End: 5, Weight: 10, Added: n(2) == 0, Removed: n(3) == 0}
	case 9:
		return records.KindUse, records.Use{By: fmt.Sprintf("s%d", n(4)), At: d.clock, Targets: []string{w.target(d, session)}}
	case 10:
		return facts.KindExchange, facts.Exchange{Session: session, From: n(5), To: 5 + n(3), Facts: []facts.Fact{fact(), fact()}}.Bare()
	case 11:
		return facts.KindJudgement, facts.Judgement{Fact: fact().Key(), Says: []string{facts.Removes, facts.Supersedes, facts.Resolves, facts.Refutes, facts.Describes}[n(5)], Value: n(3) > 0, By: fact().Key(), Keywords: []string{fmt.Sprint("k", n(3))}}
	case 12:
		return concepts.Kind, concepts.Definition{Label: fmt.Sprintf("c%03d", 1+n(3)), Name: fmt.Sprint("n", n(4))}
	case 13:
		if n(2) == 0 {
			return concepts.KindAssign, concepts.Assignment{Member: "session/" + session, Concept: w.record(d, concepts.Kind)}
		}
		field := []string{"name", "topic", "into", "removed"}[n(4)]
		value := map[string]string{"name": "x", "topic": "y", "into": w.record(d, concepts.Kind), "removed": "true"}[field]
		return concepts.KindSet, concepts.Change{Concept: w.record(d, concepts.Kind), Field: field, Value: value}
	case 14:
		return permanent.Kind, permanent.Definition{Type: "rule", Text: fmt.Sprint("t", n(4)), Evidence: []string{fact().Key().String()}, Trust: facts.Trust(n(3)), Confidence: 50 + n(50), State: "active"}
	default:
		act := []string{"validate", "contradict", "retire", permanent.Void, permanent.Restore}[n(5)]
		return permanent.KindAct, permanent.Act{Rule: w.record(d, permanent.Kind), Act: act, ByUser: n(2) == 0}
	}
}

// target returns what an assignment may speak of.
func (w *world) target(d *peer, session string) string {
	switch w.rng.IntN(3) {
	case 0:
		return "version/" + w.record(d, records.KindVersion)
	case 1:
		return fmt.Sprint("composition/c", w.rng.IntN(3))
	}
	return "session/" + session
}

// record returns the name of a record of a kind that the device has, or of none.
func (w *world) record(d *peer, kind string) string {
	var some []string
	for _, id := range slices.SortedFunc(maps.Keys(d.has), objects.Hash.Compare) {
		if d.has[id].Kind == kind {
			some = append(some, id.String())
		}
	}
	if len(some) == 0 {
		return objects.Hash{}.String()
	}
	return some[w.rng.IntN(len(some))]
}

// A merged is what a project is: what follows from some records, which came bit by bit.
type merged struct {
	t     *testing.T
	has   map[objects.Hash]refs.Record
	state *state.State
}

func newMerged(t *testing.T) *merged {
	return &merged{t, map[objects.Hash]refs.Record{}, state.NewState("0123456789abcdef")}
}

// with takes in what is new among records, in the order in which they come, and brings everything up to date.
func (m *merged) with(rng *rand.Rand, records map[objects.Hash]refs.Record) *merged {
	ids := slices.SortedFunc(maps.Keys(records), objects.Hash.Compare)
	rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
	for _, id := range ids {
		if _, ok := m.has[id]; ok {
			continue
		}
		m.has[id] = records[id]
		if err := m.state.Apply(records[id]); err != nil {
			m.t.Fatal(err)
		}
	}
	m.state.Finish("00b55d1c0ffee000")
	return m
}

func (m *merged) root() objects.Hash {
	return lane.RootHash(slices.SortedFunc(maps.Keys(m.has), objects.Hash.Compare))
}

// is returns all that the project is, as bytes.
func (m *merged) is(rng *rand.Rand) string {
	var b bytes.Buffer
	b.Write(state.Encode(state.Version, m.state))
	for _, s := range m.state.Sessions {
		fmt.Fprintln(&b, s.ID, s.Deleted, s.NowAt, s.Overrides, s.Used)
	}
	for _, v := range m.state.Versions {
		fmt.Fprintln(&b, v.Name(), v.Deleted, v.Used)
	}
	for _, c := range m.state.Compositions {
		fmt.Fprintln(&b, c.Name, c.Deleted, c.Used)
	}
	fmt.Fprintln(&b, trust.Revocations(m.state.Revokes))
	var upper []refs.Record
	for _, id := range slices.SortedFunc(maps.Keys(m.has), objects.Hash.Compare) {
		if r := m.has[id]; slices.Contains(state.UpperKinds, r.Kind) {
			upper = append(upper, r)
		}
	}
	rng.Shuffle(len(upper), func(i, k int) { upper[i], upper[k] = upper[k], upper[i] })
	state.Order(upper, func(a, b *refs.Record) int { return a.Compare(*b) })
	known, err := facts.Fold(state.Statements(upper))
	m.must(err)
	of, err := concepts.Fold(state.Statements(upper), known)
	m.must(err)
	rules, err := permanent.Fold(state.Statements(upper), known, nil)
	m.must(err)
	m.must(json.NewEncoder(&b).Encode([]any{known, of.Concepts, rules}))
	return b.String()
}

func (m *merged) must(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

// TestMergeLaws lets 2 to 5 devices with clocks that are wrong by up to ten years say things of the same sessions, versions,
// compositions, markers, facts, concepts and rules, and meet at times. However what they have is put together, the project is
// the same and its hash is: merging is commutative, associative and idempotent. Nothing that anybody said is lost.
func TestMergeLaws(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	var records atomic.Int64
	n, from := layerstest.Tiered(t, 300, 5000, 1_000_000), layerstest.FirstSeed(t)
	const shards = 8
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n && !t.Failed(); i += shards {
					w := newWorld(from + uint64(i))
					records.Add(int64(len(w.all)))
					w.obeys(t, fmt.Sprintf("history %d of %d devices", i, len(w.devices)))
				}
			})
		}
	})
	t.Logf("%d histories, %d records", n, records.Load())
}

func (w *world) obeys(t *testing.T, what string) {
	t.Helper()
	union := newMerged(t)
	for _, d := range w.devices {
		union.with(w.rng, d.has)
	}
	want, root := union.is(w.rng), union.root()
	same := func(law string, m *merged) {
		t.Helper()
		if got := m.is(w.rng); got != want || m.root() != root {
			t.Errorf("%s: %s\ngot  %.2000q\nwant %.2000q", what, law, got, want)
		}
	}
	back := newMerged(t)
	for _, d := range slices.Backward(w.devices) {
		back.with(w.rng, d.has)
	}
	same("merging in another order is another memory", back)

	cut := 1 + w.rng.IntN(len(w.devices))
	left, right := newMerged(t), newMerged(t)
	for i, d := range w.devices {
		if i < cut {
			left.with(w.rng, d.has)
		} else {
			right.with(w.rng, d.has)
		}
	}
	same("merging what was merged before is another memory", left.with(w.rng, right.has))
	same("merging twice is another memory", left.with(w.rng, w.devices[w.rng.IntN(len(w.devices))].has).with(w.rng, left.has))
	same("all at once is another memory", newMerged(t).with(w.rng, w.all))
	w.lostNothing(t, what, union)
}

// lostNothing counts what was said and looks whether the last word on everything holds.
func (w *world) lostNothing(t *testing.T, what string, m *merged) {
	t.Helper()
	kinds := map[string]int{}
	last := map[string]refs.Record{}
	for _, r := range w.all {
		kinds[r.Kind]++
		if r.Kind == records.KindSet {
			var b records.SetBody
			if err := json.Unmarshal(r.Body, &b); err != nil {
				t.Fatal(err)
			}
			if was, ok := last[b.Target]; !ok || r.Compare(was) > 0 {
				last[b.Target] = r
			}
		}
	}
	points := 0
	for _, s := range m.state.Sessions {
		points += len(s.Points)
	}
	for kind, have := range map[string]int{
		records.KindSession: points, records.KindVersion: len(m.state.Versions), records.KindComposition: len(m.state.Compositions), records.KindUse: len(m.state.Uses),
	} {
		if have != kinds[kind] {
			t.Errorf("%s: %d of %d records of the kind %s", what, have, kinds[kind], kind)
		}
	}
	if len(m.state.Sets) != len(last) {
		t.Errorf("%s: %d things are set, want %d", what, len(m.state.Sets), len(last))
	}
	for _, s := range m.state.Sets {
		if s.Stamp != state.StampOf(last[s.Target]) {
			t.Errorf("%s: of what was said of %s, %v wins, want %v", what, s.Target, s.Stamp, state.StampOf(last[s.Target]))
		}
	}
	if len(m.has) != len(w.all) || m.state.Unknown != 0 {
		t.Errorf("%s: %d of %d records, %d of them unknown", what, len(m.has), len(w.all), m.state.Unknown)
	}
}
