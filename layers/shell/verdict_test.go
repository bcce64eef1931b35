package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A runner is a fixture: what a run prints that passes and one that fails, each without a pipe and behind one.
type runner struct {
	line         string
	pass, fail   string
	silent       bool // a pass behind a pipe is not proven by its output
	failName     string
	passIsHidden bool
	quiet        bool // it prints nothing if it passes
}

var summaryRunners = []runner{
	{line: "npx jest", pass: "PASS src/a.test.ts\n  ✓ adds (3 ms)\n\nTest Suites: 3 passed, 3 total\nTests:       1 skipped, 12 passed, 13 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.",
		fail: "FAIL src/a.test.ts\n  ● math › adds\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed, 2 passed, 3 total\nTests:       2 failed, 10 passed, 12 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.", failName: "math › adds"},
	{line: "npm test", pass: "> x@1.0.0 test\n> jest\n\nTest Suites: 3 passed, 3 total\nTests:       12 passed, 12 total\nSnapshots:   0 total\nTime:        1 s",
		fail: "Test Suites: 1 failed, 2 passed, 3 total\nTests:       2 failed, 10 passed, 12 total\nSnapshots:   0 total\nTime:        1 s"},
	{line: "npx vitest run", pass: " ✓ src/a.test.ts (3 tests) 5ms\n\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Start at  10:00:00\n   Duration  300ms",
		fail: " ❯ src/a.test.ts (3 tests | 1 failed) 5ms\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n   Start at  10:00:00\n   Duration  300ms"},
	{line: "npx mocha", pass: "  math\n    ✔ adds\n\n  12 passing (34ms)\n  1 pending", fail: "  math\n    1) adds\n\n  10 passing (34ms)\n  2 failing\n\n  1) math\n       adds:\n     AssertionError"},
	{line: "pytest -q", pass: "....                                   [100%]\n4 passed, 1 warning in 0.12s", fail: "F...\nFAILED tests/test_a.py::test_add - assert 1 == 2\n1 failed, 3 passed in 0.12s", failName: "tests/test_a.py::test_add"},
	{line: "python -m pytest", pass: "========================= 4 passed in 0.12s =========================", fail: "=================== 1 failed, 3 passed in 0.12s ====================="},
	{line: "python -m unittest", pass: "....\n----------------------------------------------------------------------\nRan 4 tests in 0.001s\n\nOK", fail: "Ran 4 tests in 0.001s\n\nFAILED (failures=1)"},
	{line: "mix test", pass: "....\nFinished in 0.1 seconds (0.0s async, 0.1s sync)\n2 doctests, 5 tests, 0 failures", fail: "  1) test adds (MathTest)\n     test/math_test.exs:5\nFinished in 0.1 seconds\n5 tests, 1 failure", failName: "test adds"},
	{line: "yarn test", pass: "yarn run v1.22.19\n$ jest\nDone in 1.23s.", fail: "error Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command."},
	{line: "bun test", pass: "bun test v1.1.0\n\n 12 pass\n 0 fail\n 24 expect() calls\nRan 12 tests across 3 files. [10.00ms]", fail: "(fail) math > adds [1.00ms]\n\n 10 pass\n 2 fail\n 24 expect() calls\nRan 12 tests across 3 files. [10.00ms]", failName: "math > adds"},
	{line: "bun run test", pass: " 3 pass\n 0 fail\nRan 3 tests across 1 files.", fail: "error: script \"test\" exited with code 1"},
	{line: "dotnet test", passIsHidden: true, pass: "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 34 ms - A.dll (net8.0)", fail: "  Failed A.MathTests.Adds [12 ms]\nFailed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12, Duration: 34 ms - A.dll (net8.0)", failName: "A.MathTests.Adds"},
	{line: "dotnet build", pass: "Build succeeded.\n    0 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:01.23", fail: "Build FAILED.\n\nA.cs(3,5): error CS1002: ; expected [/x/A.csproj]\n    0 Warning(s)\n    1 Error(s)"},
	{line: "cargo test", pass: "test tests::adds ... ok\n\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s", fail: "test tests::adds ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\nerror: test failed, to rerun pass `--lib`", failName: "tests::adds"},
	{line: "cargo build", pass: "   Compiling a v0.1.0 (/x)\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 1.23s", fail: "error[E0382]: borrow of moved value: `x`\nerror: could not compile `a` (lib) due to 1 previous error"},
	{line: "bundle exec rspec", pass: "Finished in 0.1 seconds\n12 examples, 0 failures, 1 pending", fail: "12 examples, 2 failures\n\nFailed examples:\n\nrspec ./spec/math_spec.rb:12 # Math adds", failName: "./spec/math_spec.rb:12"},
	{line: "vendor/bin/phpunit tests", pass: "OK (12 tests, 34 assertions)", fail: "1) Tests\\MathTest::testAdds\nFAILURES!\nTests: 12, Assertions: 34, Failures: 2.", failName: `Tests\MathTest::testAdds`},
	{line: "./gradlew test", pass: "BUILD SUCCESSFUL in 3s\n4 actionable tasks: 4 executed", fail: "MathTest > adds FAILED\n\nFAILURE: Build failed with an exception.\nBUILD FAILED in 3s", failName: "MathTest > adds"},
	{line: "mvn -q test", pass: "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n[INFO] Total time:  3 s", fail: "[ERROR] Tests run: 12, Failures: 2, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE\n[INFO] Total time:  3 s"},
	{line: "ctest --test-dir build", pass: "100% tests passed, 0 tests failed out of 12\n\nTotal Test time (real) =   0.10 sec", fail: "92% tests passed, 1 tests failed out of 12\n\nThe following tests FAILED:\n\t  3 - adds (Failed)\nErrors while running CTest", failName: "adds"},
	{line: "go test ./...", pass: "ok  \tx/a\t0.012s\n?   \tx/c\t[no test files]\nok  \tx/b\t(cached)", fail: "--- FAIL: TestAdds (0.00s)\n    a_test.go:5: 1 != 2\nFAIL\nFAIL\tx/a\t0.012s\nok  \tx/b\t0.010s\nFAIL", failName: "TestAdds"},
	{line: "gotestsum", pass: "✓  x/a (12ms)\n\nDONE 12 tests, 1 skipped in 0.345s", fail: "=== Failed\nDONE 12 tests, 2 failures in 0.345s"},
	{line: "node --test", pass: "ok 1 - adds\n# tests 2\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0", fail: "not ok 1 - adds\n# tests 2\n# pass 1\n# fail 1\n# cancelled 0", failName: "adds"},
	{line: "prove -r t", pass: "All tests successful.\nFiles=2, Tests=12\nResult: PASS", fail: "Result: FAIL"},
	{line: "deno test", pass: "adds ... ok (1ms)\n\nok | 12 passed | 0 failed (30ms)", fail: "adds ... FAILED (1ms)\n\nFAILED | 10 passed | 2 failed (30ms)\n\nerror: Test failed", failName: "adds"},
	{line: "swift test", pass: "Test Suite 'All tests' passed at 2026-01-01.\n\t Executed 12 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds", fail: "Test Case '-[ATests.Math testAdds]' failed (0.1 seconds).\n\t Executed 12 tests, with 2 failures (0 unexpected) in 0.1 (0.1) seconds", failName: "-[ATests.Math testAdds]"},
	{line: "npx playwright test", pass: "Running 12 tests using 4 workers\n\n  12 passed (3.2s)", fail: "  1 failed\n    [chromium] › a.spec.ts:3:1 › adds ──\n  11 passed (3.2s)"},
	{line: "npx eslint .", silent: true, fail: "/x/a.js\n  1:1  error  Unexpected var  no-var\n\n✖ 3 problems (1 error, 2 warnings)"},
	{line: "npx tsc --noEmit", quiet: true, fail: "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."},
	{line: "golangci-lint run", pass: "0 issues.", fail: "a.go:3:2: unused (unused)\n1 issues:\n* unused: 1"},
	{line: "ruff check .", pass: "All checks passed!", fail: "a.py:1:8: F401 `os` imported but unused\nFound 1 error."},
	{line: "mypy .", pass: "Success: no issues found in 3 source files", fail: "a.py:1: error: x\nFound 1 error in 1 file (checked 3 source files)"},
	{line: "bundle exec rubocop", pass: "12 files inspected, no offenses detected", fail: "12 files inspected, 3 offenses detected"},
	{line: "npx prettier --check .", pass: "Checking formatting...\nAll matched files use Prettier code style!", fail: "[warn] a.ts\n[warn] Code style issues found in the above file. Run Prettier with --write to fix."},
	{line: "go build ./...", quiet: true, fail: "# x/a\na.go:3:5: undefined: y"},
	{line: "go vet ./...", quiet: true, fail: "# x/a\nvet: a.go:3:5: undefined: y"},
	{line: "bun run typecheck", pass: "$ tsc --noEmit", fail: "$ tsc --noEmit\nsrc/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nerror: script \"typecheck\" exited with code 2"},
	{line: "bun run lint", pass: "$ biome check --error-on-warnings\nChecked 12 files in 9ms. No fixes applied.", fail: "Checked 12 files in 9ms. No fixes applied.\nFound 1 error.\ncheck ━━━━━\n  × Some errors were emitted while running checks."},
	{line: "bun run lint:fix", pass: "$ biome check --write\nChecked 12 files in 9ms. Fixed 2 files.", fail: "Checked 12 files in 9ms. Fixed 1 file.\nFound 2 warnings.\n  × Some warnings were emitted while running checks."},
	{line: "mise run lint", pass: "[lint:go] $ golangci-lint run\n[lint:shell] Finished in 9ms\n[lint:go] 0 issues.", fail: "[lint:go] 0 issues.\n[lint:shell] ERROR task failed"},
	{line: "mix credo --strict", pass: "Analysis took 1 second\n326 mods/funs, found no issues.", fail: "Analysis took 1 second\n885 mods/funs, found 5 software design suggestions."},
	{line: "mix dialyzer", pass: "Total errors: 0, Skipped: 0, Unnecessary Skips: 0\ndone in 0m3s\ndone (passed successfully)", fail: "Total errors: 1, Skipped: 0\ndone (warnings were emitted)\nHalting VM with exit status 2"},
	{line: "mix format --check-formatted", quiet: true, fail: "** (Mix) mix format failed due to --check-formatted.\nThe following files are not formatted:"},
	{line: "mix compile --warnings-as-errors", pass: "Compiling 4 files (.ex)\nGenerated spotter app", fail: "warning: variable \"x\" is unused\nCompilation failed due to warnings while using the --warnings-as-errors option"},
	{line: "cargo clippy", pass: "    Checking a v0.1.0\n    Finished `dev` profile target(s) in 0.3s", fail: "error: unused variable: `x`\nerror: could not compile `a` (lib) due to 1 previous error"},
	{line: "make test", silent: true, fail: "make: *** [Makefile:3: test] Error 1"},
	{line: "flutter test", pass: "00:01 +12: All tests passed!", fail: "00:01 +11 -1: Some tests failed."},
	{line: "bun run test", pass: "✨ All tests passed! The page is ready to use.", fail: "2 tests failed"},
}

