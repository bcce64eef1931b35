package handover

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// A command that failed stays one that failed until what it checks passes: by itself, as a part of another one, or as the model
// says. A run that checks less is told with the failure.

// clear records what says that a command that failed passes since.
func (c *Command) clear(since string) { c.End, c.Later = Passed, since }

// failed records the names of the tests that failed in a run.
func (c *Command) failed(names []string) {
	c.Tests, c.Failed = len(names), nil
	for _, name := range names {
		if name = brief.SafeTest(name); name != "" && len(c.Failed) < maxTests && !slices.Contains(c.Failed, name) {
			c.Failed = append(c.Failed, name)
		}
	}
}

// passed tells of a run that passed to the commands that failed before it and check the same: the same command, all of
// what another one checks a part of, or the tests that failed there.
func (s *summary) passed(c Command, names []string) {
	dir, own := dirOf(c.Name)
	for i := range s.d.Commands {
		x := &s.d.Commands[i]
		again := x.drop(func(test string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return test == name || strings.HasPrefix(test, name+":") })
		})
		of, other := dirOf(x.Name)
		switch {
		case x.End != Broke:
		case again, of == dir && (c.checksAll(own, other) || x.Name == c.Name && x.Part != c.Part && (c.Part == "" || c.repeats(*x))):
			x.clear(c.shown(own) + " passed since")
		case of == dir && x.Name == c.Name && x.Part != c.Part:
			x.Later = c.shown(own) + " passed"
		}
	}
}

// mended tells the commands that failed what suggests that they pass since: files were edited, and then a commit passed its hooks,
// or all tests passed, if what failed is a build.
func (s *summary) mended(xs []exchange.Exchange) {
	var edits, commits []int
	for _, x := range xs {
		for _, e := range x.Edits {
			edits = append(edits, e.N)
		}
		for _, c := range x.Commands {
			if c.Commits && !strings.Contains(c.Cmd, "--no-verify") {
				commits = append(commits, c.N)
			}
		}
	}
	for i := range s.d.Commands {
		c := &s.d.Commands[i]
		dir, own := dirOf(c.Name)
		k := slices.IndexFunc(edits, func(n int) bool { return n > c.Since })
		if c.End != Broke || k < 0 || shell.Checks(own) == shell.ChecksIn("") && !shell.IsTester(own) { // it is no check
			continue
		}
		after := func(n int) bool { return n > edits[k] }
		if slices.ContainsFunc(commits, after) {
			c.Mended = "files edited and committed since"
		}
		if !shell.IsTester(own) || shell.Checks(own) != shell.ChecksIn("build") {
			continue
		}
		for _, o := range s.d.Commands {
			if of, other := dirOf(o.Name); o.End == Passed && after(o.N) && of == dir && o.checksAll(other, "test") {
				c.Mended = "files edited since, and then " + o.shown(other) + " passed"
			}
		}
	}
}

// drop removes tests from those that failed. It reports whether none remains.
func (c *Command) drop(is func(test string) bool) bool {
	n := len(c.Failed)
	c.Failed = slices.DeleteFunc(c.Failed, is)
	c.Tests -= n - len(c.Failed)
	return len(c.Failed) < n && c.Tests == 0
}

// checksAll reports whether a command, which is called own in its directory, is a check of the whole project and of the same
// kind as another one.
func (c Command) checksAll(own, other string) bool {
	return c.Part == "" && !shell.Command{Name: own}.Part() && shell.IsTester(own) && shell.IsTester(other) &&
		shell.Checks(own)&shell.Checks(other) != 0
}

