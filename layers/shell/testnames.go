package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// testNames are the names of tests in an output.
type testNames struct{ failed, passed []string }

// maxNames is the maximal number of names of each kind.
const maxNames = 200

// A nameForm matches a line with the name of a test that failed or passed.
type nameForm struct {
	need   string
	passed bool
	re     string
}

var nameForms = []nameForm{
	{"--- FAIL: ", false, `^\s*--- FAIL: (\S+)(?: \(|$)`},
	{"--- PASS: ", true, `^\s*--- PASS: (\S+)(?: \(|$)`},
	{"FAILED ", false, `^FAILED (\S+::\S+)`},
	{"ERROR ", false, `^ERROR (\S+\.py(?:::\S+)?)`},
	{"::", false, `^(\S+::\S+) FAILED\b`},
	{"::", true, `^(\S+::\S+) PASSED\b`},
	{"FAIL ", false, `^\s*FAIL\s+(\S+\.\w+)(?: >.*)?$`},
	{"PASS ", true, `^PASS\s+(\S+\.\w+)`},
	{"✓", true, `^\s*✓ (\S+\.(?:test|spec)\.\w+) \(`},
	{"● ", false, `^\s*● (.+ › .+)$`},
	{"✕ ", false, `^\s*✕ (.+?)(?: \(\d+ m?s\))?$`},
	{"✓ ", true, `^\s*✓ (.+?)(?: \(\d+ m?s\)| \d+ms)?$`},
	{"✔ ", true, `^\s*✔ (.+?)(?: \([\d.]+m?s\))?$`},
	{"✖ ", false, `^\s*✖ (.+?)(?: \([\d.]+m?s\))?$`},
	{"test ", false, `^test (\S+) \.\.\. FAILED`},
	{"test ", true, `^test (\S+) \.\.\. ok`},
	{"rspec ", false, `^rspec (\S+:\d+)`},
	{") test ", false, `^\s+\d+\) (test .+) \(\S+\)$`},
	{"(fail) ", false, `^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$`},
	{"(pass) ", true, `^\(pass\) (.+?)(?: \[[\d.]+m?s\])?$`},
	{"not ok ", false, `^not ok \d+ -? ?([^#]+)$`},
	{"ok ", true, `^ok \d+ -? ?([^#]+)$`},
	{"Failed ", false, `^\s*Failed ([\w.<>+]+)(?:\(.*\))? \[`},
	{"Passed ", true, `^\s*Passed ([\w.<>+]+)(?:\(.*\))? \[`},
	{" FAILED", false, `^(\S+ > \S+) FAILED$`},
	{" PASSED", true, `^(\S+ > \S+) PASSED$`},
	{"::test", false, `^\d+\) (\S+::test\S*)`},
	{"***Failed", false, `Test +#\d+: (\S+) \.*\*\*\*Failed`},
	{" Passed ", true, `Test +#\d+: (\S+) \.* +Passed`},
	{"(Failed)", false, `^\s*\d+ - (\S+) \(Failed\)`},
	{"' failed", false, `^Test Case '(.+)' failed`},
	{"' passed", true, `^Test Case '(.+)' passed`},
	{" FAILED (", false, `^(\S[^|]*?) \.\.\. FAILED \(`},
	{" ok (", true, `^(\S[^|]*?) \.\.\. ok \(`},
	{") [", false, `^\s+\d+\) \[\w+\] › (.+?) ─*$`},
}

var nameExpressions = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(nameForms))
	for i, f := range nameForms {
		out[i] = regexp.MustCompile(f.re)
	}
	return out
})

const maxTestName = 160

// namesIn returns the names of the tests in an output that failed and passed. A test that did both failed.
func namesIn(out string) (n testNames) {
	for line := range strings.SplitSeq(out, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || len(line) > maxSummary {
			continue
		}
		for i, f := range nameForms {
			if !strings.Contains(line, f.need) {
				continue
			}
			m := nameExpressions()[i].FindStringSubmatch(line)
			if m == nil || len(m[1]) > maxTestName {
				continue
			}
			to := &n.failed
			if f.passed {
				to = &n.passed
			}
			if name := strings.TrimSpace(m[1]); name != "" && len(*to) < maxNames && !slices.Contains(*to, name) {
				*to = append(*to, strings.Clone(name))
			}
			break
		}
	}
	n.passed = slices.DeleteFunc(n.passed, func(s string) bool { return slices.Contains(n.failed, s) })
	return n
}
