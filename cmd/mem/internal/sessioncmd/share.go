package sessioncmd

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/projects"
)

// runProjectShare allows or forbids that compositions of one project with text of another are pushed.
func runProjectShare(ctx context.Context, e *app.Env, from, with string, allowed bool) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	a, err := app.ProjectNamed(ctx, e, m, from)
	if err != nil {
		return err
	}
	b, err := app.ProjectNamed(ctx, e, m, with)
	if err != nil {
		return err
	}
	if a.ID == b.ID {
		return app.Usagef("%s and %s are one project", from, with)
	}
	if !e.Opt.DryRun {
		if err := projects.Share(ctx, m.DB, a, b, allowed); err != nil {
			return err
		}
	}
	if e.Opt.JSON {
		return e.PrintJSON("project.share", nil, "from", string(a.ID), "with", string(b.ID), "allowed", allowed,
			"dryRun", e.Opt.DryRun)
	}
	may := "may"
	if !allowed {
		may = "must not"
	}
	prefix := ""
	if e.Opt.DryRun {
		prefix = "would record: "
	}
	e.Note("%stext of %s %s be used in compositions of %s", prefix, a.Name, may, b.Name)
	return nil
}
