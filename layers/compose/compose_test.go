package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
)

var update = flag.Bool("update", false, "write the golden files")

var _ Counter = tokens.Counter{}

// sample is a composition of three sessions with everything a part can hold.
func sample() Composition {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 18, 30, 0, 0, time.UTC) }
	c := Composition{Name: "feature-x", Budget: 2000, Parts: []Part{
		{Session: "0f6c2a51-0000-4000-8000-000000000001", Title: "Design the\ndata layer", Date: day(15), Version: "v002",
			Hash: objects.Sum([]byte("1")), Messages: 450, Segments: []Segment{
				{Role: "user", Text: "Which database?", Src: [][2]int{{1, 1}}},
				{Role: "user", Text: "##keepit0.80## We use <PostgreSQL> & nothing else.\n", Src: [][2]int{{4, 4}}, Keep: "0.80"},
				{Role: "assistant", Text: "Noted: \"PostgreSQL\".", Src: [][2]int{{5, 9}}},
				{Role: "tool", Text: "Edit db/schema.sql: Open, Close", Src: [][2]int{{10, 10}, {14, 14}}},
				{Role: "user", Text: " \n", Src: [][2]int{{15, 15}}},
			}},
		{Session: "0f6c2a52-0000-4000-8000-000000000002", Date: day(18), Version: Original, Project: "my-app",
			Hash: objects.Sum([]byte("2")), Messages: 2, Segments: []Segment{
				{Role: "assistant", Text: "결정 완료 🙂", Src: [][2]int{{2, 2}}},
			}},
		{Session: "empty", Version: "v001", Hash: objects.Sum([]byte("3"))},
	}}
	return c
}

