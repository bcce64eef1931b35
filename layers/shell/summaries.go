package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A kind is what a summary proves.
type kind int

const (
	failsRun kind = iota // always
	passes               // it counts everything that ran
	ends                 // if the end of the output is shown: what failed would be after it
	alone                // if all of the output is shown: what failed may be before it
)

// A summary matches a line with which a runner reports how a run ended.
type summary struct {
	need string // that every such line contains
	kind kind
	re   string
	ran  string // that the command contains; "" for any. With "!" before it, that it does not contain
}

// table has the summaries of the known runners.
var table = []summary{
	// Jest, Pest
	{"Test Suites:", failsRun, `^Test Suites:\s.*\b[1-9]\d* failed`, ""},
	{"Test Suites:", passes, `^Test Suites:\s+(\d+ skipped, )?[1-9]\d* passed, (\d+ of )?\d+ total`, ""},
	{"Snapshots:", failsRun, `^Snapshots:\s.*\b[1-9]\d* failed`, ""},
	{"Tests:", failsRun, `^\s*Tests:\s.*\b[1-9]\d* failed`, ""},
	{"Tests:", passes, `^\s*Tests:\s+[^,]*\b[1-9]\d* passed \(\d+ assertions?\)`, ""},
	{"FAIL", failsRun, `^FAIL\s+\S`, ""},
	{"threshold", failsRun, `coverage threshold for .* not met|does not meet (\S+ )?threshold|does not meet minimum threshold`, ""},
	// Vitest
	{"failed", failsRun, `^\s*(Test Files|Tests|Type Tests)\s+[1-9]\d* failed`, ""},
	{"rrors", failsRun, `^\s*(Errors|Type Errors)\s+[1-9]\d* errors?`, ""},
	{"Test Files", ends, `^\s*Test Files\s+[1-9]\d* passed(\s*\|.*)? \(\d+\)`, ""},
	// Mocha, AVA, Cypress, Karma
	{"failing", failsRun, `^\s*[1-9]\d* failing$`, ""},
	{"passing", ends, `^\s*[1-9]\d* passing\b`, ""},
	{"tests failed", failsRun, `^\s*[1-9]\d* tests? failed$`, ""},
	{"un", failsRun, `^\s*[1-9]\d* (unhandled rejections?|uncaught exceptions?)$`, ""},
	{"passed", ends, `^\s*[1-9]\d* tests? passed$`, ""},
	{"All specs passed!", passes, `All specs passed!`, ""},
	{"failed (", failsRun, `[1-9]\d* of \d+ failed \(\d+%\)`, ""},
	{"FAILED)", failsRun, `^.*Executed \d+ of \d+.*\([1-9]\d* FAILED\)`, ""},
	{"TOTAL:", ends, `^TOTAL: [1-9]\d* SUCCESS$`, ""},
	// pytest, unittest
	{" in ", failsRun, `^=*\s*(\d+ [a-z]+, )*[1-9]\d* (failed|errors?)\b.* in [\d.]+s`, ""},
	{"passed", passes, `^=*\s*(\d+ (skipped|deselected|xfailed|xpassed|warnings?), )*[1-9]\d* passed\b.* in [\d.]+s`, ""},
	{"overage", failsRun, `FAIL Required test coverage|Coverage failure: total of`, ""},
	{"Interrupted:", failsRun, `^!+ Interrupted: [1-9]\d* errors?`, ""},
	{"FAILED (", failsRun, `^FAILED \((failures|errors|unexpected)`, ""},
	{"OK", ends, `^OK( \([a-z]+=\d+(, [a-z ]+=\d+)*\))?$`, ""},
	// ExUnit, RSpec, Minitest, Jasmine, Bats, hspec
	{"failure", failsRun, `^(\d+ [a-z]+, )*\d+ (tests?|examples?|specs?|runs)\b.*\b[1-9]\d* (failures?|errors?)`, ""},
	{"failure", passes, `^(\d+ [a-z]+, )*[1-9]\d* (tests?|examples?|specs?|runs)(, \d+ assertions)?, 0 failures(, 0 errors)?(, \d+ (skips|skipped|excluded|pending( specs?)?))*( \(.*\))?$`, ""},
	{"invalid", failsRun, `^(\d+ [a-z]+, )*\d+ tests?, .*\b[1-9]\d* invalid`, ""},
	{"Coverage test failed", failsRun, `^Coverage test failed, threshold not met`, ""},
	{"Incomplete:", failsRun, `^Incomplete: `, ""},
	{"outside of examples", failsRun, `[1-9]\d* errors? occurred outside of examples`, ""},
	{"** (", failsRun, `^\*\* \([A-Z]\w*`, "mix"},
	{"Compilation error", failsRun, `^== Compilation error in file`, ""},
	{"Compilation failed", failsRun, `^Compilation failed due to`, "mix"},
	{"Generated", ends, `^Generated \w+ app$`, "mix compile"},
	{"found no issues", passes, `mods/funs, found no issues\.$`, "mix credo"},
	{"mods/funs, found", failsRun, `mods/funs, found [1-9]`, "mix credo"},
	{"passed successfully", passes, `^done \(passed successfully\)$`, "mix dialyzer"},
	{"were emitted", failsRun, `^done \(warnings were emitted\)$`, "mix dialyzer"},
	{"ERROR! Test suite aborted", failsRun, `.`, ""},
	// npm, pnpm, Yarn, Bun
	{"npm ERR!", failsRun, `^npm ERR! `, ""},
	{"npm error", failsRun, `^npm error `, ""},
	{"ELIFECYCLE", failsRun, `ELIFECYCLE.*(failed|[Tt]est)`, ""},
	{"ERR_PNPM", failsRun, `ERR_PNPM_`, ""},
	{"Command failed with exit code", failsRun, `^error Command failed with exit code [1-9]`, ""},
	{"exited with code", failsRun, `^(error: script ".*"|\[[^\]]+\] .*) exited with code [1-9]`, ""},
	{"fail", failsRun, `^\s*[1-9]\d* fail$`, ""},
	{"fail", ends, `^\s*0 fail$`, ""},
	{"error", failsRun, `^ [1-9]\d* errors?$`, ""},
	{"Done in", ends, `^(✨\s+)?Done in [\d.]+m?s\.?$`, "yarn"},
	{"Done", ends, `Done in \d+s( \d+ms)?$`, "yarn"},
	// .NET
	{"Failed!", failsRun, `^Failed!\s+- Failed:`, ""},
	{"Passed!", alone, `^Passed!\s+- Failed:\s+0,`, ""},
	{"Test summary:", failsRun, `^Test summary: total: \d+, failed: [1-9]`, ""},
	{"Test summary:", passes, `^Test summary: total: [1-9]\d*, failed: 0, succeeded: [1-9]`, ""},
	{"Test Run Failed.", failsRun, `^Test Run Failed\.`, ""},
	{"Test Run Successful.", alone, `^Test Run Successful\.`, ""},
	{"Build FAILED", failsRun, `^Build FAILED`, ""},
	{"Build succeeded", ends, `^Build succeeded`, "build"},
	{": error ", failsRun, `: error [A-Z]{2,6}\d+:`, ""},
	// Cargo
	{"test result:", failsRun, `^test result: FAILED\.`, ""},
	{"test result:", ends, `^test result: ok\.`, ""},
	{"error", failsRun, `^error: could not compile|^error: test failed|^error(\[E\d+\])?: aborting due to|^error: [1-9]\d* targets? failed|^error\[E\d+\]:`, ""},
	{"tests run:", failsRun, `^\s*Summary .*tests? run:.*\b[1-9]\d* (failed|timed out)`, ""},
	{"tests run:", ends, `^\s*Summary .*\b[1-9]\d* tests? run: [1-9]\d* passed`, ""},
	{"Finished", ends, `^\s*Finished .*target\(s\) in `, "cargo build"},
	{"Finished", ends, `^\s*Finished .*target\(s\) in `, "cargo check"},
	{"Finished", ends, `^\s*Finished .*target\(s\) in `, "cargo clippy"},
	// PHPUnit
	{"!", failsRun, `^(FAILURES|ERRORS)!$`, ""},
	{"Assertions:", failsRun, `^Tests: \d+, Assertions: \d+.*\b(Failures|Errors): [1-9]`, ""},
	{"OK (", passes, `^OK \([1-9]\d* tests?, \d+ assertions?\)`, ""},
	// Gradle, Maven, sbt
	{"BUILD FAIL", failsRun, `\bBUILD FAIL(ED|URE)\b`, ""},
	{"BUILD SUCCESS", passes, `^(\[INFO\] )?BUILD SUCCESS(FUL in .*)?$`, ""},
	{"Failed to execute goal", failsRun, `^\[ERROR\] Failed to execute goal `, ""},
	{"Tests run:", failsRun, `Tests run: \d+, +Failures: (\d+, +Errors: [1-9]|[1-9])`, ""},
	{"[error]", failsRun, `^\[error\] (Failed: Total|.*TestsFailedException|.*Compilation failed)`, ""},
	{"[success]", ends, `^\[success\] Total time`, ""},
	// CTest
	{"tests passed,", failsRun, `^\d+% tests passed, [1-9]\d* tests? failed out of \d+`, ""},
	{"tests passed,", passes, `^100% tests passed, 0 tests failed out of [1-9]`, ""},
	{"Errors while running CTest", failsRun, `.`, ""},
	{"ninja: build stopped", failsRun, `^ninja: build stopped:`, ""},
	// Go, gotestsum, golangci-lint, staticcheck
	{"FAIL", failsRun, `^FAIL$|^--- FAIL: `, ""},
	{"ok", ends, `^ok\s+\S+\s+(\(cached\)|[\d.]+s)`, ""},
	{".go:", failsRun, `^(vet: )?[\w./@-]+\.go:\d+:\d+: `, "go build"},
	{".go:", failsRun, `^(vet: )?[\w./@-]+\.go:\d+:\d+: `, "go vet"},
	{".go:", failsRun, `^(vet: )?[\w./@-]+\.go:\d+:\d+: `, "go install"},
	{"DONE", failsRun, `^DONE \d+ tests?\b.*[1-9]\d* (failures?|errors?)`, ""},
	{"DONE", ends, `^DONE [1-9]\d* tests?(, \d+ skipped)? in `, ""},
	{"issue", failsRun, `^[1-9]\d* issues?:$`, ""},
	{"issues.", passes, `^0 issues\.$`, ""},
	// TAP, node --test, prove
	{"not ok", failsRun, `^not ok\b`, ""},
	{"fail", failsRun, `^(#|ℹ) fail(ed)?:? +[1-9]`, ""},
	{"cancelled", failsRun, `^(#|ℹ) cancelled +[1-9]`, ""},
	{"fail", ends, `^(#|ℹ) fail +0$`, ""},
	{"failed", failsRun, `^# failed \d+ of \d+ tests`, ""},
	{"Result:", failsRun, `^Result: FAIL`, ""},
	{"Result:", ends, `^Result: PASS`, ""},
	// Deno
	{"FAILED |", failsRun, `^FAILED \| `, ""},
	{"ok |", passes, `^ok \| [1-9]\d* passed\b.*\| 0 failed`, ""},
	{"error: Test failed", failsRun, `^error: Test failed`, ""},
	// Swift, Xcode
	{"Executed", failsRun, `Executed \d+ tests?, with (\d+ tests? skipped and )?[1-9]\d* failures?`, ""},
	{"Executed", ends, `Executed [1-9]\d* tests?, with (\d+ tests? skipped and )?0 failures`, ""},
	{"Test run with", failsRun, `Test run with \d+ tests?.* failed`, ""},
	{"Test run with", alone, `Test run with [1-9]\d* tests?.* passed`, ""},
	{"** ", failsRun, `\*\* (TEST|BUILD|ARCHIVE) FAILED \*\*`, ""},
	{"** ", passes, `\*\* (TEST|BUILD|ARCHIVE) SUCCEEDED \*\*`, ""},
	{"error:", failsRun, `^error: (fatalError|Compilation failed|emit-module command failed)`, ""},
	{"Build complete!", ends, `^Build complete!`, "swift build"},
	// Playwright
	{"failed", failsRun, `^\s+[1-9]\d* failed$`, ""},
	{"interrupted", failsRun, `^\s+[1-9]\d* interrupted$`, ""},
	{"not a part of any test", failsRun, `.`, ""},
	{"passed (", alone, `^\s+[1-9]\d* passed \([\d.]+(ms|s|m|h)\)`, "!--fail-on-flaky-tests"},
	// ESLint, Biome, Prettier, Stylelint, svelte-check
	{"problem", failsRun, `^✖ \d+ problems? \([1-9]\d* errors?`, ""},
	{"too many warnings", failsRun, `^ESLint found too many warnings`, ""},
	{"Prettier code style!", passes, `^All matched files use Prettier code style!`, ""},
	{"Code style issues", failsRun, `Code style issues (found|in)`, ""},
	{"Checked", ends, `^Checked \d+ files? in .*(No fixes applied|Fixed \d+ files?)\.?$`, ""},
	{" emitted while", failsRun, `× Some (errors|warnings) were emitted while`, ""},
	{"svelte-check found", failsRun, `svelte-check found [1-9]\d* errors?`, ""},
	{"svelte-check found", ends, `svelte-check found 0 errors`, "!--fail-on-warnings"},
	// TypeScript, Ruff, mypy, Pyright, Black, RuboCop, PHPStan
	{"Found", failsRun, `^(\[ERROR\] )?Found [1-9]\d* errors?\b`, ""},
	{"Found", failsRun, `^Found \d+ warnings? and [1-9]\d* errors?`, ""},
	{"Found 0 errors", ends, `^Found 0 errors`, "tsc"},
	{"All checks passed!", passes, `^All checks passed!$`, ""},
	{"would be reformatted", failsRun, `\b[1-9]\d* files? would be reformatted`, ""},
	{"already formatted", passes, `^\d+ files? already formatted$`, ""},
	{"Success: no issues", passes, `^Success: no issues found`, ""},
	{"errors,", failsRun, `^[1-9]\d* errors?, \d+ warnings?`, ""},
	{"errors,", ends, `^0 errors, \d+ warnings?`, "!--warnings"},
	{"offenses", failsRun, `files? inspected, [1-9]\d* offenses? detected$`, ""},
	{"no offenses detected", passes, `files? inspected, no offenses detected`, ""},
	// Make, just, Task, mise, pre-commit, tox, Turborepo, Bazel
	{"***", failsRun, `^g?make(\[\d+\])?: \*\*\* `, ""},
	{"Recipe", failsRun, "^error: Recipe [`'].* failed", ""},
	{"task: Failed", failsRun, `^task: Failed to run task`, ""},
	{"ERROR task failed", failsRun, `ERROR task failed`, ""},
	{"...Failed", failsRun, `\.{3,}Failed$`, "pre-commit"},
	{"evaluation failed", failsRun, `evaluation failed :\(`, ""},
	{"congratulations", ends, `congratulations :\)`, ""},
	{"did NOT complete", failsRun, `Build did NOT complete successfully`, ""},
	{"Failed:", failsRun, `^\s*Failed:\s+\S+#\S+`, ""},
	// bundlers
	{"Failed to compile", failsRun, `^Failed to compile`, ""},
	{"built in", ends, `^✓ built in [\d.]+m?s$`, ""},
	{"error during build", failsRun, `^error during build:`, ""},
	{"compiled with", failsRun, `compiled with [1-9]\d* errors?`, ""},
	{"compiled successfully", ends, `compiled successfully`, "build"},
	// Flutter, Zig, R, busted
	{"tests failed.", failsRun, `Some tests failed\.$`, ""},
	{"tests passed!", ends, `All tests passed!$|^\W*All tests passed!`, ""},
	{"passed.", ends, `^All [1-9]\d* tests? passed\.`, ""},
	{"failed.", failsRun, `\d+ passed; (\d+ skipped; )?[1-9]\d* failed\.`, ""},
	{"[ FAIL", failsRun, `\[ FAIL [1-9]`, ""},
	{"[ FAIL", ends, `\[ FAIL 0 \|`, ""},
	{"successes /", failsRun, `^\d+ success(es)? / ([1-9]|\d+ failures? / [1-9])`, ""},
}

