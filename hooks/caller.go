package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// The settings do not name a plugin that was given by --plugin-dir. Its hooks have CLAUDE_PLUGIN_ROOT in their
// environment, so SessionStart records its caller for mem doctor.

// callerFile returns the file with the time of the last call by a plugin or by the settings.
func callerFile(dir string, plugin bool) string {
	if plugin {
		return filepath.Join(dir, "hooks", "by-plugin")
	}
	return filepath.Join(dir, "hooks", "by-settings")
}

// A Caller records what started the hooks of the last sessions.
type Caller struct {
	Root    string    // of the last plugin, "" for none
	Plugin  time.Time // of the last SessionStart by a plugin
	Setting time.Time // of the last SessionStart by the settings
}

// recordCaller records the caller of this hook.
func (r *run) recordCaller() error {
	root := r.Getenv("CLAUDE_PLUGIN_ROOT")
	text := r.Now().UTC().Format(time.RFC3339) + " " + strings.Join(strings.Fields(root), " ") + "\n"
	file := callerFile(r.Store, root != "")
	return withoutPath(withDir(file, func() error { return disk.WriteFile(file, []byte(text)) }))
}

// LastCaller returns the last caller of the hooks of the store in dir.
func LastCaller(dir string) (c Caller) {
	read := func(plugin bool) (time.Time, string) {
		b, err := os.ReadFile(callerFile(dir, plugin))
		if err != nil {
			return time.Time{}, "" // never called
		}
		at, root, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return time.Time{}, "" // a torn write
		}
		return t, root
	}
	c.Plugin, c.Root = read(true)
	c.Setting, _ = read(false)
	return c
}

// Both reports whether hooks of the settings and of a plugin ran for the last session.
func (c Caller) Both() bool {
	return !c.Plugin.IsZero() && !c.Setting.IsZero() && c.Plugin.Sub(c.Setting).Abs() <= sameEvent
}
