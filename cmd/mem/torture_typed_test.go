package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// tortureTyped captures, shows, compresses, compares and blames a session that is mostly text typed by the user, which every layer keeps whole.
// Those that need L1 or its texts read them into memory, the others do not.
func tortureTyped(t *testing.T, r *rig) {
	size := amount(t, 0, 52, 200) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	const id, most = "7a7a7a7a-2222-4333-8444-555555555555", 120 // MB
	file := r.write(".claude/projects/-home-user-typed/"+id+".jsonl", typed(id, size))
	whole := most + 4*size>>20 // MB, with L1 and what is made of it in memory
	r.atMost(whole, "import", "-q", file)
	for skip := range 2 {
		for name, limit := range map[string]int{id + ":L1": whole, id + ":original": most} {
			r.atMost(limit, "show", name, "--format", "text")
			r.atMost(limit, "show", name, "--format", "jsonl")
		}
		r.atMost(most, "count", id)
		r.atMost(whole, "compress", id, "--ratio", "20", "--skip", fmt.Sprint(skip)) // each time another version
		r.atMost(whole, "blame", fmt.Sprintf("%s:v%03d", id, skip+1))
		r.atMost(whole, "diff", fmt.Sprintf("%s:v%03d", id, skip+1), []string{"--json", "--text"}[skip])
		if err := os.RemoveAll(filepath.Join(r.Dir, "cache")); err != nil { // the second time all is made again
			t.Fatal(err)
		}
	}
}

// typed makes a session of about so many bytes: messages of 4 to 100 KB that the user typed, each with a short answer.
func typed(id string, size int) []byte {
	var pool, b bytes.Buffer
	for i := 0; pool.Len() < 1<<20; i++ {
		fmt.Fprintf(&pool, "step %d of the plan has %d parts and comes after the other %d ones. ", i%97, i%11, i%31)
	}
	for i := 0; b.Len() < size; i++ {
		n := 4_000 + i*7919%96_000
		at := i * 104_729 % (pool.Len() - n)
		fmt.Fprintf(&b, `{"type":"user","cwd":"/home/user/typed","sessionId":"%s","timestamp":"2026-01-05T01:02:03.000Z","uuid":"u%d","message":{"role":"user","content":"%s"}}`+"\n", id, i, pool.Bytes()[at:at+n])
		fmt.Fprintf(&b, `{"type":"assistant","cwd":"/home/user/typed","sessionId":"%s","timestamp":"2026-01-05T01:02:04.000Z","uuid":"a%d","message":{"id":"m%d","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"done %d"}]}}`+"\n", id, i, i, i)
	}
	return b.Bytes()
}
