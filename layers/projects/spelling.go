package projects

import (
	"path"
	"strings"
)

// baseName returns the last element of a path of any operating system.
func baseName(dir string) string {
	dir = strings.TrimRight(strings.ReplaceAll(dir, `\`, "/"), "/")
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		dir = dir[i+1:]
	}
	if dir == "" {
		return "root"
	}
	return dir
}

// hasDrive reports whether a path with slashes begins with a drive of Windows.
func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && isLetter(p[0]) && (len(p) == 2 || p[2] == '/')
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// portablePath returns the one spelling that all spellings of a directory of Windows share: C:\DIR and c:/dir. Names on a
// drive and on a file server of Windows have no case.
func portablePath(dir string) string {
	slashed := strings.ReplaceAll(dir, `\`, "/")
	server := strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, "//")
	if !server && !hasDrive(slashed) {
		return dir
	}
	p := strings.ToLower(path.Clean(slashed))
	switch {
	case server:
		p = "/" + p
	case len(p) == 2:
		p += "/" // the root of a drive
	}
	return p
}
