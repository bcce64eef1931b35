package handover

import (
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// A Form is a command that failed for a reason of its form: a program, a subcommand, a script, an option, a file or a
// directory that does not exist. The reason is in words of mem: what a tool printed is not quoted.
type Form struct {
	Key  string // of all commands that fail for this reason, see [formKeys]
	Line string // the command, in names
	Why  string
	N    int
	Fix  string // the command that worked soon after it, in names, or ""
}

// A reason recognises an error message. The first group of its expression is the subject.
type reason struct {
	kind string // prefix of the key
	why  string // before the subject
	re   string
}

// noOption is the reason of an option that does not exist.
const noOption = "there is no option"

var reasons = []reason{
	{"prog", "there is no program", "(?:[Cc]ommand not found: |env: ‘?|exec: \"|\\bspawn )([\\w.@+-]+)(?:\"?: executable file not found|’?: No such file| ENOENT|\\s*$)"},
	{"prog", "there is no program", "(?:^|[: ])([\\w.@+-]+): (?:command not found|not found)$"},
	{"cd", "there is no directory", "\\bcd: (?:no such file or directory: )?([^\\s:]+)(?:: No such file or directory)?$"},
	{"opt", noOption, "(?i)(?:unknown|unrecognized|unrecognised|invalid|illegal|unsupported|unexpected|no such) (?:command[- ]line )?(?:shorthand )?(?:option|flag|argument|arguments)s?:? (?:provided )?(?:-- )?['\"`‘]?(-{0,2}[A-Za-z][\\w-]*)"},
	{"opt", noOption, "flag provided but not defined: (-{1,2}[\\w-]+)"},
	{"sub", "there is no subcommand", "(?i)(?:unknown|unrecognized|unrecognised|invalid|no such) (?:sub)?command:? ['\"`‘]?([\\w:.-]+)"},
	{"sub", "there is no subcommand", "['\"`‘]([\\w:.-]+)['\"`’] is not a (?:\\S+ )?(?:sub)?command"},
	{"sub", "there is no script", "(?i)missing script:? ['\"]?([\\w:.-]+)"},
	{"sub", "there is no task", "(?i)(?:script|task|recipe|target|job) not found:? ['\"]?([\\w:.-]+)"},
	{"sub", "there is no script", "(?i)command ['\"]([\\w:.-]+)['\"] not found"},
	{"sub", "there is no target", "No rule to make target [`'‘]([^'’]+)['’]"},
	{"sub", "there is no task", "Don't know how to (?:build|make|run) (?:task )?['\"`]?([\\w:.-]+)"},
	{"form", "this is not a form of", "^(\\w+): .*\\binvalid command code\\b"},
	{"sub", "there is no task", "(?i)no task(?: named)? ['\"`]?([\\w:.-]+)['\"`]? (?:found|exists)"},
	{"sub", "there is no task", "(?i)(?:task|recipe) ['\"`]?([\\w:.-]+)['\"`]? (?:does not exist|(?:was |could )?not (?:be )?found)"},
	{"sub", "there is no recipe", "(?i)does not contain recipe [`'\"]([\\w:.-]+)"},
	{"file", "there is no file", "(?:can't open file|Cannot find module) ['\"]([^'\"]+)['\"]"},
	{"file", "there is no file", "^(?:\\(eval\\):\\d+: |[a-z]*sh: (?:line \\d+: )?)?(?:no such file or directory: )?(\\.{0,2}/[\\w./@-]+)(?:: No such file or directory)?$"},
	{"file", "there is no module", "No module named ['\"]?([\\w.-]+)"},
	{"dir", "it is the wrong directory", "(?i)(go\\.mod file not found|could not find `Cargo\\.toml`|could not read package\\.json|no package\\.json|not a git repository|no configuration file provided|could not find a package\\.json)"},
}

var reasonExpressions = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(reasons))
	for i, r := range reasons {
		out[i] = regexp.MustCompile(r.re)
	}
	return out
})

// bare returns the words of a simple command from its program on. Unlike [shell.Simple.Program], it keeps a program that
// runs another one: "rtk bun test" is a form of rtk.
func bare(s shell.Simple) []string {
	w := s.Words
	for len(w) > 0 && (slices.Contains([]string{"sudo", "time", "then", "do", "else", "if", "!", "{", "("}, w[0]) || assignment(w[0])) {
		w = w[1:]
	}
	if len(w) > 2 && (w[0] == "timeout" || w[0] == "gtimeout") {
		return w[2:]
	}
	return w
}

func assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.ToUpper(name) == name && !strings.HasPrefix(name, "-")
}

