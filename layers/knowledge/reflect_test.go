package knowledge_test

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
)

// A slow model answers after something has happened.
type slow struct {
	answer    string
	meanwhile func()
}

func (s *slow) ID() string { return "slow m1" }

func (s *slow) Ask(context.Context, engines.Question) (engines.Answer, error) {
	s.meanwhile()
	return engines.Answer{Model: "m1", Text: s.answer}, nil
}

// TestDistillMeanwhile forgets a message while a model is asked about its session, or about what may be worth keeping for good: nothing
// of what the model was shown is stored.
func TestDistillMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, ask := range map[string]func(m *layers.Memory, rev state.Rev, meanwhile func()) error{
		"distill": func(m *layers.Memory, rev state.Rev, meanwhile func()) error {
			answer := `{"exchanges":[{"messages":[1,2],"summary":"","topic":"tests","keywords":[],"files":[],"facts":[` +
				`{"kind":"request","text":"The user wants to go on with the tests.","evidence":[{"message":2,"quote":"go on with the tests"}]}]}]}`
			_, err := knowledge.Distill(ctx, m.DB, rev, engines.NewAsker(&slow{answer, meanwhile}, engines.Options{}), knowledge.DistillOptions{})
			return err
		},
		"reflect": func(m *layers.Memory, rev state.Rev, meanwhile func()) error {
			_, err := knowledge.DistillRules(ctx, m.DB, rev.Project, engines.NewAsker(&slow{`{"verdicts":[]}`, meanwhile}, engines.Options{}), knowledge.DistillOptions{Again: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := layerstest.TestOptions()
			o.Caps = state.Caps{Tokens: -1, Micros: -1}
			m := layerstest.NewMemory(t, o)
			layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "Remember: always call me zaphod.")+layerstest.UserLine(2, "and go on with the tests")))
			asked := 0
			err := ask(m, layerstest.RevOf(t, m, "aaaa0001"), func() {
				if asked++; asked == 1 {
					layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
				}
			})
			if !errors.Is(err, originals.ErrInputDeleted) || asked == 0 {
				t.Errorf("asked %d times: %v", asked, err)
			}
			if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
			layerstest.Roots(t, m)
		})
	}
}
