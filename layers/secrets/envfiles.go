package secrets

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
)

// Limits of .env files. Files beyond them are ignored.
const (
	maxEnvFiles = 64
	maxEnvFile  = 256 << 10
)

// RulesIn returns the rules for a session in dir: those of the memory, and the values in the .env files of dir and
// the directories above it up to the root of the repository. The files are read once and their values kept as
// hashes.
func RulesIn(db *state.DB, dir string) redact.Rules {
	if !db.Opts.EnvFiles || dir == "" || !db.Opts.Rules.Any() {
		return db.Opts.Rules
	}
	if r, ok := db.EnvRules.Load(dir); ok {
		return r.(redact.Rules)
	}
	r := db.Opts.Rules.With(envValues(dir))
	db.EnvRules.Store(dir, r)
	return r
}

// envValues returns the secrets in the .env files for dir. Unreadable files are ignored: the values only supplement
// the rules, and must not prevent a capture.
func envValues(dir string) []redact.Known {
	var out []redact.Known
	inside := projects.InsideRepo(dir)
	for d := dir; d != ""; d = projects.Parent(d) {
		entries, err := os.ReadDir(d)
		if err == nil {
			out = append(out, envValuesOf(d, entries)...)
		}
		if !inside || projects.IsRepo(d) {
			break
		}
	}
	return out
}

func envValuesOf(dir string, entries []os.DirEntry) (out []redact.Known) {
	files := 0
	for _, e := range entries {
		if !isEnvFile(e.Name()) || files == maxEnvFiles {
			continue
		}
		files++
		fi, err := e.Info()
		if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxEnvFile {
			continue
		}
		if b, err := readEnvFile(filepath.Join(dir, e.Name())); err == nil {
			out = append(out, redact.Environment(b)...)
		}
	}
	return out
}

func readEnvFile(path string) ([]byte, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxEnvFile))
}

// isEnvFile reports whether name is .env or .env.something, but not an example.
func isEnvFile(name string) bool {
	rest, ok := strings.CutPrefix(name, ".env")
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults", "schema"},
		strings.TrimPrefix(filepath.Ext(name), "."))
}
