package exchange

import (
	"strings"

	"github.com/memvcs/mem/layers/refine"
)

// A run is a command or a call of a tool that can fail, with its place among the exchanges.
type run struct {
	key    string
	n      int
	failed bool
	x, i   int // of a failure: its exchange and its index there
}

// ran notes a command or a call, and adds a failure to x.
func (b *builder) ran(at int, x *Exchange, e refine.Entry, of string, failed bool) {
	r := run{key: keyOf(e), n: e.N, failed: failed, x: at, i: len(x.Failures)}
	if !failed && e.Result == "" {
		return // without a result nothing is known
	}
	if failed {
		f := Failure{N: e.N, Of: of, Tool: e.Name}
		if e.Result != "" && e.Result != "ok" {
			f.Lines = strings.Split(strings.TrimRight(e.Result, "\n"), "\n")
		}
		for _, line := range e.Errors {
			if !strings.Contains(e.Result, line) {
				f.Lines = append(f.Lines, line)
			}
		}
		x.Failures = append(x.Failures, f)
	}
	b.runs = append(b.runs, r)
}

// fix looks for the first later success of what failed.
func (b *builder) fix() {
	passed := map[string]int{} // the next success of each key
	for i := len(b.runs) - 1; i >= 0; i-- {
		r := b.runs[i]
		if !r.failed {
			passed[r.key] = r.n
			continue
		}
		b.out[r.x].Failures[r.i].Fixed = passed[r.key]
	}
	b.runs = nil
}

// keyOf returns what a command or a call is about: the program with its subcommand, or the tool with its file. A wider
// run of the same program is the same thing.
func keyOf(e refine.Entry) string {
	if e.Cmd == "" {
		file, _ := place(e.Target)
		if fileTools[e.Name] {
			return "edit " + file
		}
		return e.Name + " " + e.Target
	}
	return "$ " + Program(e.Cmd)
}

// Program returns the part of a shell line by which its runs are compared: of the commands that do something,
// the program with its subcommands, without directories, variables, options, arguments and redirections.
func Program(line string) string {
	var all []string
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '\n' }) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "cd", "head", "tail", "grep", "wc", "sort", "echo", "cat", "true", "tee", "sleep", "export", "2>":
			continue
		}
		if strings.HasPrefix(words[0], ">") || strings.HasPrefix(words[0], "1") && len(words[0]) == 1 {
			continue
		}
		name := words[:1]
		for _, w := range words[1:] {
			if len(name) == 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz:-") != "" || strings.HasPrefix(w, "-") {
				break
			}
			name = append(name, w)
		}
		all = append(all, name...)
	}
	return strings.Join(all, " ")
}
