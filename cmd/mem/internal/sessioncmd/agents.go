package sessioncmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	capturing "github.com/memvcs/mem/layers/capture"
)

// sayUnknown warns of the values of an agent that were stored but are not understood, in one line.
func sayUnknown(e *app.Env, agent string, added []capturing.Added) error {
	if agent == "" {
		return nil
	}
	all, total := map[string]int{}, 0
	for _, a := range added {
		if a.Change == "unchanged" || a.Change == "forgotten" {
			continue
		}
		kinds, err := capturing.UnknownValues(agent, a.Path)
		if err != nil {
			return err
		}
		for kind, n := range kinds {
			all[kind] += n
			total += n
		}
	}
	if total == 0 {
		return nil
	}
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		if len(list) == 5 {
			list = append(list, "...")
			break
		}
		list = append(list, fmt.Sprintf("%s %d", kind, all[kind]))
	}
	e.Warn("%s of %s of types that mem does not know, stored as they are and not read: %s", term.Count(total, "value"),
		agent, strings.Join(list, ", "))
	return nil
}
