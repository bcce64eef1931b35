package revision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// FindOrigin finds a source by name: a session, a tool or MCP server, a host or a URL. A prefix session:, tool: or
// host: selects the kind, and the source need not be known. It also returns the project to search: that of the
// session, or of the scope. The error is a [*state.NotFoundError] or a [*state.AmbiguousError].
func FindOrigin(ctx context.Context, db *state.DB, sc state.Scope, name string) (records.Origin, state.Project, error) {
	kind, rest, ok := strings.Cut(name, ":")
	switch {
	case ok && (kind == records.ToolSource || kind == records.HostSource):
		src, err := NormalOrigin(kind, rest)
		return src, sc.Project, err
	case ok && kind == records.SessionSource:
		return sessionOrigin(ctx, db, sc, rest)
	}
	tools, err := trust.Tools(ctx, db, sc.Project.ID)
	if err != nil {
		return records.Origin{}, sc.Project, err
	}
	var found []records.Origin
	p := sc.Project
	session, home, err := sessionOrigin(ctx, db, sc, name)
	var missing *state.NotFoundError
	if err == nil {
		found, p = append(found, session), home
	} else if !errors.As(err, &missing) {
		return records.Origin{}, p, err
	}
	if tool, err := NormalOrigin(records.ToolSource, name); err == nil && slices.ContainsFunc(tools, func(t string) bool {
		return trust.ToolMatches(t, tool.Name)
	}) {
		found = append(found, tool)
	}
	if host, err := NormalOrigin(records.HostSource, name); err == nil && looksLikeHost(host.Name) {
		found = append(found, host)
	}
	switch len(found) {
	case 0:
		return records.Origin{}, p, &state.NotFoundError{What: "source", Name: name, Candidates: tools}
	case 1:
		return found[0], p, nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.String())
	}
	return records.Origin{}, p, &state.AmbiguousError{What: "source", Name: name, Candidates: names}
}

func sessionOrigin(ctx context.Context, db *state.DB, sc state.Scope, name string) (records.Origin, state.Project, error) {
	rev, err := ResolveSession(ctx, db, sc, name)
	if err != nil {
		return records.Origin{}, sc.Project, err
	}
	return records.Origin{Kind: records.SessionSource, Name: rev.Session.ID}, rev.Project, nil
}

// looksLikeHost reports whether s has the form of a domain name, an address, or a host with a port.
func looksLikeHost(s string) bool {
	if s == "localhost" || net.ParseIP(strings.Trim(s, "[]")) != nil {
		return true
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		return host != "" && strings.Trim(port, "0123456789") == ""
	}
	return strings.Contains(strings.Trim(s, "."), ".") &&
		strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// NormalOrigin returns a source in the form of records: a host has no scheme, path or final dot.
func NormalOrigin(kind, name string) (records.Origin, error) {
	name = strings.TrimSpace(name)
	switch kind {
	case records.SessionSource:
	case records.ToolSource:
		name = strings.ToLower(name)
	case records.HostSource:
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			name = u.Host
		}
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if h, port, err := net.SplitHostPort(name); err == nil && (port == "80" || port == "443") {
			name = h
		}
	default:
		return records.Origin{}, fmt.Errorf("%q is not a kind of source: want session, tool or host", kind)
	}
	if name == "" || strings.ContainsAny(name, " \t\r\n/") {
		return records.Origin{}, fmt.Errorf("%q is not a name of a %s", name, kind)
	}
	return records.Origin{Kind: kind, Name: name}, nil
}
