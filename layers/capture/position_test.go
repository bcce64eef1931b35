package capture_test

import (
	"fmt"
	mrand "math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/refs"
)

// tornStep is what became of a file at one capture.
type tornStep struct{ text, change string }

// captureSteps captures the file of a session at every step, checks that each captured state can be had
// back exactly, and returns what the changes were called.
func captureSteps(t *testing.T, rules redact.Rules, texts []string) []string {
	t.Helper()
	o := layerstest.TestOptions()
	o.Rules = rules
	m := layerstest.NewMemory(t, o)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	var changes, want []string
	var project refs.Project
	for _, text := range texts {
		a := layerstest.Add(t, m, layerstest.Write(t, path, text))[0]
		project = a.Project.ID
		changes = append(changes, fmt.Sprintf("%s %d", a.Change, a.Now.Generation))
		if a.Change != "unchanged" {
			want = append(want, text)
		}
	}
	got := layerstest.Restored(t, m, project, "s1")
	if len(got) != len(want) {
		t.Fatalf("%d growth points, want %d: %v", len(got), len(want), changes)
	}
	for i := range got {
		if string(got[i]) != want[i] {
			t.Fatalf("growth point %d of %v:\ngot  %q\nwant %q", i, changes, got[i], want[i])
		}
	}
	layerstest.CheckClean(t, m)
	if len(rules.Rules) > 0 {
		layerstest.NoSecret(t, m, project)
	}
	return changes
}

// TestTornEnds captures files whose torn end is later finished, shortened, replaced or gone, or whose
// beginning is another: what is cut out of them makes no difference to what a change is.
func TestTornEnds(t *testing.T) {
	t.Parallel()
	one := layerstest.UserLine(1, "with TOKEN_aaaaaaaa")
	two, other := layerstest.UserLine(2, "and TOKEN_bbbbbbbb"), layerstest.UserLine(3, "quite another TOKEN_cccccccc")
	torn := two[:len(two)/2]
	for _, c := range []struct {
		name  string
		steps []tornStep
	}{
		{"finished", []tornStep{{one + torn, "new 0"}, {one + two, "grown 0"}}},
		{"replaced by a closed value", []tornStep{{one + torn, "new 0"}, {one + other, "grown 0"}, {one + other, "unchanged 0"}}},
		{"replaced by a torn one", []tornStep{{one + torn, "new 0"}, {one + other[:len(other)-3], "grown 0"}, {one + other, "grown 0"}}},
		{"shorter", []tornStep{{one + torn, "new 0"}, {one + torn[:5], "unchanged 0"}, {one + two, "grown 0"}}},
		{"shorter and another", []tornStep{{one + torn, "new 0"}, {one + "x", "grown 0"}, {one + two, "grown 0"}}},
		{"gone", []tornStep{{one + torn, "new 0"}, {one, "unchanged 0"}, {one + torn, "unchanged 0"}, {one + other, "grown 0"}}},
		{"after two values", []tornStep{{one, "new 0"}, {one + two + torn, "grown 0"}, {one + two + other, "grown 0"}}},
		{"the beginning is another", []tornStep{{one + torn, "new 0"}, {other + torn, "rewritten 1"}, {one + two, "grown 0"}, {other + two, "grown 1"}}},
		{"an older copy", []tornStep{{one + two + torn, "new 0"}, {one, "unchanged 0"}, {one + two[:9], "unchanged 0"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var texts, want []string
			for _, s := range c.steps {
				texts, want = append(texts, s.text), append(want, s.change)
			}
			for _, rules := range []redact.Rules{{}, layerstest.ToyRules()} {
				if got := captureSteps(t, rules, texts); strings.Join(got, ", ") != strings.Join(want, ", ") {
					t.Errorf("with rules %q: %v, want %v", rules.ID, got, want)
				}
			}
		})
	}
}

// TestAnyTornEnds does the same with files at random: with cuts and without, the changes are the same and every
// captured state can be had back.
func TestAnyTornEnds(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	rng := mrand.New(mrand.NewPCG(7, 8))
	for range layerstest.Rounds(12) {
		text, texts := layerstest.UserLine(0, "TOKEN_00000000"), []string(nil)
		for range 6 {
			switch line := layerstest.UserLine(rng.IntN(60), fmt.Sprintf("TOKEN_%08d", rng.IntN(4))); rng.IntN(5) {
			case 0:
				text += line
			case 1: // what is not closed is cut off and goes on differently
				text = text[:strings.LastIndexByte(text, '\n')+1] + line
			case 2:
				text += line[:rng.IntN(len(line))]
			case 3:
				text = text[:strings.IndexByte(text, '\n')+1+rng.IntN(len(text)-strings.IndexByte(text, '\n'))]
			case 4:
				text += "\n"
			}
			texts = append(texts, text)
		}
		without, with := captureSteps(t, redact.Rules{}, texts), captureSteps(t, layerstest.ToyRules(), texts)
		if a, b := strings.Join(without, ", "), strings.Join(with, ", "); a != b {
			t.Fatalf("without cuts: %s\nwith cuts:    %s\n%q", a, b, texts)
		}
	}
}