// TestRunners runs each runner with its own exit status, and behind pipes and other operators that hide it: then only
// its summary counts.
func TestRunners(t *testing.T) {
	t.Parallel()
	for _, r := range summaryRunners {
		check := func(line string, exit int, out string, want ...Verdict) {
			t.Helper()
			got := Judge(Run{Line: line, Ended: true, Exit: exit, Output: out})
			for _, w := range want {
				if got.Verdict == w {
					return
				}
			}
			t.Errorf("%s, exit %d: %q (%q), want %q\n%s", line, exit, got.Verdict, got.Proof, want, out)
		}
		check(r.line, 0, r.pass, Passed)
		check(r.line, 1, r.fail, Failed)
		check("cd x && "+r.line+" 2>&1 && echo done", 0, r.pass, Passed)
		check("bash -c '"+r.line+"'", 1, r.fail, Failed)
		hidden := []Verdict{Passed}
		if r.silent {
			hidden = []Verdict{""}
		}
		tail := hidden
		if r.passIsHidden {
			tail = []Verdict{""}
		}
		all := fmt.Sprintf(" 2>&1 | tail -%d", strings.Count(r.pass, "\n")+2)
		check(r.line+all, 0, r.pass, hidden...)
		check(r.line+" 2>&1 | tee log", 0, r.pass, hidden...)
		if r.quiet {
			check(r.line+" || true", 0, r.pass, "")
			check(r.line+"; echo \"exit $?\"", 0, "exit 0", "")
		} else {
			check(r.line+" || true", 0, r.pass, hidden...)
			check(r.line+"; echo \"exit $?\"", 0, r.pass, hidden...)
		}
		check(r.line+" 2>&1 | tail -1", 0, r.pass[strings.LastIndex(r.pass, "\n")+1:], append(tail, "")...)
		for _, hide := range []string{" 2>&1 | tail -20", " | cat", " || true", "; true", "; echo $?", " 2>&1 | grep -v x", " | head -50", " &",
			" > log 2>&1; tail -5 log"} {
			check(r.line+hide, 0, r.fail, Failed)
		}
		check("bash -c '"+r.line+"; true'", 0, "", "")
		check(r.line+" > /dev/null; cat log", 0, r.pass, "")
		check("cat old.log; "+r.line+" | tail -1", 0, r.fail+"\nx", "")
		check("cat log", 0, r.fail, "")
		check("grep -c x log | tail -3", 0, r.pass, "")
		for _, hide := range []string{" || true", "; echo $?", " &", " | grep x", "; true", " | wc -l", " 2>/dev/null | tail -5"} {
			check(r.line+hide, 0, "", "")
		}
		if nothing := Judge(Run{Line: r.line + " | tail -5", Ended: true}).Verdict; (nothing == Passed) != (r.quiet || strings.HasPrefix(r.line, "mix compile")) {
			t.Errorf("%s | tail -5 without output: %q", r.line, nothing)
		}
		if r.failName != "" {
			got := Judge(Run{Line: r.line + " | tail -20", Ended: true, Output: r.fail})
			if !slices.Contains(got.Failed, r.failName) {
				t.Errorf("%s: failed tests %q, want %q", r.line, got.Failed, r.failName)
			}
		}
	}
}

