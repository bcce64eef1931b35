package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

const memPath = "/home/u/go/bin/mem"

func programAt(path string) settings.Program { return settings.Program{Path: path} }

// settingsSamples are settings as people have them.
var settingsSamples = map[string]string{
	"nothing":      "",
	"a comment":    "// mine\n",
	"empty":        "{}",
	"empty lines":  "{\n}\n",
	"plain":        "{\n  \"model\": \"opus\"\n}\n",
	"tabs":         "{\n\t\"model\": \"opus\",\n\t\"env\": {\"A\": \"1\"}\n}\n",
	"one line":     `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"beep"}]}]}}`,
	"crlf":         "{\r\n    \"model\": \"opus\" // mine\r\n}\r\n",
	"comments":     "// top\n{\n  // why\n  \"model\": \"opus\", /* in\n between */ \"b\": [1, 2,], // last\n  // end\n}\n// after",
	"other hooks":  "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\n        \"matcher\": \"Edit|Write\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"fmt\" } // format\n        ]\n      }\n    ],\n    \"Notification\": []\n  },\n  \"z\": 1\n}\n",
	"empty hooks":  "{\"hooks\": {}, \"a\": null}",
	"two of a key": `{"hooks": {"Stop": []}, "hooks": {"Stop": [{"hooks": []}]}}`,
	"bom":          "\uFEFF{\"a\": \"\\u00e9 // no comment\"}",
}

func TestInstall(t *testing.T) {
	t.Parallel()
	for name, text := range settingsSamples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkInstall(t, []byte(text))
		})
	}
}

// checkInstall installs into settings, again, with another path, and takes it all out.
func checkInstall(t *testing.T, b []byte) {
	before := meaning(t, b)
	out, err := settings.Install(b, programAt(memPath))
	if err != nil {
		t.Fatalf("Install(%q): %v", b, err)
	}
	found, err := settings.Installed(out)
	if err != nil || !settings.Complete(found, programAt(memPath)) {
		t.Fatalf("in %s\nfound %v, %v", out, found, err)
	}
	if again, err := settings.Install(out, programAt(memPath)); err != nil || !bytes.Equal(again, out) {
		t.Errorf("a second time: %v\n%s", err, again)
	}
	moved, err := settings.Install(out, settings.Program{Path: "/opt/mem", Store: "/srv/my memory"})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := settings.Installed(moved); err != nil || !settings.Complete(found, settings.Program{Path: "/opt/mem", Store: "/srv/my memory"}) {
		t.Errorf("moved to %v, %v", found, err)
	}
	for _, c := range comments(b) {
		if bytes.Count(out, c) < bytes.Count(b, c) {
			t.Errorf("the comment %q is lost in %s", c, out)
		}
	}
	back, err := settings.Uninstall(moved)
	if err != nil {
		t.Fatal(err)
	}
	if after := meaning(t, back); !reflect.DeepEqual(withoutEmpty(after), withoutEmpty(before)) {
		t.Errorf("after Uninstall %v, before Install %v:\n%s\n%s", after, before, b, back)
	}
	for _, c := range comments(b) {
		if bytes.Count(back, c) < bytes.Count(b, c) {
			t.Errorf("the comment %q is lost in %s", c, back)
		}
	}
	if found, err := settings.Installed(back); err != nil || len(found) > 0 {
		t.Errorf("still there: %v, %v", found, err)
	}
}

