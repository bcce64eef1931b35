package forget_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// stateWords states facts, a judgement, a rule and a concept that hold a text, and one of each that does not.
func stateWords(t *testing.T, m *layers.Memory, p state.Project, text string) {
	t.Helper()
	ctx := context.Background()
	for _, words := range []string{text, "nothing to hide"} {
		stated := func(s string) facts.Fact {
			f, err := knowledge.AddFact(ctx, m.DB, p, knowledge.NewFact{Given: facts.InputFact{Kind: facts.Decision, Text: s}}, false)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		stated("the database is reached with " + words)
		if err := knowledge.JudgeFacts(ctx, m.DB, p.ID, []facts.Fact{stated("judged for " + fmt.Sprint(len(words)))}, facts.Judgement{Says: facts.Refutes, Value: true, Reason: "it was " + words}, false); err != nil {
			t.Fatal(err)
		}
		if _, err := knowledge.AddRule(ctx, m.DB, p, permanent.Definition{Type: permanent.Types()[0], Text: "always say " + words, ByUser: true, Trust: facts.User, Confidence: 90, State: permanent.Active}, false); err != nil {
			t.Fatal(err)
		}
		if _, err := knowledge.Assign(ctx, m.DB, p, nil, knowledge.Target{New: &concepts.Definition{Name: "about " + words}}, false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForgetWordsElsewhere forgets a value that only records of another device hold, of no session or of one that stays: after both
// have synced it is in neither store nor on the remote, and the records that do not hold it stay.
func TestForgetWordsElsewhere(t *testing.T) {
	t.Parallel()
	const secret = "quokka-4711-wombat"
	for _, kind := range []string{"dir", "sealed dir"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a, b := h.Memory(t, "a"), h.Memory(t, "b")
			p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "deploy it")+layerstest.UserLine(2, "and go on")))[0].Project
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, b)
			layerstest.TrustAll(t, b)
			stateWords(t, b, p, secret)
			layerstest.PushAll(t, b)
			layerstest.FetchAll(t, a)
			layerstest.TrustAll(t, a)
			if out := layerstest.ForgetText(t, a, forget.ForgetOptions{Secret: []byte(secret)}); len(out.Things) == 0 || len(out.Proof.Others) == 0 {
				t.Errorf("forgot %+v", out)
			}
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, b)
			layerstest.PushAll(t, b)
			layerstest.FetchAll(t, a)
			if found := layerstest.Stays(t, secret, []*layers.Memory{a, b}, h.Dir); len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
			if ra, rb := layerstest.Roots(t, a), layerstest.Roots(t, b); ra != rb {
				t.Errorf("other roots:\n%s\n%s", ra, rb)
			}
			for _, m := range []*layers.Memory{a, b} {
				records, err := m.Upper(context.Background(), p.ID)
				if err != nil {
					t.Fatal(err)
				}
				counts := map[string]int{}
				for _, r := range records {
					counts[r.Kind]++
				}
				want := map[string]int{facts.KindExchange: 3, facts.KindJudgement: 1, permanent.Kind: 1, concepts.Kind: 1}
				for kind, n := range want {
					if counts[kind] != n {
						t.Errorf("%s has %d records of kind %s, want %d", m.Refs.Device().Name, counts[kind], kind, n)
					}
				}
			}
		})
	}
}

// TestForgetMissingWitness forgets while a lane of another device has records that name objects which it
// lacks, of each kind whose texts are searched.
func TestForgetMissingWitness(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "a"), h.Memory(t, "b")
	file := layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "the wombat works")+layerstest.UserLine(2, "and go on"))
	p := layerstest.Add(t, a, file)[0].Project
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	missing := []objects.Hash{objects.Sum([]byte("missing"))}
	err := b.Refs.Update(t.Context(), p.ID, "reflect", func(tx *refs.Tx) error {
		tx.Trailer("Op", "reflect")
		_, err := tx.Add(permanent.KindReflect, permanent.Reflection{Engine: "test/1", Witnesses: missing})
		if err == nil {
			_, err = tx.Add(facts.KindDistilled, facts.Distilled{Session: "aaaa0001", Engine: "test/1", Witnesses: missing})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	layerstest.PushAll(t, b)
	layerstest.FetchAll(t, a)
	layerstest.ForgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("wombat")})
}

