package search

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/search/index"
)

// TestNear checks the words that are named for one that is in no text: they are compared as they are written, not as
// their stems, which end elsewhere.
func TestNear(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": texts("Remediation of the invoice needs an index.", "The embedded font comes before each embedding.",
			"I am ready to convert it, a const covers every conversation.", "documentation_url and get/documented are names.",
			"The condition received a review; compresses with compression.", "red idx priorities", "prior art has priority"),
		"b": texts("invoice", "Zwölf Übungen"),
	})
	for word, want := range map[string]string{
		"remediaton":    "remediation",
		"Remediaton,":   "remediation",
		"remedition":    "remediation",
		"emediation":    "remediation",
		"xemediation":   "remediation",
		"invioce":       "invoice",
		"embeddng":      "embedding",
		"conversaton":   "conversation",
		"condtion":      "condition",
		"recieved":      "received",
		"compresion":    "compression",
		"indx":          "idx index",
		"prioritty":     "priority prior",
		"documentd":     "documented",
		"Ubungen":       "übungen",
		"rexx":          "",
		"reconsidering": "",
		"zebra":         "",
	} {
		got, err := Search(c, Query{Words: word})
		if err != nil || len(got.Missing) != 1 {
			t.Errorf("%s: missing %+v, %v", word, got.Missing, err)
			continue
		}
		if near := strings.Join(got.Missing[0].Near, " "); near != want {
			t.Errorf("nearest to %q: %q, want %q", word, near, want)
		}
	}
}
