package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact"
)

// TestClientDir names directories as Claude Code does.
func TestClientDir(t *testing.T) {
	t.Parallel()
	long := "/home/dev/" + strings.Repeat("x", 250)
	for dir, want := range map[string]string{
		"/home/dev/shop": "-home-dev-shop", "/home/dev/my.shop_2": "-home-dev-my-shop-2", `C:\src\shop`: "C--src-shop",
		"/ä": "--", "/😀": "---", "/": "-", "": "",
		long[:200]: strings.ReplaceAll(long[:200], "/", "-"),
	} {
		if got := ClientDir(dir); got != want {
			t.Errorf("ClientDir(%q) = %q, want %q", dir, got, want)
		}
	}
	one, other := ClientDir(long), ClientDir(long+"y")
	if one == other || one[:201] != strings.ReplaceAll(long[:200], "/", "-")+"-" || len(one) > 208 {
		t.Errorf("long names are %q and %q", one, other)
	}
	for _, dir := range []string{"/home/dev/shop", "/", long} {
		if below := ClientDir(filepath.Join(dir, "api", "v1")); !strings.HasPrefix(below, clientPrefix(dir)) {
			t.Errorf("%q does not begin with %q", below, clientPrefix(dir))
		}
	}
	if strings.HasPrefix(ClientDir("/home/dev/shopping"), clientPrefix("/home/dev/shop")) {
		t.Error("a directory with a longer name counts as nested")
	}
}

// TestNoSession tells files without a record of a session from those that have one or may get one.
func TestNoSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want bool
	}{
		{`{"type":"user","uuid":"u","message":{"role":"user","content":"a"}}` + "\n", false},
		{`{"type":"us`, false},
		{`{"event":"click","at":1}` + "\n", true},
		{"time,level,text\n1,info,started\n", true},
		{`{"sessionId":"s1"}` + "\n", false},
		{strings.Repeat(`{"a":1}`+"\n", 1000) + `{"uuid":"u","x":1}` + "\n", false},
		{strings.Repeat(`{"a":1}`+"\n", 1000), true},
		{`["a"]` + "\n", true},
		{"", false}, // adding it reports the error
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := NoSession(path); got != c.want {
			t.Errorf("NoSession of %.60q = %v, want %v", c.text, got, c.want)
		}
	}
	if NoSession(filepath.Join(t.TempDir(), "gone.jsonl")) {
		t.Error("a file that is gone has no session")
	}
}

// TestTitleOf reads the title of a session from its file.
func TestTitleOf(t *testing.T) {
	t.Parallel()
	line := `{"type":"user","uuid":"u","message":{"role":"user","content":"Mend the discount of the cart."}}`
	for text, want := range map[string]string{
		line + "\n": "Mend the discount of the cart.", line: "Mend the discount of the cart.",
		`{"type":"summary","summary":"x` + strings.Repeat("y", 100<<10) + `"}` + "\n" + line + "\n": "Mend the discount of the cart.",
		"no json\n": "",
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := titleOf(path, nil, redact.Rules{}); got != want {
			t.Errorf("the title of %.60q = %q, want %q", text, got, want)
		}
	}
}
