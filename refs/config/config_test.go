package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// seed is the file that the user's own design shows.
const seed = `{
  "version": "1.0.0",
  "storage": {
    "maxCacheSize": "1GB",
    "compressionRetention": "all"
  },
  "defaults": {
    "compressionPreset": "standard",
    "keepitDecayEnabled": true,
    "autoRegisterSessions": false,
    "model": "opus"
  },
  "keepitDecay": {
    "compressionBase": {
      "light": 0.1,
      "moderate": 0.3,
      "aggressive": 0.5
    },
    "maxSessionDistance": 10,
    "pinnedWeight": 1.0
  },
  "ui": {
    "defaultView": "timeline",
    "showTokenEstimates": true,
    "confirmDestructiveActions": true
  }
}
`

func TestSeedIsTheDefault(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	if u := c.Unknown(); len(u) > 0 {
		t.Errorf("Unknown() = %v, want none", u)
	}
	if err := c.Check(); err != nil {
		t.Errorf("Check() = %v", err)
	}
	for _, s := range c.List() {
		if k, err := Lookup(s.Key); err != nil || s.Value != k.Default {
			t.Errorf("%s = %q, default %q, err %v", s.Key, s.Value, k.Default, err)
		}
	}
}

func TestDefaultsFitTheirKinds(t *testing.T) {
	t.Parallel()
	keys := Keys()
	if !slices.IsSortedFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the keys are not sorted")
	}
	for _, k := range keys {
		if v, err := k.Kind.canon(k.Default); err != nil || v != k.Default {
			t.Errorf("%s: default %q reads as %q, %v", k.Name, k.Default, v, err)
		}
		if k.Usage == "" || k.Kind.desc == "" {
			t.Errorf("%s has no description", k.Name)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, value string
		json       string // "" = refused
	}{
		{"ui.showTokenEstimates", "no", "false"},
		{"ui.showTokenEstimates", "maybe", ""},
		{"keepitDecay.compressionBase.light", "0.25", "0.25"},
		{"keepitDecay.compressionBase.light", "0.10", "0.1"},
		{"keepitDecay.compressionBase.light", "0.123", ""},
		{"keepitDecay.compressionBase.light", "1.01", ""},
		{"keepitDecay.compressionBase.light", "-0.1", ""},
		{"keepitDecay.maxSessionDistance", "7", "7"},
		{"keepitDecay.maxSessionDistance", "0", ""},
		{"storage.maxCacheSize", "2GiB", `"2GiB"`},
		{"storage.maxCacheSize", "2 potatoes", ""},
		{"storage.maxCacheSize", "99999999999TB", ""},
		{"storage.compressionRetention", "90d", `"90d"`},
		{"storage.compressionRetention", "d", ""},
		{"storage.compressionRetention", "5dd", ""},
		{"lock.timeout", "3", `"3s"`},
		{"lock.timeout", "1m30s", `"1m30s"`},
		{"lock.timeout", "-1s", ""},
		{"color.ui", "always", `"always"`},
		{"color.ui", "pink", ""},
		{"core.pager", "delta --side-by-side <x>", `"delta --side-by-side <x>"`},
		{"core.pager", "less\x1b", ""},
		{"pager.log", "false", "false"},
		{"pager.a.b", "false", ""},
		{"nonsense", "1", ""},
		{"", "1", ""},
	} {
		c, _ := Parse(nil)
		err := c.Set(tt.key, tt.value)
		if (err == nil) != (tt.json != "") {
			t.Errorf("Set(%q, %q) = %v, want %q", tt.key, tt.value, err, tt.json)
			continue
		}
		if err != nil {
			continue
		}
		if raw, _ := get(c.root(), path(tt.key)); string(raw) != tt.json {
			t.Errorf("Set(%q, %q) stores %s, want %s", tt.key, tt.value, raw, tt.json)
		}
		if _, from, err := c.Get(tt.key); err != nil || from != File {
			t.Errorf("Get(%q) = %v, %v", tt.key, from, err)
		}
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Override("lock.timeout", "250ms"); err != nil {
		t.Fatal(err)
	}
	if d := c.Duration("lock.timeout"); d != 250*time.Millisecond {
		t.Errorf("Duration = %v", d)
	}
	if n := c.Hundredths("keepitDecay.compressionBase.moderate"); n != 30 {
		t.Errorf("Hundredths = %v", n)
	}
	if n := c.Size("storage.maxCacheSize"); n != 1e9 {
		t.Errorf("Size = %v", n)
	}
	if n := c.Int("keepitDecay.maxSessionDistance"); n != 10 {
		t.Errorf("Int = %v", n)
	}
	if b := c.Bool("defaults.autoRegisterSessions"); b {
		t.Errorf("Bool = %v", b)
	}
	var unknown *UnknownKeyError
	if _, _, err := c.Get("color.iu"); !errors.As(err, &unknown) || !slices.Contains(unknown.Keys, "color.ui") {
		t.Errorf("Get of an unknown key = %v", err)
	}
	bad, err := Parse([]byte(`{"lock":{"timeout":"pink"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := bad.Duration("lock.timeout"); d != 10*time.Second {
		t.Errorf("Duration of an invalid value = %v, want the default", d)
	}
	var value *ValueError
	if err := bad.Check(); !errors.As(err, &value) || value.Key != "lock.timeout" {
		t.Errorf("Check = %v", err)
	}
}

func TestUnknownIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.json")
	before := `{"zebra": [1, 2.50e3, {"a": null}], "ui": {"defaultView": "list", "theme": 12345678901234567890.10}, "x<y": {}}`
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Edit(t.Context(), file, func(c *Config) error { return c.Set("color.ui", "never") })
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "zebra": [
    1,
    2.50e3,
    {
      "a": null
    }
  ],
  "ui": {
    "defaultView": "list",
    "theme": 12345678901234567890.10
  },
  "x<y": {},
  "color": {
    "ui": "never"
  }
}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if u := c.Unknown(); !slices.Equal(u, []string{"ui.theme", "x<y", "zebra"}) {
		t.Errorf("Unknown() = %v", u)
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(`{"color":{"ui":"never"},"odd":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		key  string
		was  bool
		fine bool
	}{{"color.ui", true, true}, {"color.ui", false, true}, {"odd", true, true}, {"odd", false, false}} {
		if was, err := c.Unset(tt.key); was != tt.was || (err == nil) != tt.fine {
			t.Errorf("Unset(%q) = %v, %v", tt.key, was, err)
		}
	}
	if b, err := encode(c.doc); err != nil || string(b) != "{}\n" {
		t.Errorf("left %q, %v", b, err)
	}
}

// TestDottedNames has names with dots in the file: they have no effect, are reported, and can be removed.
func TestDottedNames(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(`{"color.ui":"never","a.b":{"c.d":1},"pager":{"log":false}}`))
	if err != nil {
		t.Fatal(err)
	}
	if v, from, err := c.Get("color.ui"); v != "auto" || from != Default || err != nil {
		t.Errorf("Get = %q, %s, %v", v, from, err)
	}
	if u := c.Unknown(); !slices.Equal(u, []string{"a.b.c.d", "color.ui"}) {
		t.Errorf("Unknown() = %v", u)
	}
	for _, key := range []string{"a.b.c.d", "color.ui"} {
		if was, err := c.Unset(key); !was || err != nil {
			t.Errorf("Unset(%q) = %v, %v", key, was, err)
		}
	}
	if b, err := encode(c.doc); err != nil || string(b) != "{\n  \"pager\": {\n    \"log\": false\n  }\n}\n" {
		t.Errorf("left %q, %v", b, err)
	}
}

func TestBadValueIsReportedAndCanBeMended(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(`{"color":{"ui":"pink"},"core":{"pager":{"a":1}},"ui":7}`))
	if err != nil {
		t.Fatal(err)
	}
	var bad *ValueError
	if err := c.Check(); !errors.As(err, &bad) || bad.Key != "color.ui" {
		t.Errorf("Check() = %v", err)
	}
	if err := c.Set("color.ui", "auto"); err != nil {
		t.Error(err)
	}
	if err := c.Set("ui.defaultView", "list"); err == nil {
		t.Error("Set below a number: no error")
	}
	if _, _, err := c.Get("core.pager"); !errors.As(err, &bad) {
		t.Errorf("Get of an object = %v", err)
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, want string
	}{
		{"{\n  \"a\": 1,\n  b\n}", "line 3, column 3"},
		{"{\"a\": 1", "line 1, column 8"},
		{"[1]", "line 1, column 1: the settings are not a JSON object"},
		{"{}\n\n {}", "line 3, column 2"},
		{"{} }", "line 1, column 4"},
		{`{"a":1,"a":2}`, `duplicate key "a"`},
		{`{"a":{"b":1,"b":2}}`, `duplicate key "a.b"`},
		{"\ufeff{\n x", "line 2, column 2"},
		{"nul", "line 1"},
	} {
		_, err := Parse([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%q) = %v, want %s", tt.in, err, tt.want)
		}
	}
	for _, in := range []string{"", " \n", "{}", "\ufeff{}\n"} {
		if _, err := Parse([]byte(in)); err != nil {
			t.Errorf("Parse(%q) = %v", in, err)
		}
	}
}

// TestComments edits a file with comments: they stay.
func TestComments(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte("// mine\n{\n\t\"color\": {\"ui\": \"never\"}, // quiet\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set("hooks.every", "9"); err != nil {
		t.Fatal(err)
	}
	b, err := encode(c.doc)
	again, perr := Parse(b)
	if err != nil || perr != nil || !strings.Contains(string(b), "// mine") || !strings.Contains(string(b), "// quiet") {
		t.Fatalf("%q, %v, %v", b, err, perr)
	}
	if ui, every := again.String("color.ui"), again.Int("hooks.every"); ui != "never" || every != 9 {
		t.Errorf("color.ui %q, hooks.every %d", ui, every)
	}
}

func TestBrokenFileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	var syntax *SyntaxError
	err := Edit(t.Context(), file, func(c *Config) error { return c.Set("color.ui", "never") })
	if !errors.As(err, &syntax) {
		t.Errorf("Edit = %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "{broken" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

func TestEditLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "real.json")
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(real, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, file); err != nil {
		t.Skip(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			err := Edit(context.Background(), file, func(c *Config) error { return c.Set(fmt.Sprintf("pager.c%d", i), "false") })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := Load(real)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(leaves(c.root())); n != 16 {
		t.Errorf("%d settings after 16 edits", n)
	}
	left, err := filepath.Glob(filepath.Join(dir, disk.Temporary+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestEditWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.json")
	err := Edit(t.Context(), file, func(*Config) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := Edit(ctx, file, func(*Config) error { return nil })
		if !errors.Is(err, ErrLocked) {
			t.Errorf("Edit within Edit = %v, want ErrLocked", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(seed))
	f.Add([]byte(`{"a":[1,{"b":"\ud800"}],"c.d":{"e":{}}}`))
	f.Add([]byte("\ufeff{} x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(b)
		if err != nil {
			return
		}
		c.List()
		c.Unknown()
		if err := c.Check(); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		out, err := encode(c.doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("its own text %q does not parse: %v", out, err)
		}
		if !slices.Equal(leaves(c.root()), leaves(again.root())) {
			t.Errorf("leaves %q became %q", leaves(c.root()), leaves(again.root()))
		}
		if twice, err := encode(again.doc); err != nil || !bytes.Equal(twice, out) {
			t.Errorf("%q encodes again as %q, %v", out, twice, err)
		}
	})
}
