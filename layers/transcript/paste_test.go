package transcript

import (
	"strings"
	"testing"
)

// TestKinds checks which lines of a message count as pasted.
func TestKinds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Feb  8 21:51:50.720 |DEBU| hook invoked hook=stop component=hooks\nhook invoked\n", 12)
	readme := strings.Repeat("tool - a tool for your work\n\n* License: MIT\n* Source: of the tool\n\n", 100)
	words, call := strings.Repeat("words ", 200), "func f(x int) error { return g(x) }\n"
	for text, want := range map[string]string{
		"@cart.go see #123\n[Image #1] see https://example.com/shop/issues/123?x=1 and fix it\n" + long: "rr" +
			strings.Repeat("p", 23) + "rr",
		"short\n{\n": "",
		words:        "r",
		"so, testing this:\n```\n" + words + "\n```\nwhat is it?":         "rpppr",
		"an open fence:\n```\n" + words + "\nwhat is it?":                 "rrrr",
		"the logs still leak\n" + long + "\nwhat is it? debug":            "r" + strings.Repeat("p", 23) + "rrr",
		"1. no file\n2. active -> idle\n" + long:                          "rr" + strings.Repeat("p", 23) + "rr",
		strings.Repeat(strings.Repeat("word ", 40)+"\n", 30):              strings.Repeat("r", 31),
		"請修復這個錯誤，不要修改計費模組。\n" + strings.Repeat(call, 30):                  "r" + strings.Repeat("p", 30) + "r",
		"a tool - of all tools\n\n" + readme + "add the tool to our list": strings.Repeat("p", 502) + "r",
		"why is it slow?\n\n" + readme + "footer of the page":             "r" + strings.Repeat("p", 502),
		strings.Repeat("I want a queue, and I want it empty.\n", 200):     strings.Repeat("r", 201),
	} {
		var got strings.Builder
		for _, k := range LineKinds(text) {
			got.WriteByte("rp"[k])
		}
		if want == strings.Repeat("r", len(want)) && got.Len() == 0 {
			continue
		}
		if got.String() != want {
			t.Errorf("Kinds(%.60q) = %s, want %s", text, got.String(), want)
		}
	}
}

// TestShort tells short logs and code from what somebody typed around them.
func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"why?\n2026-01-05 10:00:01 ERROR pool is closed\n2026-01-05 10:00:02 WARN we use bun from now on\n10:00:03 done\nfix it": "rpppr",
		"why?\n2026-01-05 10:00:01 ERROR pool is closed\nfix it":                                                                 "",
		"see:\n```\nwe use bun\n```\nok":                    "rpppr",
		"use $HOME/bin\n$PATH has it\nalways sign commits":  "",
		"always sign commits\nnever push to main\nuse tabs": "",
	} {
		var got strings.Builder
		for _, k := range LineKinds(text) {
			got.WriteByte("rp"[k])
		}
		if got.String() != want {
			t.Errorf("Kinds(%q) = %s, want %s", text, got.String(), want)
		}
	}
}

// TestIsFence tells a block of code, also a whole one, from code within a line.
func TestIsFence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"```": true, "```go": true, "~~~": true, "```go\nx := `a`\n```": true, "~~~\n```a```\n~~~": true,
		"```a```": false, "```a``` runs": false, "`a`": false, "text\n```": false, "": false,
	} {
		if got := IsFence(text); got != want {
			t.Errorf("IsFence(%q) = %v", text, got)
		}
	}
}
