package refine

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/memvcs/mem/testdata/gen/story"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden holds the L1 of the committed sessions that hold everything.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]Mode{story.Cents: Full, story.Torn: Full, story.Basket: Full, story.Stock: Lean} {
		src, err := os.ReadFile(filepath.Join("../../testdata/transcripts/projects/-home-dev-shop", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		got := l1(t, src, mode)
		golden := filepath.Join("testdata", name+".l1.jsonl")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("L1 of %s changed: go test ./layers/refine -update, and read the difference", name)
		}
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	e := Entry{N: 3, TS: "2026-01-05T01:42:15Z", Role: "tool", Name: "Edit", Target: "scripts/ui.js:42", Diff: "-if (day > last)\n+if (day > last && !used)", Symbols: []string{"used"}, Result: "ok"}
	const want = `{"n":3,"ts":"2026-01-05T01:42:15Z","role":"tool","name":"Edit","target":"scripts/ui.js:42","diff":"-if (day > last)\n+if (day > last && !used)","symbols":["used"],"result":"ok"}`
	var out bytes.Buffer
	write := json.NewEncoder(&out)
	write.SetEscapeHTML(false)
	if err := write.Encode(e); err != nil || out.String() != want+"\n" {
		t.Errorf("JSON = %s\nwant   %s, %v", out.String(), want, err)
	}
	if got := e.String(); got != "#3 tool: Edit scripts/ui.js:42 [symbols: used]\n-if (day > last)\n+if (day > last && !used)" {
		t.Errorf("String = %q", got)
	}
	failed := Entry{N: 4, Role: "tool", Name: "Bash", Cmd: "go test", Exit: 1, Errors: []string{"--- FAIL: TestA", "--- FAIL: TestB"}, Result: "a.go:3: 1, want 2"}
	if got := failed.Text(); got != "Bash go test [exit 1]\n=> a.go:3: 1, want 2\n! --- FAIL: TestA\n! --- FAIL: TestB" {
		t.Errorf("Text = %q", got)
	}
	if !(Entry{Role: "user"}).Typed() || (Entry{Role: "user", Side: true}).Typed() {
		t.Error("Typed is what the user typed, not what an agent did")
	}
}

func TestEntriesErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   io.Reader
		good int
		want string
	}{
		{strings.NewReader("{\"n\":1,\"role\":\"user\"}\n{\"n\":2"), 1, "read L1: line 2: unexpected end of JSON input"},
		{strings.NewReader("{\"n\":1,\"role\":\"user\"}"), 1, ""},
		{iotest.ErrReader(io.ErrClosedPipe), 0, "read L1: line 1: io: read/write on closed pipe"},
	} {
		good, got := 0, ""
		for _, err := range Entries(c.in) {
			if err != nil {
				got = err.Error()
			} else {
				good++
			}
		}
		if good != c.good || got != c.want {
			t.Errorf("Entries: %d entries, %q, want %d, %q", good, got, c.good, c.want)
		}
	}
}

// FuzzEntry holds that an entry survives its own JSON, but for bytes that are no UTF-8.
func FuzzEntry(f *testing.F) {
	f.Add(1, "user", "a\n\"b\"\t\\", "ok", 0, int64(0))
	f.Add(-2, "", "\x00\x1f\u2028<>&\x7f😀", "\xff", 2, int64(9))
	f.Fuzz(func(t *testing.T, n int, role, said, result string, exit int, size int64) {
		e := Entry{N: n, Role: role, Said: said, Result: result, Exit: exit, Bytes: size, Symbols: []string{role, said}}
		line, err := json.Marshal(e)
		if err != nil || !json.Valid(line) || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("%+v: %s", e, line)
		}
		var got Entry
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*string{&e.Role, &e.Said, &e.Result, &e.Symbols[0], &e.Symbols[1]} {
			if !utf8.ValidString(*s) {
				*s = string([]rune(*s))
			}
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("%+v -> %s -> %+v", e, line, got)
		}
	})
}

