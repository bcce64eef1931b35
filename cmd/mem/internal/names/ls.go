package names

import (
	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/state"
)

// ProjectName returns what a row of a list says of its project: nothing if all are of one.
func ProjectName(e *app.Env, p state.Project) string {
	if e.Opt.AllProjects {
		return p.Name
	}
	return ""
}
