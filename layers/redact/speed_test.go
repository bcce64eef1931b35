package redact

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// prose returns about n bytes of transcript: code and prose, with the words that rules look at here and there, and no
// secret.
func prose(n int) []byte {
	rnd := rand.New(rand.NewPCG(9, 9))
	pieces := []string{"func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {\n\treturn s.open(key)\n}\n",
		"The token of a session is read from the environment, see docs/auth.md.\n", "  \"dependencies\": {\"left-pad\": \"^1.3.0\"},\n",
		"const password = process.env.DB_PASSWORD;\n", "if err := f.Close(); err != nil {\n", "https://example.com/path/to/a/page?with=query%20here\n",
		"결제 모듈을 고쳐 주세요. 먼저 시험을 돌려 봅니다.\n", "drwxr-xr-x 2 dev dev 4096 Jan 15 10:00 src\n", "+  const accessToken = await getAccessToken();\n",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n", "interface Props { secret: string; apiKey?: string }\n", "PASS\nok  \tshop/cart\t0.012s\n"}
	var out []byte
	for len(out) < n {
		var b strings.Builder
		for range 10 + rnd.IntN(60) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		out = append(out, plants.AsText(b.String())...)
	}
	return out
}

// BenchmarkRedact measures what the rules cost, a core: MB/s of transcript without and with secrets, and of one long
// line.
func BenchmarkRedact(b *testing.B) {
	rules, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	clean := prose(4 << 20)
	dirty := append([]byte(nil), clean...)
	for range 20 {
		for _, p := range plants.All() {
			dirty = append(dirty, plants.AsText(plants.Fill(p.Setting, p.Make(rnd)))...)
		}
	}
	run := func(name string, raw []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				var n Numbers
				rules.Redact(raw, &n)
			}
		})
	}
	b.Run("memory", func(b *testing.B) { // a pass over the same bytes, to compare with on a machine that others use
		b.SetBytes(int64(len(clean)))
		var sum [256]int
		for b.Loop() {
			for _, c := range clean {
				sum[c]++
			}
		}
	})
	if real := sessions(b, 32<<20); len(real) > 0 {
		run("real", real)
	}
	run("clean", clean)
	run("secrets", dirty)
	run("one-line", []byte(plants.AsText(string(clean))))
}

