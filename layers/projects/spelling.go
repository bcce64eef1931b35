package projects

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
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

// mountedDrive returns the path on a drive of Windows that WSL or Cygwin has in a directory, with the drive.
func mountedDrive(p string) (string, bool) {
	for _, root := range []string{"/mnt/", "/cygdrive/"} {
		if rest, ok := strings.CutPrefix(p, root); ok && rest != "" && isLetter(rest[0]) && (len(rest) == 1 || rest[1] == '/') {
			return rest[:1] + ":/" + rest[1:], true
		}
	}
	return "", false
}

// ofLinux returns the path in WSL of a directory that Windows reads from there.
func ofLinux(p string) (string, bool) {
	server, rest, _ := strings.Cut(strings.TrimPrefix(p, "//"), "/")
	_, rest, ok := strings.Cut(rest, "/")
	server = strings.ToLower(server)
	return "/" + rest, (ok || rest == "") && strings.HasPrefix(p, "//") && (server == "wsl$" || server == "wsl.localhost")
}

// portablePath returns the one spelling that all spellings of a directory share: a drive of Windows is written as
// C:\DIR, c:/dir, /mnt/c/DIR by WSL, and a directory of WSL as \\wsl.localhost\DISTRIBUTION\DIR by
// Windows. Names on a drive and on a file server of Windows have no case.
func portablePath(dir string) string {
	if !strings.ContainsAny(dir, `\:`) && !strings.HasPrefix(dir, "//") && !strings.HasPrefix(dir, "/mnt/") &&
		!strings.HasPrefix(dir, "/cygdrive/") {
		return dir // most
	}
	slashed := strings.ReplaceAll(dir, `\`, "/")
	server := strings.HasPrefix(slashed, "//")
	if server {
		slashed = "/" + path.Clean(slashed)
		if rest, ok := strings.CutPrefix(slashed, "//?/"); ok {
			if len(rest) > 4 && strings.EqualFold(rest[:4], "UNC/") {
				rest = "//" + rest[4:]
			}
			return portablePath(rest)
		}
		if in, ok := ofLinux(slashed); ok {
			return portablePath(in)
		}
	}
	if server || hasDrive(slashed) {
		dir = slashed
	} else if on, ok := mountedDrive(dir); ok {
		dir = strings.ReplaceAll(on, `\`, "/") // which no name on such a drive has
	} else {
		return dir
	}
	if dir = strings.ToLower(cleanPath(dir)); server {
		dir = "/" + dir
	}
	return dir
}

// cleanPath is path.Clean, with a slash after a drive.
func cleanPath(s string) string {
	if s = path.Clean(s); len(s) == 2 && s[1] == ':' {
		s += "/"
	}
	return s
}

// localPath returns the spelling of a directory that this system can open, if it has another one for it.
func localPath(dir string) string {
	if runtime.GOOS == "windows" {
		if p := portablePath(dir); hasDrive(p) && !filepath.IsAbs(dir) {
			return filepath.FromSlash(p)
		}
		return dir
	}
	if slashed := strings.ReplaceAll(dir, `\`, "/"); !hasDrive(slashed) && !strings.HasPrefix(slashed, "//") {
		return dir
	}
	p := portablePath(dir)
	if hasDrive(p) {
		return onDrive(dir, p)
	}
	return p
}

// onDrive returns where WSL has a directory of a drive of Windows, with the case in which it was written, or its
// portable spelling if there is no such drive.
func onDrive(dir, portable string) string {
	rest := strings.ReplaceAll(dir, `\`, "/")
	rest = rest[strings.IndexByte(rest, ':')+1:]
	local := path.Join("/mnt", portable[:1], rest)
	if _, err := os.Stat(local); err == nil {
		return local
	}
	return portable
}
