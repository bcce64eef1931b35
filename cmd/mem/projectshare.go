package main

import (
	"context"

	"github.com/memvcs/mem/layers/projects"
)

// runProjectShare says whether text of one project may travel in compositions of another.
func (e *Env) runProjectShare(ctx context.Context, from, with string, allowed bool) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	a, err := e.projectNamed(ctx, m, from)
	if err != nil {
		return err
	}
	b, err := e.projectNamed(ctx, m, with)
	if err != nil {
		return err
	}
	if a.ID == b.ID {
		return usagef("%s and %s are one project", from, with)
	}
	if !e.opt.dryRun {
		if err := m.Projects().Share(ctx, a, b, allowed); err != nil {
			return err
		}
	}
	if e.opt.json {
		return e.printJSON("project.share", struct {
			From    string `json:"from"`
			With    string `json:"with"`
			Allowed bool   `json:"allowed"`
			DryRun  bool   `json:"dry_run"`
		}{string(a.ID), string(b.ID), allowed, e.opt.dryRun})
	}
	may := "may"
	if !allowed {
		may = "must not"
	}
	if e.opt.dryRun {
		may = "would be said: " + may
	}
	e.note("text of %s %s travel in compositions of %s", a.Name, may, b.Name)
	return nil
}

// shareHint is the command that lets text of one project travel with another one.
func shareHint(f *projects.ForeignError) string {
	return shell("mem", "project", "share", f.From, f.With)
}