// reportsOn has what the summaries of a pass report on by the text that they need. All others are of tests. A failure can be
// one of anything, but for FAIL.
var reportsOn = map[string]checks{
	"Done in": anything, "Done": anything, "BUILD SUCCESS": anything, "[success]": anything, "** ": anything, "Finished": builds | lints,
	"Build succeeded": builds, "Build complete!": builds, "built in": builds, "compiled successfully": builds, "Generated": builds,
	"issues.": lints, "All checks passed!": lints, "Success: no issues": types | lints, "no offenses detected": lints, "found no issues": lints,
	"errors,": types, "Found 0 errors": types, "svelte-check found": types, "passed successfully": types | lints,
	"Prettier code style!": formats, "already formatted": formats, "Checked": lints | formats,
}

// compiled has the expressions of table.
var compiled = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(table))
	for i, s := range table {
		out[i] = regexp.MustCompile(s.re)
	}
	return out
})

// prefixed matches what a runner of several packages puts before each line, and Maven's level.
var prefixed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\[[\w:./@-]+\]\s+|[@\w./-]+[:#][\w:-]+: +|[@\w./-]+ [\w:-]+: +|[\w.-]+\s+\| )`)
})

// many are words of commands that run the scripts of several packages, each with its own summary.
var many = []string{" --workspaces", " -ws ", " --recursive", "pnpm -r ", "pnpm --filter", "workspaces foreach", "lerna run",
	"nx run-many"}

