package records

import (
	"cmp"
)

// KindRevoke is a record that says that a source is not to be believed any more.
const KindRevoke = "revoke"

// The kinds of sources that can be revoked.
const (
	SessionSource = "session" // all that was said in it
	ToolSource    = "tool"    // what a tool, or the tools of an MCP server, returned
	HostSource    = "host"    // what tools returned that was asked of a host, or names it
)

// An Origin is where something in memory came from.
type Origin struct {
	Kind string `json:"source"`
	Name string `json:"name"` // id of the session; of tools and hosts in lower case
}

// String writes a source as a user may type it.
func (s Origin) String() string {
	if s.Kind == SessionSource {
		return s.Kind + ":" + ShortID(s.Name)
	}
	return s.Kind + ":" + s.Name
}

// RevokeBody says whether a source is revoked; the last one of a source wins. What it hides follows from it, so
// that it also hides what is made, captured or pulled later.
type RevokeBody struct {
	Origin
	Revoked bool   `json:"revoked"`
	Reason  string `json:"reason,omitempty"`
}

func (s Origin) Compare(o Origin) int {
	return cmp.Or(cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Name, o.Name))
}
