package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// spell writes values as kind letter and text: o for an object, x for an opaque value.
func spell(b []byte) []string {
	var got []string
	for v := range Values(b) {
		kind := "o"
		if v.Opaque {
			kind = "x"
		}
		got = append(got, kind+strings.TrimRight(string(v.Raw), " \t\r"))
	}
	return got
}

var splits = []struct {
	name, in string
	want     []string
	closed   int // -1: all
}{
	{"empty", "", nil, -1},
	{"blank lines", "\n \n\t\r\n", nil, -1},
	{"one a line", "{\"a\":1}\n{\"b\":2}\n", []string{`o{"a":1}`, `o{"b":2}`}, -1},
	{"windows", "{\"a\":1}\r\n{\"b\":2}\r\n", []string{`o{"a":1}`, `o{"b":2}`}, -1},
	{"no final newline", "{\"a\":1}", []string{`o{"a":1}`}, -1},
	{"two on a line", `{"a":1}{"b":2}` + "\n", []string{`o{"a":1}`, `o{"b":2}`}, -1},
	{"two with a space", `{"a":1} {"b":2}`, []string{`o{"a":1}`, `o{"b":2}`}, -1},
	{"unclosed tail", "{\"a\":1}\n{\"b\":", []string{`o{"a":1}`, `x{"b":`}, 8},
	{"tail of garbage", "{\"a\":1}\nabc", []string{`o{"a":1}`, `xabc`}, 8},
	{"torn line", "{\"a\":\"x\n{\"b\":2}\n", []string{`x{"a":"x`, `o{"b":2}`}, -1},
	{"torn before a value", "{\"a\":\n{\"b\":2}\n", []string{`x{"a":`, `o{"b":2}`}, -1},
	{"glued to a torn string", `{"a":"te{"b":2}` + "\n", []string{`x{"a":"te`, `o{"b":2}`}, -1},
	{"glued to a torn key", `{"a":1,"te{"b":2}` + "\n", []string{`x{"a":1,"te`, `o{"b":2}`}, -1},
	{"glued to a torn number", `{"a":12{"b":2}` + "\n", []string{`x{"a":12`, `o{"b":2}`}, -1},
	{"glued to a torn literal", `{"a":tr{"b":2}` + "\n", []string{`x{"a":tr`, `o{"b":2}`}, -1},
	{"glued to a torn escape", `{"a":"x\{"b":2}` + "\n", []string{`x{"a":"x\`, `o{"b":2}`}, -1},
	{"glued to a comma", `{"a":1,{"b":2}` + "\n", []string{`x{"a":1,`, `o{"b":2}`}, -1},
	{"glued twice", `{"a":"te{"b":"te{"c":3}{"d":4}` + "\n", []string{`x{"a":"te{"b":"te`, `o{"c":3}`, `o{"d":4}`}, -1},
	{"garbage before", `abc {"b":2}` + "\n", []string{`xabc`, `o{"b":2}`}, -1},
	{"garbage behind", `{"b":2} abc ` + "\n", []string{`o{"b":2}`, `xabc`}, -1},
	{"garbage before, line open", `abc {"b":2}`, []string{`xabc`, `o{"b":2}`}, 0},
	{"inner object of a broken line", `{"a":nope,"b":{"c":1},"d":2}` + "\n", []string{`x{"a":nope,"b":{"c":1},"d":2}`}, -1},
	{"array", `[{"a":1},{"b":2}]` + "\n", []string{`x[{"a":1},{"b":2}]`}, -1},
	{"scalars", "12\n\"s\"\nnull\ntrue\n", []string{`x12`, `x"s"`, `xnull`, `xtrue`}, -1},
	{"scalar tail", "12", []string{`x12`}, 0},
	{"NUL run", "\x00\x00\x00\n{\"a\":1}\n", []string{"x\x00\x00\x00", `o{"a":1}`}, -1},
	{"NUL in a string", "{\"a\":\"\x00\"}\n", []string{"x{\"a\":\"\x00\"}"}, -1},
	{"NUL run, then glued", "\x00\x00{\"a\":1}\n", []string{"x\x00\x00", `o{"a":1}`}, -1},
	{"invalid UTF-8", "{\"a\":\"\xff\xfe\"}\n", []string{"o{\"a\":\"\xff\xfe\"}"}, -1},
	{"byte order mark", "\xef\xbb\xbf{\"a\":1}\n", []string{"x\xef\xbb\xbf", `o{"a":1}`}, -1},
	{"braces only", "{{{{\n}}}}\n", []string{"x{{{{", "x}}}}"}, -1},
	{"numbers", `{"a":[0,-0,1.5e+9,-2E-3,10]}` + "\n", []string{`o{"a":[0,-0,1.5e+9,-2E-3,10]}`}, -1},
	{"bad numbers", "{\"a\":01}\n{\"a\":1.}\n{\"a\":-}\n{\"a\":1e}\n", []string{`x{"a":01}`, `x{"a":1.}`, `x{"a":-}`, `x{"a":1e}`}, -1},
	{"bad escape", `{"a":"\x"}` + "\n" + `{"a":"\u12g4"}` + "\n", []string{`x{"a":"\x"}`, `x{"a":"\u12g4"}`}, -1},
	{"deepest", nest(MaxDepth) + "\n", []string{"o" + nest(MaxDepth)}, -1},
	{"too deep", nest(MaxDepth+1) + "\n", []string{"x" + nest(MaxDepth+1)}, -1},
}

func nest(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }

func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range splits {
		if got := spell([]byte(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%s: Values(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		want := c.closed
		if want < 0 {
			want = len(c.in)
		}
		if got := Closed([]byte(c.in)); got != want {
			t.Errorf("%s: Closed(%q) = %d, want %d", c.name, c.in, got, want)
		}
	}
}

// checkValues holds the promises of Values and Closed against b.
func checkValues(t *testing.T, b []byte) {
	t.Helper()
	end, n := 0, 0
	for v := range Values(b) {
		n++
		if v.N != n || v.Off < int64(end) || !bytes.Equal(b[v.Off:int(v.Off)+len(v.Raw)], v.Raw) || len(v.Raw) == 0 {
			t.Fatalf("value %d of %q: %+v", n, b, v)
		}
		if gap := b[end:v.Off]; len(bytes.Trim(gap, " \t\r\n")) > 0 {
			t.Fatalf("lost %q before value %d of %q", gap, n, b)
		}
		end = int(v.Off) + len(v.Raw)
		object := v.Raw[0] == '{' && int64(len(v.Raw)) == v.Size && json.Valid(v.Raw) && depth(v.Raw) <= MaxDepth
		if !v.Opaque && !object {
			t.Fatalf("value %d of %q is not an object: %q", n, b, v.Raw)
		}
		if v.Opaque && object && bytes.Equal(lineAround(b, int(v.Off)), bytes.TrimRight(v.Raw, " \t\r")) {
			t.Fatalf("value %d of %q is an object: %q", n, b, v.Raw)
		}
		if bytes.IndexByte(v.Raw, '\n') >= 0 {
			t.Fatalf("value %d of %q spans lines", n, b)
		}
	}
	if gap := b[end:]; len(bytes.Trim(gap, " \t\r\n")) > 0 {
		t.Fatalf("lost %q at the end of %q", gap, b)
	}
	checkStream(t, b)
}

// checkStream holds that a stream in small pieces gives what [Values] gives.
func checkStream(t *testing.T, b []byte) {
	t.Helper()
	const limit = 20
	next, stop := iter.Pull2(Stream(iotest.OneByteReader(bytes.NewReader(b)), limit))
	defer stop()
	for want := range Values(b) {
		want.Raw = want.Raw[:min(limit, len(want.Raw))]
		if want.Opaque {
			want.Raw = nil
		}
		got, err, ok := next()
		if !ok || err != nil || got.N != want.N || got.Off != want.Off || got.Size != want.Size || got.Opaque != want.Opaque || !bytes.Equal(got.Raw, want.Raw) {
			t.Fatalf("Stream of %q: %+v, %v, want %+v", b, got, err, want)
		}
	}
	if got, err, ok := next(); ok {
		t.Fatalf("Stream of %q: %+v, %v too many", b, got, err)
	}
	checkWhole(t, b)
}

// checkWhole holds that values one at a time are what [Values] gives.
func checkWhole(t *testing.T, b []byte) {
	t.Helper()
	next, stop := iter.Pull2(Whole(iotest.OneByteReader(bytes.NewReader(b))))
	defer stop()
	for want := range Values(b) {
		got, err, ok := next()
		if !ok || err != nil || got.N != want.N || got.Off != want.Off || got.Size != want.Size || got.Opaque != want.Opaque || !bytes.Equal(got.Raw, want.Raw) {
			t.Fatalf("Whole of %q: %+v, %v, want %+v", b, got, err, want)
		}
	}
	if got, err, ok := next(); ok {
		t.Fatalf("Whole of %q: %+v, %v too many", b, got, err)
	}
}

func TestStreamError(t *testing.T) {
	t.Parallel()
	r := io.MultiReader(strings.NewReader("{\"a\":1}\n{\"b\""), iotest.ErrReader(io.ErrUnexpectedEOF))
	var got []string
	for v, err := range Stream(r, 100) {
		got = append(got, fmt.Sprint(string(v.Raw), err))
	}
	if want := []string{`{"a":1}<nil>`, "unexpected EOF"}; !slices.Equal(got, want) {
		t.Errorf("Stream = %q, want %q", got, want)
	}
}

func lineAround(b []byte, i int) []byte {
	start := bytes.LastIndexByte(b[:i], '\n') + 1
	end := len(b)
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		end = i + n
	}
	return bytes.Trim(b[start:end], " \t\r")
}

func depth(b []byte) int {
	d, deepest, in := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case in:
		case c == '{' || c == '[':
			d++
			deepest = max(deepest, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return deepest
}

// checkGrowth holds that what is closed in a prefix keeps number and meaning.
func checkGrowth(t *testing.T, b []byte, cut int) {
	t.Helper()
	closed := Closed(b[:cut])
	if closed > cut || closed > Closed(b) {
		t.Fatalf("Closed(%q) = %d, but Closed(%q) = %d", b[:cut], closed, b, Closed(b))
	}
	part, all := spell(b[:closed]), spell(b)
	if len(part) > len(all) || !slices.Equal(part, all[:len(part)]) {
		t.Fatalf("%q closed at %d: %q, grown: %q", b, closed, part, all)
	}
	rest := spell(b[closed:])
	if !slices.Equal(append(part, rest...), all) {
		t.Fatalf("%q cut at %d: %q + %q, want %q", b, closed, part, rest, all)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, c := range splits {
		for _, d := range splits {
			b := []byte(c.in + d.in)
			if len(b) > 200 {
				continue
			}
			checkValues(t, b)
			for cut := range len(b) + 1 {
				checkGrowth(t, b, cut)
			}
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, c := range splits {
		f.Add([]byte(c.in), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		checkValues(t, b)
		checkGrowth(t, b, max(0, cut%(len(b)+1)))
	})
}

func FuzzDecode(f *testing.F) {
	for _, c := range splits {
		f.Add([]byte(c.in))
	}
	for _, r := range records {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q Queue
		for _, v := range append(slices.Collect(Values(b)), Value{N: 1, Raw: b}) {
			m, err := Decode(v)
			if v.Opaque != errors.Is(err, ErrOpaque) || err != nil && !v.Opaque && len(v.Raw) > 0 && v.Raw[0] == '{' && json.Valid(v.Raw) {
				t.Fatalf("Decode(%q): %v", v.Raw, err)
			}
			q.Said(m)
			for range Read(m) {
			}
		}
	})
}

func ExampleValues() {
	b := []byte("{\"type\":\"user\"}{\"type\":\"summary\"}\n{\"type\":\"assis\n")
	for v := range Values(b) {
		fmt.Println(v.N, v.Off, v.Opaque, string(v.Raw))
	}
	// Output:
	// 1 0 false {"type":"user"}
	// 2 15 false {"type":"summary"}
	// 3 34 true {"type":"assis
}