const maxSummary = 600

// A hit is a line that reports a pass or a failure, with what it reports on.
type hit struct {
	line string
	of   checks
}

// scan returns the lines of an output that report a pass and the first that reports a failure. A pass counts only as far
// as the view of the output permits.
func scan(out, ran string, sees view) (passed []hit, failed hit) {
	if strings.Contains(out, "<persisted-output>") || strings.Contains(out, " lines truncated] ...") {
		sees = min(sees, start)
	}
	lines := strings.Split(out, "\n")
	lastGo, tests, running, last := "", false, 0, 0
	multi := slices.ContainsFunc(many, func(m string) bool { return strings.Contains(ran+" ", m) })
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || len(line) > maxSummary {
			continue
		}
		k, of, ok := match(line, ran)
		if !ok {
			if at := prefixed().FindStringIndex(line); at != nil && at[1] < len(line) {
				if k, of, ok = match(line[at[1]:], ran); ok && k == passes {
					k = ends // of one part of the run
				}
			}
		}
		if !ok && strings.Contains(line, "$ ") {
			k, of, ok = quiet(line, lines[i+1:])
		}
		if goLine(line) {
			lastGo = line
		}
		tests = tests || strings.HasPrefix(line, "Ran ") && !strings.HasPrefix(line, "Ran 0 ")
		if n, is := strings.CutPrefix(line, "Running "); is {
			running, _ = strconv.Atoi(strings.Split(n, " ")[0])
		}
		if !ok {
			continue
		}
		if strings.HasPrefix(line, "OK") && !strings.HasPrefix(line, "OK (") && !tests {
			continue // the end of a test run only after its count
		}
		switch {
		case k == failsRun:
			if failed.line == "" {
				failed = hit{strings.TrimSpace(line), of}
			}
		case multi && sees < whole,
			k == ends && sees < end,
			k == alone && sees < whole && (running == 0 || !strings.HasPrefix(strings.TrimSpace(line), strconv.Itoa(running)+" ")),
			k == passes && sees < filtered:
		default:
			passed, last = append(passed, hit{strings.TrimSpace(line), of}), i
		}
	}
	if failed.line == "" && slices.ContainsFunc(lines[min(last+1, len(lines)):], endsBadly().MatchString) {
		passed = nil
	}
	if lastGo == "FAIL" {
		passed = slices.DeleteFunc(passed, func(h hit) bool { return goLine(h.line) })
	}
	return passed, failed
}