// TestStatus gives lines whose status belongs to a command or does not.
func TestStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		exit int
		want Verdict
	}{
		{"make", 0, Passed}, {"make", 2, Failed}, {"make", 130, ""}, {"timeout 60 make", 124, ""},
		{"make | tail -3", 0, ""}, {"set -o pipefail; make | tail -3", 0, Passed}, {"set -euo pipefail\nmake | tail -3", 1, ""},
		{"make && npm test", 0, Passed}, {"make; npm test", 0, ""}, {"make && npm test", 1, Failed}, {"make; npm test", 1, Failed},
		{"make || npm test", 0, ""}, {"make || exit 1", 0, Passed}, {"make || exit 1", 1, Failed}, {"! make", 0, ""},
		{"make &", 0, ""}, {"make & wait", 0, ""}, {"(cd x; make)", 0, Passed}, {"(make; true)", 0, ""}, {"(make) || true", 0, ""},
		{"{ make; echo; }", 0, ""}, {"if make; then echo y; fi", 0, ""}, {"for x in a b; do make $x; done", 0, ""},
		{"OUT=$(make); echo $OUT", 0, ""}, {"make; grep -q x y", 1, ""}, {"cd nowhere && make", 1, Failed}, {"ls", 0, ""}, {"ls x", 2, ""},
		{"npm test -- --watch=false; rc=$?; exit $rc", 0, ""}, {"docker build .", 0, Passed}, {"sh -c 'make || true'", 0, ""},
		{"make <<<'x' >out 2>&1", 0, Passed}, {"make 2>&1 | tee x | tail", 1, ""}, {"while ! make; do sleep 1; done", 0, ""},
	} {
		if got := Judge(Run{Line: c.line, Ended: true, Exit: c.exit}); got.Verdict != c.want {
			t.Errorf("%q, exit %d: %q, want %q", c.line, c.exit, got.Verdict, c.want)
		}
	}
	if got := Judge(Run{Line: "cd nowhere && make", Ended: true, Exit: 1, Output: "bash: cd: nowhere: No such file or directory"}); got.Verdict != "" {
		t.Errorf("make did not run: %q", got.Verdict)
	}
}

