package storecmd

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// runReproduce makes versions and compositions again and compares the bytes: the named one, all of the project, or with
// --all those of every project.
func runReproduce(ctx context.Context, e *app.Env, o fsckOptions, name string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		var done []provenance.Reproduction
		report := func(a provenance.Reproduction) {
			done = append(done, a)
			if !e.Opt.JSON {
				printAttempt(e, a)
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
			return reproduced(e, done)
		}
		projects := []state.Project{run.Project}
		if o.all || e.Opt.AllProjects {
			var err error
			if projects, err = trust.Projects(ctx, run.DB); err != nil {
				return err
			}
		}
		for _, p := range projects {
			if err := provenance.ReproduceAll(ctx, run.DB, p, report); err != nil {
				return err
			}
		}
		return reproduced(e, done)
	})
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

// An attemptAnswer is the JSON form of one reproduction.
type attemptAnswer struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Hash   string `json:"hash"`
	Again  string `json:"again,omitempty"`
	Same   bool   `json:"same"`
	Why    string `json:"why,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// reproduced prints the results. The exit status is 1 if something differs, 3 if something could not be made.
func reproduced(e *app.Env, done []provenance.Reproduction) error {
	same, differ, failed := 0, 0, 0
	results := []attemptAnswer{}
	for _, a := range done {
		x := attemptAnswer{Name: a.Name, Kind: string(a.Rev.Kind), Hash: a.Rev.Hash.String(), Same: a.Identical, Why: a.Why}
		switch {
		case a.Err != nil:
			failed++
			x.Failed = app.OneLine(a.Err.Error())
		case a.Identical:
			same++
		default:
			differ++
		}
		if a.Err == nil {
			x.Again = a.Output.String()
		}
		results = append(results, x)
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