// TestPrograms: hooks of a program are recognised by its name, however a download or a copy is called, and of one that is not called so there
// are none to be taken out by hand.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/opt/mem", "/opt/mem-1.2", "/opt/mem_linux_amd64", "/opt/mem2", `C:\bin\mem.exe`, "/opt/mem.new"} {
		once, err := settings.Install([]byte("{}"), programAt(name))
		if err != nil {
			t.Fatalf("Install of %s: %v", name, err)
		}
		if again, err := settings.Install(append(once, '\n'), programAt(name)); err != nil || !bytes.Equal(again, append(once, '\n')) {
			t.Errorf("%s twice: %v\n%s", name, err, again)
		}
		if back, err := settings.Uninstall(once); err != nil || len(meaning(t, back)) > 0 {
			t.Errorf("%s out again: %v\n%s", name, err, back)
		}
	}
	for _, name := range []string{"/opt/memory", "/opt/claude-mem", "/opt/remember", "/mem/x"} {
		if out, err := settings.Install([]byte("{}"), programAt(name)); !errors.Is(err, settings.ErrProgram) {
			t.Errorf("Install of %s: %s, %v, want %v", name, out, err, settings.ErrProgram)
		}
	}
}

// meaning returns the settings as Claude Code reads them.
func meaning(t *testing.T, b []byte) map[string]any {
	n, err := settings.ParseText(b)
	if err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	if n == nil {
		return map[string]any{}
	}
	var v map[string]any
	if err := json.Unmarshal(n.Plain(), &v); err != nil {
		t.Fatalf("%v in %s", err, n.Plain())
	}
	return v
}

// withoutEmpty drops what Uninstall drops: empty lists of hooks.
func withoutEmpty(v map[string]any) map[string]any {
	hooks, ok := v["hooks"].(map[string]any)
	if !ok {
		return v
	}
	for name, list := range hooks {
		groups, ok := list.([]any)
		var kept []any
		for _, g := range groups {
			m, ok := g.(map[string]any)
			inner, isList := m["hooks"].([]any)
			if _, matcher := m["matcher"]; ok && isList && len(inner) == 0 && (len(m) == 1 || len(m) == 2 && matcher) {
				continue
			}
			kept = append(kept, g)
		}
		if _, known := settings.ParseEvent(name); ok && known && len(kept) == 0 {
			delete(hooks, name)
		} else if ok {
			hooks[name] = kept
		}
	}
	if len(hooks) == 0 {
		delete(v, "hooks")
	}
	return v
}

// comments returns the comments of a text.
func comments(b []byte) (out [][]byte) {
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(b[i:], []byte("//")):
			end := bytes.IndexByte(b[i:], '\n')
			if end < 0 {
				end = len(b) - i
			}
			out = append(out, bytes.TrimRight(b[i:i+end], " \t\r"))
			i += end
		case bytes.HasPrefix(b[i:], []byte("/*")):
			end := bytes.Index(b[i+2:], []byte("*/")) + 4
			out = append(out, b[i:i+end])
			i += end - 1
		}
	}
	return out
}

// TestInstallLooksRight shows what a user finds in the file.
func TestInstallLooksRight(t *testing.T) {
	t.Parallel()
	out, err := settings.Install([]byte("{\n  \"model\": \"opus\" // mine\n}\n"), programAt(memPath))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"model\": \"opus\", // mine\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n" +
		"            \"command\": \"/bin/sh\",\n            \"args\": [\n              \"-c\",\n              " + quoted(t, settings.ShellScript(settings.SessionStart)) + ",\n              \"/home/u/go/bin/mem\",\n              \"hook\",\n              \"session-start\"\n            ],\n            \"timeout\": 10,\n            \"statusMessage\": \"mem hook session-start\"\n          }\n        ]\n      }\n    ],\n    \"UserPromptSubmit\": [\n"
	if !strings.HasPrefix(string(out), want) {
		t.Errorf("%s\nwant it to begin with\n%s", out, want)
	}
	if back, err := settings.Uninstall(out); err != nil || string(back) != "{\n  \"model\": \"opus\" // mine\n}\n" {
		t.Errorf("%q, %v", back, err)
	}
}

