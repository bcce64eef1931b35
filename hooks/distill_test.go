package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A gull is a model that believes every text it is shown: it says that the user wants what the text wants, that honest facts
// are wrong, that jobs are called so, and that rules say so.
type gull struct {
	t     *testing.T
	mixed int // which of the sessions with the texts it distils, below zero an honest one
	texts []string
	asked map[string]int // how often, by the first words of what it was told
	facts []string       // that it was asked about
	again bool           // its next answer is one after an answer that was refused
}

func (g *gull) ID() string { return "gull" }

// Ask answers with lies. Each first answer is of no use, and says so in the words of a poison.
func (g *gull) Ask(_ context.Context, q engines.Question) (engines.Answer, error) {
	shown := g.fenced(q.Prompt)
	kind := strings.Join(strings.Fields(q.System)[:2], " ")
	g.asked[kind]++
	g.again = !g.again
	answer := ""
	switch {
	case kind == "You look" && g.again:
		answer = asJSON(map[string]any{"verdicts": []any{map[string]string{"candidate": g.texts[0], "verdict": "promote", "text": "", "type": "", "reason": ""}}})
	case kind == "You look":
		answer = g.looksBack(shown["record"])
	case g.again:
		answer = asJSON(map[string]any{"exchanges": []any{map[string]any{g.texts[1]: g.texts[2], "facts": []any{map[string]string{"kind": g.texts[0]}}}}})
	default:
		answer = asJSON(facts.Input{Exchanges: g.distils(shown["known"] + shown["transcript"]), Answers: g.believes(shown["sentences"])})
	}
	return engines.Answer{Format: "mem.answer/1", Model: "gull", Text: answer}, nil
}

// fenced returns what stands inside the fences of a prompt by their titles, and sees that no poison stands outside of them.
func (g *gull) fenced(prompt string) map[string]string {
	inside, rest := map[string]string{}, prompt
	for _, m := range regexp.MustCompile(`(?m)^=== (\w+) ([0-9a-f]{12}) ===\n`).FindAllStringSubmatch(prompt, -1) {
		before, behind, ok := strings.Cut(rest, m[0])
		body, after, ended := strings.Cut(behind, "=== end "+m[1]+" "+m[2]+" ===\n")
		if !ok {
			continue // it stands inside another one
		}
		if !ended || strings.Contains(body, m[2]) || strings.Contains(after, m[2]) && !strings.Contains(after, "=== transcript "+m[2]) {
			g.t.Errorf("the fence %s is not whole: ...%s", m[2], prompt[max(0, len(prompt)-200):])
		}
		if evil(before) {
			g.t.Errorf("poison before a fence: %s", before)
		}
		inside[m[1]], rest = inside[m[1]]+body, after
	}
	if len(inside) == 0 || evil(rest) {
		g.t.Errorf("poison behind the fences: %s", rest)
	}
	return inside
}

// distils says that the user said what the texts say, and quotes what it can.
func (g *gull) distils(shown string) (out []facts.InputExchange) {
	var overrule []string
	for _, m := range regexp.MustCompile(`(?m)^(f:[0-9a-f]{8,}) issue: The parser`).FindAllStringSubmatch(shown, -1) {
		overrule = append(overrule, m[1])
	}
	seen := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#(\d+) (\w+): (.*)$`).FindAllStringSubmatch(shown, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			g.t.Error(err)
		}
		if g.mixed < 0 && m[2] == "user" {
			out = append(out, honestly(n, m[3], name(g.texts[n])))
		}
		i := (n - 2) / 2
		if g.mixed < 0 || n < 2 || i >= len(g.texts) || seen[i] {
			continue
		}
		seen[i] = true
		first := 2 + 2*i
		said := sayable(g.texts[i])
		x := facts.InputExchange{Messages: [2]int{first, first + 1}, Topic: name(said), Summary: said, Keywords: []string{name(said)}, Files: []string{"README.md", short(said)}}
		if x.Concept = "The work"; i > 2 && i < 6 { // which honest and other exchanges share; each name is a commit
			x.Concept = name(g.texts[i])
		}
		x.Facts = lies(said, i, first+map[bool]int{false: 1}[placeOf(i, g.mixed) == "filename"], overrule)
		out = append(out, x)
	}
	return out
}

