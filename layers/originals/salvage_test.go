package originals

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestSalvage: a damaged list keeps its readable entries. A message that was deleted in part is not one that was deleted.
func TestSalvage(t *testing.T) {
	t.Parallel()
	key := func(c string) string { return strings.Repeat(c, 32) }
	seal := strings.Repeat("e", 16)
	value := SealedValue{Length: 9, Roll: 7, Seal: strings.Repeat("f", 16)}
	b, err := json.MarshalIndent(Seals{Values: []SealedValue{value}, Messages: []string{key("a"), key("b")},
		Parts: []string{key("c"), key("d")}, Records: []string{seal}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(strings.Replace(string(b), key("d"), key("*"), 1))
	want := Seals{Values: []SealedValue{value}, Messages: []string{key("a"), key("b")}, Parts: []string{key("c")},
		Records: []string{seal}, Files: []string{seal}, Lost: true}
	if got := salvage(damaged); !reflect.DeepEqual(got, want) {
		t.Errorf("salvage(%s) = %+v, want %+v", damaged, got, want)
	}
}