// formKeys returns the keys of a simple command: of a reason of its form that makes it fail, the key is one of them.
func formKeys(s shell.Simple, moved bool) (out []string) {
	w := bare(s)
	if len(w) == 0 {
		return nil
	}
	p := path.Base(w[0])
	out = append(out, "prog "+p)
	if first := s.Words[0]; first == "timeout" || first == "gtimeout" {
		out = append(out, "prog "+first)
	}
	if strings.Contains(w[0], "/") {
		out = append(out, "file "+w[0])
	}
	if p == "cd" && len(w) > 1 {
		return append(out, "cd "+w[1])
	}
	sub, form := "", "form "+p
	for i, a := range w[1:] {
		if a == "" || a[0] == '-' {
			form += " " + strconv.Quote(a)
		}
		switch {
		case strings.HasPrefix(a, "-"):
			flag, _, _ := strings.Cut(a, "=")
			out = append(out, "opt "+p+" "+sub+" "+strings.TrimLeft(flag, "-"))
			if !strings.HasPrefix(flag, "--") && len(flag) > 2 && len(flag) <= 4 { // a group of options, not a name
				for _, letter := range flag[1:] {
					out = append(out, "opt "+p+" "+sub+" "+string(letter))
				}
			}
		case strings.ContainsAny(a, "/.") && len(a) > 1:
			out = append(out, "file "+a)
		}
		if !strings.HasPrefix(a, "-") && i < 3 {
			out = append(out, "sub "+p+" "+a)
			if sub == "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyz-:") == "" {
				sub = a
			}
		}
		if a == "-m" && i+2 < len(w) {
			out = append(out, "file "+w[i+2])
		}
	}
	if !moved {
		out = append(out, "dir "+p+" "+sub)
	}
	return append(out, form)
}

// lineKeys returns the keys of all commands of a line.
func lineKeys(list []shell.Simple) (out []string) {
	moved := false
	for _, s := range list {
		if len(s.Words) > 400 {
			continue
		}
		out = append(out, formKeys(s, moved)...)
		moved = moved || s.Words[0] == "cd"
	}
	return out
}

// maxForm is the size of a command whose form is read.
const maxForm = 4000

// formOf returns why a command failed, if that is for a reason of its form.
func formOf(e refine.Entry, list []shell.Simple) (f Form, ok bool) {
	lines := e.Errors
	if e.Result != "ok" {
		lines = append(strings.Split(e.Result, "\n"), lines...)
	}
	keys := lineKeys(list)
	for _, line := range lines[:min(len(lines), 8)] {
		line = strings.TrimSpace(line)
		if len(line) > 300 {
			continue
		}
		for i, r := range reasons {
			m := reasonExpressions()[i].FindStringSubmatch(line)
			if m == nil || r.kind == "opt" && another(line, list) {
				continue
			}
			key := keyFor(r.kind, m[1], keys)
			if key == "" && r.kind == "prog" { // of a program that runs others
				key = keyFor("sub", m[1], keys)
			}
			if key != "" {
				f = Form{Key: key, N: e.N, Why: r.why, Line: inNames(list, key)}
				if r.kind == "opt" && !strings.HasPrefix(m[1], "-") {
					m[1] = "--"[:min(2, len(m[1]))] + m[1]
				}
				if r.kind != "dir" && (brief.IsSafeWord(m[1]) || brief.SafeFile(m[1]) != "") {
					f.Why += " " + m[1]
				}
				return f, f.Line != ""
			}
		}
	}
	return f, false
}

// another reports whether a message begins with the name of a program that the line does not name: what it says of an option is not
// about a command of the line, such as "grep: invalid option -- g" where "rg" is another name of grep.
func another(message string, list []shell.Simple) bool {
	name, _, ok := strings.Cut(message, ": ")
	if !ok || !brief.IsSafeWord(name) || name != strings.ToLower(name) || slices.Contains([]string{"error", "fatal", "warning"}, name) {
		return false
	}
	return !slices.ContainsFunc(list, func(s shell.Simple) bool {
		return slices.ContainsFunc(s.Words, func(w string) bool { return path.Base(w) == name })
	})
}

// keyFor returns the key of the line that a reason with a subject is about, "" if the line has no such part.
func keyFor(kind, subject string, keys []string) string {
	subject = strings.TrimLeft(subject, "-")
	for _, k := range keys {
		rest, is := strings.CutPrefix(k, kind+" ")
		if !is {
			continue
		}
		last := rest[strings.LastIndexByte(rest, ' ')+1:]
		switch {
		case kind == "dir", rest == subject, last == subject, kind == "form" && strings.HasPrefix(rest, subject+" "):
			return k
		case kind == "file" && (strings.HasSuffix(subject, "/"+strings.TrimPrefix(rest, "./")) || strings.Split(rest, ".")[0] == subject):
			return k
		}
	}
	return ""
}

