package exchange

import (
	"slices"
	"strings"
)

// Work returns the messages of an exchange's calls of tools and answered dialogs, in order.
func (x *Exchange) Work() (out []int) {
	for _, e := range x.Edits {
		out = append(out, e.N)
	}
	for _, c := range x.Commands {
		out = append(out, c.N)
	}
	for _, c := range x.Calls {
		out = append(out, c.N)
	}
	for _, r := range x.Reports {
		out = append(out, r.N)
	}
	for _, f := range x.Failures {
		out = append(out, f.N)
	}
	for _, d := range x.Dialogs {
		if !d.Script {
			out = append(out, d.N)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Noticed reports whether the client wrote n on its own account: that a task in the background ended, or what is to be done next.
func (n Note) Noticed() bool {
	return n.Name == "notice" || n.Name == "" && strings.HasPrefix(n.Text, "<")
}
