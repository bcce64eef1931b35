package sessioncmd

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
)

// warnUnknown warns in one line of values of another agent that were stored but not understood.
func warnUnknown(e *app.Env, agent string, added []capture.Added) error {
	if agent == "" {
		return nil
	}
	all, total := map[string]int{}, 0
	for _, a := range added {
		if a.Change == "unchanged" || a.Change == "forgotten" {
			continue
		}
		kinds, err := capture.UnknownValues(agent, a.Path)
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
	for _, kind := range app.SortedKeys(all) {
		if len(list) == 5 {
			list = append(list, "...")
			break
		}
		list = append(list, fmt.Sprintf("%s %d", kind, all[kind]))
	}
	e.Warn("%s of %s of types that mem does not know, stored unchanged and not read: %s", term.Count(total, "value"),
		agent, strings.Join(list, ", "))
	return nil
}

// sessionsOf says how many sessions each name has.
func sessionsOf(counts map[string]int) []string {
	return app.Each(app.SortedKeys(counts), func(name string) string {
		return fmt.Sprintf("%s of %s", term.Count(counts[name], "session"), name)
	})
}