// repeats reports whether a part of a command is the same part as one that failed, a wider one, or has all tests that failed, such as
// those that failed last.
func (c Command) repeats(failed Command) bool {
	if c.Name != failed.Name || c.Part == "" || (shell.Command{Name: c.Name, Args: strings.Fields(c.Part)}).Excludes() {
		return false
	}
	return slices.Contains([]string{"--lf", "--last-failed", "--only-failures", "--onlyFailures", "--rerun-failed"}, c.Part) ||
		failed.Part != "" && strings.HasPrefix(failed.Part, c.Part) || len(failed.Failed) > 0 && failed.Tests == len(failed.Failed) &&
		!slices.ContainsFunc(failed.Failed, func(test string) bool { return !strings.Contains(c.Part, test[strings.LastIndexByte(test, ':')+1:]) })
}

// shown returns the command as it is shown in a sentence.
func (c Command) shown(own string) string {
	return "`" + strings.TrimSpace(own+" "+cmp.Or(c.Part, c.Args)) + "`"
}

// reported tells what the model wrote to the commands that failed before.
func (s *summary) reported(text string) {
	passes := passesIn(text)
	if len(passes) == 0 {
		return
	}
	s.d.Passes = passes
	for i := range s.d.Commands {
		if c := &s.d.Commands[i]; c.End == Broke && c.saidToPass(passes) {
			c.clear(saidSince)
		}
	}
}

// saidSince is told of a command that failed if the model said later that it passes.
const saidSince = "said to pass since"

// saidToPass reports whether one of some sentences says that what the command checks passes.
func (c Command) saidToPass(sentences []string) bool {
	_, own := dirOf(c.Name)
	return shell.IsTester(own) && slices.ContainsFunc(sentences, func(s string) bool {
		other := slices.ContainsFunc([]string{"unit", "integration", "e2e"}, func(kind string) bool {
			return strings.Contains(strings.ToLower(s), kind) && !strings.Contains(own+c.Task, kind)
		})
		return !other && shell.Checks(own+" "+c.Task)&shell.ChecksIn(s) != 0
	})
}

var (
	// passing matches sentences that say that all checks of a kind pass, doubtful those with a reservation, and failsNow those that
	// say that something fails.
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\ball\b[^.!\n]{0,60}\b(pass|passes|passed|passing|green)\b|\b(tests?|suite|everything|checks) (now |all |is |are )*(pass|passes|passed|passing|green|succeeds?)\b|\b(lint(ing|er)?|type.?check(s|ing)?|build) (now |is |also )*(clean|pass|passes|passed|green|succeeds)\b`)
	})
	doubtful = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(not|fail\w*|still|except|but|should|once|until|if|when|will|would|make sure|verify|ensure|unrelated|remaining|broken|expected to|so that|to see|could|cannot|unable|skip\w*|disabled|try|tried|hope\w*|before|let me|nicht|others?|rest|most|else|some)\b|n['’]t\b|\?`)
	})
	failsNow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(still|tests?|specs?|suites?|cases?|checks?|lint|build|ci|one|two|three|some|it|they|which|\d+)\b( \w+){0,2} (fails?|failing|failed|broken)\b`)
	})
	halves = strings.NewReplacer(". ", "\n", "; ", "\n", "! ", "\n", "? ", "?\n", ", but ", "\n", "。", "\n")
)

// sentences divides a text at what ends a sentence, or the half of one.
func sentences(text string) []string {
	return strings.FieldsFunc(halves.Replace(text), func(r rune) bool { return r == '\n' || r == '!' })
}

// passesIn returns the sentences of a text that say without a reservation that checks pass, none if another one says that
// something fails.
func passesIn(text string) (out []string) {
	for _, s := range sentences(text) {
		switch {
		case failsNow().MatchString(s):
			return nil
		case passing().MatchString(s) && !doubtful().MatchString(s):
			out = append(out, s)
		}
	}
	return out
}

// ran records the commands of a shell line and their verdicts.
func (s *summary) ran(e refine.Entry) {
	if strings.HasPrefix(e.Result, "refused by the user") {
		return
	}
	list, verdicts := placed(e)
	if s.forms.ran(e) && len(e.Failed) == 0 {
		return // a command that could not run checked nothing
	}
	for i, c := range list {
		s.command(e, c, outcomes[verdicts[i]])
	}
}