// TestTraps gives outputs that a careless reader takes for the other verdict.
func TestTraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, out string
		want            Verdict
	}{
		{"a suite that does not compile", "npx jest 2>&1 | tail -4", "Test Suites: 1 failed, 2 passed, 3 total\nTests:       12 passed, 12 total", Failed},
		{"only the tests are shown", "npx jest 2>&1 | grep Tests:", "Tests:       12 passed, 12 total", ""},
		{"coverage", "npx jest --coverage | tail -20", "Jest: \"global\" coverage threshold for lines (80%) not met: 70%\nTest Suites: 1 passed, 1 total", Failed},
		{"unhandled errors", "npx vitest run | tail", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n     Errors  1 error", Failed},
		{"failures stand before the passes", "npx playwright test | tail -1", "  11 passed (3.2s)", ""},
		{"only passes are filtered", "npx mocha | grep passing", "  10 passing (3ms)", ""},
		{"the end is cut", "go test ./... | head -2", "ok  \tx/a\t0.1s\nok  \tx/b\t0.1s", ""},
		{"a project before it failed", "dotnet test | tail -1", "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12", ""},
		{"a retry", "npm test || npm test", "Tests:       2 failed, 10 passed, 12 total\nTest Suites: 3 passed, 3 total", ""},
		{"two runs", "npm test | tail -3; npm test | tail -3", "Tests: 2 failed, 3 total\nTest Suites: 3 passed, 3 total", ""},
		{"lint is not known", "npm run lint | tail -3; npm test | tail -6", "Test Suites: 3 passed, 3 total", ""},
		{"a text", "npm test > /dev/null; echo 'BUILD SUCCESSFUL in 3s'", "BUILD SUCCESSFUL in 3s", ""},
		{"a text of its own", "make test; echo 'Tests: 2 failed'", "Tests: 2 failed", ""},
		{"an older log", "git log -1 | cat; npm test | tail -1", "Tests: 2 failed, 3 total", ""},
		{"a program", "go run ./cmd/x | tail", "FAIL", ""},
		{"expected failures", "node --test | tail -9", "not ok 1 - adds # TODO\n# pass 3\n# fail 0", Passed},
		{"all fixed", "ruff check --fix . | tail -1", "Found 3 errors (3 fixed, 0 remaining).", ""},
		{"no tests", "bundle exec rspec | tail -1", "0 examples, 0 failures", ""},
		{"the client cut it", "npx mocha | cat", "<persisted-output>\nOutput too large\n  10 passing (3ms)", ""},
		{"workspaces", "npm test --workspaces | tail -1", "Test Suites: 3 passed, 3 total", ""},
		{"build before it", "go build ./... && go test ./... | tail -3", "ok  \tx/a\t0.1s", Passed},
		{"a prefix", "pnpm run check 2>&1 | tail -4", "web:test: Tests:       2 failed, 10 passed, 12 total", Failed},
		{"a log of another run", "gh run view 1 --log | tail", "Tests: 2 failed, 3 total", ""},
		{"a hidden status", "npm test", "Tests: 2 failed, 3 total", ""},
	} {
		if got := Judge(Run{Line: c.line, Ended: true, Output: c.out}); got.Verdict != c.want {
			t.Errorf("%s: %q gives %q (%q), want %q", c.name, c.line, got.Verdict, got.Proof, c.want)
		}
	}
}

// FuzzOf gives any text: a verdict of a line without an exit status has a line of the output as its proof.
func FuzzOf(f *testing.F) {
	for _, r := range summaryRunners {
		f.Add(r.line+" | tail", r.pass)
		f.Add(r.line+" || true", r.fail)
	}
	f.Fuzz(func(t *testing.T, line, out string) {
		j := Judge(Run{Line: line, Output: out})
		if j.Verdict != "" && (j.Proof == "" || !strings.Contains(out, j.Proof)) {
			t.Errorf("%q: %q is proven by %q", line, j.Verdict, j.Proof)
		}
	})
}

