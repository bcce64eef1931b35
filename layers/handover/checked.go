package handover

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
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
		!slices.ContainsFunc(failed.Failed, func(test string) bool { return !namesTest(c.Part, test) })
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
		c := &s.d.Commands[i]
		if c.End != Broke {
			continue
		}
		if c.saidToPass(passes) || shell.IsTester(c.Name) && slices.ContainsFunc(passes, c.calledFailing) {
			c.clear(saidSince)
			continue
		}
		c.drop(func(test string) bool {
			return slices.ContainsFunc(passes, func(s string) bool { return namesTest(s, test) })
		})
	}
}

// calledFailing reports whether a sentence speaks of the tests that failed, without their names.
func (c Command) calledFailing(s string) bool {
	return past().MatchString(s) && len(testsIn(s)) == 0 && (c.Tests <= 1 || strings.Contains(s, "tests") || strings.Contains(s, "specs"))
}

// saidSince is told of a command that failed if the model said later that it passes.
const saidSince = "said to pass since"

// saidToPass reports whether sentences say that the command passes, or each test that failed.
func (c Command) saidToPass(sentences []string) bool {
	left := slices.Clone(c.Failed)
	_, own := dirOf(c.Name)
	for _, s := range sentences {
		left = slices.DeleteFunc(left, func(test string) bool { return namesTest(s, test) })
		if !passing().MatchString(s) && !mendedCheck().MatchString(s) || !shell.IsTester(own) {
			continue
		}
		other := slices.ContainsFunc([]string{"unit", "integration", "e2e"}, func(kind string) bool {
			return strings.Contains(strings.ToLower(s), kind) && !strings.Contains(own+c.Task, kind)
		})
		if !other && shell.Checks(own+" "+c.Task)&shell.ChecksIn(s) != 0 {
			return true
		}
	}
	return len(left) == 0 && c.Tests > 0 && c.Tests == len(c.Failed)
}

var (
	// passing matches sentences that say that all checks of a kind pass, and fixing those that say it of one.
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\ball\b[^.!\n]{0,60}\b(pass|passes|passed|passing|green)\b|\b(tests?|suite|everything|checks) (now |all |is |are )*(pass|passes|passed|passing|green|succeeds?)\b|\b(lint(ing|er)?|type.?check(s|ing)?|build) (now |is |also )*(clean|pass|passes|passed|green|succeeds)\b`)
	})
	fixing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(pass|passes|passed|passing|fixed|green|resolved|solved|succeeds?|works|repaired|corrected|behoben)\b|\b(removed|deleted|renamed)( (the|test|tests))* \W?\w*test|\bl(ä|ae)uft( jetzt| wieder)? durch\b`)
	})
	// mendedCheck matches sentences that say that what a check of a kind complained of is fixed.
	mendedCheck = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(fixed|resolved|solved|addressed|corrected)\b[^.]{0,40}\b(\w*lint\w*|types?|typescript|tsc|format\w*|build|compil\w*|` +
			`credo|dialyzer|clippy|ruff|biome|mypy|pyright|rubocop|staticcheck|vet|prettier)\b( \w+)? (issues?|errors?|warnings?|problems?|failures?|violations?|complaints?)\b`)
	})
	// mended matches what says that something fails no longer, and past what says that it did: neither is a doubt.
	mended = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(no longer|stopped|doesn['’]t|does not|don['’]t|do not) fail\w*( any ?more)?\b`)
	})
	past = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bfail(ing|ed) (\w+ )?(tests?|specs?|suites?|checks?|cases?)\b|` +
			`\b(was|were|been|previously|formerly|earlier|the|these|those|both|that) (failing|failed|broken)\b|\bfailed (because|since|due|before|earlier|as)\b|` +
			`\b(the|this|that|its) (\w+ )?failures?\b|\b(0|no|zero|without( any)?) (\w+ )?(fail\w*|errors?)\b`)
	})
	// doubtful matches sentences with a reservation.
	doubtful = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(not|fail\w*|still|except|but|should|once|until|if|when|will|would|make sure|verify|ensure|unrelated|remaining|broken|expected to|so that|to see|could|cannot|unable|skip\w*|disabled|try|tried|hope\w*|before|let me|nicht)\b|n['’]t\b|\?`)
	})
	others   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(others?|rest|most|else|some)\b`) })
	failsNow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(still|tests?|specs?|suites?|cases?|checks?|lint|build|ci|one|two|three|some|it|they|which|\d+)\b( \w+){0,2} (fails?|failing|failed|broken)\b`)
	})
	pronoun = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(and |now |so )*(it|they|this|that|both|these)\b`)
	})
	testName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\pL\d_./:-]*(test_|_test|::|\.(test|spec)\.|_spec\.)[\pL\d_./:-]*|\bTest[\pL\d_]+|\btest\p{Lu}[\pL\d_]*|[\pL\d_]+Tests?\b`)
	})
	halves = strings.NewReplacer(". ", "\n", "; ", "\n", "! ", "\n", "? ", "?\n", ", but ", "\n", "。", "\n")
)

// sentences divides a text at what ends a sentence, or the half of one.
func sentences(text string) []string {
	return strings.FieldsFunc(halves.Replace(text), func(r rune) bool { return r == '\n' || r == '!' })
}

// testsIn returns the names of tests in a sentence.
func testsIn(s string) []string { return testName().FindAllString(s, -1) }

// namesTest reports whether a sentence names a test, or the last part of its name.
func namesTest(s, test string) bool {
	last := test[strings.LastIndexByte(test, ':')+1:]
	return slices.ContainsFunc(testsIn(s), func(name string) bool {
		name = strings.TrimRight(name, ".:")
		return name == test || name == last || path.Base(test) == name
	})
}

// passesIn returns the sentences of a text that say that checks pass, or tests that are named or called failing: none of the
// first if there is a reservation, and none about what a later one doubts.
func passesIn(text string) (out []string) {
	before, doubted := "", false
	for _, s := range sentences(text) {
		about := s
		if pronoun().MatchString(s) {
			about = before + " " + s
		}
		before = about
		bare := past().ReplaceAllString(mended().ReplaceAllString(s, "passes"), "")
		all, doubt := passing().MatchString(s), doubtful().MatchString(bare)
		doubted = doubted || all && (doubt || others().MatchString(s)) || failsNow().MatchString(bare)
		switch {
		case doubt:
			out = slices.DeleteFunc(out, func(o string) bool {
				return past().MatchString(o) && past().MatchString(about) || slices.ContainsFunc(testsIn(about), func(name string) bool { return slices.Contains(testsIn(o), name) })
			})
		case all, mendedCheck().MatchString(bare) && !others().MatchString(s), fixing().MatchString(bare) && (len(testsIn(about)) > 0 || past().MatchString(about)):
			out = append(out, about)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return doubted && passing().MatchString(s) })
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
