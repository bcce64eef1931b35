package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// HintUntrusted prints a hint if a result lacks data of devices that the user has not decided about. projects are
// the projects of the result; without projects, all count.
func HintUntrusted(ctx context.Context, e *Env, m *layers.Memory, projects ...refs.Project) error {
	hint, err := untrustedHint(ctx, m, projects)
	if err == nil && hint != "" {
		e.Hint("%s", hint)
	}
	return err
}

// Listed ends a command that has listed n things. If data of devices that the user has not decided about is missing in the list, it
// prints a hint: in a list of nothing, data of any project is missing. It returns err; an error that was not printed yet has no hint.
func (run Run) Listed(ctx context.Context, n int, err error) error {
	var quiet *Quiet
	if err != nil && !errors.As(err, &quiet) {
		return err
	}
	return cmp.Or(HintUntrusted(ctx, run.Env, run.Memory, run.concerned(n)...), err)
}

// concerned returns the projects of a list of n things, none for all.
func (run Run) concerned(n int) []refs.Project {
	if n == 0 || run.Opt.AllProjects {
		return nil
	}
	return []refs.Project{run.Project.ID}
}

// Undecided returns the names of the devices whose data is missing in a list of n things because the user has not decided about
// them.
func (run Run) Undecided(ctx context.Context, n int) (names []string, err error) {
	found, err := trust.Undecided(ctx, run.DB, run.concerned(n))
	return Each(found, func(d state.Device) string { return d.Name }), err
}

// withUntrustedHint adds the hint of [HintUntrusted] to the error of a name that was not found.
func withUntrustedHint(ctx context.Context, m *layers.Memory, missing error) error {
	hint, err := untrustedHint(ctx, m, nil)
	if err != nil || hint == "" {
		return missing // the missing name is the error to report
	}
	return WithHint(missing, hint)
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