// TestShapes checks what runners print at their edges: nothing ran, a coverage that is too low, warnings with words of
// failures. Each is run with its own exit status, and behind a pipe that shows all of it.
func TestShapes(t *testing.T) {
	t.Parallel()
	const jest, vitest = "Test Suites: 3 passed, 3 total\nTests:       12 passed, 12 total\nTime:        1 s\n", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n"
	for _, x := range []struct {
		line, out string
		exit      int
		piped     []Verdict // that may be told behind a pipe
	}{
		{"pytest", "collected 0 items\n\n=== no tests ran in 0.01s ===", 5, []Verdict{"", Failed}},
		{"pytest", "=== 3 deselected in 0.01s ===", 5, []Verdict{"", Failed}},
		{"pytest --cov", "FAIL Required test coverage of 80% not reached. Total coverage: 61.20%\n=== 4 passed in 0.12s ===", 1, []Verdict{Failed}},
		{"pytest", "=== warnings summary ===\na.py:3: DeprecationWarning: errors were failed\n=== 4 passed, 2 warnings in 0.12s ===", 0, []Verdict{Passed}},
		{"pytest", "ERROR tests/test_a.py - ModuleNotFoundError\n=== 1 error in 0.05s ===", 2, []Verdict{Failed}},
		{"pytest", "=== 4 passed, 1 xfailed, 1 skipped in 0.12s ===", 0, []Verdict{Passed}},
		{"npx jest", "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0", 1, []Verdict{"", Failed}},
		{"npx jest --coverage", jest + "Jest: \"global\" coverage threshold for statements (80%) not met: 70%", 1, []Verdict{Failed}},
		{"npx jest", "  console.error\n    Error: 2 failed on purpose\n\n" + jest, 0, []Verdict{Passed}},
		{"npx vitest run", "No test files found, exiting with code 1", 1, []Verdict{"", Failed}},
		{"npx vitest run --coverage", vitest + "ERROR: Coverage for lines (50%) does not meet global threshold (80%)", 1, []Verdict{Failed}},
		{"npx vitest run", vitest + "     Errors  1 error\n   Duration  300ms", 1, []Verdict{Failed}},
		{"npx mocha", "  0 passing (2ms)", 0, []Verdict{""}},
		{"npx nyc mocha", "  12 passing (34ms)\n\nERROR: Coverage for lines (50%) does not meet global threshold (80%)", 1, []Verdict{Failed}},
		{"go test ./...", "?   \tx/a\t[no test files]", 0, []Verdict{""}},
		{"go test ./...", "2026/01/01 error: connection refused\nok  \tx/a\t0.012s\tcoverage: 0.0% of statements", 0, []Verdict{Passed}},
		{"go test ./...", "# x/a\na.go:3:5: undefined: y\nFAIL\tx/a [build failed]\nFAIL", 1, []Verdict{Failed}},
		{"go test ./...", "panic: boom\n\ngoroutine 1 [running]:\nFAIL\tx/a\t0.012s\nok  \tx/b\t0.010s\nFAIL", 1, []Verdict{Failed}},
		{"cargo test", "warning: unused variable: `error`\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", 0, []Verdict{Passed}},
		{"cargo test", "error[E0425]: cannot find value `x` in this scope\nerror: could not compile `a` (lib test) due to 1 previous error", 101, []Verdict{Failed}},
		{"bundle exec rspec", "No examples found.\n\nFinished in 0.0 seconds\n0 examples, 0 failures", 0, []Verdict{""}},
		{"bundle exec rspec", "0 examples, 0 failures, 1 error occurred outside of examples", 1, []Verdict{Failed}},
		{"vendor/bin/phpunit", "No tests executed!", 0, []Verdict{""}},
		{"vendor/bin/phpunit", "ERRORS!\nTests: 12, Assertions: 30, Errors: 1.", 2, []Verdict{Failed}},
		{"vendor/bin/phpunit", "OK, but there were issues!\nTests: 12, Assertions: 34, Warnings: 1.", 0, []Verdict{"", Passed}},
		{"./gradlew test", "> Task :test NO-SOURCE\nwarning: [deprecation] Error in Failures has been deprecated\n\nBUILD SUCCESSFUL in 3s", 0, []Verdict{Passed}},
		{"./gradlew check", "Execution failed for task ':jacocoTestCoverageVerification'.\nBUILD FAILED in 3s", 1, []Verdict{Failed}},
		{"mvn test", "[WARNING] error-prone is old\n[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", 0, []Verdict{Passed}},
		{"mvn verify", "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Coverage checks have not been met.\n[INFO] BUILD FAILURE", 1, []Verdict{Failed}},
		{"ctest", "No tests were found!!!", 0, []Verdict{""}},
		{"dotnet test", "No test is available in /x/A.dll.", 0, []Verdict{""}},
		{"dotnet test", "A.cs(3,5): warning CS0168: The variable 'error' is never used\nPassed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12", 0, []Verdict{Passed, ""}},
		{"mix test", "warning: variable \"error\" is unused\nFinished in 0.1 seconds\n5 tests, 0 failures, 1 excluded", 0, []Verdict{Passed}},
		{"mix test", "There are no tests to run", 0, []Verdict{""}},
		{"mix test --cover", "5 tests, 0 failures\n\nCoverage test failed, threshold not met:\n\n    Coverage:   61.20%\n    Threshold:  90.00%", 3, []Verdict{Failed}},
		{"bun test", "error: 0 test files matching **{.test,.spec}.ts in --cwd=\"/x\"", 1, []Verdict{"", Failed}},
		{"bun test", "bun test v1.1.0\n\n 12 pass\n 0 fail\n 1 error\nRan 12 tests across 3 files.", 1, []Verdict{Failed, ""}},
		{"deno test", "ok | 0 passed | 0 failed (2ms)", 0, []Verdict{""}},
		{"deno test", "error: No test modules found", 1, []Verdict{"", Failed}},
		{"npx tap", "1..0 # SKIP nothing here", 0, []Verdict{""}},
		{"node --test", "not ok 1 - later # TODO\n# tests 1\n# pass 0\n# fail 0\n# cancelled 0\n# todo 1", 0, []Verdict{Passed, ""}},
		{"prove -r t", "Files=0, Tests=0\nResult: NOTESTS", 0, []Verdict{""}},
		{"npx playwright test", "Error: No tests found", 1, []Verdict{"", Failed}},
		{"npx playwright test", "Running 12 tests using 4 workers\n\n  1 flaky\n    [chromium] › a.spec.ts:3:1 › adds ──\n  11 passed (3.2s)", 0, []Verdict{Passed, ""}},
		{"npx cypress run", "    ✖  1 of 2 failed (50%)                     00:03       4        3        1", 1, []Verdict{Failed}},
		{"npx cypress run", "    ✔  All specs passed!                       00:03       4        4        -", 0, []Verdict{Passed}},
		{"python -m unittest", "Ran 0 tests in 0.000s\n\nOK", 0, []Verdict{""}},
		{"python -m unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", 5, []Verdict{"", Failed}},
		{"python -m unittest", "Ran 4 tests in 0.001s\n\nOK (skipped=1)", 0, []Verdict{Passed}},
		{"swift test", "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds", 0, []Verdict{""}},
		{"swift test", "a.swift:3:5: error: cannot find 'x' in scope\nerror: fatalError", 1, []Verdict{Failed}},
	} {
		own := Passed
		switch {
		case x.exit != 0:
			own = Failed
		case slices.Equal(x.piped, []Verdict{""}): // nothing ran
			own = ""
		}
		if got := Judge(Run{Line: x.line, Ended: true, Exit: x.exit, Output: x.out}); got.Verdict != own {
			t.Errorf("%s, exit %d: %q (%q), want %q\n%s", x.line, x.exit, got.Verdict, got.Proof, own, x.out)
		}
		line := x.line + " 2>&1 | tail -200"
		if got := Judge(Run{Line: line, Ended: true, Output: x.out}); !slices.Contains(x.piped, got.Verdict) {
			t.Errorf("%s: %q (%q), want one of %q\n%s", line, got.Verdict, got.Proof, x.piped, x.out)
		}
	}
}

