package layers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// looks writes down what lists show of a project: the sessions, their markers and versions, the compositions, the facts.
func looks(t *testing.T, m *Memory, p state.Project) string {
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

// TestUndoIsTheWayBack does operations at random and undoes and redoes them: what lists show is what it was, step by
// step, and the originals stay as they are to the byte.
func TestUndoIsTheWayBack(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := sampleSessions(t)
	p := sessions[0].Project
	sessions = slices.DeleteFunc(sessions, func(r state.Rev) bool { return r.Project.ID != p.ID || r.Session.Parent() != "" })
	sessions = sessions[:min(3, len(sessions))]
	root := originalsOf(t, m, p)
	rng := rand.New(rand.NewPCG(10, 11))
	past, future := []string{looks(t, m, p)}, []string{}
	for step := range rounds(300) {
		switch rng.IntN(3) {
		case 0:
			did := anyOperation(t, m, sessions, rng)
			if now := looks(t, m, p); now != past[len(past)-1] {
				past, future = append(past, now), nil
			} else if did != "" {
				t.Fatalf("step %d: %s changed nothing", step, did)
			}
		case 1:
			_, err := history.Undo(ctx, m.DB, p.ID, 1, false)
			if len(past) == 1 {
				if !errors.Is(err, history.ErrNothingToUndo) {
					t.Fatalf("step %d: undo of nothing: %v", step, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			past, future = past[:len(past)-1], append(future, past[len(past)-1])
		case 2:
			_, err := history.Redo(ctx, m.DB, p.ID, 1, false)
			if len(future) == 0 {
				if !errors.Is(err, history.ErrNothingToUndo) {
					t.Fatalf("step %d: redo of nothing: %v", step, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			past, future = append(past, future[len(future)-1]), future[:len(future)-1]
		}
		if got, want := looks(t, m, p), past[len(past)-1]; got != want {
			t.Fatalf("step %d: it is\n%s\nwant\n%s", step, got, want)
		}
	}
	n := len(past) - 1
	did, err := history.Undo(ctx, m.DB, p.ID, n, false)
	if n > 0 && (err != nil || len(did) != n) {
		t.Fatalf("undo of all %d: %d, %v", n, len(did), err)
	}
	if got := looks(t, m, p); got != past[0] {
		t.Errorf("after undoing all: it is\n%s\nwant\n%s", got, past[0])
	}
	if got := originalsOf(t, m, p); got != root {
		t.Errorf("originals were %s, are %s", root, got)
	}
}

// originalsOf returns the hashes of what the exact originals are.
func originalsOf(t *testing.T, m *Memory, p state.Project) string {
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

// anyOperation does something that can be undone, if it happens to be possible, and says what.
func anyOperation(t *testing.T, m *Memory, sessions []state.Rev, rng *rand.Rand) string {
	t.Helper()
	ctx := context.Background()
	rev := now(t, m, sessions[rng.IntN(len(sessions))])
	st, err := trust.State(ctx, m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	versions := st.VersionsOf(rev.Session.ID)
	switch rng.IntN(12) {
	case 0:
		if rev.Session.Deleted {
			return ""
		}
		must(derive.Remove(ctx, m.DB, rev, true, false))
		return "rm session"
	case 1:
		if len(versions) == 0 {
			return ""
		}
		rev.Kind, rev.Version = state.IsVersion, versions[rng.IntN(len(versions))]
		must(derive.Remove(ctx, m.DB, rev, true, false))
		return "rm version"
	case 2:
		c, err := derive.Compress(ctx, m.DB, rev, compress.Settings{Ratio: 4 + rng.IntN(4)}, false)
		must(err)
		if c.Existed {
			return ""
		}
		return "compress"
	case 3, 4, 8, 9:
		c, err := derive.Compose(ctx, m.DB, derive.ComposeRequest{Project: rev.Project, Name: []string{"one", "two"}[rng.IntN(2)], Budget: 20_000, Parts: []derive.ComposePart{{Rev: rev}}})
		must(err)
		if c.Existed {
			return ""
		}
		return "" // it may have made a version first, which is an operation of its own
	case 5, 10, 11:
		for _, i := range rng.Perm(len(st.Compositions)) {
			if c := st.Compositions[i]; !c.Deleted {
				must(derive.Remove(ctx, m.DB, state.Rev{Kind: state.IsComposition, Project: rev.Project, Composition: c}, true, false))
				return "rm composition"
			}
		}
	case 6:
		marks, err := markers.Keepits(ctx, m.DB, rev)
		must(err)
		if len(marks) > 0 {
			k := marks[rng.IntN(len(marks))]
			if rng.IntN(2) == 0 {
				_, err = markers.RemoveKeepit(ctx, m.DB, rev, k.ID, markers.Edit{})
			} else {
				_, err = markers.SetKeepit(ctx, m.DB, rev, k.ID, (k.Mark.Weight+keepit.Weight(1+rng.IntN(50)))%100, markers.Edit{})
			}
			must(err)
			return "keepit"
		}
	case 7:
		return anyFact(t, m, rev, rng)
	}
	return ""
}

// anyFact states a fact, or removes one.
func anyFact(t *testing.T, m *Memory, rev state.Rev, rng *rand.Rand) string {
	t.Helper()
	ctx := context.Background()
	set, err := revision.Facts(ctx, m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	kind, body := facts.KindExchange, any(facts.Exchange{
		Session: rev.Session.ID, From: 1, To: 2,
		Facts: []facts.Fact{{Kind: facts.Issue, Text: fmt.Sprint("fact ", rng.IntN(5)), Verdict: facts.Stated}},
	})
	did := ""
	if live := set.Live(); len(live) > 0 && rng.IntN(2) == 0 {
		kind, body = facts.KindJudgement, facts.Judgement{Fact: live[0].Key(), Says: facts.Removes, Value: true}
		did = "rm fact"
	}
	err = m.Refs.Update(ctx, rev.Project.ID, "facts", func(tx *refs.Tx) error {
		tx.Trailer("Op", "facts")
		_, err := tx.Add(kind, body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return did
}

// TestUndoLeavesWhatOthersChanged undoes a removal that another operation has changed meanwhile.
func TestUndoLeavesWhatOthersChanged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, sessions := sampleSessions(t)
	rev := sessions[0]
	if err := derive.Remove(ctx, m.DB, rev, false, false); err != nil {
		t.Fatal(err)
	}
	other := records.SetBody{Target: "session/" + rev.Session.ID, Field: "deleted", Value: false}
	u := &history.UndoLog{Values: state.Timeline{}}
	add := func(device string, lamport uint64, commit string, b records.SetBody) {
		st := state.NewState(rev.Project.ID)
		for _, c := range st.SetCells(b) {
			c.Stamp = records.Stamp{Lamport: lamport, Device: device}
			c = u.Values.Add(c)
			if device == "mine" {
				u.Ops = append(u.Ops, &history.UndoOp{Entry: refs.Entry{Commit: commit, Device: device, Lamport: lamport}, From: lamport - 1, Cells: []state.Cell{c}})
			}
		}
	}
	add("mine", 5, "c1", records.SetBody{Target: other.Target, Field: "deleted", Value: true})
	add("theirs", 6, "", other)
	u.Fold()
	if r, say := u.Plan(u.Ops[0], "undo"); len(say) != 0 || len(r.Left) != 1 || len(r.Changed) != 0 {
		t.Errorf("undo of what was changed since: %v, %v", r, say)
	}
	if _, _, ok := u.Next("undo"); ok {
		t.Error("there is something to undo")
	}
}
