package capture

import (
	"slices"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/refs"
)

// noteScanned records which contents of a commit the rules have scanned, so that a push need not scan them again.
func (m Ops) noteScanned(p refs.Project, captures []*Capture) {
	byHead := map[string][]secrets.Look{}
	rules := map[string]redact.Rules{}
	for _, c := range captures {
		looks := c.looks
		if c.looked != nil {
			looks = append(slices.Clone(looks), *c.looked)
		}
		if len(looks) > 0 {
			head := secrets.On(m.DB).LookedHead(c.Rules)
			byHead[head], rules[head] = append(byHead[head], looks...), c.Rules
		}
	}
	for head, looks := range byHead {
		secrets.On(m.DB).NoteLooked(p, rules[head], looks)
	}
}