// TestEndsBadly gives runs whose tests pass and that fail after them, as their last lines say: none of them passed.
func TestEndsBadly(t *testing.T) {
	t.Parallel()
	const rspec, py, mocha = "12 examples, 0 failures\n", "=== 4 passed in 0.12s ===\n", "  12 passing (34ms)\n"
	for _, c := range []struct {
		line, out string
		want      Verdict
	}{
		{"bundle exec rspec", rspec + "SimpleCov failed with exit 2 due to a coverage related error", ""},
		{"bundle exec rspec", rspec + "Line coverage (61.20%) is below the expected minimum coverage (90.00%).", ""},
		{"bundle exec rspec", rspec + "\nRandomized with seed 12\nLine Coverage: 83.0% (12 / 34)", Passed},
		{"bundle exec rake", rspec + "Running RuboCop...\nRuboCop failed!", ""},
		{"bundle exec rake", rspec + "rake aborted!\nCommand failed with status (1): [ruby lint.rb]", ""},
		{"mix test", "2 tests, 0 failures, 2 invalid", Failed},
		{"mix coveralls test", "2 tests, 0 failures\n[TOTAL]  61.2%\nFAILED: Expected minimum coverage of 80%, got 61.2%.", ""},
		{"npm test", "3 specs, 0 failures\nFinished in 0.05 seconds\nIncomplete: fit() or fdescribe() was found", Failed},
		{"cargo test", "test result: ok. 12 passed; 0 failed; 0 ignored\n     Running tests/it.rs", ""},
		{"npx ava", "  12 tests passed\n  1 unhandled rejection", Failed},
		{"zig build test", "All 3 tests passed.\n1 tests leaked memory.\nerror: the following test command failed with exit code 1:", ""},
		{"swift test", "\t Executed 5 tests, with 0 failures (0 unexpected) in 0.1 seconds\nerror: Exited with unexpected signal code 11", ""},
		{"nox", py + "nox > Session tests was successful.\nnox > Session lint failed.\nnox > * tests: success\nnox > * lint: failed", ""},
		{"tox", py + "ERROR:   py38: commands failed", ""},
		{"pytest --cov", "ERROR: Coverage failure: total of 61 is less than fail-under=80\n" + py, Failed},
		{"stack test", "3 examples, 0 failures\nTest suite failure for package a-0.1\n    other:  exited with: ExitFailure 1", ""},
		{"dotnet test", "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12\na.targets(72,5): error : The minimum line coverage is below the specified 80", ""},
		{"dotnet test", "Test summary: total: 12, failed: 0, succeeded: 12, skipped: 0, duration: 2.1s\nBuild succeeded in 3.1s", Passed},
		{"dotnet test", "Test summary: total: 12, failed: 1, succeeded: 11, skipped: 0, duration: 2.1s", Failed},
		{"sbt test", "[success] Total time: 3 s\n[error] Coverage is below minimum [61.0% < 80.0%]", ""},
		{"npx next build", " ✓ Compiled successfully\n> Build error occurred\nError: Failed to collect page data for /x", ""},
		{"composer test", "OK (12 tests, 34 assertions)\nScript stan handling the test event returned with error code 1", ""},
		{"npm run test:all", "[lint] npm run lint exited with code 1\n[test] " + py + "[test] npm test exited with code 0", Failed},
		{"npm test", mocha + "npm notice New version\nnpm exited with code 0", Passed},
		{"npx playwright test", "Running 11 tests using 4 workers\n  1 error was not a part of any test, see above for details\n  11 passed (3.2s)", Failed},
		{"pyright --warnings", "0 errors, 3 warnings, 0 informations", ""},
		{"pyright", "0 errors, 3 warnings, 0 informations", Passed},
		{"mvn test", "[ERROR] Failed to execute goal x:surefire:test on project a: There are test failures.", Failed},
		{"npx jest", "Test Suites: 3 passed, 3 total\nTests:       12 passed, 12 total\nA worker process has failed to exit gracefully and has been force exited.", Passed},
		{"npx vitest run --coverage", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n errors.ts        |   61.2 |", Passed},
	} {
		if got := Judge(Run{Line: c.line + " 2>&1 | tail -40", Ended: true, Output: c.out}); got.Verdict != c.want {
			t.Errorf("%s: %q (%q), want %q\n%s", c.line, got.Verdict, got.Proof, c.want, c.out)
		}
	}
}

// TestHiddenStatus gives lines that end with 0 whatever becomes of the tests in them, or that run them with a program which
// has its own status.
func TestHiddenStatus(t *testing.T) {
	t.Parallel()
	const failed, passed = "Test Suites: 1 failed, 2 passed, 3 total\nTests:       2 failed, 10 passed, 12 total\nTime:        1 s", "Tests:       12 passed, 12 total"
	for _, line := range []string{"npm test || :", "npm test; exit 0", "npm test || exit 0", "set +e; npm test; set -e", "npm test |& tail -3",
		"npm test | (tail -5)", "eval \"npm test | tail\"", "npm test | Select-Object -Last 5", "npm test | tail && echo ok", "npm test |\ntail -3",
		"npm test \\\n | tail -3", "until npm test; do sleep 1; done", "f() { npm test; }; f | tail", "{ npm test || true; } 2>&1",
		"timeout 5 npm test || [ $? -eq 124 ]", "npm test; s=$?; tail log; exit $s", "npm test 2>&1 | tail -5; test ${PIPESTATUS[0]} -eq 0",
		"npm test && npm run lint || npm run build", "watch -n1 npm test", "script -q /dev/null npm test", "nohup npm test > log 2>&1 &",
		"while true; do npm test && break; done", "ls tests | xargs -n1 npm test | tail -1", "npm test >/dev/null 2>&1 && echo ok || echo failed"} {
		if got := Judge(Run{Line: line, Ended: true}); got.Verdict != "" {
			t.Errorf("%q: %q, want none", line, got.Verdict)
		}
	}
	for _, line := range []string{"uv run --extra dev pytest -q | tail -3", "uv run --with pytest-cov python -m pytest | tail", "poetry run pytest | tee out",
		"docker compose exec -T api npm test | tail -5", "docker compose run --rm -e CI=1 web npm test | tail", "npx cross-env CI=1 npm test | tail -5",
		"sudo -u bob npm test | tail", "env -u CI npm test | tail", "[[ -d node_modules ]] || npm ci; npm test | tail -3", "npm --prefix web test | tail -5",
		"pnpm --filter web test | tail", "yarn workspace web test | tail", "make -C web test | tail", "just test 2>&1 | tail -20", "task test | tail",
		"npm run lint && npm test 2>&1 | tail -5", "npm test || true", "npm test; echo done", "npm test && echo OK || echo FAILED", "npm test > out.log 2>&1; tail -5 out.log"} {
		if got := Judge(Run{Line: line, Ended: true, Output: failed}); got.Verdict != Failed {
			t.Errorf("%q with failed tests: %q, want failed", line, got.Verdict)
		}
	}
	for _, line := range []string{"./run.sh", "python run.py", "npm run deploy", "make -i test"} {
		if got := Judge(Run{Line: line, Ended: true, Output: failed}); got.Verdict != "" {
			t.Errorf("%q ends with 0 and reports failures: %q, want none", line, got.Verdict)
		}
		if got := Judge(Run{Line: line, Ended: true, Output: passed}); got.Verdict != Passed {
			t.Errorf("%q: %q, want passed", line, got.Verdict)
		}
	}
}

// TestAnswers checks that a command whose status is an answer does not fail with 1.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"git diff --exit-code", "git diff --quiet", "grep -rn TODO src", "diff a b", "test -f a", "[ -f a ]",
		"cmp a b", "pgrep server", "rg needle", "cd x && grep a b", "git diff --exit-code HEAD -- a.go", "npm test | grep failing"} {
		if got := Judge(Run{Line: line, Ended: true, Exit: 1}); got.Verdict != "" {
			t.Errorf("%s, exit 1: %q, want none", line, got.Verdict)
		}
	}
}

