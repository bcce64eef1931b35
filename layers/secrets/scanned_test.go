package secrets_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// blindRules are rules with an ID that find nothing.
func blindRules(id string) redact.Rules {
	return redact.Rules{ID: id, Rules: []redact.Rule{func([]byte) iter.Seq[redact.Finding] { return func(func(redact.Finding) bool) {} }}}
}

// TestLooked captures with rules that are blind, so that a leak in the session shows whether a push looks again: it does unless
// the very same rules looked at all of it, and derived things it always looks at.
func TestLooked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := layerstest.TestOptions()
	o.Rules = blindRules("toy")
	m := layerstest.NewMemory(t, o)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	text := layerstest.UserLine(1, "see TOKEN_abcd1234 here")
	p := layerstest.Add(t, m, layerstest.Write(t, path, text))[0].Project.ID
	first := tipOf(t, m, p)
	text += layerstest.UserLine(2, "and TOKEN_ffff0000")
	layerstest.Add(t, m, layerstest.Write(t, path, text))
	lane := refs.Lane{Project: p, Device: m.Refs.Device().ID}
	gate := func(name string, rules redact.Rules, have func(string) bool, want ...string) {
		t.Helper()
		m.Opts.Gate = rules
		leaks, err := secrets.GateLane(ctx, m.DB, lane, have)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, l := range leaks {
			got[l.Kind]++
		}
		for _, kind := range []string{"session", "record", "commit"} {
			if n := got[kind]; (n > 0) != strings.Contains(strings.Join(want, " "), kind) {
				t.Errorf("%s: %d leaks of kind %s, want %v", name, n, kind, want)
			}
		}
	}
	other := layerstest.ToyRules()
	other.ID = "newer"
	gate("the same rules", layerstest.ToyRules(), layerstest.Never, "record", "commit")
	gate("newer rules", other, layerstest.Never, "session", "record", "commit")
	gate("newer rules again", other, layerstest.Never, "session", "record", "commit")                    // what has leaks is not noted
	gate("the growth alone", layerstest.ToyRules(), func(c string) bool { return c == first }, "record") // its title is the first words
	if leaks, err := secrets.ScanOutgoing(ctx, m.DB, p, layerstest.Never); err != nil || len(leaks) < 3 {
		t.Errorf("a scan by the user's wish: %v, %v", leaks, err)
	}
	m.Opts.World.Agent = "mem/2"
	gate("another version of mem", layerstest.ToyRules(), layerstest.Never, "session", "record", "commit")
	m.Opts.World.Agent = ""

	files, err := filepath.Glob(m.CachePath("looked", string(p), "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("notes: %v, %v", files, err)
	}
	notes, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(notes), "\n")
	for name, bad := range map[string]string{
		"none":              "",
		"the first is torn": lines[0] + lines[1][:40] + lines[2],
		"the last is torn":  lines[0] + lines[1] + strings.TrimSuffix(lines[2], "\n"),
		"the head is torn":  lines[0][5:] + lines[1] + lines[2],
		"another head":      "rules 0123456789abcdef\n" + lines[1] + lines[2],
		"no first":          lines[0] + lines[2],
	} {
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		gate(name, layerstest.ToyRules(), layerstest.Never, "session", "record", "commit")
	}
	if err := os.WriteFile(files[0], []byte(lines[0]+lines[0]+lines[2]+lines[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	gate("begun by two, in another order", layerstest.ToyRules(), layerstest.Never, "record", "commit")
}

// TestLookedValues believes a note only if the values known now were known then.
func TestLookedValues(t *testing.T) {
	t.Parallel()
	with := func(values ...string) redact.Rules {
		var c scanner.Config
		for _, v := range values {
			k, ok := scanner.Know("env-value", []byte(v))
			if !ok {
				t.Fatalf("%q cannot be known", v)
			}
			c.Known = append(c.Known, k)
		}
		r, err := redact.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	end := objects.Sum([]byte("x"))
	secrets.RecordScanned(m.DB, "0123456789abcdef", with("one-1234-abcd", "two-1234-abcd"), []secrets.CleanSpan{{End: end}})
	for _, c := range []struct {
		rules redact.Rules
		want  bool
	}{
		{with("one-1234-abcd", "two-1234-abcd"), true}, {with("two-1234-abcd", "one-1234-abcd"), true}, {with("two-1234-abcd"), true}, {with(), true},
		{with("three-1234-abcd"), false}, {with("one-1234-abcd", "two-1234-abcd", "three-1234-abcd"), false},
	} {
		if got := secrets.Scanned(m.DB, "0123456789abcdef", c.rules).Covers(objects.Hash{}, end); got != c.want {
			t.Errorf("with %d values: covers = %v, want %v", len(c.rules.Known()), got, c.want)
		}
	}
	if secrets.Scanned(m.DB, "fedcba9876543210", with()).Covers(objects.Hash{}, end) {
		t.Error("a note of another project is believed")
	}
}

// TestLookedLong notes nothing of a session with a line that was cleaned in pieces, or that was stored torn.
func TestLookedLong(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = blindRules("toy")
	m := layerstest.NewMemory(t, o)
	dir := t.TempDir()
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s1.jsonl"), layerstest.UserLine(1, "short")+layerstest.UserLine(2, strings.Repeat("long ", redact.Window/2))))[0].Project.ID
	torn := layerstest.UserLine(1, "whole") + `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("y", capture.MaxTail+10)
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s2.jsonl"), torn))
	if l := secrets.Scanned(m.DB, p, o.Rules); len(l) > 0 {
		t.Errorf("%d notes, want none", len(l))
	}
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s3.jsonl"), layerstest.UserLine(1, "short")))
	if l := secrets.Scanned(m.DB, p, o.Rules); len(l) != 1 {
		t.Errorf("%d notes, want 1", len(l))
	}
	if leaks, err := secrets.GateLane(context.Background(), m.DB, refs.Lane{Project: p, Device: m.Refs.Device().ID}, layerstest.Never); err != nil || len(leaks) > 0 {
		t.Fatalf("leaks %v, %v", leaks, err)
	}
	if l := secrets.Scanned(m.DB, p, o.Rules); len(l) != 3 {
		t.Errorf("%d notes after a push looked, want 3", len(l))
	}
}

// FuzzLooks reads files of notes.
func FuzzLooks(f *testing.F) {
	h := objects.Sum([]byte("x")).String()
	f.Add([]byte("rules 0123456789abcdef\nknown 0123456789abcdef\n" + h + " " + h + "\n"))
	f.Add([]byte(h + " " + h))
	f.Fuzz(func(t *testing.T, b []byte) {
		head, notes := secrets.ParseScanned(b)
		for _, l := range notes {
			if !strings.Contains(strings.ToLower(string(b)), l.Base.String()+" "+l.End.String()+"\n") {
				t.Errorf("the note %s %s stands nowhere", l.Base, l.End)
			}
		}
		for _, line := range head {
			if !strings.Contains(string(b), line+"\n") {
				t.Errorf("the head %q stands nowhere", line)
			}
		}
	})
}
