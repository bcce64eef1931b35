package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func scan(b []byte, carry Carry, chunk int) Summary {
	sc := NewScanner(carry, sha256.Sum256)
	for len(b) > 0 {
		n := min(max(1, chunk), len(b))
		sc.Write(b[:n]) // never fails
		b = b[n:]
	}
	return sc.Summary()
}

const story = `{"type":"summary","summary":"Old session","leafUuid":"elsewhere"}
{"type":"user","uuid":"u1","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s1","cwd":"/home/dev/shop","gitBranch":"main","version":"2.1.40","message":{"role":"user","content":"Prices\nin cents ##keepit1.00##"}}
{"type":"assistant","uuid":"u2","timestamp":"2026-03-01T09:00:01.000Z","message":{"id":"m1","model":"claude-x","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}
{"type":"assistant","uuid":"u3","timestamp":"2026-03-01T09:00:02.000Z","message":{"id":"m1","model":"claude-x","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}{"type":"file-history-snapshot"}
{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-01T09:00:03.000Z","content":"and tax"}
{"type":"user","uuid":"u4","timestamp":"2026-03-01T08:59:00.000Z","gitBranch":"tax","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"##keepit1.00## in a file"}]}}
{"type":"queue-operation","operation":"remove"}
{"type":"assist
garbage
{"type":"assistant","uuid":"u5","message":{"id":"m1","model":"claude-x","role":"assistant","content":[{"type":"text","text":"ok"}]}}
{"type":"assistant","uuid":"u6","message":{"id":"m2","model":"<synthetic>","role":"assistant","content":"error"}}
{"type":"summary","summary":"Prices in cents","leafUuid":"u6"}
{"type":"user","uuid":"u7","timestamp":"2026-03-01T09:01:00.000Z","message":{"role":"us`

// TestScannerReads gives the scanner records of known text: what it takes for text is about that, whatever is around it.
func TestScannerReads(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some words that a model reads, ", 100)
	usage := `,"stop_reason":"end_turn","usage":{` + strings.Repeat(`"cache_creation_input_tokens":123,`, 8) + `"n":1}`
	for _, c := range []struct {
		name, line string
		want       int
	}{
		{"typed", `{"type":"user","message":{"role":"user","content":"` + text + `"},"toolUseResult":"` + text + `"}`, len(text)},
		{"answer", `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"` + text + `"}]` + usage + `}}`, len(text)},
		{"result", `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"` + text + `"}]}}`, len(text)},
		{"thinking", `{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"` + text + `"}]` + usage + `}}`, 0},
		{"talk of thinking", `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"\"type\":\"thinking\" ` + text + `"}]` + usage + `}}`, len(text)},
		{"picture and text", `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"data":"` + strings.Repeat(text, 6) + `"}},{"type":"text","text":"` + text + `"}]}}`, len(text)},
		{"the client's own", `{"type":"user","isMeta":true,"message":{"role":"user","content":"` + text + `"}}`, 0},
		{"progress", `{"type":"progress","data":{"message":{"content":"` + text + `"}}}`, 0},
	} {
		if got := int(scan([]byte(c.line+"\n"), Carry{}, 100).Read); got < c.want*9/10-1 || got > c.want*11/10+100 {
			t.Errorf("%s: %d bytes, want about %d", c.name, got, c.want)
		}
	}
	huge := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", Longest) + `"}}`
	if got := scan([]byte(huge+"\n"), Carry{}, 1<<20).Read; got < Longest-resultOverhead {
		t.Errorf("behind the limit: %d bytes, want %d", got, Longest)
	}
	if got := scan([]byte(huge+"\n"), Carry{Messages: 1}, 1<<20).Read; got != 0 {
		t.Errorf("going on from a scan that did not measure: %d, want 0", got)
	}
}

func TestScanner(t *testing.T) {
	t.Parallel()
	got := scan([]byte(story), Carry{}, 1<<20)
	want := Carry{
		Closed: int64(strings.LastIndexByte(story, '\n') + 1), Values: 13, Opaque: 2, Messages: 4, Typed: 2, Read: got.Read, Marked: 2,
		First: got.First, Last: got.Last, SessionID: "s1", Cwd: "/home/dev/shop", Branch: "tax", Version: "2.1.40", Model: "claude-x",
		Title: "Prices in cents", TitleFrom: FromSummary, TitleN: 13, LastID: "m2", LastUUID: "u6", Tip: "u6", Second: got.Second, SecondN: 8,
		Queue: Queue{Took: []string{queueKey("and tax")}, ID: "m2"},
	}
	want.Queue.Waiting = got.Queue.Waiting
	if !reflect.DeepEqual(got.Carry, want) {
		t.Errorf("Carry = %+v\nwant    %+v", got.Carry, want)
	}
	if f, l := got.First.Format("15:04:05"), got.Last.Format("15:04:05"); f != "09:00:00" || l != "08:59:00" {
		t.Errorf("First, Last = %s, %s", f, l)
	}
	if len(got.Prompts) != 2 || got.Prompts[0].N != 2 || got.Prompts[1].N != 8 || got.Prompts[0].Text != "Prices\nin cents ##keepit1.00##" || got.Prompts[1].Text != "" {
		t.Errorf("Prompts = %+v", got.Prompts)
	}
	hash := sha256.Sum256([]byte("user\n2026-03-01T09:00:00.000Z\nPrices\nin cents ##keepit1.00##"))
	if got.Prompts[0].Key != Key(hash[:8]) {
		t.Errorf("Key = %s, want %x", got.Prompts[0].Key, hash[:8])
	}
	if got.Parent() != "" {
		t.Errorf("Parent = %q", got.Parent())
	}
	agent := scan([]byte(`{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s1","message":{"role":"user","content":"x"}}`), Carry{}, 9)
	if agent.Parent() != "s1" || agent.Typed != 0 || agent.Messages != 1 {
		t.Errorf("agent: %+v", agent)
	}
}

