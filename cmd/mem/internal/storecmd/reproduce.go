package storecmd

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/provenance"
)

// runReproduce makes versions and compositions again and compares the bytes: the named one, all of the project, or with
// --all those of every project.
func runReproduce(ctx context.Context, run app.Run, o fsckOptions, name string) error {
	var done []provenance.Reproduction
	report := func(a provenance.Reproduction) {
		done = append(done, a)
		if !run.Opt.JSON {
			printAttempt(run.Env, a)
		}
	}
	if name != "" {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return err
		}
		a, err := provenance.Reproduce(ctx, run.DB, rev)
		if errors.Is(err, provenance.ErrNotBlamable) {
			return app.WithHint(app.Usagef("%s is a %s: only versions and compositions can be reproduced", name, rev.Kind),
				term.Shell("mem", "fsck", "--reproduce", name+":latest"))
		}
		if err != nil {
			return err
		}
		report(a)
		return reproduced(run.Env, done)
	}
	run.Opt.AllProjects = run.Opt.AllProjects || o.all
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if err := provenance.ReproduceAll(ctx, run.DB, p, report); err != nil {
			return err
		}
	}
	return reproduced(run.Env, done)
}

func printAttempt(e *app.Env, a provenance.Reproduction) {
	switch {
	case a.Err != nil:
		e.Printf("%s  %s  %s\n", e.Safe(a.Name), e.Style().Yellow("not made"), e.Safe(app.OneLine(a.Err.Error())))
	case a.Identical:
		e.Printf("%s  same  b3:%s\n", e.Safe(a.Name), a.Output.Short())
	default:
		e.Printf("%s  %s  b3:%s then, b3:%s now: %s\n", e.Safe(a.Name), e.Style().Red("differs"), a.Rev.Hash.Short(),
			a.Output.Short(), e.Safe(a.Why))
	}
}

// reproduced prints the results. The exit status is 1 if something differs, 3 if something could not be made.
func reproduced(e *app.Env, done []provenance.Reproduction) error {
	same, differ, failed := 0, 0, 0
	results := []app.Object{}
	for _, a := range done {
		again, why := "", ""
		switch {
		case a.Err != nil:
			failed++
			why = app.OneLine(a.Err.Error())
		case a.Identical:
			same++
		default:
			differ++
		}
		if a.Err == nil {
			again = a.Output.String()
		}
		results = append(results, app.Object{"name", a.Name, "kind", string(a.Rev.Kind), "hash", a.Rev.Hash.String(),
			"again,omitempty", again, "same", a.Identical, "why,omitempty", a.Why, "failed,omitempty", why})
	}
	if e.Opt.JSON {
		if err := e.PrintJSON("fsck.reproduce", nil, "same", same, "differ", differ, "failed", failed,
			"results", results); err != nil {
			return err
		}
	} else if len(done) != 1 {
		e.Printf("%d made once more: %d the same, %d differ, %d could not be made\n", len(done), same, differ, failed)
	}
	switch {
	case differ > 0:
		return app.Exit(app.ExitNo)
	case failed > 0:
		return app.Exit(app.ExitPartial)
	}
	return nil
}