// sessions returns up to limit bytes of the sessions under MEM_TRANSCRIPTS, the beginning of each in the order of their names.
func sessions(b *testing.B, limit int) (raw []byte) {
	dir := os.Getenv("MEM_TRANSCRIPTS")
	if dir == "" {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" || len(raw) >= limit {
			return err
		}
		file, err := os.ReadFile(path)
		raw = append(raw, file[:bytes.LastIndexByte(file, '\n')+1]...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

// TestProseIsClean shows that nothing is found in what holds nothing.
func TestProseIsClean(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	raw := prose(1 << 20)
	for _, f := range rules.Find(raw) {
		t.Errorf("%s finds %q", f.Rule, raw[f.Start:f.End])
	}
}

// TestRealFindings counts what is found in the sessions under MEM_TRANSCRIPTS: at most one in two megabytes, or somebody
// has to look. What is found goes to the file MEM_FINDINGS, for that.
func TestRealFindings(t *testing.T) {
	dir := os.Getenv("MEM_TRANSCRIPTS")
	if dir == "" {
		t.Skip("SKIPPED: no MEM_TRANSCRIPTS")
	}
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	out := os.Stderr
	if name := os.Getenv("MEM_FINDINGS"); name != "" {
		if out, err = os.Create(name); err != nil {
			t.Fatal(err)
		}
		defer out.Close()
	}
	size, found := 0, 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var n Numbers
		clean, cuts := rules.Redact(raw, &n)
		if undo(clean, cuts) != string(raw) {
			t.Errorf("%s: the cuts do not give it back", path)
		}
		if again := rules.Find(clean); len(again) > 0 {
			t.Errorf("%s: a second look finds %d more", path, len(again))
		}
		size, found = size+len(raw), found+len(cuts)
		for _, c := range cuts {
			at := int(c.At)
			if out != os.Stderr {
				_, err = out.WriteString(path + "\t" + string(clean[max(0, at-80):at+c.Len]) + "\t" + string(c.Bytes) + "\n")
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d findings in %.1f MB: %.3f a MB", found, float64(size)/1e6, float64(found)*1e6/float64(size))
	if found*2_000_000 > size {
		t.Errorf("%d findings in %d bytes: look at them", found, size)
	}
}

// TestPatterns compiles every rule of gitleaks and its allow-lists, and makes sure that every name is one that a
// placeholder can hold.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns, err := parsePatterns(gitleaksData)
	if err != nil || len(patterns) < 200 {
		t.Fatalf("%d patterns, %v", len(patterns), err)
	}
	for _, p := range patterns {
		p.Compile()
		p.All.Allows([]byte("x"), nil, nil)
		for i := range p.Allow {
			p.Allow[i].Allows([]byte("x"), nil, nil)
		}
		if len(p.Keywords) == 0 {
			t.Errorf("%s has no keywords", p.ID)
		}
	}
	for _, name := range RuleNames() {
		if mark := placeholder(name, 1); mark != opening+name+":1"+closing {
			t.Errorf("the placeholder of %s is %s", name, mark)
		}
	}
}

// TestWindowsFindWhatTheWholeTextHolds compares looks around keywords with the regular expression on the whole text.
func TestWindowsFindWhatTheWholeTextHolds(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	patterns, err := parsePatterns(gitleaksData)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	text := string(prose(60_000))
	for _, p := range plants.All() {
		at := rnd.IntN(len(text))
		text = text[:at] + "\n" + plants.Fill(p.Text, p.Make(rnd)) + "\n" + text[at:]
	}
	found := merge(rules.set.Find([]byte(text), false, nil))
	for _, p := range patterns {
		if slices.Contains(Covered, p.ID) {
			continue
		}
		p.Compile()
		s := &Scan{Rules: rules.set, Text: []byte(text)}
		for _, m := range p.Re.FindAllSubmatchIndex(s.Text, -1) {
			p.Judge(s, 0, m)
		}
		for _, want := range s.Spans {
			near := strings.ToLower(text[max(0, want.Start-maxLead):want.End])
			covered := true // what is far from its keyword is not looked at: 40 digits behind a "sourcegraph" somewhere
			for _, k := range p.Keywords {
				covered = covered && (len(k) < 3 || !strings.Contains(near, strings.ToLower(k)))
			}
			for _, f := range found {
				covered = covered || f.Start <= want.Start && want.End <= f.End
			}
			if !covered {
				t.Errorf("%s finds %q in the whole text only", p.ID, text[want.Start:want.End])
			}
		}
	}
}

// TestSourceFindings counts what is found in the texts under the directories of MEM_SOURCES, such as the source of libraries: at most two
// in a megabyte. Private keys are not counted: libraries hold real ones, for their tests. The findings go to the file MEM_FINDINGS.
func TestSourceFindings(t *testing.T) {
	list := os.Getenv("MEM_SOURCES")
	if list == "" {
		t.Skip("SKIPPED: no MEM_SOURCES")
	}
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	size, found, keys := 0, 0, 0
	for _, dir := range filepath.SplitList(list) {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 4<<20 || bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
				return err
			}
			var n Numbers
			clean, cuts := rules.Redact([]byte(plants.AsText(string(raw))), &n)
			size += len(raw)
			for _, c := range cuts {
				mark := clean[c.At : int(c.At)+c.Len]
				if RuleOf(mark) == "private-key" {
					keys++
					continue
				}
				found++
				fmt.Fprintf(&out, "%s\t%s\t%s\n", path, clean[max(0, int(c.At)-80):int(c.At)+c.Len], c.Bytes)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if name := os.Getenv("MEM_FINDINGS"); name != "" {
		if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d findings and %d private keys in %.1f MB: %.3f a MB", found, keys, float64(size)/1e6, float64(found)*1e6/float64(max(1, size)))
	if found*500_000 > size {
		t.Errorf("%d findings in %d bytes: look at them", found, size)
	}
}
