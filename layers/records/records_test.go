package records_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/records"
)

// A parser says whether a text is of a grammar.
type parser func(string) error

func parse[T ~string](f func(string) (T, error)) parser {
	return func(s string) error {
		got, err := f(s)
		if err == nil && string(got) != s || err != nil && got != "" {
			return fmt.Errorf("Parse(%q) = %q, %w", s, got, err)
		}
		return err
	}
}

func TestGrammar(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what     string
		parse    parser
		yes, not []string
	}{
		{"session", parse(records.ParseSession),
			[]string{"6ecd8c99-4036-403d-bf84-cf8400f67836", "agent-a1b2", "with space", "유니코드", "bad%FF", "a.b"},
			[]string{"", ".", "..", "../victim/precious", "a/b", `a\b`, "-rf", ".hidden", "a\nb", "a\x1b[31m", "a\u202eb", "a\x00", "a\xff", "C:x", "a:v001", "a#1", "$(id)", "`id`", strings.Repeat("a", 201)}},
		{"label", parse(records.ParseLabel), []string{"v001", "v999", "v1000", "v123456789"},
			[]string{"", "v", "v0", "v1", "v000", "v0001", "v+01", "v-01", "001", "c001", "v1234567890", "v001~x", "v٠٠١"}},
		{"concept", parse(records.ParseConceptLabel), []string{"c001", "c1000"}, []string{"", "v001", "c1", "c9999999999"}},
		{"name", parse(records.ParseName), []string{"feature-x", "team/feature-x", "weekly-2026-W03", "été"},
			[]string{"", ".", "..", "/etc", "a/../b", "a//b", "a/", "./a", "-x", "HEAD", "v001", "v1", "a b", "a:b", "a@1", "a~1", `a\b`, "a\x07", "a\u202eb", strings.Repeat("a", 101)}},
		{"file", parse(records.ParseFileName), []string{"toolu_01.txt", "a b", "-x"}, []string{"", ".", "..", "a/b", `a\b`, "C:x", "a\nb", "a\x00", strings.Repeat("a", 256)}},
		{"title", parse(records.ParseTitle), []string{"shop", "my shop", "été"}, []string{"", " ", "a\nb", "a\u202eb", "a\u2028b", "a\x1b", strings.Repeat("a", 201)}},
	} {
		for _, s := range tt.yes {
			if err := tt.parse(s); err != nil {
				t.Errorf("%s %q: %v", tt.what, s, err)
			}
		}
		for _, s := range tt.not {
			if err := tt.parse(s); err == nil {
				t.Errorf("%s %q is taken", tt.what, s)
			}
		}
	}
}

// FuzzNames shows that whatever a file is called its session has an id, that two files have two, and that names lead nowhere else.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a", "..", "-x", "a\xff", "a\nb", strings.Repeat("é", 150)} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		if s == "" {
			return
		}
		id := records.SessionOf(s)
		if _, err := records.ParseSession(string(id)); err != nil {
			t.Errorf("SessionOf(%q) = %q: %v", s, id, err)
		}
		if !filepath.IsLocal(string(id)) || filepath.Base(string(id)) != string(id) {
			t.Errorf("the id %q is a path", id)
		}
		if _, err := records.ParseName(s); err == nil && !filepath.IsLocal(s) {
			t.Errorf("the name %q leads elsewhere", s)
		}
		if title := records.CleanTitle(s); title != "" {
			if _, err := records.ParseTitle(string(title)); err != nil && utf8.ValidString(s) {
				t.Errorf("CleanTitle(%q) = %q: %v", s, title, err)
			}
		}
		if other != s && other != "" && !strings.Contains(s+other, "%") && records.SessionOf(other) == id {
			t.Errorf("%q and %q have the id %q", s, other, id)
		}
	})
}

func TestTable(t *testing.T) {
	t.Parallel()
	type part struct {
		N int `json:"n"`
	}
	type body struct {
		part
		Name  string    `json:"name"`
		Time  time.Time `json:"time"`
		Ratio float64   `json:"ratio"`
		Parts []part    `json:"parts"`
		Next  *part     `json:"next"`
		Never int       `json:"-"`
	}
	table := records.Table{"known": records.Of(func(b *body) error {
		if b.Name == "bad" {
			return errors.New("bad")
		}
		return nil
	})}
	for text, want := range map[string]bool{
		`{}`: true, `{"name":"x","n":1,"ratio":1.5,"parts":[{"n":2}],"next":{"n":3}}`: true, `{"later":-1,"name":"x"}`: true,
		`[]`: false, `null`: false, `"x"`: false, `1`: false, ``: false, `{`: false, `{"name":1}`: false, `{"name":"bad"}`: false,
		`{"n":-1}`: false, `{"n":1e3}`: false, `{"n":9007199254740993}`: false, `{"parts":[{"n":-1}]}`: false, `{"next":{"n":-1}}`: false, `{"ratio":-1}`: false, `{"ratio":1e300}`: false,
		`{"time":"2026-01-15T10:00:00Z"}`: true, `{"time":"9999-12-31T23:59:59-23:59"}`: false, `{"time":"nonsense"}`: false,
	} {
		err := table.Check("known", json.RawMessage(text))
		if (err == nil) != want || err != nil && !errors.Is(err, records.ErrMalformed) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if err := table.Check("of a later mem", json.RawMessage(text)); err != nil {
			t.Errorf("a kind that is not known: %v", err)
		}
	}
}