// measured returns the sample with its tokens counted.
func measured(t *testing.T) Composition {
	t.Helper()
	c := sample()
	if err := c.Measure(tokens.For("")); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGolden(t *testing.T) {
	t.Parallel()
	c := measured(t)
	manifest, err := c.Manifest(ManifestOptions{CreatedAt: time.Date(2026, 1, 21, 9, 0, 0, 0, time.UTC), OutputFile: "feature-x/composed.md",
		Recompress: map[string]json.RawMessage{
			c.Parts[0].Hash.String(): json.RawMessage(`{"settings":{"ratio":30},"reason":"no version fits"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"composed.md": c.Markdown(), "composed.jsonl": c.Transcript(), "composition.json": manifest, "stored.jsonl": c.Encode(),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; got:\n%s", name, got)
		}
	}
}

func TestTimeOfMakingIsNotInTheName(t *testing.T) {
	t.Parallel()
	c := sample()
	one, _ := c.Manifest(ManifestOptions{CreatedAt: time.Unix(1, 0)})
	two, _ := c.Manifest(ManifestOptions{CreatedAt: time.Unix(2, 0), UsedIn: []string{"x"}})
	if bytes.Equal(one, two) {
		t.Error("composition.json does not tell when it was made")
	}
	again := sample()
	if objects.Sum(c.Encode()) != objects.Sum(again.Encode()) || c.ID() != again.ID() {
		t.Error("the same parts give another name")
	}
}

// line in the form that a client reads.
type recordRead struct {
	Type, UUID, ParentUUID, SessionID, Timestamp string
	IsSidechain                                  bool
	Message                                      struct {
		Role    string
		Content []struct{ Type, Text string }
	}
}

// checkTranscript checks what the client and the API demand.
func checkTranscript(t *testing.T, b []byte) (texts []string) {
	t.Helper()
	if regexp.MustCompile(`": |", "|\r`).Match(bytes.SplitN(b, []byte("\n"), 2)[0][:40]) || !bytes.HasSuffix(b, []byte("\n")) {
		t.Fatalf("not compact JSON lines: %.80q", b)
	}
	uuids := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen, parent, last, role := map[string]bool{}, "", time.Time{}, assistant
	for i, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		var r recordRead
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		at, err := time.Parse(time.RFC3339, r.Timestamp)
		switch {
		case err != nil, !at.After(last) && i > 0:
			t.Fatalf("line %d: timestamp %q after %v: %v", i, r.Timestamp, last, err)
		case !uuids.MatchString(r.UUID), !uuids.MatchString(r.SessionID), seen[r.UUID], r.ParentUUID != parent:
			t.Fatalf("line %d: ids %s", i, l)
		case r.Type == role, r.Type != r.Message.Role, r.Type != user && r.Type != assistant, r.IsSidechain:
			t.Fatalf("line %d: role %q after %q", i, r.Type, role)
		case len(r.Message.Content) == 0:
			t.Fatalf("line %d: no content", i)
		}
		for _, c := range r.Message.Content {
			if c.Type != "text" || strings.TrimSpace(c.Text) == "" {
				t.Fatalf("line %d: content %+v", i, c)
			}
			if !strings.HasPrefix(c.Text, "[mem ") && !strings.HasPrefix(c.Text, "#") {
				t.Fatalf("line %d: %q does not say that it is memory", i, c.Text)
			}
			texts = append(texts, c.Text)
		}
		seen[r.UUID], parent, last, role = true, r.UUID, at, r.Type
	}
	if role != assistant {
		t.Fatal("the last record is not the assistant's")
	}
	return texts
}

// randomComposition makes parts of random words, some in other scripts, some broken.
func randomComposition(rnd *rand.Rand) Composition {
	words := []string{"the", "database", "pgx", "##keepit0.80##", "결정", "日本語", "🙂", "foo_bar()", "\n\n", "```", " ", "1234567", "# x", "\x00", "\u2028", "'s", "...", "[mem 1#2]"}
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(30) {
			b.WriteString(words[rnd.IntN(len(words))])
			if rnd.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
	c := Composition{Name: text()}
	for i := range rnd.IntN(5) {
		p := Part{Session: fmt.Sprintf("%08x-1111", rnd.Uint32()), Title: text(), Version: fmt.Sprintf("v%03d", rnd.IntN(999)), Hash: objects.Sum([]byte{byte(i)})}
		if rnd.IntN(3) > 0 {
			p.Date = time.Unix(rnd.Int64N(2e9), rnd.Int64N(1e9)).UTC()
		}
		n := 1
		for range rnd.IntN(12) {
			s := Segment{Role: []string{"user", "assistant", "tool"}[rnd.IntN(3)], Text: text(), Src: [][2]int{{n, n + rnd.IntN(3)}}}
			n += 3
			if rnd.IntN(5) == 0 {
				s.Keep = "0.80"
			}
			p.Segments = append(p.Segments, s)
		}
		c.Parts = append(c.Parts, p)
	}
	return c
}

func TestRendering(t *testing.T) {
	t.Parallel()
	counter := tokens.For("")
	for seed := range uint64(500) {
		c := randomComposition(rand.New(rand.NewPCG(seed, 5)))
		if err := c.Measure(counter); err != nil {
			t.Fatal(err)
		}
		bound, own := Reserve(counter, c.Name, c.Parts), 0
		md := string(c.Markdown())
		for i, p := range c.Parts {
			bound += p.Cost(counter, i)
			own += p.Tokens
			if want := counter.Count(version.Text(p.Segments)); p.Tokens != want {
				t.Fatalf("seed %d: part %d has %d tokens, want those of its text, %d", seed, i, p.Tokens, want)
			}
			for _, s := range p.Segments {
				text := s.Text
				if s.Role != "user" {
					text = strings.TrimRight(version.Text([]version.Segment{s}), "\n") // headings in it are bold lines
				}
				if s.Role != "heading" && !strings.Contains(md, text) && strings.TrimSpace(s.Text) != "" {
					t.Fatalf("seed %d: text %q is not in composed.md", seed, text)
				}
			}
		}
		if c.Tokens > bound || c.Tokens < counter.Count(md) || own+c.Frame() != c.Tokens {
			t.Fatalf("seed %d: %d tokens, of which %d of parts and %d of the frame; reserved and charged %d", seed, c.Tokens, own, c.Frame(), bound)
		}
		texts := checkTranscript(t, c.Transcript())
		if strings.Join(texts, "\n\n")+"\n" != md {
			t.Fatalf("seed %d: composed.jsonl says something else than composed.md", seed)
		}
		back, err := Decode(c.Encode())
		if err != nil || !bytes.Equal(back.Markdown(), c.Markdown()) || !bytes.Equal(back.Transcript(), c.Transcript()) {
			t.Fatalf("seed %d: after decoding %v", seed, err)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	t.Parallel()
	c := measured(t)
	c.Budget = c.Tokens
	if err := c.Measure(tokens.For("")); err != nil {
		t.Errorf("at its budget: %v", err)
	}
	c.Budget--
	var short *BudgetError
	if err := c.Measure(tokens.For("")); !errors.As(err, &short) || short.Need != c.Tokens || len(short.Pins) != 3 {
		t.Errorf("one over its budget: %v", err)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	charge := func(s []Segment) int { return s[0].Src[0][0] }
	engine := func(factor int) func(int) ([]Segment, error) {
		return func(n int) ([]Segment, error) { return []Segment{{Src: [][2]int{{n*factor/100 + 7, 0}}}}, nil }
	}
	for _, factor := range []int{80, 95, 100, 120, 150} {
		var got []Segment
		asked := 0
		err := Fit(1000, charge, func(n int) (_ []Segment, err error) {
			asked = n
			got, err = engine(factor)(n)
			return got, err
		})
		if err != nil || charge(got) > 1000 || charge(got) < 750 {
			t.Errorf("tags cost %d %%: Fit = %v of %d asked, %v", factor, got, asked, err)
		}
	}
	for _, unit := range []int{2, 20, 40, 90} { // a text of whole clauses: asking for one token less changes nothing
		var got []Segment
		err := Fit(182, charge, func(n int) ([]Segment, error) {
			got = []Segment{{Src: [][2]int{{n/unit*unit + 19, 0}}}}
			return got, nil
		})
		if err != nil || charge(got) < 182-19-2*unit {
			t.Errorf("clauses of %d tokens: Fit = %v, %v", unit, got, err)
		}
	}
	if err := Fit(5, charge, engine(100)); err == nil {
		t.Error("Fit has no error where tags alone do not fit")
	}
	broken := errors.New("broken")
	if err := Fit(5, charge, func(int) ([]Segment, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Fit = %v, want %v", err, broken)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	good := string(sample().Encode())
	for _, tt := range []struct{ name, old, new string }{
		{"empty", good, ""},
		{"newer format", "composition 1", "composition 2"},
		{"spaces", `"role":"user"`, `"role": "user"`},
		{"unknown field", `"role":"user"`, `"more":1,"role":"user"`},
		{"segment before part", `{"part":`, `{"role":"user","text":"","src":null}` + "\n" + `{"part":`},
		{"empty line object", `{"part":`, "{}\n" + `{"part":`},
		{"no final newline", good, strings.TrimSuffix(good, "\n")},
	} {
		if _, err := Decode([]byte(strings.Replace(good, tt.old, tt.new, 1))); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: Decode = %v, want %v", tt.name, err, ErrFormat)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Composition{}.Encode()) // small ones: the fuzzer minimizes each by trying every byte
	f.Add(Composition{Name: "x", Parts: []Part{{Date: time.Unix(0, 0).UTC(), Segments: []Segment{{Role: "user", Text: "a\n", Src: [][2]int{{1, 2}}}, {Keep: "1"}}}}}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("Decode = %v, which is no ErrFormat", err)
			}
			return
		}
		if got := c.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("Encode(Decode(%q)) = %q", b, got)
		}
		checkTranscript(t, c.Transcript())
	})
}

// TestPartsOfTheUser holds that only an unbroken piece of what was typed is in the role of the user and said to be the user's.
func TestPartsOfTheUser(t *testing.T) {
	t.Parallel()
	segs := []Segment{
		{Role: user, Text: "Round before the tax.", Src: [][2]int{{1, 1}}},
		{Role: user, Text: "Never twice. … Tell me first.", Src: [][2]int{{3, 3}}, Partial: true},
		{Role: assistant, Text: "Done.", Src: [][2]int{{4, 4}}},
	}
	var got []string
	for role, text := range pieces(0, segs) {
		got = append(got, role+": "+text)
	}
	want := []string{"user: [mem 1#1 user]\nRound before the tax.", "assistant: [mem 1#3 user, in part]\nNever twice. … Tell me first.", "assistant: [mem 1#4]\nDone."}
	if !slices.Equal(got, want) {
		t.Errorf("pieces are %q, want %q", got, want)
	}
}
