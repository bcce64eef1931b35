package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/hooks/settings"
)

// A plugin that is given by --plugin-dir is in no settings. Its hooks have CLAUDE_PLUGIN_ROOT in their
// environment, so the first hook of a session notes by whom it was called, for mem doctor.

// callers are the files of the notes, by whether a plugin called.
var callers = map[bool]string{true: "by-plugin", false: "by-settings"}

// A Caller is where the hooks of the last session came from.
type Caller struct {
	Root    string    // of the plugin that called last, "" if none ever did
	Plugin  time.Time // it did then
	Setting time.Time // hooks of the settings did then
}

// noteCaller notes who called this hook.
func (r *run) noteCaller() error {
	root := r.Getenv("CLAUDE_PLUGIN_ROOT")
	text := r.Now().UTC().Format(time.RFC3339) + " " + strings.Join(strings.Fields(root), " ") + "\n"
	return cause(settings.WriteFile(filepath.Join(r.Store, "hooks", callers[root != ""]), []byte(text)))
}

// LastCaller returns by whom the hooks of the store in dir were called last.
func LastCaller(dir string) (c Caller) {
	read := func(plugin bool) (time.Time, string) {
		b, err := os.ReadFile(filepath.Join(dir, "hooks", callers[plugin]))
		if err != nil {
			return time.Time{}, "" // none did
		}
		at, root, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return time.Time{}, "" // as above
		}
		return t, root
	}
	c.Plugin, c.Root = read(true)
	c.Setting, _ = read(false)
	return c
}

// Both reports whether hooks of the settings and of a plugin ran for the last session.
func (c Caller) Both() bool {
	return !c.Plugin.IsZero() && !c.Setting.IsZero() && c.Plugin.Sub(c.Setting).Abs() <= together
}