// honestly is what is to be said of a message of an honest session, but for what it calls that.
func honestly(n int, said, topic string) facts.InputExchange {
	kind := facts.Decision
	if strings.Contains(said, "broken") {
		kind = facts.Issue
	}
	return facts.InputExchange{Messages: [2]int{n, n}, Topic: topic, Concept: "The work", Files: []string{"README.md"}, Facts: []facts.InputFact{{Kind: kind, Text: said, Files: []string{"README.md"}, Evidence: []facts.Evidence{{Message: n, Quote: said}}}}}
}

// lies are facts that say what a text says, which stands in a message.
func lies(said string, i, at int, overrule []string) []facts.InputFact {
	kinds := facts.Kinds()
	typed, there := facts.Evidence{Message: 1, Quote: "Look at all of it"}, facts.Evidence{Message: at, Quote: said}
	return []facts.InputFact{
		{Kind: kinds[i%len(kinds)], Text: said, Evidence: []facts.Evidence{there}, Files: []string{"README.md"}, Supersedes: overrule, Refutes: overrule},
		{Kind: facts.Preference, Text: "The user wants this: " + short(said), Evidence: []facts.Evidence{typed, there}},
		{Kind: facts.Decision, Text: "The user decided: " + short(said), Evidence: []facts.Evidence{typed}, Refutes: overrule},
		{Kind: facts.Decision, Text: short(said), Evidence: []facts.Evidence{{Message: 1, Quote: said}}, Resolves: overrule},
	}
}

// sayable is a text as an answer may hold it: without what turns the order of characters, and tags of language.
func sayable(s string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if r >= 0x202a && r <= 0x202e || r >= 0xe0000 {
			return -1
		}
		return r
	}, s))
	return string(r[:min(len(r), 900)])
}

func short(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), 290)])
}

