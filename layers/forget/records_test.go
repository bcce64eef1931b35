package forget_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
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
