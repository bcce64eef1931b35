package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TestUndoOfWhatLasts says things of concepts and rules at random, undoes and redoes them: what lists show is what it was, step
// by step.
func TestUndoOfWhatLasts(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	p := sessions[0].Project
	sessions = slices.DeleteFunc(sessions, func(r state.Rev) bool { return r.Project.ID != p.ID || r.Session.Parent() != "" })
	rng := rand.New(rand.NewPCG(12, 13))
	past, future := []string{lasting(t, m, p)}, []string{}
	for step := range layerstest.Rounds(200) {
		switch k := rng.IntN(4); {
		case k < 2:
			rev := sessions[rng.IntN(len(sessions))]
			did := ""
			if k == 0 {
				did = anyConcept(t, m, rev, rng)
			} else {
				did = anyRule(t, m, rev, rng)
			}
			if did != "" {
				past, future = append(past, lasting(t, m, p)), nil
			}
		case k == 2 && len(past) > 1:
			if _, err := history.Undo(ctx, m.DB, p.ID, 1, history.Options{}); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			past, future = past[:len(past)-1], append(future, past[len(past)-1])
		case k == 3 && len(future) > 0:
			if _, err := history.Redo(ctx, m.DB, p.ID, 1, history.Options{}); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			past, future = append(past, future[len(future)-1]), future[:len(future)-1]
		}
		if got, want := lasting(t, m, p), past[len(past)-1]; got != want {
			t.Fatalf("step %d: it is\n%s\nwant\n%s", step, got, want)
		}
	}
}

// lasting writes down what lists show of concepts and rules.
func lasting(t *testing.T, m *layers.Memory, p state.Project) string {
	t.Helper()
	ctx := context.Background()
	known, err := revision.Concepts(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := revision.Rules(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range known.Live() {
		fmt.Fprintln(&b, "concept", c.Label, c.Name, c.Topic, len(c.Sessions), c.Exchanges)
	}
	for _, r := range rules.Rules {
		fmt.Fprintln(&b, "rule", r.Text, r.State, r.Confidence, r.Contradictions, r.Stated)
	}
	return b.String()
}

// anyConcept says something of concepts, and says what.
func anyConcept(t *testing.T, m *layers.Memory, rev state.Rev, rng *rand.Rand) string {
	t.Helper()
	ctx := context.Background()
	set, err := revision.Concepts(ctx, m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	live := set.Live()
	member := []knowledge.Member{{Project: rev.Project, Session: rev.Session.ID}}
	what := rng.IntN(5)
	if len(live) < 2 {
		what = 0
	}
	var c *concepts.Concept
	if len(live) > 0 {
		c = live[rng.IntN(len(live))]
	}
	change := func(field, value string) error {
		return knowledge.ChangeConcept(ctx, m.DB, rev.Project, field+" "+c.Label, concepts.Change{Concept: c.Record, Field: field, Value: value})
	}
	switch what {
	case 0:
		_, err = knowledge.Assign(ctx, m.DB, rev.Project, member, knowledge.Target{New: &concepts.Definition{Name: fmt.Sprint("job ", rng.IntN(1000))}}, false)
	case 1:
		if set.SessionMembership(rev.Session.ID).Concept == c {
			return ""
		}
		_, err = knowledge.Assign(ctx, m.DB, rev.Project, member, knowledge.Target{Concept: c}, false)
	case 2:
		err = change("name", fmt.Sprint("other ", rng.IntN(1000)))
	case 3:
		err = change("removed", "true")
	default:
		other := live[rng.IntN(len(live))]
		if other == c {
			return ""
		}
		err = change("into", other.Record)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "concept"
}

// anyRule states a rule or does something to one, and says what.
func anyRule(t *testing.T, m *layers.Memory, rev state.Rev, rng *rand.Rand) string {
	t.Helper()
	ctx := context.Background()
	set, err := revision.Rules(ctx, m.DB, rev.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Rules) == 0 || rng.IntN(2) == 0 {
		_, err = knowledge.AddRule(ctx, m.DB, rev.Project, permanent.Definition{
			Type: permanent.TypeRule, Text: fmt.Sprint("rule ", rng.IntN(1000)), Trust: facts.Assistant, Confidence: 70, State: permanent.Active,
		}, false)
	} else {
		acts := []string{permanent.Validate, permanent.Contradict, permanent.Retire, permanent.Promote}
		_, err = knowledge.Act(ctx, m.DB, rev.Project, set.Rules[rng.IntN(len(set.Rules))], permanent.Act{Act: acts[rng.IntN(len(acts))]}, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "rule"
}

// TestUndoIsTheWayBack does operations at random and undoes and redoes them: what lists show is what it was, step by
// step, and the originals stay as they are to the byte.
func TestUndoIsTheWayBack(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	p := sessions[0].Project
	sessions = slices.DeleteFunc(sessions, func(r state.Rev) bool { return r.Project.ID != p.ID || r.Session.Parent() != "" })
	sessions = sessions[:min(3, len(sessions))]
	root := layerstest.OriginalsOf(t, m, p)
	rng := rand.New(rand.NewPCG(10, 11))
	past, future := []string{layerstest.Looks(t, m, p)}, []string{}
	for step := range layerstest.Rounds(300) {
		switch rng.IntN(3) {
		case 0:
			did := anyOperation(t, m, sessions, rng)
			if now := layerstest.Looks(t, m, p); now != past[len(past)-1] {
				past, future = append(past, now), nil
			} else if did != "" {
				t.Fatalf("step %d: %s changed nothing", step, did)
			}
		case 1:
			_, err := history.Undo(ctx, m.DB, p.ID, 1, history.Options{})
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
			_, err := history.Redo(ctx, m.DB, p.ID, 1, history.Options{})
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
		if got, want := layerstest.Looks(t, m, p), past[len(past)-1]; got != want {
			t.Fatalf("step %d: it is\n%s\nwant\n%s", step, got, want)
		}
	}
	n := len(past) - 1
	did, err := history.Undo(ctx, m.DB, p.ID, n, history.Options{})
	if n > 0 && (err != nil || len(did) != n) {
		t.Fatalf("undo of all %d: %d, %v", n, len(did), err)
	}
	if got := layerstest.Looks(t, m, p); got != past[0] {
		t.Errorf("after undoing all: it is\n%s\nwant\n%s", got, past[0])
	}
	if got := layerstest.OriginalsOf(t, m, p); got != root {
		t.Errorf("originals were %s, are %s", root, got)
	}
}

// anyOperation does something that can be undone, if it happens to be possible, and says what.
func anyOperation(t *testing.T, m *layers.Memory, sessions []state.Rev, rng *rand.Rand) string {
	t.Helper()
	ctx := context.Background()
	rev := layerstest.Now(t, m, sessions[rng.IntN(len(sessions))])
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
		c, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 4 + rng.IntN(4)}, false)
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
func anyFact(t *testing.T, m *layers.Memory, rev state.Rev, rng *rand.Rand) string {
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
	m, sessions := layerstest.SampleSessions(t)
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
	var refused *history.RefusedError
	if _, _, err := u.Next("undo", ""); !errors.As(err, &refused) || refused.Operation.Commit != "c1" || !refused.Last {
		t.Errorf("the last operation was changed by another device: %v", err)
	}
}
