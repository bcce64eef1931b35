package derive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A UsedError means that something cannot be removed because compositions use it.
type UsedError struct {
	Rev  state.Rev
	What string
	By   []string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("%s is used by %s (%s)", e.What, records.Numbered(len(e.By), "composition", "compositions"),
		strings.Join(e.By, ", "))
}

// Remove is [RemoveAll] for one thing.
func Remove(ctx context.Context, db *state.DB, rev state.Rev, force, dryRun bool) error {
	return RemoveAll(ctx, db, []state.Rev{rev}, force, dryRun)
}

// RemoveAll hides the things that revs name, in one operation for each project; the bytes stay, and a session stays
// hidden until it is added by name, or shown by [ShowAll] or an undo. Hidden things are skipped. The error is a [*UsedError] if a composition that stays uses one of
// them, unless force is set; nothing is hidden then.
func RemoveAll(ctx context.Context, db *state.DB, revs []state.Rev, force, dryRun bool) error {
	var projects []refs.Project
	targets, names := map[refs.Project][]string{}, map[refs.Project][]string{}
	for _, rev := range revs {
		target, what, err := rev.Target()
		if err != nil {
			return err
		}
		p := rev.Project.ID
		if rev.Hidden() || slices.Contains(targets[p], target) {
			continue
		}
		st, err := trust.Outline(ctx, db, p)
		if err != nil {
			return err
		}
		stay := slices.DeleteFunc(st.Users(rev), func(name string) bool { return namesComposition(revs, p, name) })
		if len(stay) > 0 && !force {
			return &UsedError{rev, what, stay}
		}
		if targets[p] == nil {
			projects = append(projects, p)
		}
		targets[p], names[p] = append(targets[p], target), append(names[p], what)
	}
	if dryRun {
		return nil
	}
	for _, p := range projects {
		if err := hide(ctx, db, p, removeMessage("rm", names[p]), "rm", targets[p], true); err != nil {
			return err
		}
	}
	return nil
}

// namesComposition reports whether one of revs is a composition of the project with the name.
func namesComposition(revs []state.Rev, p refs.Project, name string) bool {
	return slices.ContainsFunc(revs, func(r state.Rev) bool {
		return r.Kind == state.IsComposition && r.Project.ID == p && r.Composition.Name == name
	})
}

// ShowAll shows hidden things again, whichever device hid them. Others are skipped.
func ShowAll(ctx context.Context, db *state.DB, revs []state.Rev) error {
	for _, rev := range revs {
		target, what, err := rev.Target()
		if err == nil && rev.Hidden() {
			err = hide(ctx, db, rev.Project.ID, removeMessage("show", []string{what}), "show", []string{target}, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeMessage returns the message of an operation on the things with these names.
func removeMessage(verb string, names []string) string {
	const most = 3
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return verb + " " + strings.Join(names, ", ")
}
