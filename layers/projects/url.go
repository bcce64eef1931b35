package projects

import (
	"context"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// remoteOf returns the normalised URL of the remote of a repository: of origin, or of its only one. It is "" if there is
// none.
func (f *Finder) remoteOf(ctx context.Context, r repo) string {
	settings := f.config(ctx, r.git)
	var names []string
	for key := range settings {
		if name, ok := strings.CutPrefix(key, "remote."); ok {
			if name, ok = strings.CutSuffix(name, ".url"); ok {
				names = append(names, name)
			}
		}
	}
	name := "origin"
	if len(names) == 1 {
		name = names[0]
	}
	for _, u := range settings["remote."+name+".url"] {
		if u = strings.TrimSpace(u); u != "" {
			return NormalURL(insteadOf(settings, u))
		}
	}
	return ""
}

// insteadOf replaces the longest beginning of a URL for which the settings of git have another one.
func insteadOf(settings map[string][]string, u string) string {
	longest, base := "", ""
	for key, beginnings := range settings {
		b, ok := strings.CutPrefix(key, "url.")
		if !ok {
			continue
		}
		if b, ok = strings.CutSuffix(b, ".insteadof"); !ok {
			continue
		}
		for _, beginning := range beginnings {
			if strings.HasPrefix(u, beginning) && len(beginning) > len(longest) {
				longest, base = beginning, b
			}
		}
	}
	return base + u[len(longest):]
}

// NormalURL normalises the URL of a remote to host/path: without scheme, user, password, port, trailing ".git" and
// slashes, and with the host in lower case. The forges that everybody uses have other hosts for the same repository, and
// no case in its name.
func NormalURL(s string) string {
	s = strings.TrimPrefix(s, "git+")
	if host, path, ok := cutHost(s); ok {
		s = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if u.Opaque != "" { // a host or a drive of one letter
		return u.Scheme + "/" + strings.TrimSuffix(strings.Trim(u.Opaque, "/"), ".git")
	}
	path := strings.TrimSuffix(strings.Trim(path.Clean("/"+u.Path), "/"), ".git")
	if u.Host == "" && path == "" {
		return "" // it would be the URL of every such repository
	}
	if u.Host == "" {
		return "/" + path
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return onForge(host, path)
}

// cutHost splits an address in the form of scp, [USER@]HOST:PATH or [USER@][HOST:PORT]:PATH.
func cutHost(s string) (host, path string, ok bool) {
	if user, rest, ok := strings.Cut(s, "["); ok && !strings.Contains(user, "/") {
		if inner, path, ok := strings.Cut(rest, "]:"); ok {
			if host, _, err := net.SplitHostPort(inner); err == nil {
				return user + host, path, true
			}
			return user + "[" + inner + "]", path, true
		}
	}
	host, path, ok = strings.Cut(s, ":")
	return host, path, ok && !strings.Contains(host, "/") && !strings.HasPrefix(path, "//") && len(host) > 1
}

// forgeHosts are the hosts of a forge by all hosts that it has for ssh, among them those for port 443.
var forgeHosts = map[string]string{
	"ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
	"altssh.bitbucket.org": "bitbucket.org", "ssh.dev.azure.com": "dev.azure.com", "vs-ssh.visualstudio.com": "dev.azure.com",
}

// foldingForges are the forges that ignore the case of owners and repositories.
var foldingForges = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "dev.azure.com"}

// onForge returns host/path as a forge itself names the repository.
func onForge(host, path string) string {
	if to := forgeHosts[host]; to != "" {
		host = to
	}
	if organisation, ok := strings.CutSuffix(host, ".visualstudio.com"); ok {
		host, path = "dev.azure.com", organisation+"/"+strings.TrimPrefix(path, "DefaultCollection/")
	}
	if host == "dev.azure.com" {
		path = strings.TrimPrefix(strings.Replace(path, "/_git/", "/", 1), "v3/")
	}
	if slices.Contains(foldingForges, host) {
		path = strings.ToLower(path)
	}
	return host + "/" + path
}
