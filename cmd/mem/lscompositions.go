package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compose"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// A compositionAnswer is a composition as ls --compositions --json prints it.
type compositionAnswer struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Project  string   `json:"project"`
	Created  string   `json:"created"`
	Tokens   int      `json:"tokens"`
	Budget   int      `json:"budget"`
	Messages int      `json:"messages"`
	Parts    int      `json:"parts"`
	UsedIn   []string `json:"usedInSessions"`
	Hidden   string   `json:"hidden,omitempty"` // why
}

// runLsCompositions lists compositions, each in its newest state, the newest first.
func (e *Env) runLsCompositions(ctx context.Context, o lsOptions) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects, err := e.listedProjects(ctx, m, sc)
		if err != nil {
			return err
		}
		list := []compositionAnswer{}
		t := e.table(column{name: "name"}, column{name: "when"}, column{name: "tokens", right: true, estimate: true}, column{name: "budget", right: true},
			column{name: "msgs", right: true}, column{name: "parts", right: true}, column{name: "used in"}, column{name: "project"}, column{name: "note", shrinks: true})
		for _, p := range projects {
			st, err := m.Trusted().Outline(ctx, p.ID)
			if err != nil {
				return err
			}
			for _, c := range newestStates(st, o) {
				hidden := c.Revoked
				if c.Deleted {
					hidden = "removed"
				}
				a := compositionAnswer{compose.ID(c.Derivation.Output), c.Name, p.Name, timeText(c.Time), c.Tokens, c.Budget, c.Messages, len(c.Parts),
					append([]string{}, c.Used.By...), hidden}
				list = append(list, a)
				t.row(cell{full: c.Name, paint: e.style().cyan}, e.timeCell(c.Time), cell{full: fmt.Sprint(c.Tokens), short: "~" + tokens.Format(c.Tokens)},
					cell{full: fmt.Sprint(c.Budget), short: tokens.Format(c.Budget)}, cell{full: fmt.Sprint(c.Messages)}, cell{full: fmt.Sprint(len(c.Parts))},
					e.usedCell(nil, c.Used), cell{full: p.Name}, cell{full: hidden})
			}
		}
		switch {
		case e.opt.json:
			return e.printJSON("ls", struct {
				Project      string              `json:"project"`
				Compositions []compositionAnswer `json:"compositions"`
			}{sc.Project.Name, list})
		case o.one:
			for _, a := range list {
				e.printf("%s\n", e.safe(a.Name))
			}
			return nil
		case len(list) == 0:
			e.note("no compositions in project %s", sc.Project.Name)
			return nil
		}
		return t.flush()
	})
}

// newestStates returns the newest state of each composition that the options list, the newest first.
func newestStates(st *state.State, o lsOptions) []*bodies.Composition {
	var out []*bodies.Composition
	for _, c := range slices.Backward(st.Compositions) {
		same := func(x *bodies.Composition) bool { return x.Name == c.Name }
		if !slices.ContainsFunc(out, same) && (!c.Deleted || o.all || o.removed) && (c.Revoked == "" || o.all) {
			out = append(out, c)
		}
	}
	return out
}
