package handover

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// A command that failed stays one that failed until it passes: what passed later is told with it, and the reader decides what
// that says of it.

// failed records the names of the tests that failed in a run.
func (c *Command) failed(names []string) {
	c.Tests, c.Failed = len(names), nil
	for _, name := range names {
		if name = brief.SafeTest(name); name != "" && len(c.Failed) < maxTests && !slices.Contains(c.Failed, name) {
			c.Failed = append(c.Failed, name)
		}
	}
}

// passed tells of a run that passed to the commands that failed before it and check the same: the same command, or all of
// what another one checks a part of.
func (s *summary) passed(c Command, names []string) {
	dir, own := dirOf(c.Name)
	for i := range s.d.Commands {
		x := &s.d.Commands[i]
		x.Failed = slices.DeleteFunc(x.Failed, func(test string) bool { return slices.Contains(names, test) })
		of, other := dirOf(x.Name)
		if x.End == Broke && of == dir && (x.Name != c.Name || x.Part != c.Part) && (x.Name == c.Name || c.checksAll(own, other)) {
			x.Later = c.shown(own) + " passed"
		}
	}
}

// checksAll reports whether a command, which is called own in its directory, is a check of the whole project and of the same
// kind as another one.
func (c Command) checksAll(own, other string) bool {
	return c.Part == "" && !shell.Command{Name: own}.Part() && shell.IsTester(own) && shell.IsTester(other) &&
		shell.Checks(own)&shell.Checks(other) != 0
}

// shown returns the command as it is shown in a sentence.
func (c Command) shown(own string) string {
	return "`" + strings.TrimSpace(own+" "+cmp.Or(c.Part, c.Args)) + "`"
}

// reported tells what the model wrote to the commands that failed before.
func (s *summary) reported(text string) {
	passes := passesIn(text)
	if len(passes) > 0 {
		s.d.Passes = passes
	}
	for i := range s.d.Commands {
		if c := &s.d.Commands[i]; c.End == Broke && c.saidToPass(passes) {
			c.Later = saidLater
		}
	}
}

// saidLater is told of a command that failed if the model said later that it passes.
const saidLater = "said to pass"

// saidToPass reports whether sentences say that the command passes.
func (c Command) saidToPass(sentences []string) bool {
	_, own := dirOf(c.Name)
	return shell.IsTester(own) && slices.ContainsFunc(sentences, func(s string) bool {
		for _, kind := range []string{"unit", "integration", "e2e"} {
			if strings.Contains(s, kind) && !strings.Contains(own+c.Task, kind) {
				return false
			}
		}
		return shell.Checks(own+" "+c.Task)&shell.ChecksIn(s) != 0
	})
}

// passing and doubtful match sentences that say that checks pass, and those that say it with a reservation.
var (
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\ball\b[^.!\n]{0,60}\b(pass|passes|passed|passing|green)\b|\b(tests?|suite|everything|checks) (now |all |is |are )*(pass|passes|passed|passing|green|succeeds?)\b|\b(lint(ing|er)?|type.?check(s|ing)?|build) (now |is |also )*(clean|pass|passes|passed|green|succeeds)\b`)
	})
	doubtful = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(not|isn't|aren't|don't|doesn't|fail\w*|still|except|but|should|once|until|if|when|will|would|make sure|verify|ensure|unrelated|remaining|broken|expected to|so that|to see|could|let me)\b|n't\b|\?`)
	})
)

// sentences divides a text.
func sentences(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, ". ", ".\n"), func(r rune) bool { return strings.ContainsRune("\n!。", r) })
}

// passesIn returns the sentences of a text that say that checks pass, none if one of them has a reservation.
func passesIn(text string) (out []string) {
	for _, s := range sentences(text) {
		switch {
		case !passing().MatchString(s):
		case doubtful().MatchString(s):
			return nil
		default:
			out = append(out, strings.ToLower(s))
		}
	}
	return out
}

// ran records the commands of a shell line and their verdicts.
func (s *summary) ran(e refine.Entry) {
	if strings.HasPrefix(e.Result, "refused by the user") {
		return
	}
	if e.Exit == 0 && e.Result == "ok" && len(e.Cmd) <= maxForm {
		for _, c := range shell.Parse(e.Cmd) {
			switch hooks, sends := hooked(c); {
			case sends && !hooks:
				s.d.Unhooked = e.N
			case sends:
				s.d.Unhooked = 0
			}
		}
	}
	list, verdicts := placed(e)
	if s.forms.ran(e) && len(e.Failed) == 0 {
		return // a command that could not run checked nothing
	}
	for i, c := range list {
		s.command(e, c, outcomes[verdicts[i]])
	}
}