// TestForgetLongChain forgets a session from which a chain of versions was derived, each from the next in the order of
// the records. It takes the same time for each version.
func TestForgetLongChain(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "hello")+layerstest.UserLine(2, "zaphod")))[0].Project.ID
	const versions = 2000
	output := func(i int) objects.Hash { return objects.Sum(fmt.Append(nil, "version ", i)) }
	err := m.Refs.Update(t.Context(), p, "compress", func(tx *refs.Tx) error {
		tx.Trailer("Op", "compress")
		for i := range versions {
			d := lineage.Derivation{Recipe: lineage.Recipe{Step: "compress", Version: 1, Params: []byte("{}")},
				Inputs: []objects.Hash{output(i + 1)}, Output: output(i)}
			if i == versions-1 {
				d.Inputs[0] = layerstest.RevOf(t, m, "s1").Session.Now().Original
			}
			v := records.Version{Session: "s2", Label: fmt.Sprintf("v%03d", i+1), Derivation: d, Engine: "chain/1"}
			if _, err := tx.Add(records.KindVersion, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod"), DryRun: true})
	n := 0
	for _, x := range out.Things {
		if x.Kind == "version" {
			n++
		}
	}
	if n != versions {
		t.Errorf("%d versions are forgotten, want %d", n, versions)
	}
}

// TestForgetDerived forgets a message. What was derived from its session is dropped, even what does not contain the message,
// and can be made again under a new label; what the user stated about other messages stays.
func TestForgetDerived(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	text := layerstest.UserLine(1, "The shop moves to the new database. It has three tables. All of them are small. We keep their names.")
	p := layerstest.Add(t, m, layerstest.Write(t, path, text))[0].Project
	rev := layerstest.RevOf(t, m, "s1")
	settings := planning.Settings{Ratio: 2}
	if _, err := derive.Compress(ctx, m.DB, rev, settings, false); err != nil {
		t.Fatal(err)
	}
	layerstest.Add(t, m, layerstest.Write(t, path, text+layerstest.UserLine(2, "call me zaphod")))
	if _, err := derive.Compress(ctx, m.DB, layerstest.RevOf(t, m, "s1"), settings, false); err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{
		records.KindName:   records.NameBody{Target: "session/s1", Field: "title", Name: "the move"},
		records.KindKeepit: records.Override{Session: "s1", Message: 1, End: 8, Weight: 80, Added: true},
	}
	err := m.Refs.Update(ctx, p.ID, "facts", func(tx *refs.Tx) error {
		tx.Trailer("Op", "facts")
		_, err := tx.Add(facts.KindExchange, facts.Exchange{Session: "s1", Original: rev.Hash, From: 1, To: 1, Summary: "the move"})
		for kind, body := range kept {
			if err == nil {
				_, err = tx.Add(kind, body)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var searched atomic.Int64
	out := layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod"), Progress: func(n int64) { searched.Add(n) }})
	if n := searched.Load(); n < out.Proof.Bytes+int64(len(text)) {
		t.Errorf("progress of %d bytes, searched %d in the proof alone", n, out.Proof.Bytes)
	}
	again := 0
	for _, x := range out.Things {
		if x.Version != nil && x.Version.Settings.Ratio == 2 {
			again++
		}
	}
	if again != 1 {
		t.Errorf("forgot %+v", out.Things)
	}
	counts := map[string]int{}
	err = m.Refs.View(ctx, p.ID, func(tx *refs.Tx) error {
		all, err := tx.Records(ctx, nil)
		for _, r := range all {
			counts[r.Kind]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{records.KindVersion: 1, facts.KindExchange: 0, records.KindName: 1, records.KindKeepit: 1,
		records.KindSession: 2} {
		if counts[kind] != want {
			t.Errorf("%d records of kind %s stay, want %d", counts[kind], kind, want)
		}
	}
	c, err := derive.Compress(ctx, m.DB, layerstest.RevOf(t, m, "s1"), settings, false)
	if err != nil || c.Version.Label != "v003" {
		t.Errorf("made again: %+v, %v", c.Version, err)
	}
	layerstest.Roots(t, m)
}
