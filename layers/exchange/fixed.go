package exchange

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// A run is a command or a call of a tool that can fail, with its place among the exchanges.
type run struct {
	key    string
	of     []string // what it was run on, see [subjects]
	n      int
	failed bool
	x, i   int // of a failure: its exchange and its index there
}

// ran notes a command or a call, and adds a failure to x.
func (b *builder) ran(at int, x *Exchange, e refine.Entry, of string, failed bool) {
	r := run{key: keyOf(e), of: subjects(shell.Unfiltered(e.Cmd)), n: e.N, failed: failed, x: at, i: len(x.Failures)}
	searched := searches().MatchString(e.Cmd) // the exit status is that of the search, and a failure need not be in what it shows
	if !failed && (e.Result == "" || searched && e.Verdict != "passed") || cancelled(e.Result) {
		return // nothing is known
	}
	if failed {
		f := Failure{N: e.N, Of: of, Tool: e.Name}
		if e.Result != "" && e.Result != "ok" {
			f.Lines = strings.Split(strings.TrimRight(e.Result, "\n"), "\n")
		}
		for _, line := range causes(e) {
			if !strings.Contains(e.Result, line) {
				f.Lines = append(f.Lines, line)
			}
		}
		x.Failures = append(x.Failures, f)
	}
	b.runs = append(b.runs, r)
}

// causes returns the lines of an output that say why it failed. Tests print the errors that they provoke, too: of a run of
// tests those are the lines that name a test or a package that failed, a place in a file or an expectation, with the names
// of the other tests, or the line that counts them.
func causes(e refine.Entry) []string {
	proof := strings.ToLower(e.Proof)
	if len(e.Failed) == 0 && (!strings.Contains(proof, "fail") || strings.Contains(proof, "error")) {
		return e.Errors
	}
	var out []string
	for _, line := range e.Errors {
		if placed().MatchString(line) || slices.ContainsFunc(e.Failed, func(name string) bool { return strings.Contains(line, name) }) {
			out = append(out, line)
		}
	}
	for _, name := range e.Failed[:min(len(e.Failed), 3)] {
		if !slices.ContainsFunc(out, func(line string) bool { return strings.Contains(line, name) }) {
			out = append(out, "failed: "+name)
		}
	}
	if len(out) == 0 && e.Proof != "" {
		out = append(out, e.Proof)
	}
	return out
}

// searches matches what tells nothing of the command before it: neither its exit status nor its errors.
var searches = pattern(`\|\s*(grep|rg|jq|wc|sort|uniq|awk|sed|cut)\b`)

var placed = pattern(`^FAIL\s+\S|\.\w+[:(]\d+|(?i)assert|expect`)

// fix looks for the first later success of what failed.
func (b *builder) fix() {
	const near = 100             // successes of a key that are looked at
	passed := map[string][]run{} // of each key, the latest first
	for i := len(b.runs) - 1; i >= 0; i-- {
		r := b.runs[i]
		later := passed[r.key]
		if !r.failed {
			passed[r.key] = append(later, r)
			continue
		}
		for k := len(later) - 1; k >= max(0, len(later)-near); k-- {
			if later[k].covers(r) {
				b.out[r.x].Failures[r.i].Fixed = later[k].n
				break
			}
		}
	}
	b.runs = nil
}

// covers reports whether a run of the same program did at least what f did: with the same subjects, with fewer, which limit
// it less, or with their beginnings: directories above, and the patterns of more names.
func (r run) covers(f run) bool {
	const pattern = 4 // bytes that can be one
	for _, s := range r.of {
		begins := strings.TrimSuffix(s, "...")
		if !slices.ContainsFunc(f.of, func(t string) bool {
			return s == t || (begins != s || len(s) >= pattern) && strings.HasPrefix(t, begins)
		}) {
			return false
		}
	}
	return true
}

// subjects returns the arguments of a shell line that say on what its programs run, and filters: no options without a
// value, redirections and commands that only show an output. The message of a commit and the branch of a push are none.
func subjects(line string) (all []string) {
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '\n' }) {
		words := shell.WithoutPrefixes(strings.Fields(part))
		if Program(part) == "" || words[0] == "git" {
			continue
		}
		for _, w := range words[1:] {
			if strings.ContainsAny(w, "<>") || w == "1" || w == "2" || strings.HasPrefix(w, "-") && !strings.Contains(w, "=") || strings.HasPrefix(w, "-count=") {
				continue
			}
			all = append(all, strings.Trim(w, `"'`))
		}
	}
	return all
}

// keyOf returns what a command or a call is about: the program with its subcommand, or the tool with its file.
func keyOf(e refine.Entry) string {
	if e.Cmd == "" {
		file, _ := place(e.Target)
		if fileTools[e.Name] {
			return "edit " + file
		}
		return e.Name + " " + e.Target
	}
	return "$ " + Program(shell.Unfiltered(e.Cmd))
}

// Program returns the part of a shell line by which its runs are compared: of the commands that do something,
// the program with its subcommands, without directories, variables, options, arguments and redirections.
func Program(line string) string {
	var all []string
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '\n' }) {
		words := shell.WithoutPrefixes(strings.Fields(part))
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