// inNames returns the command of a line that has a key, as far as names go: program, words and flags.
func inNames(list []shell.Simple, key string) string {
	moved := false
	for _, s := range list {
		if slices.Contains(formKeys(s, moved), key) {
			w := bare(s)
			if key == "prog "+s.Words[0] {
				w = s.Words
			}
			return brief.SafeCommand(w, maxShown)
		}
		moved = moved || s.Words[0] == "cd"
	}
	return ""
}

// maxShown is the size of a command that is shown.
const maxShown = 70

// hashKey shortens a key.
func hashKey(key string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return int(h.Sum32())
}

// forms follows the forms of commands in a session.
type forms struct {
	broken []Form
	worked map[int]bool
	wait   int // commands until the fix of the last broken form is no longer looked for
}

const (
	maxForms  = 30
	maxWorked = 2000
	fixWithin = 6 // commands
)

// ran records a command. It reports whether it failed for a reason of its form.
func (f *forms) ran(e refine.Entry) bool {
	if len(e.Cmd) > maxForm || strings.HasPrefix(e.Result, "refused by the user") || e.Result == "" {
		return false
	}
	list := shell.Parse(e.Cmd)
	if len(list) == 0 {
		return false
	}
	if form, ok := formOf(e, list); ok {
		f.broken = slices.DeleteFunc(f.broken, func(o Form) bool {
			if o.Key == form.Key {
				form.Fix = o.Fix
			}
			return o.Key == form.Key
		})
		if len(f.broken) == maxForms {
			f.broken = f.broken[1:]
		}
		f.broken, f.wait = append(f.broken, form), fixWithin
		delete(f.worked, hashKey(form.Key))
		return true
	}
	if e.Exit != 0 || e.Result != "ok" || len(e.Errors) > 0 || shell.Answers(list) && len(list) > 1 {
		return false
	}
	keys := lineKeys(list)
	f.fixedBy(list, keys)
	settled, _ := shell.Settles(list)
	moved := false
	for i, s := range list {
		if settled[i] && len(s.Words) <= 400 {
			for _, k := range formKeys(s, moved) {
				f.broken = slices.DeleteFunc(f.broken, func(o Form) bool { return o.Key == k })
				if len(f.worked) < maxWorked {
					f.worked[hashKey(k)] = true
				}
			}
		}
		moved = moved || s.Words[0] == "cd"
	}
	return false
}

// fixedBy records a command that worked soon after a broken form as its fix, if both have words in common that say
// what they do: of several the one that has most.
func (f *forms) fixedBy(list []shell.Simple, keys []string) {
	if f.wait == 0 || len(f.broken) == 0 {
		return
	}
	f.wait--
	last := &f.broken[len(f.broken)-1]
	if slices.Contains(keys, last.Key) {
		return
	}
	for _, s := range list {
		w := bare(s)
		if len(w) == 0 || !s.Acts() && w[0] != "cd" && !strings.HasPrefix(last.Line, w[0]+" ") {
			continue
		}
		show := brief.SafeCommand(w, maxShown)
		if show == last.Line || !mends(last.Line, show) && !last.runs(w) || common(last.Line, show) <= common(last.Line, last.Fix) {
			continue
		}
		last.Fix = show
	}
}

// runs reports whether a command runs the module that there was not.
func (f *Form) runs(w []string) bool {
	file, ok := strings.CutPrefix(f.Key, "file ")
	return ok && slices.Contains(w, file)
}

// mends reports whether a command does what another one was meant to do: it has all of its words but one, and if it has others, one that
// resembles it. Numbers do not count.
func mends(broken, fix string) bool {
	without := func(a, b string) (out []string) {
		has := strings.Fields(b)
		for _, w := range strings.Fields(a) {
			if !strings.HasPrefix(w, "-") && strings.Trim(w, "0123456789") != "" && !slices.Contains(has, w) {
				out = append(out, w)
			}
		}
		return out
	}
	lost, new := without(broken, fix), without(fix, broken)
	return len(lost) == 0 || len(lost) == 1 && (len(new) == 0 || slices.ContainsFunc(new, func(w string) bool { return resembles(lost[0], w) }))
}

// resembles reports whether two words name the same kind of checks, begin or end alike, or have the same letters; directories do not.
func resembles(a, b string) bool {
	sorted := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	n, of := (min(len(a), len(b))+1)/2, shell.ChecksIn(a)
	if of != shell.ChecksIn("") && of == shell.ChecksIn(b) {
		return true
	}
	return !strings.Contains(a, "/") && (a[:n] == b[:n] || a[len(a)-n:] == b[len(b)-n:] || sorted(a) == sorted(b))
}

// common returns how many words of a command another one has, without flags.
func common(a, b string) (n int) {
	words := strings.Fields(b)
	for _, w := range strings.Fields(a) {
		if len(w) > 1 && !strings.HasPrefix(w, "-") && slices.Contains(words, w) {
			n++
		}
	}
	return n
}
