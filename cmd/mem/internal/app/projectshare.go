package app

import (
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/projects"
)

// ShareHint is the command that lets text of one project travel with another one.
func ShareHint(f *projects.ForeignError) string {
	return term.Shell("mem", "project", "share", f.From, f.With)
}
