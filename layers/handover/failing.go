package handover

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// A Failure is a test that failed, or a command that failed without names of tests.
type Failure struct {
	Test    string // "" if the command named none
	Command string // that ran it
	Tags    string // of the command: flags that select tests
	N       int
}

// Cleared is what a session says about tests that failed before it.
type Cleared struct {
	Tests []string  // names of tests that passed
	Runs  []WideRun // runs that passed and were not limited to some tests
	Kinds []string  // the kinds of checks of which the model said last that all pass, see [kindsIn]
}

// A WideRun is a command that runs all tests of a kind.
type WideRun struct{ Command, Tags string }

// Limits of what a digest keeps about tests.
const (
	maxCleared = 200
	maxWide    = 40
)

// tests follows the tests of a session. A failure ends when the same test passes by name, when a run passes that
// includes it, or when the model says at the end of an exchange that it is fixed.
type tests struct {
	failed  []Failure
	cleared Cleared
}

// ran records a shell line.
func (t *tests) ran(e refine.Entry, list []shell.Command, verdicts []shell.Verdict) {
	for _, name := range e.Passed {
		t.failed = slices.DeleteFunc(t.failed, func(f Failure) bool { return sameTest(f.Test, name) })
		if len(t.cleared.Tests) < maxCleared && !slices.Contains(t.cleared.Tests, name) {
			t.cleared.Tests = append(t.cleared.Tests, name)
		}
	}
	if e.Verdict == string(shell.Passed) {
		for _, name := range selected(list) {
			t.failed = slices.DeleteFunc(t.failed, func(f Failure) bool { return sameTest(f.Test, name) })
			if len(t.cleared.Tests) < maxCleared {
				t.cleared.Tests = append(t.cleared.Tests, name)
			}
		}
	}
	for i, c := range list {
		tags := tagsOf(c.Args)
		switch {
		case verdicts[i] == shell.Passed && !c.Part():
			w := WideRun{c.Name, tags}
			t.failed = slices.DeleteFunc(t.failed, func(f Failure) bool { return w.includes(f) })
			if len(t.cleared.Runs) < maxWide && !slices.Contains(t.cleared.Runs, w) {
				t.cleared.Runs = append(t.cleared.Runs, w)
			}
		case i == len(list)-1 && e.Verdict == string(shell.Failed):
			t.cleared.Kinds = nil
			t.broke(e, c.Name, tags, verdicts[i])
		}
	}
}

// broke records a command that failed, with the names of its tests.
func (t *tests) broke(e refine.Entry, command, tags string, v shell.Verdict) {
	names := e.Failed
	if len(names) == 0 {
		if v != shell.Failed || !shell.IsTester(command) {
			return
		}
		names = []string{""}
	}
	for _, name := range names {
		t.failed = slices.DeleteFunc(t.failed, func(f Failure) bool {
			return f.Test == name && (name != "" || f.Command == command)
		})
		if len(t.failed) == maxFailed { // keep those that failed last
			t.failed = slices.Delete(t.failed, 0, 1)
		}
		t.failed = append(t.failed, Failure{name, command, tags, e.N})
	}
}

// said reads what the model wrote last.
func (t *tests) said(text string) {
	if kinds := passKinds(text); len(kinds) > 0 {
		t.cleared.Kinds = kinds
	}
	t.failed = slices.DeleteFunc(t.failed, func(f Failure) bool {
		return t.cleared.settles(f.Command, f.Tags) || f.Test != "" && saidFixed(text, f.Test)
	})
}

// settles reports whether the model said of the kind of checks that a command runs that all pass.
func (c Cleared) settles(command, tags string) bool {
	of := kindsIn(command + " " + tags)
	return slices.ContainsFunc(c.Kinds, func(k string) bool {
		switch k {
		case "all":
			return true
		case "test":
			return len(of) == 0 || slices.Contains(testKinds, of[0])
		}
		return slices.Contains(of, k)
	})
}

// ends reports whether a later session ends a failure.
func (c Cleared) ends(f Failure) bool {
	return c.settles(f.Command, f.Tags) || slices.ContainsFunc(c.Tests, func(name string) bool { return sameTest(f.Test, name) }) ||
		slices.ContainsFunc(c.Runs, func(w WideRun) bool { return w.includes(f) })
}

// sameTest reports whether a test that passed is one that failed, or contains it.
func sameTest(failed, passed string) bool {
	return failed != "" && (failed == passed || strings.HasPrefix(failed, passed+"/") || strings.HasPrefix(failed, passed+"::"))
}

// selected returns the names of tests that the commands of a line select: of "go test -run TestA" it is TestA.
func selected(list []shell.Command) (out []string) {
	for _, c := range list {
		for i, s := range c.Args {
			flag, value, ok := strings.Cut(strings.TrimLeft(s, "-"), "=")
			if !strings.HasPrefix(s, "-") {
				if strings.Contains(s, "::") || strings.Contains(s, ".test.") || strings.Contains(s, ".spec.") {
					out = append(out, s)
				}
				continue
			}
			if !ok && i+1 < len(c.Args) {
				value = c.Args[i+1]
			}
			if slices.Contains([]string{"run", "test.run", "t", "testNamePattern"}, flag) {
				for name := range strings.SplitSeq(strings.Trim(value, "^$()"), "|") {
					if name = strings.Trim(name, "^$"); name != "" && !strings.ContainsAny(name, `*+?[]\.`) {
						out = append(out, name)
					}
				}
			}
		}
	}
	return out
}

