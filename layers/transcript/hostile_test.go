package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTimesOfRecords reads only times that a record of mem can contain.
func TestTimesOfRecords(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]bool{
		"2026-01-15T10:00:00Z": true, "9998-12-31T23:59:59Z": true, "0001-01-02T00:00:00Z": true,
		"0000-12-31T23:59:59Z": false, "9999-01-01T00:00:00Z": false, "9999-12-31T23:59:59-01:00": false, "later": false,
	} {
		raw := fmt.Appendf(nil, `{"type":"user","timestamp":%q,"message":{"role":"user","content":"hi"}}`+"\n", stamp)
		sc := NewScanner(Carry{}, func([]byte) (sum [32]byte) { return sum })
		if _, err := sc.Write(raw); err != nil {
			t.Fatal(err)
		}
		sum := sc.Summary()
		m, err := Decode(Value{N: 1, Raw: raw})
		if err != nil || sum.Messages != 1 || sum.First.IsZero() == want || sum.Last.IsZero() == want ||
			m.Time.IsZero() == want {
			t.Errorf("%s: from %s to %s, %s, %v", stamp, sum.First, sum.Last, m.Time, err)
		}
	}
}

// TestTitleOfLongText makes titles in a time that does not depend on the length of the text.
func TestTitleOfLongText(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	if title := oneLine(titleOf("This is it:"+strings.Repeat("\n", 1<<20)+"x"), 80); title != "This is it:" {
		t.Errorf("the title is %q", title)
	}
	titleOf(strings.Repeat("##keepit0.50##", 1<<17) + "This is it:")
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestContentOfDamaged yields every text of a record that is damaged inside, or nested too deeply.
func TestContentOfDamaged(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_000)
	for _, raw := range []string{
		`{"type":"user","message":{"role":"user";"content":"needle"}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},` + "\x00" + `:,"needle"]}}`,
		`{"type":"user","toolUseResult":{"a":["b",:"needle"]}}`,
		`{"type":"user","toolUseResult":{"a":{"b":1;"needle":2}}}`,
		`{"data":` + deep + `"needle"`, `{"data":` + strings.Repeat(`{"data":`, 10_000) + `"needle"`,
		`{"data":` + strings.Repeat(`{"message":`, 10_000) + `"needle"`,
		`{"content":` + strings.Repeat(`[{"content":`, 10_000) + `"needle"`,
	} {
		found := func(s string) bool { return strings.Contains(s, "needle") }
		if !slices.ContainsFunc(slices.Collect(Content([]byte(raw))), found) {
			t.Errorf("%.80s lacks a text", raw)
		}
	}
}

// TestCarryIsNotShared continues two scans from the same state: neither changes the queue of the other.
func TestCarryIsNotShared(t *testing.T) {
	t.Parallel()
	carry := Carry{Queue: Queue{Waiting: append(make([]Queued, 0, 8), Queued{Text: "first"}), Took: make([]string, 0, 8)}}
	var sums []Summary
	for _, text := range []string{"a", "b"} {
		sc := NewScanner(carry, func([]byte) (sum [32]byte) { return sum })
		if _, err := fmt.Fprintf(sc, `{"type":"queue-operation","operation":"enqueue","content":%q}`+"\n"+
			`{"type":"queue-operation","operation":"enqueue","content":"%[1]sx"}`+"\n"+
			`{"type":"queue-operation","operation":"remove","content":"%[1]sx"}`+"\n"+
			`{"type":"assistant","message":{"id":"m"}}`+"\n", text); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sc.Summary())
	}
	for i, text := range []string{"a", "b"} {
		q := sums[i].Queue
		if !slices.Equal(q.Waiting, []Queued{{Text: "first"}, {N: 1, Text: text}}) || !slices.Equal(q.Took, []string{queueKey(text + "x")}) {
			t.Errorf("the queue of %s is %v, %q", text, q.Waiting, q.Took)
		}
	}
}
