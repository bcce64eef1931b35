package projects

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// sshHosts are the names of hosts in the settings of ssh, in the order of the file: the first that matches counts.
type sshHosts struct{ rules []sshRule }

// An sshRule names the host for those that its patterns match.
type sshRule struct {
	patterns []string // "!" before one excludes
	name     string
}

// maxIncludes bounds the files of ssh's settings that are read.
const maxIncludes = 64

// sshHost returns the host that the user's settings of ssh name for a host, "" if they name none.
func (f *Finder) sshHost(host string) string {
	if f.hosts == nil {
		f.hosts = &sshHosts{}
		if home := f.home(); home != "" {
			left := maxIncludes
			f.hosts.read(home, filepath.Join(home, ".ssh", "config"), &left)
		}
	}
	for _, r := range f.hosts.rules {
		if matchesHost(r.patterns, host) {
			return strings.ReplaceAll(strings.ReplaceAll(r.name, "%h", host), "%%", "%")
		}
	}
	return ""
}

// home returns the user's home directory, "" if it is unknown.
func (f *Finder) home() string {
	switch {
	case f.world.Getenv == nil:
		return ""
	case runtime.GOOS == "windows":
		return f.world.Getenv("USERPROFILE")
	}
	return f.world.Getenv("HOME")
}

// read reads the blocks "Host" of a file of settings and of those that it includes. The conditions of a block "Match" may
// run programs, so it does not count.
func (h *sshHosts) read(home, name string, left *int) {
	b, err := os.ReadFile(name)
	if *left--; *left < 0 || err != nil {
		return
	}
	patterns := []string{"*"}
	for line := range strings.Lines(string(b)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '=' || r == '"' })
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			patterns = words[1:]
		case "match":
			patterns = nil
		case "hostname":
			h.rules = append(h.rules, sshRule{patterns, words[1]})
		case "include":
			for _, p := range words[1:] {
				if rest, ok := strings.CutPrefix(p, "~/"); ok {
					p = filepath.Join(home, rest)
				} else if !filepath.IsAbs(p) {
					p = filepath.Join(home, ".ssh", p)
				}
				names, _ := filepath.Glob(p) // a malformed pattern names no file
				for _, name := range names {
					h.read(home, name, left)
				}
			}
		}
	}
}

// matchesHost reports whether one of the patterns matches a host, and none that excludes.
func matchesHost(patterns []string, host string) bool {
	matched := false
	for _, p := range patterns {
		not, excluded := strings.CutPrefix(p, "!")
		if ok, err := path.Match(not, host); err != nil || !ok {
			continue
		}
		if excluded {
			return false
		}
		matched = true
	}
	return matched
}
