package answers

import (
	"slices"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	const source = "We moved db/pool.go to version 1.26.0, and set MAX_CONNS=1,200 with --max-conns; it took two days. See GitHub and `go test ./...`; ENOENT is fine."
	for _, tt := range []struct{ text, missing string }{
		{"", ""},
		{"Plain words are no claims, whatever they say.", ""},
		{"db/pool.go and pool.go hold", ""},
		{"db/cool.go:42", "db/cool.go:42"},
		{"go 1.26 of 1.26.0", ""},
		{"go 1.27", "1.27"},
		{"1200 connections in 2 days", ""},
		{"12 connections", "12"},
		{"a range of 2-1200", ""},
		{"a range of 2-3", "2-3"},
		{"7. an item alone", ""},
		{"MAX_CONNS, --max-conns and github", ""},
		{"MIN_CONNS, --min-conns", "MIN_CONNS|--min-conns"},
		{"maxConns", "maxConns"},
		{"ENOENT, not EPERM or OOM", "EPERM"},
		{"`go test ./...` is run", ""},
		{"`go vet ./...` is run", "go vet ./..."},
		{"days/test, and/or it", ""},
		{"days/nights", "days/nights"},
		{"e.g. nothing", ""},
		{"twice 5 and 5", "5"},
	} {
		if got := strings.Join(Missing(tt.text, source), "|"); got != tt.missing {
			t.Errorf("Missing(%q) = %q, want %q", tt.text, got, tt.missing)
		}
	}
}

// TestThisDirectory: a path to the directory itself is no claim.
func TestThisDirectory(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"run it in `./`", "run it in `./:`", "run it in ./"} {
		if got := Missing(text, "run"); len(got) > 0 {
			t.Errorf("Missing(%q) = %q", text, got)
		}
	}
}

// TestLongNumber looks into a number with a million points: what takes time with the square of it would never end.
func TestLongNumber(t *testing.T) {
	t.Parallel()
	x := NewSource("1.26.0 of " + strings.Repeat("7.", 1_000_000))
	if got := x.Missing("1.26 and 7.7.7, not 7.8"); !slices.Equal(got, []string{"7.8"}) {
		t.Errorf("Missing = %q", got)
	}
}

// FuzzMissing holds that a text misses nothing in itself, and that what it misses stands in it.
func FuzzMissing(f *testing.F) {
	f.Add("see `a b` in db/pool.go:42, 1,200 of 3-4 and --flag=x", "two words")
	f.Add("日本ABC v1.2 \xff `", "$PATH ~/x")
	f.Fuzz(func(t *testing.T, text, source string) {
		if bad := Missing(text, text); len(bad) > 0 {
			t.Errorf("%q misses %q in itself", text, bad)
		}
		for _, c := range Missing(text, source) {
			if c == "" || !strings.Contains(text, c) {
				t.Errorf("%q misses %q, which it does not say", text, c)
			}
		}
	})
}
