package names

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// HintUntrusted prints a hint if a result lacks data of devices that the user has not decided about. projects are
// the projects of the result; without projects, all count.
func HintUntrusted(ctx context.Context, e *app.Env, m *layers.Memory, projects ...refs.Project) error {
	hint, err := untrustedHint(ctx, m, projects)
	if err == nil && hint != "" {
		e.Hint("%s", hint)
	}
	return err
}

// HintUntrusted is [HintUntrusted] for the listed projects, or for all projects if the result is empty.
func (run Run) HintUntrusted(ctx context.Context, empty bool) error {
	if empty || run.Opt.AllProjects {
		return HintUntrusted(ctx, run.Env, run.Memory)
	}
	return HintUntrusted(ctx, run.Env, run.Memory, run.Project.ID)
}

// Undecided returns the names of the devices that [Run.HintUntrusted] is about.
func (run Run) Undecided(ctx context.Context, empty bool) (out []string, err error) {
	var projects []refs.Project // all
	if !empty && !run.Opt.AllProjects {
		projects = []refs.Project{run.Project.ID}
	}
	found, err := trust.Undecided(ctx, run.DB, projects)
	for _, d := range found {
		out = append(out, d.Name)
	}
	return out, err
}

// withUntrustedHint adds the hint of [HintUntrusted] to the error of a name that was not found.
func withUntrustedHint(ctx context.Context, m *layers.Memory, missing error) error {
	hint, err := untrustedHint(ctx, m, nil)
	if err != nil || hint == "" {
		return missing // the missing name is the error to report
	}
	return app.WithHint(missing, hint)
}

// untrustedHint returns the number of undecided devices with data in the projects and the command to type, or "".
func untrustedHint(ctx context.Context, m *layers.Memory, projects []refs.Project) (string, error) {
	undecided, err := trust.Undecided(ctx, m.DB, projects)
	if err != nil {
		return "", err
	}
	return trustHint(undecided), nil
}

// trustHint returns the number of undecided devices and the command to type, "" without devices.
func trustHint(undecided []state.Device) string {
	switch n := len(undecided); n {
	case 0:
		return ""
	case 1:
		return "1 device is not trusted, and its data is not used: " + term.Shell("mem", "device", "trust", undecided[0].Name)
	default:
		return fmt.Sprintf("%d devices are not trusted, and their data is not used: mem device list, then %s", n,
			term.Shell("mem", "device", "trust", undecided[0].Name))
	}
}