// quoted writes a text as JSON, without escaping what stands in a command.
func quoted(t *testing.T, s string) string {
	out, err := settings.Indented(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFormerHooks brings hooks that ran mem without a shell up to date, and takes them out.
func TestFormerHooks(t *testing.T) {
	t.Parallel()
	former, err := settings.Install([]byte("{}"), settings.Program{Path: memPath, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	now, err := settings.Install(former, programAt(memPath))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := settings.Installed(now); err != nil || !settings.Complete(found, programAt(memPath)) {
		t.Errorf("found %v, %v in\n%s", found, err, now)
	}
	guard := strings.Replace(string(now), "unset GOMEMLIMIT", "unset GOMEMLIMIT GODEBUG", 1)
	found, err := settings.Installed([]byte(guard))
	if err != nil || len(found) != len(settings.Events()) || found[0].Current || !found[1].Current {
		t.Errorf("of another guard found %v, %v", found, err)
	}
	for _, text := range []string{string(former), guard} {
		if back, err := settings.Uninstall([]byte(text)); err != nil || len(meaning(t, back)) > 0 {
			t.Errorf("left of %s: %s, %v", text, back, err)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[]", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`, `"x"`} {
		if out, err := settings.Install([]byte(text), programAt(memPath)); !errors.Is(err, settings.ErrShape) {
			t.Errorf("Install(%s) = %s, %v", text, out, err)
		}
	}
	for text, line := range map[string]int{"{": 1, "{\n\"a\": 1\n\"b\": 2}": 3, "{}\n{}": 2, "{\"a\"}": 1, "/* x": 1, "{\"a\": nul}": 1, "{\"a\": \"x": 1, strings.Repeat("[", 300): 1} {
		_, err := settings.Install([]byte(text), programAt(memPath))
		var at *settings.TextError
		if !errors.As(err, &at) || at.Line != line {
			t.Errorf("Install(%.20q): %v, want an error in line %d", text, err, line)
		}
	}
}

// FuzzSettings edits any settings.
func FuzzSettings(f *testing.F) {
	for _, text := range settingsSamples {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"mem","args":["hook","stop"]},{"type":"command","command":"x"}]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := settings.ParseText(b)
		if err != nil || n == nil && len(b) > 0 {
			return
		}
		if n != nil && !json.Valid(n.Plain()) {
			t.Fatalf("%q became %q", b, n.Plain())
		}
		if n != nil && n.Kind == '{' {
			if hooks := n.Member("hooks"); hooks != nil && hooks.Value.Kind != '{' {
				return
			}
		}
		if out, err := settings.Install(b, programAt(memPath)); err == nil {
			if found, err := settings.Installed(b); err == nil && len(found) == 0 && !bytes.Contains(out, []byte(`\u`)) {
				checkInstall(t, b)
			}
		}
	})
}

// TestUninstallKeepsComments removes a hook next to others on its line, after a comment.
func TestUninstallKeepsComments(t *testing.T) {
	t.Parallel()
	const mine = `{"hooks":[{"type":"command","command":"mem","args":["hook","stop"]}]}`
	const other = `{"hooks":[{"type":"command","command":"beep"}]}`
	for _, end := range []string{"\n", "  \n", "\r\n", "\t\r\n"} {
		for list, want := range map[string]string{
			"// why" + end + " " + mine + ", " + other:  "[" + other + "]",
			other + ", // why" + end + " " + mine + " ": "[" + other + "]",
			"// why" + end + " " + mine + " ":           "",
		} {
			text := "{\"hooks\":{\"Stop\":[" + list + "]}, \"z\": 1}"
			out, err := settings.Uninstall([]byte(text))
			if err != nil {
				t.Errorf("Uninstall(%q): %v", text, err)
				continue
			}
			n, err := settings.ParseText(out)
			if err != nil {
				t.Errorf("Uninstall(%q) = %q: %v", text, out, err)
				continue
			}
			plain := string(n.Plain())
			if !strings.Contains(plain, `"z":1`) || !strings.Contains(plain, `"Stop":`+strings.TrimSuffix(want, "]")) {
				t.Errorf("Uninstall(%q) = %q", text, out)
			}
		}
	}
}
