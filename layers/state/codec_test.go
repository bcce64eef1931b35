package state_test

import (
	"bytes"
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

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// fillValue gives every field of a value, at any depth, some value of its own.
func fillValue(v reflect.Value, rng *rand.Rand) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).UTC()
		if rng.IntN(2) == 0 {
			*x = x.In(time.FixedZone("", 3600*(1+rng.IntN(11))))
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
	var s records.Snapshot
	var v records.Version
	var c records.Composition
	var set records.SetBody
	var project records.ProjectBody
	var path records.PathBody
	var cost records.CostBody
	var word records.Override
	var use records.Use
	var name records.NameBody
	var relation records.RelationBody
	var out []refs.Record
	for kind, body := range map[string]any{
		records.KindSession: &s, records.KindVersion: &v, records.KindComposition: &c, records.KindSet: &set, records.KindProject: &project, records.KindPath: &path, records.KindCost: &cost, records.KindKeepit: &word, records.KindUse: &use, records.KindName: &name,
		records.KindRelation: &relation, "other": &path,
	} {
		fillValue(reflect.ValueOf(body).Elem(), rng)
		name := func(letter string) string { return fmt.Sprintf("%s%03d", letter, 1+rng.IntN(999)) }
		switch b := body.(type) {
		case *records.Snapshot:
			b.Size, b.Scan.TitleFrom = b.Scan.Closed+b.Size, transcript.FromUser
			for i := range b.Markers {
				b.Markers[i].End += b.Markers[i].Start
			}
		case *records.Version:
			b.Label, b.Source, b.Since = name("v"), name("v"), name("v")
		case *records.Composition:
			b.Name, b.Parts[0].Project = name("text-"), "0123456789abcdef"
			b.Parts = b.Parts[:1]
		case *records.PathBody:
			b.Project = "0123456789abcdef"
		case *records.Override:
			b.End += b.Start
		case *records.SetBody:
			b.Target = "session/" + b.Target
		case *records.NameBody:
			b.Target, b.Field = "session/"+b.Target, records.FieldTitle
		case *records.RelationBody:
			b.To = "0123456789abcdef"
		case *records.Use:
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

// TestStateFile shows that the cached file holds every field of every record: a field that is new and not written would be
// missing here.
func TestStateFile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range layerstest.Rounds(50) {
		want := state.NewState("0123456789abcdef")
		for range 1 + rng.IntN(4) {
			for _, r := range someRecords(t, rng) {
				if err := want.Apply(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		want.Tips = []refs.Tip{{Device: "d1", Commit: "c1"}}
		want.Finish("")
		got := &state.State{}
		if !state.Decode(state.Encode(7, want), 7, got) {
			t.Fatal("cannot read what was written")
		}
		got.Finish("")
		if a, b := show(want), show(got); a != b {
			t.Fatalf("wrote\n%s\nread\n%s", a, b)
		}
	}
}

// show writes out everything that a state says.
func show(st *state.State) string {
	c := *st
	c.ByID, c.Typed, c.Purged = nil, nil, nil // what is made anew from the rest
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // otherwise two states that cannot be shown would be the same
	}
	for _, v := range st.Versions {
		b = fmt.Appendf(b, "\n%s %s %v", v.Key, v.ID, v.Deleted)
	}
	for _, s := range st.Sessions {
		b = fmt.Appendf(b, "\nnow %d", s.NowAt)
		for _, p := range s.Points {
			b = fmt.Appendf(b, "\n%+v", p)
		}
	}
	return string(b)
}

// FuzzDecode: what can be decoded is encoded to the same values again; nothing else is accepted, whatever the bytes are.
func FuzzDecode(f *testing.F) {
	st := state.NewState("0123456789abcdef")
	st.AddPoint(records.Point{Snapshot: records.Snapshot{Session: "s1", Scan: transcript.Carry{Title: "title"}}})
	f.Add(state.Encode(7, st))
	f.Add(state.Encode(7, &[]refs.Entry{{Subject: "init", Time: time.Unix(1, 2), Trailers: []string{"a", "a"}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range []any{&state.State{}, &capture.FileCache{}, &[]refs.Entry{}} {
			again := reflect.New(reflect.TypeOf(v).Elem())
			if !state.Decode(bytes.Clone(b), 7, v) {
				continue
			}
			one := state.Encode(7, v)
			if !state.Decode(bytes.Clone(one), 7, again.Interface()) || !bytes.Equal(state.Encode(7, again.Interface()), one) {
				t.Errorf("%T is not the same again", v)
			}
		}
		if state.Decode(bytes.Clone(b), 8, &state.State{}) && state.Decode(bytes.Clone(b), 7, &state.State{}) {
			t.Error("two versions read it")
		}
	})
}

// TestStateAfterEverything compares, after each operation of several kinds, the state brought up to date with
// the one built from nothing, the outline with the state, and the log with the one read from the commits.
func TestStateAfterEverything(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 6))
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s0.jsonl"), layerstest.UserLine(0, "text")))[0].Project
	for step := range layerstest.Rounds(40) {
		err := m.Refs.Update(ctx, p.ID, fmt.Sprint("step ", step), func(tx *refs.Tx) error {
			for range rng.IntN(3) + 1 {
				for _, r := range someRecords(t, rng) {
					if r.Kind == records.KindSet {
						continue
					}
					if _, err := tx.Add(r.Kind, r.Body); err != nil {
						return err
					}
				}
				target := []string{"session/s0", "session/text 1", "composition/text-002"}[rng.IntN(3)]
				if _, err := tx.Add(records.KindSet, records.SetBody{Target: target, Field: "deleted", Value: rng.IntN(2) == 0}); err != nil {
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
func checkCaches(t *testing.T, m *layers.Memory, p refs.Project, harm int) {
	t.Helper()
	ctx := context.Background()
	outline, err := trust.Outline(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	full, err := trust.State(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	log, err := history.Log(ctx, m.DB, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	fresh := state.NewState(p)
	err = m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		records, err := tx.Records(ctx, nil)
		for _, r := range records {
			if err := fresh.Apply(r); err != nil {
				return err
			}
		}
		fresh.Tips = tx.Tips()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh.Finish("")
	if a, b := show(full), show(fresh); a != b {
		t.Fatalf("cached\n%s\nfresh\n%s", a, b)
	}
	if a, b := show(outline), show(fresh); a != b {
		t.Fatalf("outline\n%s\nfresh\n%s", a, b)
	}
	i := 0
	for e, err := range m.Refs.Log(ctx, p, nil) {
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
	known, err := trust.Projects(ctx, m.DB)
	k := slices.IndexFunc(known, func(k state.Project) bool { return k.ID == p })
	if err != nil || k < 0 || known[k].Name != fresh.Name || known[k].Identity != fresh.Identity {
		t.Fatalf("Projects = %+v, %v, want one called %s, %s", known, err, fresh.Name, fresh.Identity)
	}
	for _, file := range []string{m.CachePath("state", string(p)), m.CachePath("log", string(p))} {
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
