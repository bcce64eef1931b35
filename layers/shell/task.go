package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ran matches the line with which a runner of tasks says what it runs: "$ jest" (Bun, Yarn), "[test] $ go test ./..."
// (mise), "> jest" (npm, after the name of the script).
var ran = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[[\w:./-]+\] )?[$>] ([\w./@~-]+(?: .*)?)$`)
})

// tagged matches a line that mise prints before or of a task, with its name.
var tagged = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([\w:./-]+)\] `) })

// maxTask is the maximal length of a command that a task stands for.
const maxTask = 160

// Several is what a task stands for that runs several others.
const Several = "…"

// Tasks returns what tasks of the commands of a line stand for, as the output says, each as "mise run test = go test ./...",
// or [Several] of one that runs several others.
func Tasks(line, output string) (out []string) {
	parsed := Parse(line)
	list := Commands(parsed)
	names := map[string]string{} // of the commands, by their tasks
	for _, c := range list {
		if w := strings.Fields(c.Name); w[0] == "mise" {
			names[w[len(w)-1]] = c.Name
		}
	}
	stands := map[string]string{}
	for s := range strings.SplitSeq(output, "\n") {
		m := tagged().FindStringSubmatch(s)
		if m == nil || len(names) == 0 {
			continue
		}
		task, _, part := strings.Cut(m[1], ":")
		if names[m[1]] != "" {
			task, part = m[1], false
		}
		is := ran().FindStringSubmatch(strings.TrimSpace(s))
		switch {
		case names[task] == "" && len(names) == 1:
			for other := range names {
				stands[other] = Several
			}
		case names[task] == "":
		case part || is != nil && stands[task] != "" && stands[task] != is[1]:
			stands[task] = Several
		case is != nil && stands[task] == "" && len(is[1]) <= maxTask && !strings.Contains(line, is[1]):
			stands[task] = strings.Clone(is[1])
		}
	}
	for task, command := range stands {
		out = append(out, names[task]+" = "+command)
	}
	slices.Sort(out)
	acts := 0
	for _, s := range parsed {
		if s.Acts() {
			acts++
		}
	}
	if command := packageScript(line, output); command != "" && acts == 1 && len(list) == 1 && len(names) == 0 { // of several, any may have printed it
		return []string{list[0].Name + " = " + command}
	}
	return out
}

// packageScript returns the command of which the first lines of an output say that a script stands for it, or "".
func packageScript(line, output string) string {
	n, headed := 0, false
	for s := range strings.SplitSeq(output, "\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if n++; n > 12 {
			return ""
		}
		m := ran().FindStringSubmatch(s)
		npm, after := strings.HasPrefix(s, "> "), headed
		headed = npm && m != nil && strings.Contains(strings.Split(m[1], " ")[0], "@") // "> shop@1.0.0 build"
		if m == nil || len(m[1]) > maxTask || headed || npm && !after {
			continue
		}
		if !strings.Contains(line, m[1]) {
			return strings.Clone(m[1])
		}
		return ""
	}
	return ""
}