// TestChains gives lines with several commands: what passed is told of each, by the status of the line, by a summary that
// only one of them can have printed, or because a silent one printed nothing.
func TestChains(t *testing.T) {
	t.Parallel()
	const lint, gotest, bun, biome = "0 issues.\n", "ok  \tx/a\t0.1s\nok  \tx/b\t0.2s\n", " 12 pass\n 0 fail\nRan 12 tests.\n", "$ biome check\nChecked 12 files in 9ms. No fixes applied.\n"
	for _, c := range []struct {
		line, out string
		exit      int
		want      Verdict
		done      string
	}{
		{"mise run fmt && mise run lint && mise run test 2>&1 | tail -30", "[lint:go] 0 issues.\n" + gotest + "[fmt] $ gofmt -w .", 0, Passed, ""},
		{"mise run fmt && mise run lint 2>&1 | tail -10", "[lint] $ golangci-lint run\n" + lint, 0, Passed, ""},
		{"mise run fmt && mise run lint 2>&1 | tail -10", "downloading x\n", 0, "", "mise run fmt"},
		{"mise run lint && mise run test 2>&1 | tail -3", "[lint] 0 issues.\nFAIL\tx/a\t0.1s\nFAIL\n", 0, Failed, "mise run lint"},
		{"mise run lint | tail -3 && mise run test 2>&1 | tail -3", "[lint] 0 issues.\nFAIL\tx/a\t0.1s\nFAIL\n", 0, Failed, "mise run lint"},
		{"mise run lint | tail -3 && mise run gen 2>&1 | tail -3", "[lint:go] 0 issues.\n[lint:sh] ERROR task failed\n", 0, "", ""},
		{"mise run fmt && mise run lint && mise run test | tail -3", "[fmt] $ gofmt -w .\n[lint:go] ERROR task failed\n", 1, Failed, ""},
		{"npm run lint && npm test | tail -3", "✖ 3 problems (1 error, 2 warnings)\n" + bun, 0, "", "npm run lint"},
		{"mise run fmt && mise run lint | tail -3", "[fmt] $ gofmt -w .\n2 issues:\n* dupl: 2\n", 0, Failed, "mise run fmt"},
		{"echo x | claude --print | head -3", "y", 0, "", ""},
		{"mise run lint && mise run test 2>&1 | tail -3", "FAIL\tx/a\t0.1s\nFAIL\n", 0, Failed, "mise run lint"},
		{"make lint && make generate | tail -3", lint, 0, "", "make lint"},
		{"bun run test | tail -4 && bun run lint | tail -3 && bun run typecheck | tail -3", bun + biome + "$ tsc --noEmit\n", 0, Passed, ""},
		{"bun run test | tail -4 && bun run lint | tail -3 && bun run typecheck | tail -3", bun + biome, 0, "", "bun run test, bun run lint"},
		{"bun run typecheck | tail -3 && bun run lint | tail -3", "$ tsc --noEmit\n" + biome, 0, Passed, ""},
		{"bun run typecheck | tail -3 && bun run lint | tail -3", "$ tsc --noEmit\na warning\n" + biome, 0, "", "bun run lint"},
		{"npm run test:a | tail -4; npm run test:b | tail -4", bun, 0, "", ""},
		{"npm run ci | tail -4; npm test | tail -4", bun, 0, "", ""},
		{"npm run ci | tail -4; npm test", bun, 0, "", "npm test"},
		{"go build -o ./x ./cmd/x && ./x help 2>&1 | head -3", "usage", 0, "", "go build"},
		{"go build -o x . && for i in 1 2; do time ./x; done", "0.1s", 0, "", "go build"},
		{"go build -o x . && for i in 1 2; do time ./x; done", "", 1, "", ""},
		{"go build ./... 2>&1 | head -20", "", 0, Passed, ""},
		{"go build ./... 2>&1 | head -20", "go: downloading x", 0, "", ""},
		{"go build ./... 2>/dev/null | head -20", "", 0, "", ""},
		{"go build ./... 2>&1 | grep -v warning", "", 0, "", ""},
		{"mix format && mix compile 2>&1 | tail -3", "", 0, Passed, ""},
		{"(mise run lint && mise run test) | tail -3", lint, 0, "", "mise run lint"},
		{"golangci-lint cache clean && golangci-lint run 2>&1 | head -20", lint, 0, Passed, ""},
	} {
		got := Judge(Run{Line: c.line, Ended: true, Exit: c.exit, Output: c.out})
		if done := strings.Join(got.Done, ", "); got.Verdict != c.want || done != c.done {
			t.Errorf("%q with %q: %q and done %q, want %q and %q", c.line, c.out, got.Verdict, done, c.want, c.done)
		}
	}
}