// FuzzRefine holds what is true of any bytes: no panic, no error, read by halves it gives the same, every value that
// cannot be read is counted, L1 can be read back, message numbers do not go backwards.
func FuzzRefine(f *testing.F) {
	transcripts(f, func(path string, b []byte) {
		if strings.Contains(path, "-home-dev") && len(b) < 60_000 {
			f.Add(b, true)
		}
	})
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x","is_error":true,"content":3}]}}`), false)
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":[1,{"old_string":{}}]}]}}`), false)
	f.Fuzz(func(t *testing.T, b []byte, lean bool) {
		mode := Full
		if lean {
			mode = Lean
		}
		out := l1(t, b, mode)
		var streamed bytes.Buffer
		if _, err := Stream(iotest.HalfReader(bytes.NewReader(b)), mode, nil, nil, &streamed); err != nil || !bytes.Equal(streamed.Bytes(), out) {
			t.Fatalf("Stream of %q: %v, %s, want %s", b, err, streamed.Bytes(), out)
		}
		last := 0
		for e, err := range Entries(bytes.NewReader(out)) {
			if err != nil || e.N < last || e.N == 0 {
				t.Fatalf("L1 of %q: %+v after %d, %v", b, e, last, err)
			}
			last = e.N
		}
	})
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	if _, err := Stream(iotest.ErrReader(io.ErrUnexpectedEOF), Full, nil, nil, io.Discard); err == nil || err.Error() != "read session: unexpected EOF" {
		t.Errorf("Stream = %v", err)
	}
	if _, err := Stream(strings.NewReader(`{"type":"summary","summary":"x"}`), Full, nil, nil, full{}); err == nil || err.Error() != "write L1: disk full" {
		t.Errorf("Stream = %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errorString("disk full")

type errorString string

func (e errorString) Error() string { return string(e) }

// TestHugeValue holds that a value of many megabytes is counted, not read.
func TestHugeValue(t *testing.T) {
	t.Parallel()
	src := []byte(`{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", hugeLimit) + "\"}}\n" + `{"type":"user","message":{"role":"user","content":"a"}}`)
	var out bytes.Buffer
	stats, err := Stream(bytes.NewReader(src), Full, nil, nil, &out)
	if err != nil || stats.Opaque != 1 || !strings.HasSuffix(out.String(), "{\"n\":2,\"role\":\"user\",\"text\":\"a\"}\n") || !strings.HasPrefix(out.String(), `{"n":1,"role":"opaque","bytes":167`) {
		t.Errorf("Stream = %+v, %v, %.100q", stats, err, out.String())
	}
	if got := l1(t, src, Full); !bytes.Equal(got, out.Bytes()) {
		t.Errorf("Stream = %.100q", got)
	}
}

func TestDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"", "a\nb\n", "+a\n+b"},
		{"a\nb", "", "-a\n-b"},
		{"a\nb\nc", "a\nx\nc", "-b\n+x"},
		{"a\nb\nc\nd\ne", "x\nb\nc\nd\ny", "-a\n+x\n@@\n-e\n+y"},
		{"a", "a", ""},
		{"a\n", "a", ""},
		{"a\n\nb", "a\n\nc\n\nb", "+c\n+"},
	} {
		var d differ
		d.add(c.before, c.after)
		if got := d.String(); got != c.want {
			t.Errorf("diff(%q, %q) = %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

// FuzzDiffer holds that a diff and the old text give the new one.
func FuzzDiffer(f *testing.F) {
	f.Add("a\nb\nc\nd", "a\nx\nc\ny\nd")
	f.Add("\n\n", "\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		var d differ
		d.add(before, after)
		var minus, plus []string
		for _, l := range d.lines {
			switch l[0] {
			case '-':
				minus = append(minus, l[1:])
			case '+':
				plus = append(plus, l[1:])
			}
		}
		a, b := split(before), split(after)
		if !slices.Equal(sorted(append(minus, d.context...)), sorted(a)) || !slices.Equal(sorted(append(plus, d.context...)), sorted(b)) {
			t.Fatalf("diff(%q, %q) = %q", before, after, d.lines)
		}
	})
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func TestSymbols(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, before, after string
		want                []string
	}{
		{"a.go", "func (c *Cart) Total() int {\n\treturn c.sum\n}", "func (c *Cart) Total() int {\n\treturn c.netSum\n}", []string{"Total", "netSum"}},
		{"a.go", "", "type Price int64\n\nconst maxPrice = 3\n\tvar local = 1", []string{"Price", "maxPrice"}},
		{"a.ts", "", "export async function loadCart(userId: string) {}\nexport default class CartView {}", []string{"loadCart", "CartView", "userId"}},
		{"a.py", "", "    def add_line(self):\n        self.line_count += 1", []string{"add_line", "line_count"}},
		{"README.md", "", "type Price and netSum", nil},
	} {
		var d differ
		d.add(c.before, c.after)
		if got := symbols(&d, c.file); !slices.Equal(got, c.want) {
			t.Errorf("symbols(%q -> %q) = %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output, shown string
		want          []string
	}{
		{"ok \texample.com/shop\t0.1s", "", nil},
		{"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\tshop\t0.1s\n--- FAIL: TestB (1.20s)", "", []string{"--- FAIL: TestA", "--- FAIL: TestB"}},
		{"FAIL\tshop [build failed]\n./a.go:3:5: undefined: x", "", []string{"FAIL\tshop [build failed]", "./a.go:3:5: undefined: x"}},
		{"TypeError: x is not a function\n  at y\nTypeError: x is not a function", "", []string{"TypeError: x is not a function"}},
		{"\x1b[31mError: no\x1b[0m", "", []string{"Error: no"}},
		{"fatal: not a git repository", "fatal: not a git repository", nil},
		{"a sentence about an error", "", nil},
	} {
		raw, err := json.Marshal(c.output)
		if err != nil {
			t.Fatal(err)
		}
		if got := failures(raw, c.shown); !slices.Equal(got, c.want) {
			t.Errorf("failures(%q) = %q, want %q", c.output, got, c.want)
		}
	}
}

// A spoken is a text that must be in L1.
type spoken struct {
	line int
	role string
	text string
}

// walk reads a transcript in its own simple way and returns what user and assistant said: every text block of a user or assistant
// record, but for meta records and what the client sends in the user's name.
func walk(src []byte) []spoken {
	var all []spoken
	for n, line := range bytes.Split(src, []byte("\n")) {
		dec := json.NewDecoder(bytes.NewReader(line))
		for {
			var r struct {
				Type    string
				IsMeta  bool
				Message struct{ Content json.RawMessage }
			}
			if dec.Decode(&r) != nil {
				break
			}
			if r.Type != "user" && r.Type != "assistant" || r.IsMeta {
				continue
			}
			for _, text := range texts(r.Message.Content) {
				if text = said(text); text != "" {
					all = append(all, spoken{n + 1, r.Type, text})
				}
			}
		}
	}
	return all
}

func texts(raw json.RawMessage) []string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []string{s}
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var all []string
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return all
}

func said(s string) string {
	for {
		before, rest, ok := strings.Cut(s, "<system-reminder>")
		_, after, closed := strings.Cut(rest, "</system-reminder>")
		if !ok || !closed {
			break
		}
		s = strings.TrimSpace(before) + strings.TrimSpace(after)
	}
	s = strings.TrimSpace(s)
	// The client wrote these: a plan that it sends back is a note, and "No response requested." answers it.
	for _, mark := range []string{"<local-command", "<command-", "<bash-", "Caveat:", "<task-notification", "Implement the following plan:", "No response requested."} {
		if strings.HasPrefix(s, mark) {
			return ""
		}
	}
	return s
}

// TestNothingSaidIsMissing holds that L1 has every text of user and assistant whole.
func TestNothingSaidIsMissing(t *testing.T) {
	t.Parallel()
	files, checked := 0, 0
	transcripts(t, func(path string, b []byte) {
		files++
		want := walk(b)
		for _, mode := range []Mode{Full, Lean} {
			have := map[string]int{}
			for e, err := range Entries(bytes.NewReader(l1(t, b, mode))) {
				if err != nil {
					t.Fatal(path, err)
				}
				if e.Role != "tool" {
					have[strings.TrimSpace(e.Said)]++
				}
			}
			for _, w := range want {
				checked++
				if have[w.text] == 0 && !within(have, w.text) {
					t.Errorf("%s:%d: %s text is missing: %.200q", path, w.line, w.role, w.text)
				}
			}
		}
	})
	t.Logf("%d texts of %d files", checked, files)
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// within reports whether a text stands in another, as one of several that were typed together does.
func within(have map[string]int, text string) bool {
	for s := range have {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}
