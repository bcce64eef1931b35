package layers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// fillValue gives every field of a value, at any depth, some value of its own.
func fillValue(v reflect.Value, rng *rand.Rand) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).UTC()
		if rng.IntN(2) == 0 {
			*x = x.In(time.FixedZone("", 3600*rng.IntN(12)))
		}
		return
	case *keepit.Weight:
		*x = keepit.Weight(rng.IntN(101))
		return
	case *json.RawMessage:
		*x = fmt.Appendf(nil, `{"n":%d}`, rng.IntN(1000))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(v.Field(i), rng)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(2), 3))
		for i := range v.Len() {
			fillValue(v.Index(i), rng)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i), rng)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", rng.IntN(1000)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rng.Int64N(records.MaxNumber/2))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1 + rng.Uint64N(200))
	case reflect.Float64:
		v.SetFloat(rng.Float64())
	default:
		panic("fill " + v.Type().String())
	}
}

// records returns a record of each kind, with every field of its body set.
func someRecords(t *testing.T, rng *rand.Rand) []refs.Record {
	var s Snapshot
	var v Version
	var c Composition
	var set setBody
	var project projectBody
	var path pathBody
	var cost costBody
	var word Override
	var use Use
	var out []refs.Record
	for kind, body := range map[string]any{
		kindSession: &s, kindVersion: &v, kindComposition: &c, kindSet: &set, kindProject: &project, kindPath: &path, kindCost: &cost, kindKeepit: &word, kindUse: &use, "other": &path,
	} {
		fillValue(reflect.ValueOf(body).Elem(), rng)
		name := func(letter string) string { return fmt.Sprintf("%s%03d", letter, 1+rng.IntN(999)) }
		switch b := body.(type) {
		case *Snapshot:
			b.Size, b.Scan.TitleFrom = b.Scan.Closed+b.Size, transcript.FromUser
			for i := range b.Markers {
				b.Markers[i].End += b.Markers[i].Start
			}
		case *Version:
			b.Label, b.Source, b.Since = name("v"), name("v"), name("v")
		case *Composition:
			b.Name, b.Parts[0].Project = name("text-"), "0123456789abcdef"
			b.Parts = b.Parts[:1]
		case *pathBody:
			b.Project = "0123456789abcdef"
		case *Override:
			b.End += b.Start
		case *setBody:
			b.Target = "session/" + b.Target
		case *Use:
			b.Targets[0] = "composition/" + name("text-")
			b.Targets = b.Targets[:1]
		}
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r := refs.Record{Kind: kind, Device: "d1", Lamport: rng.Uint64N(1000), Body: b, Time: time.UnixMilli(rng.Int64N(1 << 40)).UTC()}
		fillValue(reflect.ValueOf(&r.ID).Elem(), rng)
		out = append(out, r)
	}
	return out
}

