package doctor

import (
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/projects"
)

// projects checks for projects with the sessions of unrelated directories.
func (x *Exam) projects() {
	const check = "projects"
	strays, err := projects.Strays(x.Ctx, x.m.DB)
	if err != nil {
		x.fail(check, "mem fsck --repair", "%v", err)
		return
	}
	for _, s := range strays {
		x.warn(check, term.Shell("mem", "project", "split", s.Dir)+", or to keep it: "+
			term.Shell("mem", "project", "link", string(s.In.ID[:8]), s.Dir),
			"project %s has the sessions of %s, which is another project", x.E.Safe(s.In.Name), x.E.Safe(s.Dir))
	}
	if len(strays) == 0 {
		x.ok(check, "each has only its own directories")
	}
}
