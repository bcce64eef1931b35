package verdict

import (
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/shell"
)

// ran matches the line with which a runner of tasks says what it runs: "$ jest" (Bun, Yarn), "[test] $ go test ./..."
// (mise), "> jest" (npm, after the name of the script).
var ran = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[[\w:./-]+\] )?[$>] ([\w./@-]+(?: .*)?)$`)
})

// maxTask is the maximal length of a command that a task stands for.
const maxTask = 160

// Task returns the command that a task of a runner stands for, as the first lines of the output say, or "". Of a line
// with several commands the output does not say which one it speaks of.
func Task(line, output string) string {
	n := 0
	for _, c := range shell.Parse(line) {
		if c.Acts() {
			n++
		}
	}
	if n > 1 {
		return ""
	}
	n = 0
	for s := range strings.SplitSeq(output, "\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if n++; n > 12 {
			return ""
		}
		m := ran().FindStringSubmatch(s)
		if m == nil || len(m[1]) > maxTask || strings.HasPrefix(s, "> ") && strings.Contains(strings.Split(m[1], " ")[0], "@") {
			continue
		}
		if !strings.Contains(line, m[1]) {
			return strings.Clone(m[1])
		}
		return ""
	}
	return ""
}