// TestStateFile shows that the two cached files together hold every field of every record: a field that
// is new and not written would be missing here.
func TestStateFile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range rounds(50) {
		want, all := newState("0123456789abcdef"), &bulks{of: map[objects.Hash]bulk{}}
		for range 1 + rng.IntN(4) {
			for _, r := range someRecords(t, rng) {
				if err := want.apply(r); err != nil {
					t.Fatal(err)
				}
				if err := all.apply(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		want.Tips = []refs.Tip{{Device: "d1", Commit: "c1"}}
		all.tips = want.Tips
		want.finish()
		got, bulk := &State{}, &bulks{}
		if !decode(string(encode(want.code)), got.code) || !decode(string(encode(all.code)), bulk.code) {
			t.Fatal("cannot read what was written")
		}
		got.finish()
		if len(got.Sessions[0].Points[0].Typed) > 0 || got.Versions[0].Derivation.Recipe.Params != nil {
			t.Error("the outline holds bulk")
		}
		got.fill(bulk)
		if a, b := show(want), show(got); a != b {
			t.Fatalf("wrote\n%s\nread\n%s", a, b)
		}
	}
}

// show writes out everything that a state says.
func show(st *State) string {
	c := *st
	c.byID, c.sets, c.typed, c.costs = nil, nil, nil, nil
	b, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	for _, v := range st.Versions {
		b = fmt.Appendf(b, "\n%s %s %v", v.key, v.ID, v.Deleted)
	}
	for _, s := range st.Sessions {
		b = fmt.Appendf(b, "\nnow %d", s.now)
		for _, p := range s.Points {
			b = fmt.Appendf(b, "\n%+v", p)
		}
	}
	return string(b)
}

func FuzzStateFile(f *testing.F) {
	st := newState("0123456789abcdef")
	st.addPoint(Point{Snapshot: Snapshot{Session: "s1", Scan: transcript.Carry{Title: "title"}}})
	f.Add(encode(st.code))
	f.Add(encode((&bulks{of: map[objects.Hash]bulk{{1}: {params: []byte("{}")}}}).code))
	f.Add(encode((&ledger{format: ledgerVersion, entries: []refs.Entry{{Subject: "init"}}}).code))
	f.Add(encode((&seen{format: seenVersion, titles: map[string]fileTitle{"a": {1, 2, "title"}}, cuts: map[string]fileCut{"b": {3, 4, objects.Hash{5}, true}}, sizes: map[objects.Hash]int64{{1}: 2}}).code))
	f.Fuzz(func(t *testing.T, b []byte) {
		st := &State{}
		if decode(string(b), st.code) {
			st.finish()
			if again := (&State{}); !decode(string(encode(st.code)), again.code) {
				t.Error("cannot read what was written")
			}
		}
		decode(string(b), (&bulks{}).code)
		(&ledger{}).read(string(b))
		decode(string(b), (&seen{}).code)
	})
}

// TestStateAfterEverything compares, after each operation of several kinds, the state brought up to date with
// the one built from nothing, the outline with the state, and the log with the one read from the commits.
func TestStateAfterEverything(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	m := newMemory(t, testOptions())
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 6))
	p := add(t, m, write(t, filepath.Join(dir, "s0.jsonl"), userLine(0, "text")))[0].Project
	for step := range rounds(40) {
		err := m.repo.Update(ctx, p.ID, fmt.Sprint("step ", step), func(tx *refs.Tx) error {
			for range rng.IntN(3) + 1 {
				for _, r := range someRecords(t, rng) {
					if r.Kind == kindSet {
						continue
					}
					if _, err := tx.Add(r.Kind, r.Body); err != nil {
						return err
					}
				}
				target := []string{"session/s0", "session/text 1", "composition/text-002"}[rng.IntN(3)]
				if _, err := tx.Add(kindSet, setBody{target, "deleted", rng.IntN(2) == 0}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		checkCaches(t, m, p.ID, rng.IntN(4))
	}
}

// checkCaches compares cached and fresh answers, and then harms the caches in one of several ways.
func checkCaches(t *testing.T, m *Memory, p refs.Project, harm int) {
	t.Helper()
	ctx := context.Background()
	outline, err := m.Outline(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	full, err := m.State(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	log, err := m.Log(ctx, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	fresh := newState(p)
	err = m.repo.View(ctx, p, func(tx *refs.Tx) error {
		records, err := tx.Records(ctx, nil)
		for _, r := range records {
			if err := fresh.apply(r); err != nil {
				return err
			}
		}
		fresh.Tips = tx.Tips()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh.finish()
	if a, b := show(full), show(fresh); a != b {
		t.Fatalf("cached\n%s\nfresh\n%s", a, b)
	}
	fresh.strip()
	if a, b := show(outline), show(fresh); a != b {
		t.Fatalf("outline\n%s\nfresh\n%s", a, b)
	}
	i := 0
	for e, err := range m.repo.Log(ctx, p, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(log) || fmt.Sprintf("%+v", log[i]) != fmt.Sprintf("%+v", e) {
			t.Fatalf("log entry %d of %d: want %+v", i, len(log), e)
		}
		i++
	}
	if i != len(log) {
		t.Fatalf("log has %d entries, want %d", len(log), i)
	}
	for range 2 { // from the outlines, and from the cache of names
		known, err := m.Projects(ctx)
		i := slices.IndexFunc(known, func(k Project) bool { return k.ID == p })
		if err != nil || i < 0 || known[i].Name != fresh.Name || known[i].Identity != fresh.Identity {
			t.Fatalf("Projects = %+v, %v, want one called %s, %s", known, err, fresh.Name, fresh.Identity)
		}
	}
	for _, file := range []string{m.cachePath("state", string(p)), m.cachePath("bulk", string(p)), m.cachePath("log", string(p)), m.cachePath("names")} {
		switch harm {
		case 1:
			os.Remove(file)
		case 2:
			os.WriteFile(file, []byte("garbage"), 0o600)
		}
		if harm == 3 {
			break // only the outline goes on
		}
	}
}
