package layers

import (
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revocation"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TestRevokeWithHostileSummary revokes a host in a project with a summary of another device, whose facts
// are no facts: the project can still be listed.
func TestRevokeWithHostileSummary(t *testing.T) {
	t.Parallel()
	h := newHub(t, "dir")
	a, b := h.memory(t, "a"), h.memory(t, "b")
	text := userLine(1, "the wombat works") + userLine(2, "and go on")
	p := add(t, a, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text))[0].Project
	pushAll(t, a)
	fetchAll(t, b)
	stage, err := b.Refs.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	garbage := []byte("{\"id\":1}\nnot a fact\n")
	if _, err := stage.Put(garbage); err != nil {
		t.Fatal(err)
	}
	session := revOf(t, a, "aaaa0001").Session.Now().Original
	err = b.Refs.Update(t.Context(), p.ID, "summary", func(tx *refs.Tx) error {
		if err := tx.Adopt(stage); err != nil {
			return err
		}
		tx.Trailer("Op", "compose")
		_, err := tx.Add(records.KindComposition, records.Composition{Name: "week", Strategy: "equal", Tier: "weekly",
			Parts: []records.CompositionPart{{Session: "aaaa0001", Project: p.ID, Label: "original", Output: session}},
			Derivation: lineage.Derivation{Recipe: lineage.Recipe{Step: "tier", Version: 1, Params: []byte("{}")},
				Inputs: []objects.Hash{session, objects.Sum(garbage)}, Output: objects.Sum(garbage)}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pushAll(t, b)
	fetchAll(t, a)
	_, err = revocation.Revoke(t.Context(), a.DB, state.Project{ID: p.ID}, records.RevokeBody{
		Origin: records.Origin{Kind: records.HostSource, Name: "evil.example"}, Revoked: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Outline(t.Context(), a.DB, p.ID); err != nil {
		t.Error(err)
	}
}
