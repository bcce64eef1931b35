package secrets

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
)

// Limits of what is read of a project's .env files: another file is none.
const (
	maxEnvFiles = 64
	maxEnvFile  = 256 << 10
)

// RulesIn returns the rules for a session that worked in dir: those of the memory, and the values of the .env files
// there and above it up to the root of its repository. They are read once, and kept as hashes.
func (m Ops) RulesIn(dir string) redact.Rules {
	if !m.Opts.EnvFiles || dir == "" || !m.Opts.Rules.Any() {
		return m.Opts.Rules
	}
	if r, ok := m.EnvRules.Load(dir); ok {
		return r.(redact.Rules)
	}
	r := m.Opts.Rules.With(envValues(dir))
	m.EnvRules.Store(dir, r)
	return r
}

// envValues returns the secrets in the .env files that hold for dir. A file that cannot be read has none: this is
// help beside the rules, and must not keep a session from being stored.
func envValues(dir string) []scanner.Known {
	var out []scanner.Known
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

func envValuesOf(dir string, entries []os.DirEntry) (out []scanner.Known) {
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
			out = append(out, scanner.Environment(b)...)
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

// isEnvFile reports whether name is .env or .env.something, but no example of one.
func isEnvFile(name string) bool {
	rest, ok := strings.CutPrefix(name, ".env")
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults", "schema"},
		strings.TrimPrefix(filepath.Ext(name), "."))
}
