package search

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/objects"
)

// TestManyBlocks checks that a message with many blocks takes memory in proportion to its size.
func TestManyBlocks(t *testing.T) { // not parallel: it measures allocations
	const n = 20_000
	var b strings.Builder
	b.WriteString(`{"type":"assistant","uuid":"u1","message":{"role":"assistant","content":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"text","text":"word"},{"type":"tool_use","name":"Read","input":{"file_path":"/f%d"}},`, i)
	}
	b.WriteString(`{"type":"text","text":"end"}]}}` + "\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got []index.Doc
	if err := Transcript(strings.NewReader(b.String()), nil, nil, nil, func(d index.Doc) { got = append(got, d) }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if len(got) != 1 || strings.Count(got[0].Text, "word") != n || strings.Count(got[0].File, "\n") != n-1 ||
		!strings.HasSuffix(got[0].Text, "\nend") || got[0].Class != index.Assistant || got[0].ID != "u1" {
		t.Fatalf("%d documents", len(got))
	}
	if most := uint64(200 << 20); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("%d bytes were allocated, want at most %d", after.TotalAlloc-before.TotalAlloc, most)
	}
}

// TestVersionOfSources checks that an index of another version of the documents keeps none of them.
func TestVersionOfSources(t *testing.T) {
	t.Parallel()
	var s searchPlan
	s.addTexts("rules", -1, []index.Doc{{Class: index.Rule, Text: "Never on Fridays"}})
	s.addDerived("v/1", 0, objects.Sum(nil), index.Doc{Class: index.Version, Name: "v001"})
	for _, x := range s.plan.Sources {
		if !strings.HasPrefix(x.Version, documentsVersion()+" ") {
			t.Errorf("version of %s is %q, want one that starts with %q", x.Name, x.Version, documentsVersion())
		}
	}
}

// TestEscapes checks that the input of a tool of another program has its line breaks.
func TestEscapes(t *testing.T) {
	t.Parallel()
	var got []string
	err := Transcript(strings.NewReader(`{"type":"user","uuid":"u1","message":{"role":"user","content":"file it"}}
{"type":"assistant","uuid":"u2","message":{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"mcp__tracker__create_issue","input":{"body":"It rounds.\n\nTwice, \"always\"."}}]}}
`), nil, nil, nil, func(d index.Doc) { got = append(got, d.Text) })
	if err != nil || len(got) < 2 || !strings.Contains(got[1], "It rounds.\n\nTwice, \"always\".") {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestBoundary checks that the place of a compaction, which nobody wrote, is no document.
func TestBoundary(t *testing.T) {
	t.Parallel()
	var got []string
	err := Transcript(strings.NewReader(`{"type":"user","uuid":"u1","message":{"role":"user","content":"keep the tokens"}}
{"type":"system","subtype":"compact_boundary","uuid":"u2","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":9000}}
{"type":"assistant","uuid":"u3","message":{"role":"assistant","content":[{"type":"text","text":"Kept."}]}}
`), nil, nil, nil, func(d index.Doc) { got = append(got, d.Text) })
	if want := "keep the tokens|Kept."; err != nil || strings.Join(got, "|") != want {
		t.Errorf("got %q, %v", got, err)
	}
}
