package exchange

import "slices"

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

// Noticed returns the last message before n with which the client told that a task in the background ended, 0 if there is none
// or a file was changed since.
func (x *Exchange) Noticed(n int) (at int) {
	for _, note := range x.Notes {
		if note.Name == "notice" && note.N < n {
			at = note.N
		}
	}
	if slices.ContainsFunc(x.Edits, func(e Edit) bool { return at < e.N && e.N < n }) {
		return 0
	}
	return at
}
