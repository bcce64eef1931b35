package handover

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/brief"
)

// maxFails is the number of commands that are listed as failing. One that did not fail in the newForm newest sessions is
// listed only if it failed in more than half of those since it failed first.
const (
	maxFails = 4
	newForm  = 3
)

// A failing is a form that failed in earlier sessions and has not worked since.
type failing struct {
	Form
	session  string // the newest
	sessions int
	newest   int // how many sessions ago, 0 for the newest
	oldest   int
}

// failingForms returns the forms that failed and have not worked since, those of most sessions first.
func failingForms(digests []Digest) []failing {
	at := map[string]int{}
	worked := map[string]bool{}
	var out []failing
	for i, d := range digests[:min(len(digests), ageSessions)] {
		for _, f := range d.Broken {
			k, known := at[f.Key]
			switch {
			case known:
				out[k].sessions++
				out[k].oldest = i
				if out[k].Fix == "" {
					out[k].Fix = f.Fix
				}
				continue
			case worked[f.Key] || slices.ContainsFunc(digests[:i], func(later Digest) bool {
				_, is := slices.BinarySearch(later.Worked, hashKey(f.Key))
				return is
			}):
				worked[f.Key] = true
				continue
			}
			at[f.Key] = len(out)
			out = append(out, failing{f, d.Session, 1, i, i})
		}
	}
	slices.SortStableFunc(out, func(a, b failing) int {
		return cmp.Or(cmp.Compare(b.sessions, a.sessions), cmp.Compare(a.newest, b.newest))
	})
	return out
}

// text tells a form that fails.
func (f failing) text() string { return fmt.Sprintf("`%s`: %s", f.Line, f.why()) }

// why tells why a form fails, and what worked instead.
func (f failing) why() string {
	text := f.Why
	if f.sessions > 1 {
		text += fmt.Sprintf(", in %d sessions", f.sessions)
	}
	if f.Fix != "" {
		text += fmt.Sprintf("; `%s` worked", f.Fix)
	}
	return text
}

func failsHere(digests []Digest) (out []brief.Item) {
	for _, f := range failingForms(digests) {
		if len(out) == maxFails {
			break
		}
		if f.newest >= newForm && 2*f.sessions <= f.oldest {
			continue
		}
		out = append(out, brief.Item{Text: f.text(), Source: citing(f.session, f.N), Trust: brief.Tool, Named: true,
			About: "fails: " + f.Key, Why: "failed for a reason of its form and was not seen to work since"})
	}
	return out
}
