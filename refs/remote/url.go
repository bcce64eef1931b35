package remote

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// A URL is the address of a remote. It contains no password.
type URL struct {
	Scheme string // file, ssh, http, https
	User   string // of ssh only
	Host   string // with the port, if it is not the usual one
	Path   string
	text   string
}

// String returns the address as it is stored and shown.
func (u URL) String() string { return u.text }

// web reports whether the remote could be readable without authentication.
func (u URL) web() bool { return u.Scheme == "http" || u.Scheme == "https" }

// ParseURL parses an address: a directory, which abs makes absolute, file://, ssh://, user@host:path, http:// or
// https://. stripped reports whether it removed a user or password, which are never stored.
func ParseURL(s string, abs func(string) string) (u URL, stripped bool, err error) {
	if s == "" || hasControl(s) {
		return u, false, fmt.Errorf("%.200q: %w", s, ErrURL)
	}
	if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "/") { // "/a://b" is a directory
		return parseScheme(s, strings.ToLower(scheme))
	}
	if host, path, ok := strings.Cut(s, ":"); ok && len(host) > 1 && !strings.ContainsAny(host, `/\`) {
		if strings.HasPrefix(path, ":") {
			return u, false, fmt.Errorf("%s::: %w: helpers of git are not used; want a directory, ssh, http or https",
				host, ErrURL)
		}
		return parseSCP(s, host, path)
	}
	if abs != nil {
		s = abs(s)
	}
	return URL{Scheme: "file", Path: s, text: s}, false, nil
}

func parseScheme(s, scheme string) (URL, bool, error) {
	p, err := url.Parse(s)
	if err != nil {
		return URL{}, false, fmt.Errorf("%w", ErrURL) // the message of url.Parse may contain a password
	}
	// A newline in the path would add lines to the request to git's credential helpers.
	if hasControl(p.Path+p.User.Username()) || p.RawQuery != "" || p.ForceQuery || p.Fragment != "" {
		return URL{}, false, fmt.Errorf("%s://%s%.200q: %w", scheme, p.Host, p.Path, ErrURL)
	}
	switch scheme {
	case "file":
		path := filePath(p.Path)
		if p.Host != "" && p.Host != "localhost" || path == "" {
			return URL{}, false, fmt.Errorf("file://%s%s: %w", p.Host, p.Path, ErrURL)
		}
		return URL{Scheme: "file", Path: path, text: path}, false, nil
	case "ssh", "git+ssh", "ssh+git":
		u := URL{Scheme: "ssh", User: p.User.Username(), Host: p.Host, Path: p.Path}
		_, password := p.User.Password()
		p.Scheme, p.User = "ssh", nil
		if u.User != "" {
			p.User = url.User(u.User)
		}
		if u.Path, _ = strings.CutPrefix(u.Path, "/~"); u.Path != p.Path {
			u.Path = "~" + u.Path
		}
		u.text = p.String()
		return u, password, u.checkSSH()
	case "http", "https":
		if p.Host == "" {
			return URL{}, false, fmt.Errorf("%s://: %w", scheme, ErrURL)
		}
		stripped := p.User != nil
		p.Scheme, p.User = scheme, nil
		p.Path, p.RawPath = strings.TrimRight(p.Path, "/"), strings.TrimRight(p.RawPath, "/")
		return URL{Scheme: scheme, Host: p.Host, Path: p.Path, text: p.String()}, stripped, nil
	}
	return URL{}, false, fmt.Errorf("%.40q: %w: want a directory, ssh, http or https", scheme+"://", ErrURL)
}

// hasControl reports whether s contains a control character.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// filePath returns the path of a file URL, on Windows without the slash before a drive.
func filePath(path string) string {
	if rest, _ := strings.CutPrefix(path, "/"); filepath.VolumeName(rest) != "" {
		path = rest
	}
	return filepath.FromSlash(path)
}

// parseSCP reads user@host:path.
func parseSCP(s, host, path string) (URL, bool, error) {
	u := URL{Scheme: "ssh", Host: host, Path: path, text: s}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		u.User, u.Host = host[:i], host[i+1:]
	}
	return u, false, u.checkSSH()
}

// checkSSH returns an error for values that ssh would read as an option, or a shell as more than a word.
func (u URL) checkSSH() error {
	bad := u.Host == "" || u.Path == "" || u.Path == "/" || strings.HasPrefix(u.Path, "-")
	for _, s := range []string{u.User, u.Host} {
		bad = bad || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \t'\"\\$`;|&<>()") || strings.Contains(s, "@")
	}
	if bad {
		return fmt.Errorf("%.200q: %w", u.text, ErrURL)
	}
	return nil
}
