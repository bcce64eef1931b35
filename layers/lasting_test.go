package layers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// TestUndoOfWhatLasts says things of concepts and rules at random, undoes and redoes them: what lists show is what it was, step
// by step.
func TestUndoOfWhatLasts(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := sampleSessions(t)
	p := sessions[0].Project
	sessions = slices.DeleteFunc(sessions, func(r state.Rev) bool { return r.Project.ID != p.ID || r.Session.Parent() != "" })
	rng := rand.New(rand.NewPCG(12, 13))
	past, future := []string{lasting(t, m, p)}, []string{}
	for step := range rounds(200) {
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
			if _, err := history.Undo(ctx, m.DB, p.ID, 1, false); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			past, future = past[:len(past)-1], append(future, past[len(past)-1])
		case k == 3 && len(future) > 0:
			if _, err := history.Redo(ctx, m.DB, p.ID, 1, false); err != nil {
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
func lasting(t *testing.T, m *Memory, p state.Project) string {
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
func anyConcept(t *testing.T, m *Memory, rev state.Rev, rng *rand.Rand) string {
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
func anyRule(t *testing.T, m *Memory, rev state.Rev, rng *rand.Rand) string {
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
