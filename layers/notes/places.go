package notes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
)

// A Place is a directory in which the client keeps notes.
type Place struct {
	Name string // [records.NoteMemory] and so on
	Dir  string
}

// Client is where Claude Code keeps its files.
type Client struct {
	Dir    string // ~/.claude, or CLAUDE_CONFIG_DIR
	Getenv func(string) string
}

// Places returns the directories with notes about a working directory, whether they exist or not. The memory of a
// repository is that of its main checkout. It is left out if the user has turned auto memory off.
func (c Client) Places(cwd string) []Place {
	root, main := projects.Checkouts(cwd)
	var out []Place
	switch dir, on := c.memory(root); {
	case !on:
	case dir != "":
		out = append(out, Place{records.NoteMemory, dir})
	default:
		out = append(out, Place{records.NoteMemory, c.memoryDir(main)})
		if main != cwd && root != main {
			out = append(out, Place{records.NoteMemory, c.memoryDir(root)}) // of clients that do not know worktrees
		}
	}
	out = append(out,
		Place{records.NotePlans, filepath.Join(c.Dir, "plans")},
		Place{records.NoteAgent, filepath.Join(root, ".claude", "agent-memory")},
		Place{records.NoteAgentLocal, filepath.Join(root, ".claude", "agent-memory-local")})
	for i := range out {
		out[i].Dir = canonical(out[i].Dir)
	}
	return out
}

// canonical returns a path without symbolic links, as far as it exists: a directory has one name in the history.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(canonical(up), filepath.Base(path))
}

func (c Client) memoryDir(checkout string) string {
	return filepath.Join(c.Dir, "projects", capture.ClientDir(checkout), "memory")
}

// settings are the members of the client's settings that concern its memory.
type settings struct {
	Enabled   *bool  `json:"autoMemoryEnabled"`
	Directory string `json:"autoMemoryDirectory"`
}

// memory reads whether auto memory is on, and its directory, "" for the usual one. A repository's own settings do not
// choose the directory.
func (c Client) memory(root string) (dir string, on bool) {
	if v := c.Getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY"); v == "1" || strings.EqualFold(v, "true") {
		return "", false
	}
	on = true
	shared := filepath.Join(root, ".claude", "settings.json")
	for _, file := range []string{filepath.Join(c.Dir, "settings.json"), shared,
		filepath.Join(root, ".claude", "settings.local.json"), managedSettings} {
		var s settings
		b, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(b, &s) != nil {
			continue // the client ignores such a file too
		}
		if s.Enabled != nil {
			on = *s.Enabled
		}
		if s.Directory != "" && file != shared {
			dir = s.Directory
		}
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(c.Getenv("HOME"), filepath.FromSlash(rest))
	}
	if !filepath.IsAbs(dir) {
		dir = ""
	}
	return dir, on
}

// managedSettings is the file of an administrator.
const managedSettings = "/etc/claude-code/managed-settings.json"

// Here returns the path at which this device has a note, for the first place of its name.
func Here(places []Place, file string) (dir, name string, ok bool) {
	place, name, err := records.ParseNoteFile(file)
	if err != nil {
		return "", "", false
	}
	for _, p := range places {
		if p.Name == place {
			return p.Dir, name, true
		}
	}
	return "", "", false
}