// endsBadly matches a line after a summary that says that the run failed for another reason: a status, an error, or a
// coverage that is too low. Such a run has no verdict.
var endsBadly = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(exit(ed)?|status|code|ExitFailure)\b( with)?( code| status)?\W{0,3}[1-9]|` +
		`^\W*([a-z]\S* ){0,3}(errors?|failed|failure|fail|fatal|panic|abort(ed|ing))\b[^|]*$|^ +Running \S|` +
		`\b(failed|aborted)\W*$|\b(below|does not meet|less than)\b`)
})

// goLine reports whether go test ends a package, or all, with this line.
func goLine(line string) bool {
	return line == "FAIL" || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") ||
		strings.HasPrefix(line, "?   \t")
}

// match returns what a line proves, and of which checks.
func match(line, ran string) (k kind, of checks, ok bool) {
	for i, s := range table {
		without, not := strings.CutPrefix(s.ran, "!")
		if !strings.Contains(line, s.need) || not == strings.Contains(ran, without) && s.ran != "" || excused(line) {
			continue
		}
		if compiled()[i].MatchString(line) {
			of, known := reportsOn[s.need]
			switch {
			case s.kind == failsRun && s.need != "FAIL":
				of = anything
			case !known:
				of = tests
			}
			return s.kind, of, true
		}
	}
	return 0, 0, false
}

// quiet reports whether a line is that with which a runner of tasks says that it runs a program which prints nothing if
// it passes, and what follows is nothing or the line of the next one.
func quiet(line string, rest []string) (k kind, of checks, ok bool) {
	m := ran().FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return 0, 0, false
	}
	list := Parse(m[1])
	if len(list) != 1 || !silent(list[0]) {
		return 0, 0, false
	}
	for _, next := range rest {
		if next = strings.TrimSpace(next); next != "" {
			return ends, checksOf(list[0]), ran().MatchString(next)
		}
	}
	return ends, checksOf(list[0]), true
}

// excused reports whether a line that looks like a failure is none.
func excused(line string) bool {
	return strings.HasPrefix(line, "not ok") && (strings.Contains(line, "# TODO") || strings.Contains(line, "# SKIP") ||
		strings.Contains(line, "# todo") || strings.Contains(line, "# skip")) ||
		strings.HasPrefix(line, "Found ") && strings.Contains(line, "0 remaining")
}