// tagsOf returns the flags of a command that select a kind of tests.
func tagsOf(args []string) string {
	for i, s := range args {
		flag, value, ok := strings.Cut(strings.TrimLeft(s, "-"), "=")
		if !strings.HasPrefix(s, "-") || flag != "tags" && flag != "tag" && flag != "m" && flag != "project" {
			continue
		}
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		return value
	}
	return ""
}

// testKinds are kinds of tests.
var testKinds = []string{"e2e", "integration", "unit"}

// kinds are kinds of checks, with what names them in a task or a sentence. A task called ci or check runs all.
type kind struct {
	kind string
	in   *regexp.Regexp
}

var kinds = sync.OnceValue(func() []kind {
	return []kind{
		{"e2e", regexp.MustCompile(`(?i)e2e|end-to-end`)},
		{"integration", regexp.MustCompile(`(?i)integration`)},
		{"unit", regexp.MustCompile(`(?i)\bunit`)},
		{"lint", regexp.MustCompile(`(?i)lint|credo|clippy|\bruff|\bvet\b|biome`)},
		{"types", regexp.MustCompile(`(?i)type.?check|\btypes\b|\btsc\b|mypy|pyright|dialyzer`)},
		{"format", regexp.MustCompile(`(?i)\b(go)?fmt|format`)},
		{"build", regexp.MustCompile(`(?i)\bbuild|compil`)},
	}
})

// kindsIn returns the kinds of checks that a command or a sentence names.
func kindsIn(s string) (out []string) {
	for _, k := range kinds() {
		if k.in.MatchString(s) {
			out = append(out, k.kind)
		}
	}
	return out
}

// includes reports whether a run that passed includes a failure: the same command, or a wider one.
func (w WideRun) includes(f Failure) bool {
	if w.Command == f.Command {
		return f.Tags == "" || f.Tags == w.Tags
	}
	dir, wide := dirOf(strings.ToLower(w.Command))
	if of, _ := dirOf(strings.ToLower(f.Command)); of != dir {
		return false
	}
	if !shell.IsTester(w.Command) || !shell.IsTester(f.Command) || strings.HasSuffix(wide, " build") {
		return false
	}
	everything := strings.HasSuffix(wide, "ci") || strings.HasSuffix(wide, "all") || strings.HasSuffix(wide, " check") ||
		strings.HasSuffix(wide, " verify")
	return everything || strings.Contains(wide, "test") &&
		slices.Equal(kindsIn(w.Command+" "+w.Tags), kindsIn(f.Command+" "+f.Tags))
}

// passing and doubtful match sentences that say that tests pass, and those that say it of some only.
var (
	passing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\ball\b[^.!\n]{0,60}\b(pass|passes|passed|passing|green)\b|\b(tests?|suite|everything|checks) (now |all |is |are )*(pass|passes|passed|passing|green|succeeds?)\b|\b(lint(ing|er)?|type.?check(s|ing)?|build) (now |is |also )*(clean|pass|passes|passed|green|succeeds)\b`)
	})
	doubtful = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(not|isn't|aren't|don't|doesn't|fail\w*|still|except|but|should|once|until|if|when|will|would|make sure|verify|ensure|unrelated|remaining|broken|expected to|so that|to see|could|let me)\b|n't\b|\?`)
	})
	namesTests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(tests?|suites?|specs?)\b`) })
	fixing     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(pass|passes|passed|passing|fixed|green|resolved|removed|renamed|deleted)\b`)
	})
)

// sentences divides a text.
func sentences(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, ". ", ".\n"), func(r rune) bool { return strings.ContainsRune("\n!。", r) })
}

// passKinds returns the kinds of checks of which a text says, without a reservation, that all pass: "test" are tests of
// every kind, "all" is everything.
func passKinds(text string) (out []string) {
	for _, s := range sentences(text) {
		if !passing().MatchString(s) {
			continue
		}
		if doubtful().MatchString(s) {
			return nil
		}
		of := kindsIn(s)
		tests := namesTests().MatchString(s)
		if tests && !slices.ContainsFunc(of, func(k string) bool { return slices.Contains(testKinds, k) }) {
			of = append(of, "test")
		}
		if len(of) == 0 {
			of = []string{"all"}
		}
		out = append(out, of...)
	}
	return out
}

// saidFixed reports whether a text says of a test that it passes or is gone.
func saidFixed(text, test string) bool {
	for _, s := range sentences(text) {
		if strings.Contains(s, test) && fixing().MatchString(s) && !doubtful().MatchString(s) {
			return true
		}
	}
	return false
}
