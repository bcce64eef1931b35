package handover

import (
	"strings"
	"testing"
)

func TestGist(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Both have the tests:\n\n| Test | A |\n|---|---|\n| stop | x |":         "Both have the tests:\n• stop - x",
		"Deleted two files:\n- `start.go`\n- `stop.go`\n\nAll is well.":         "Deleted two files:\n• `start.go`\n• `stop.go`\nAll is well.",
		"1. One.\n2. Two\n   - nested\n3. **Three**":                            "• One.\n• Two\n◦ nested\n• Three",
		"Now:\n```\nx\n```\nIt works.":                                          "Now:\n…\nIt works.",
		"## Issue #1: slow\nIt reads all.\n## Issue #2: wrong\n- It adds twice": "• Issue #1: slow\n◦ It reads all.\n• Issue #2: wrong\n◦ It adds twice",
		"### 1. One\nIt is.\n\n---\nShall I?":                                   "• One\n◦ It is.\nShall I?",
		"**1. One** - it is\n**2. Two** - too":                                  "• One - it is\n• Two - too",
		"**Changes**\nSee [a.go](src/a.go).":                                    "See a.go.",
	} {
		if got := Gist(text, 400); got != want {
			t.Errorf("Gist(%q) = %q, want %q", text, got, want)
		}
	}
	long := "Five were found:\n" + strings.Repeat("- the parser rounds the price of "+strings.Repeat("a very long name of ", 9)+"a shop\n", 5)
	if got := Gist(long, 300); len(got) > 300+len(ellipsis) || !strings.HasSuffix(got, "more]") {
		t.Errorf("a list that does not fit: %q", got)
	}
}

// TestOutcome gives texts of the model: what was changed or found is quoted, not that checks pass or what the model asks;
// of a list that does not fit the items are named or counted.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"All tests pass. Added two tests to `setup_test.go`:\n\n1. **`TestKeeps`** - Verifies that they stay\n2. **`TestLocal`** - The same", "Added two tests to `setup_test.go`: `TestKeeps` - Verifies that they stay; `TestLocal` - The same"},
		{"All three checks pass (tests, lint, typecheck). Here's a summary:\n1. **Retry** (line 8): calls it again, with a pause that grows by the square of the attempts\n2. **Log** (line 9): writes it once", "Retry (line 8): calls it again …; Log (line 9): writes it once"},
		{"✅ Tests pass\n✅ Lint clean\n\nThe parser rounds half up.", "The parser rounds half up."},
		{"✅ Tests: 12 pass, 0 fail\nThe parser rounds half up.", "The parser rounds half up."},
		{"The parser rounds half up. 3 tests fail.", "The parser rounds half up. 3 tests fail."},
		{"The parser rounds half up. Not all tests pass.", "The parser rounds half up. Not all tests pass."},
		{"Without a cache it takes 15 ms. With a cache it takes 135 ms, of which 100 are the pause at the end.\n\nThe fix works: it was 800 ms.", "Without a cache it takes 15 ms. … The fix works: it was 800 ms."},
		{"The parser rounds half up, as the shop does. It did not before, and the tests did not see it, since they had no halves in them.", "The parser rounds half up, as the shop does. It did not before, and the tests did not see it, …"},
		{"All green. Want me to push?", "All green. …"},
		{"The parser rounds half up. 主な更新：\n- half up\n- once", "The parser rounds half up. 主な更新： half up; once"},
		{"Fixed. All tests pass.", "Fixed. All tests pass."},
		{"Renamed the sidecar to inspector in the parser. Tests pass. The class is still open.", "Renamed the sidecar to inspector in the parser. … The class is still open."},
		{"Committed the change as `50d8160`. All hooks (tests, lint) passed.", "Committed the change as `50d8160`. …"},
		{"The parser rounds half up. Here's a summary:\n- once", "The parser rounds half up. … once"},
		{"It is done:\n1. **One** — Extracted the lines. They are a package of their own.\n2. **Two** — Upgraded\n   - the reader of the prices of all the shops, and the writer", "It is done: One — Extracted the lines. They are a package of their own. Two — Upgraded …"},
		{"254 passed, 0 failed, 51.5s. All clean.", "254 passed, 0 failed, 51.5s. All clean."},
		{"The PR has three commits:\n1. `x` - a new type of the parser\n\nWant to review it?", "The PR has three commits: `x` - a new type of the parser …"},
		{"It spans these:\n\n| a | b |\n|--|--|\n| 1 | one |\n\n### Issue #1: Recursion (done)\nIt is.\n### Issue #2: Heuristics of parents\nOpen.\n### Issue #3: No tree is read\nOpen.",
			"It spans these: one … Issue #1: Recursion (done) … [2 more]"},
		{"Here are the gaps:\n\n### ✅ Covered\n- the parser\n\n### ❌ Missing\n- the cache", "Covered: the parser. Missing: the cache"},
		{"I built the whole parser:\n\n## Parts\n- the reader", "I built the whole parser. Parts: the reader"},
		{"The cache has these faults: " + strings.Repeat("it is slow and ", 9) + "wrong.", "The cache has these faults: it is slow and it is slow and it is slow and it is slow and it is …"},
	} {
		if got := outcome(Gist(c[0], maxAnswered), 104); got != "“"+c[1]+"”" {
			t.Errorf("%q\n got %s\nwant “%s”", c[0], got, c[1])
		}
	}
	for gist, want := range map[string]string{ // after what a tool had printed was cut
		"The PR has:\n• … - the original purpose\n• … - from #93\n• `x` - new": "The PR has: `x` - new [2 more]",
		"The PR has:\n• … - the original purpose\n• … - from #93":              "The PR has: …",
		"It has:\n…": "It has: …",
		"It is done.\ndocs/price.md:\n• … of x":                    "It is done. docs/price.md: …",
		"It is done.\nChanged:\n• … of x\nIt works.":               "It is done. … It works.",
		"Changed:\n• the date (all of it, … and more\n• the price": "Changed: the date (all of it, … and more; the price",
		"It has:\n• 1 …\n• `TestA` …\n◦ … of it\nIt works.":        "It has: `TestA` … [1 more]. It works.",
	} {
		if got := outcome(gist, 104); got != "“"+want+"”" {
			t.Errorf("%q\n got %s\nwant “%s”", gist, got, want)
		}
	}
}

// FuzzOutcome holds the limits.
func FuzzOutcome(f *testing.F) {
	f.Add("All pass. It has:\n- a\n  - b\n\n## 1. x\n[3 more]\n```\n", 60)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 50 + abs(limit)%400
		gist := Gist(text, limit)
		if got := outcome(gist, limit); len(gist) > limit+len(ellipsis) || len(got) > limit+len("“”")+len(ellipsis) {
			t.Errorf("%d: %q: %q", limit, gist, got)
		}
	})
}

func abs(n int) int { return max(n, -n, 0) }
