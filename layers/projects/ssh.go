package projects

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
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
			f.hosts.read(home, filepath.Join(home, ".ssh", "config"), []string{"*"}, &left)
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

// read reads a file of settings and those that it includes. The patterns are those of the block that includes it. A file
// that cannot be read has none; a block "Match", whose conditions may run programs, counts only for a host or for all.
func (h *sshHosts) read(home, name string, patterns []string, left *int) {
	if *left--; *left < 0 {
		return
	}
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	outer := patterns
	for sc := bufio.NewScanner(file); sc.Scan(); {
		words := sshWords(sc.Text())
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			patterns = words[1:]
		case "match":
			patterns = matchPatterns(words[1:])
		case "hostname":
			h.rules = append(h.rules, sshRule{within(outer, patterns), words[1]})
		case "include":
			for _, p := range words[1:] {
				if rest, ok := strings.CutPrefix(p, "~/"); ok {
					p = filepath.Join(home, rest)
				} else if !filepath.IsAbs(p) {
					p = filepath.Join(home, ".ssh", p)
				}
				names, _ := filepath.Glob(p) // a malformed pattern names no file
				for _, name := range names {
					h.read(home, name, patterns, left)
				}
			}
		}
	}
}

// within returns the patterns of a block in a file that a block with the patterns outer includes.
func within(outer, patterns []string) []string {
	if len(outer) == 1 && outer[0] == "*" {
		return patterns
	}
	if len(patterns) == 1 && patterns[0] == "*" {
		return outer
	}
	return nil // both must match, which no setting that names a host needs
}

// matchPatterns returns the patterns of the hosts for which a block "Match" counts, none if it has other conditions.
func matchPatterns(words []string) []string {
	switch first := strings.ToLower(words[0]); {
	case first == "all" && len(words) == 1:
		return []string{"*"}
	case (first == "host" || first == "originalhost") && len(words) == 2:
		return strings.Split(words[1], ",")
	}
	return nil
}

// sshWords splits a line of settings: a keyword, and arguments after spaces or "=", which may be quoted.
func sshWords(line string) []string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return nil
	}
	if i := strings.IndexAny(line, " \t="); i > 0 {
		line = line[:i] + " " + strings.TrimLeft(line[i:], " \t=")
	}
	var words []string
	for line != "" {
		if line[0] == '"' {
			word, rest, _ := strings.Cut(line[1:], `"`)
			words, line = append(words, word), strings.TrimLeft(rest, " \t")
			continue
		}
		if line[0] == '#' {
			break
		}
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			i = len(line)
		}
		words, line = append(words, line[:i]), strings.TrimLeft(line[i:], " \t")
	}
	return words
}

// matchesHost reports whether one of the patterns matches a host, and none that excludes.
func matchesHost(patterns []string, host string) bool {
	matched := false
	for _, p := range patterns {
		not, excluded := strings.CutPrefix(p, "!")
		ok, err := path.Match(not, host)
		if err != nil || !ok {
			continue
		}
		if excluded {
			return false
		}
		matched = true
	}
	return matched
}
