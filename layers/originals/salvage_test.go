package originals_test

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
)

// TestSalvage: a damaged list keeps its readable entries. A message that was deleted in part is not one that was deleted.
func TestSalvage(t *testing.T) {
	t.Parallel()
	key := func(c string) string { return strings.Repeat(c, 32) }
	seal := strings.Repeat("e", 16)
	value := originals.SealedValue{Length: 9, Roll: 7, Seal: strings.Repeat("f", 16)}
	b, err := json.MarshalIndent(originals.Seals{Values: []originals.SealedValue{value}, Messages: []string{key("a"), key("b")},
		Parts: []string{key("c"), key("d")}, Records: []string{seal}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(strings.Replace(string(b), key("d"), key("*"), 1))
	want := originals.Seals{Values: []originals.SealedValue{value}, Messages: []string{key("a"), key("b")}, Parts: []string{key("c")},
		Records: []string{seal}, Files: []string{seal}, Lost: true}
	dir := filepath.Join(t.TempDir(), "memory")
	db, err := state.Init(t.Context(), dir, "laptop", state.Options{Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Refs.Close()
	if err := os.WriteFile(filepath.Join(dir, "forgotten.json"), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	var got originals.Seals
	if n, _, err := originals.RenewSeals(db, false); err != nil || n != 5 {
		t.Errorf("%d entries, %v", n, err)
	}
	if _, err := db.Refs.ReadNote("forgotten.json", &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the entries of %s are %+v, %v, want %+v", damaged, got, err, want)
	}
}
