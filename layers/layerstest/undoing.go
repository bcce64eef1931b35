package layerstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Looks writes down what lists show of a project: the sessions, their markers and versions, the compositions, the facts.
func Looks(t *testing.T, m *layers.Memory, p state.Project) string {
	t.Helper()
	ctx := context.Background()
	st, err := trust.State(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range st.Sessions {
		fmt.Fprintln(&b, "session", s.ID, s.Deleted)
		marks, err := markers.Keepits(ctx, m.DB, state.Rev{Kind: state.IsSession, Project: p, Session: s, Hash: s.Now().Original})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(marks, func(a, b state.Keepit) int { return strings.Compare(a.Mark.Text, b.Mark.Text) })
		for _, k := range marks {
			fmt.Fprintln(&b, " marker", k.Mark.Message, k.Mark.Weight, k.Mark.Text)
		}
		for _, v := range st.VersionsOf(s.ID) {
			fmt.Fprintln(&b, " version", v.Label, v.Derivation.Output)
		}
	}
	for _, c := range st.Named() {
		fmt.Fprintln(&b, "composition", c.Name, c.Derivation.Output)
	}
	set, err := revision.Facts(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range set.Live() {
		lines = append(lines, fmt.Sprintln("fact", f.Text, f.Resolved))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	return b.String()
}

// OriginalsOf returns the hashes of what the exact originals are.
func OriginalsOf(t *testing.T, m *layers.Memory, p state.Project) string {
	t.Helper()
	st, err := trust.State(context.Background(), m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range st.Sessions {
		var b strings.Builder
		if err := originals.WriteOriginal(context.Background(), m.DB, p.ID, s, s.Now(), &b); err != nil {
			t.Fatal(err)
		}
		all = append(all, s.ID+b.String())
	}
	return fmt.Sprintf("%x", strings.Join(all, "\n"))
}