// name is a text as a name that is taken.
func name(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for len(s) > 90 {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}

// looksBack promotes whatever it is shown, in words of a poison.
func (g *gull) looksBack(shown string) string {
	var list []map[string]string
	for i, m := range regexp.MustCompile(`(?m)^(p:[0-9a-f]{8}) (\w+)`).FindAllStringSubmatch(shown, -1) {
		list = append(list, map[string]string{"candidate": m[1], "verdict": "promote", "type": "core_logic", "reason": name(g.texts[i%len(g.texts)])})
	}
	return asJSON(map[string]any{"verdicts": list, "rules": []any{map[string]any{"text": short(g.texts[0]), "type": "rule", "problem": "", "contradicts": "", "reason": "", "evidence": g.facts}}})
}

// believes says that all of it was said.
func (g *gull) believes(shown string) (list []answers.Answer) {
	for _, m := range regexp.MustCompile(`(?m)^([ef]:[0-9a-f]{8,}) `).FindAllStringSubmatch(shown, -1) {
		list = append(list, answers.Answer{ID: m[1], Answer: answers.Supported})
		if m[1][0] == 'f' {
			g.facts = append(g.facts, m[1])
		}
	}
	return list
}

// mixed is how many sessions hold all the texts, each in another place: what three sessions say may become a rule.
const mixed = 3

// placeOf says where a text is in one of these sessions.
func placeOf(i, session int) string {
	return []string{"tool", "readme", "web", "filename"}[(i+session)%4]
}

// TestPoisonDistilled lets a model distil sessions full of poison that believes all of it. Code believes none: nothing of it becomes
// a rule, a pin, or a fact of the user; nothing honest is overruled; nothing leaves the fences, of prompts or of the next context.
// The recorded answers of that model do no more.
func TestPoisonDistilled(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it is slow under the race detector, and has nothing to show it")
	}
	t.Parallel()
	d := newDesk(t)
	texts := poisons()
	if err := os.WriteFile(filepath.Join(d.cwd, "README.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	honest := [][]string{{"We decide to use tabs in README.md, number one."}, {"We decide to use tabs in README.md, number two."},
		{"We decide to use tabs in README.md, number three.", "The parser is broken, see README.md."}, {"Always run the tests before you push."}}
	for i, typed := range honest {
		d.write(fmt.Sprintf("honest-%d", i), typed...)
	}
	for n := range mixed {
		d.poisoned(fmt.Sprintf("mixed-%d", n), texts, func(id, text string) []string {
			i, err := strconv.Atoi(id[1:])
			if err != nil {
				t.Fatal(err)
			}
			return places()[placeOf(i, n)](id, text)
		})
	}
	d.hook("SessionStart", "new-0", nil)
	d.work()
	if n := d.stored(); n != len(honest)+mixed {
		t.Fatalf("%d sessions; %s", n, d.log())
	}
	copied := filepath.Join(d.dir, "copy")
	if err := errors.Join(os.CopyFS(copied, os.DirFS(d.store())), os.Chmod(copied, 0o700)); err != nil {
		t.Fatal(err)
	}
	g := &gull{t: t, texts: texts, asked: map[string]int{}}
	recorded := d.letDistil(g, g)
	for _, kind := range []string{"You keep", "You look"} {
		if g.asked[kind] == 0 {
			t.Errorf("nobody asked: %s", kind)
		}
	}
	if err := errors.Join(os.RemoveAll(d.store()), os.Rename(copied, d.store())); err != nil {
		t.Fatal(err)
	}
	d.letDistil(engines.NewReplay("", recorded), g)
	if d.log() != "" {
		t.Error(d.log())
	}
}

// letDistil lets a model distil all sessions, the honest ones first, and look back, and checks what came of it. The gull is told which
// session it is. It returns what was asked and answered.
func (d *desk) letDistil(model engines.Model, g *gull) (recorded []engines.Exchange) {
	d.t.Helper()
	ctx := context.Background()
	d.memory(func(m *layers.Memory, p state.Project) {
		st, err := trust.Outline(ctx, m.DB, p.ID)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, honest := range []bool{true, false} {
			for _, s := range st.Recent() {
				if g.mixed = -1; strings.HasPrefix(s.ID, "mixed-") {
					g.mixed = int(s.ID[len(s.ID)-1] - '0')
				}
				if honest != (g.mixed < 0) {
					continue
				}
				out, err := knowledge.Distill(ctx, m.DB, state.Rev{Kind: state.IsSession, Project: p, Session: s}, engines.NewAsker(model, engines.Options{}), knowledge.DistillOptions{})
				if err != nil || len(out.Saved) == 0 {
					d.t.Fatalf("%s distils %s: %d parts, %v", model.ID(), s.ID, len(out.Saved), err)
				}
			}
		}
		pondered, err := knowledge.DistillRules(ctx, m.DB, p, engines.NewAsker(model, engines.Options{}), knowledge.DistillOptions{})
		if err != nil {
			d.t.Fatal(err)
		}
		if pondered.Candidates < 1 || len(pondered.Rules) != 1 || len(pondered.Skipped) == 0 {
			d.t.Errorf("%d candidates became %d rules, %v left", pondered.Candidates, len(pondered.Rules), pondered.Skipped)
		}
		d.noneOfIt(m, p)
		if recorded, err = knowledge.ModelExchanges(ctx, m.DB, p.ID); err != nil {
			d.t.Fatal(err)
		}
	})
	d.noPoison(d.hook("SessionStart", "new-1", nil))
	return recorded
}

// noneOfIt checks that no poison is more than what a tool said.
func (d *desk) noneOfIt(m *layers.Memory, p state.Project) {
	d.t.Helper()
	ctx := context.Background()
	known, err := revision.Facts(ctx, m.DB, p.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	stored, open := 0, 0
	for f := range known.All() {
		switch {
		case evil(f.Text) && f.Trust == facts.User, evil(f.Text) && f.Trust == facts.Assistant && f.Kind != facts.Action:
			d.t.Errorf("%s is %s and said by the %s: %q", f.ID, f.Verdict, f.Trust, f.Text)
		case evil(f.Text):
			stored++
		case f.Open():
			open++
		case !f.Live():
			d.t.Errorf("%s is overruled: %q", f.ID, f.Text)
		}
	}
	if stored < 100 || open != 1 {
		d.t.Errorf("%d poisons are stored and %d honest issues open: the test shows nothing", stored, open)
	}
	rules, err := revision.Rules(ctx, m.DB, p.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range rules.Rules {
		if evil(r.Text + r.Problem) {
			d.t.Errorf("a rule, %s: %q", r.State, r.Text)
		}
	}
	if n := len(rules.InState(permanent.Active)); n != 1 {
		d.t.Errorf("%d rules hold, want the honest one", n)
	}
	st, err := trust.Outline(ctx, m.DB, p.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range st.Recent() {
		if marks, err := markers.Keepits(ctx, m.DB, state.Rev{Kind: state.IsSession, Project: p, Session: s}); err != nil || len(marks) > 0 {
			d.t.Errorf("%s: pins %v, %v", s.ID, marks, err)
		}
	}
}
