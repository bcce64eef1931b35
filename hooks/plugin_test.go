package hooks

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

const memPath = "/home/u/go/bin/mem"

func programAt(path string) settings.Program { return settings.Program{Path: path} }

// TestPluginHasTheHooks checks that the plugin runs the same hooks as the settings do.
func TestPluginHasTheHooks(t *testing.T) {
	t.Parallel()
	files, err := Plugin(programAt(memPath))
	if err != nil {
		t.Fatal(err)
	}
	found, err := settings.Installed(files["hooks/hooks.json"])
	if err != nil || !settings.Complete(found, programAt(memPath)) {
		t.Errorf("hooks of the plugin: %v, %v", found, err)
	}
	for _, name := range []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "hooks/hooks.json"} {
		if !json.Valid(files[name]) {
			t.Errorf("%s is not JSON", name)
		}
	}
	for _, name := range []string{"agents/l2-summarizer.md", "agents/memory-keeper.md", "agents/context-loader.md", "skills/recall/SKILL.md", "skills/distill/SKILL.md", "skills/compose/SKILL.md"} {
		text := string(files[name])
		base := strings.TrimSuffix(filepath.Base(strings.TrimSuffix(name, "/SKILL.md")), ".md")
		if !strings.HasPrefix(text, "---\nname: "+base+"\ndescription: ") {
			t.Errorf("%s does not begin with its name: %.60q", name, text)
		}
	}
}

// TestPluginHasTheServer checks that the plugin starts the program that its hooks run, on the same memory, and that it
// cannot write.
func TestPluginHasTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    settings.Program
		want []string
	}{
		{settings.Program{Path: "/opt/mem"}, []string{"/opt/mem", "mcp"}},
		{settings.Program{Path: `C:\a "b"\mem.exe`, Bare: true}, []string{`C:\a "b"\mem.exe`, "mcp"}},
		{settings.Program{Path: "mem", Store: "/src/<memory> &"}, []string{"mem", "mcp", "--mem-dir", "/src/<memory> &"}},
	} {
		files, err := Plugin(tt.p)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal(files[".mcp.json"], &v); err != nil || len(v.Servers) != 1 {
			t.Fatalf("%+v, %v, want one server", v, err)
		}
		s := v.Servers["mem"]
		if got := append([]string{s.Command}, s.Args...); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v runs %q, want %q", tt.p, got, tt.want)
		}
	}
}

func TestWritePlugin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugin")
	for _, command := range []string{`C:\a "b"\mem.exe`, "/opt/mem", "/opt/mem"} {
		if err := WritePlugin(dir, programAt(command)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "hooks", "hooks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Hooks map[string][]struct{ Hooks []settings.Handler }
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if got := v.Hooks["Stop"][0].Hooks[0]; !reflect.DeepEqual(got, settings.HandlerOf(programAt(command), settings.Stop)) {
			t.Errorf("%+v, want %+v", got, settings.HandlerOf(programAt(command), settings.Stop))
		}
	}
}

// TestHooksAreNamed: Claude Code shows the start of a command line in its list of hooks.
func TestHooksAreNamed(t *testing.T) {
	t.Parallel()
	const shown = 50
	for _, e := range settings.Events() {
		command, args := programAt("/home/user/.local/share/go/bin/mem").Argv(e)
		line := strings.Join(append([]string{command}, args...), " ")
		if want := "mem hook " + e.Arg() + ";"; !strings.Contains(line[:shown], want) {
			t.Errorf("the list shows %q, want it to name %q", line[:shown], want)
		}
	}
}

// TestPluginOfTheRepository: the files in the repository are what is written for a mem that PATH finds.
func TestPluginOfTheRepository(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(settings.Program) ([]byte, error){hooksFile: pluginHooks, mcpFile: pluginMCP} {
		want, err := made(programAt("mem"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pluginFiles.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s, %v", name, got, want, err)
		}
	}
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]bool{
		"":                      nil,
		"[]":                    nil,
		`{"enabledPlugins":[]}`: nil,
		`{"enabledPlugins":{"mem@memvcs":true,"mem@mine":false,"memo@memvcs":true,"mem":true}}`: {"mem@memvcs": true, "mem@mine": false},
		"{\"enabledPlugins\": { // mine\n\"mem@memvcs\": [\"1.0\"],}}":                          {"mem@memvcs": true},
		`{"enabledPlugins":{"mem@memvcs":"yes"}}`:                                               {"mem@memvcs": false},
	} {
		if got, err := settings.Plugins([]byte(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("Plugins(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := settings.Plugins([]byte(`{"enabledPlugins"`)); err == nil {
		t.Errorf("no JSON: %v, want an error", got)
	}
	var plugin struct{ Name string }
	if b, err := pluginFiles.ReadFile("plugin/.claude-plugin/plugin.json"); err != nil || json.Unmarshal(b, &plugin) != nil || plugin.Name != settings.PluginName {
		t.Errorf("the plugin is called %q, %v, want %q", plugin.Name, err, settings.PluginName)
	}
}