// checkSplit holds that neither chunks nor a stop at cut change what a scan finds.
func checkSplit(t *testing.T, b []byte, cut, chunk int) {
	t.Helper()
	want := scan(b, Carry{}, len(b))
	if got := scan(b, Carry{}, chunk); !reflect.DeepEqual(got, want) {
		t.Fatalf("in chunks of %d: %+v\nwant %+v\nof %q", chunk, got, want, b)
	}
	head := scan(b[:cut], Carry{}, chunk)
	packed, err := json.Marshal(head.Carry)
	if err != nil {
		t.Fatal(err)
	}
	var carry Carry
	if err := json.Unmarshal(packed, &carry); err != nil {
		t.Fatal(err)
	}
	if int(carry.Closed) != Closed(b[:cut]) {
		t.Fatalf("closed %d of %q, want %d", carry.Closed, b[:cut], Closed(b[:cut]))
	}
	got := scan(b[carry.Closed:], carry, chunk)
	got.Prompts = append(head.Prompts, got.Prompts...)
	if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
		t.Fatalf("cut at %d, chunks of %d:\n%s\nwant\n%s", cut, chunk, a, b)
	}
}

// checkAgainstDecode holds the scan against the slow way to the same numbers.
func checkAgainstDecode(t *testing.T, b []byte) {
	t.Helper()
	got := scan(b, Carry{}, len(b))
	b = b[:Closed(b)]
	var want Carry
	var c Counter
	var q Queue
	for v := range Values(b) {
		want.Values++
		m, err := Decode(v)
		if err != nil {
			want.Opaque++
			continue
		}
		c.Add(m)
		want.Typed += len(q.Said(m))
	}
	if got.Values != want.Values || got.Opaque != want.Opaque || got.Messages != c.N || got.Typed != want.Typed || got.Typed != len(got.Prompts) {
		t.Fatalf("scan of %q: %d values, %d opaque, %d messages, %d typed; want %d, %d, %d, %d", b[:min(len(b), 3000)],
			got.Values, got.Opaque, got.Messages, got.Typed, want.Values, want.Opaque, c.N, want.Typed)
	}
}

func TestScannerSplits(t *testing.T) {
	t.Parallel()
	b := []byte(story)
	checkAgainstDecode(t, b)
	for cut := range len(b) + 1 {
		checkSplit(t, b, cut, 1+cut%70)
	}
	for _, c := range splits {
		for _, d := range splits {
			if b := []byte(c.in + d.in); len(b) > 0 && len(b) < 200 {
				checkSplit(t, b, len(c.in), 1)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(story), 700, 5)
	for _, c := range splits {
		f.Add([]byte(c.in), 3, 2)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut, chunk int) {
		checkSplit(t, b, max(0, cut%(len(b)+1)), max(1, chunk%(len(b)+1)))
		checkAgainstDecode(t, b)
	})
}

func TestScannerLongLines(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), Longest+100)
	for _, c := range []struct {
		name, in               string
		values, opaque, prompt int
	}{
		{"typed", `{"type":"user","message":{"role":"user","content":"` + string(long) + "\"}}\n" + `{"type":"user","message":{"role":"user","content":"a"}}`, 2, 0, 1},
		{"torn", `{"type":"user","message":"` + string(long) + "\n" + `{"type":"user","message":{"role":"user","content":"a"}}`, 2, 1, 1},
		{"glued", `{"type":"user","message":"` + string(long) + `{"type":"user","message":{"role":"user","content":"a"}}` + "\n", 2, 1, 1},
	} {
		for _, chunk := range []int{1 << 20, 4099, len(c.in) - 58, len(c.in) - 57, len(c.in) - 56, len(c.in) - 55} {
			got := scan([]byte(c.in), Carry{}, chunk)
			if got.Values != c.values || got.Opaque != c.opaque || len(got.Prompts) != c.prompt || got.Tail != 0 {
				t.Errorf("%s in chunks of %d: %d values, %d opaque, %d prompts", c.name, chunk, got.Values, got.Opaque, len(got.Prompts))
			}
		}
	}
}

// transcripts returns the committed transcripts and, if MEM_TRANSCRIPTS names a directory, what lies there.
func transcripts(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, dir := range []string{"../../testdata/transcripts", os.Getenv("MEM_TRANSCRIPTS")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			all[path], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	if os.Getenv("MEM_TRANSCRIPTS") == "" {
		t.Run("real", func(t *testing.T) {
			t.Skip("SKIPPED: MEM_TRANSCRIPTS is not set, so only the committed transcripts are read")
		})
	}
	for path, b := range transcripts(t) {
		checkValues(t, b)
		checkAgainstDecode(t, b)
		for _, k := range []int{1, 3, 5} {
			cut := len(b) * k / 7
			checkGrowth(t, b, cut)
			checkSplit(t, b, cut, 1+len(b)*k/50)
		}
		if t.Failed() {
			t.Fatal(path)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	var all []byte
	for _, data := range transcripts(b) {
		all = append(all, data...)
	}
	all = append(all, story[:strings.LastIndexByte(story, '\n')+1]...)
	for len(all) < 8<<20 {
		all = append(all, all...)
	}
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		scan(all, Carry{}, 1<<20)
	}
}

func BenchmarkValues(b *testing.B) {
	all := bytes.Repeat([]byte(story), 4<<20/len(story))
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		for range Values(all) {
		}
	}
}

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
