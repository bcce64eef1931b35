package records

import (
	"cmp"
)

// KindRevoke is the kind of records that revoke a source.
const KindRevoke = "revoke"

// The kinds of sources that can be revoked.
const (
	SessionSource = "session" // all its content
	ToolSource    = "tool"    // results of a tool, or of the tools of an MCP server
	HostSource    = "host"    // results of tools that were requested from a host or name it
	// a line of the texts for sessions: by its message, or the hash of its text. Only these texts leave it out
	LineSource = "line"
)

// An Origin is a source of text in memory.
type Origin struct {
	Kind string `json:"source"`
	Name string `json:"name"` // ID of the session, or name of the tool or host in lower case
}

// String returns the source in the form that a user types.
func (s Origin) String() string {
	if s.Kind == SessionSource {
		return s.Kind + ":" + ShortID(s.Name)
	}
	return s.Kind + ":" + s.Name
}

// A RevokeBody is the body of a "revoke" record. The last one for a source wins. It also applies to data that is
// captured, derived or fetched later.
type RevokeBody struct {
	Origin
	Revoked bool   `json:"revoked"`
	Reason  string `json:"reason,omitempty"`
}

// Compare orders sources by kind and name.
func (s Origin) Compare(o Origin) int {
	return cmp.Or(cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Name, o.Name))
}
