package main

import (
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/remote"
)

// programs are the first words that a suggested fix may have, besides mem itself.
var programs = []string{"chmod", "sudo", "export", "go", "claude", "ssh-add", "git", "mv", "rm", "echo", "timedatectl", "sntp", "w32tm", "${EDITOR:-vi}", "notepad", "chown", "df"}

// checkLine checks that a line can be typed: every command in it is one, and those of mem have the subcommands and options that
// they are given.
func checkLine(t *testing.T, all []*cli.Command, where, line string) {
	t.Helper()
	if strings.TrimSpace(line) == "" {
		t.Errorf("%s: nothing mends it", where)
		return
	}
	code, _, _ := strings.Cut(line, "  # ")
	for _, part := range strings.FieldsFunc(code, func(r rune) bool { return strings.ContainsRune(";|&{}", r) && !strings.Contains(code, "${EDITOR") }) {
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
		case words[0] == "mem":
			checkMem(t, all, where, words[1:])
		case !slices.Contains(programs, words[0]):
			t.Errorf("%s: %q is no command: %s", where, words[0], line)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if out, err := exec.Command("sh", "-nc", line).CombinedOutput(); err != nil {
		t.Errorf("%s: a shell does not take %s: %v %s", where, line, err, out)
	}
}

// checkMem checks that mem has a command and the options that follow it.
func checkMem(t *testing.T, all []*cli.Command, where string, words []string) {
	t.Helper()
	commands, known := all, []cli.Flag(nil)
	for _, w := range words {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(w) })
		switch name := strings.TrimLeft(w, "-"); {
		case name != w:
			if !slices.ContainsFunc(known, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
				t.Errorf("%s: mem %s: no option %s", where, strings.Join(words, " "), w)
			}
		case at >= 0:
			known, commands = append(slices.Clone(known), commands[at].Flags...), commands[at].Subcommands
		case len(commands) > 0:
			t.Errorf("%s: mem %s: no command %s", where, strings.Join(words, " "), w)
			return
		}
	}
}

// TestEveryFindingHasACommand walks all findings that the doctor's source can make, and tries the line that mends each.
func TestEveryFindingHasACommand(t *testing.T) {
	t.Parallel()
	all := everyCommand()
	files, err := filepath.Glob("internal/doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "internal/hookcmd/installed.go")
	set := token.NewFileSet()
	found := 0
	for _, file := range files {
		f, err := goparser.ParseFile(set, file, nil, 0)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at := fixOf(call)
				if at < 0 {
					return true
				}
				found++
				where := set.Position(call.Pos()).String()
				for _, line := range linesOf(t, where, fn, call.Args[at]) {
					checkLine(t, all, where, line)
				}
				return true
			})
		}
	}
	if found < 35 {
		t.Errorf("only %d findings: the test does not see them all", found)
	}
}

// everyCommand returns all commands of mem.
func everyCommand() (out []*cli.Command) {
	for _, c := range commands() {
		out = append(out, c.build(&app.Env{}))
	}
	return out
}

// fixOf returns which argument of a call of x.warn, x.fail or in.wrong is the line that mends what it finds; -1 for other calls.
func fixOf(call *ast.CallExpr) int {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	x, ok := sel.X.(*ast.Ident)
	switch {
	case ok && x.Name == "x" && (sel.Sel.Name == "warn" || sel.Sel.Name == "fail"):
		return 1
	case ok && x.Name == "in" && sel.Sel.Name == "wrong":
		return 2
	}
	return -1
}

// linesOf returns the possible values of an expression in a function, with a name for each part that is known only at run time.
func linesOf(t *testing.T, where string, fn *ast.FuncDecl, e ast.Expr) []string {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return []string{s}
	case *ast.BinaryExpr:
		var out []string
		for _, a := range linesOf(t, where, fn, e.X) {
			for _, b := range linesOf(t, where, fn, e.Y) {
				out = append(out, a+b)
			}
		}
		return out
	case *ast.Ident:
		return assigned(t, where, fn, e.Name)
	case *ast.IndexExpr:
		return []string{"name"}
	case *ast.SelectorExpr:
		switch e.Sel.Name {
		case "Work":
			return []string{"work"}
		case "Fix": // what in.wrong was given
			return []string{"mem hooks install"}
		}
		return []string{"name"}
	case *ast.CallExpr:
		return called(t, where, fn, e)
	}
	t.Fatalf("%s: an expression of the type %T", where, e)
	return nil
}

// assigned returns all that a function assigns to a variable, or adds to it.
func assigned(t *testing.T, where string, fn *ast.FuncDecl, name string) []string {
	t.Helper()
	var out []string
	ast.Inspect(fn, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == name {
			for _, s := range linesOf(t, where, fn, a.Rhs[0]) {
				if a.Tok == token.ADD_ASSIGN {
					s = "mem status" + s
				}
				out = append(out, s)
			}
		}
		return true
	})
	if len(out) == 0 {
		return []string{"name"} // a parameter, or what a range gives
	}
	return out
}

// called returns what a call of one of the functions in doctormend.go gives. Their own tests try them.
func called(t *testing.T, where string, fn *ast.FuncDecl, call *ast.CallExpr) []string {
	t.Helper()
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch {
	case name == "Sprintf": // of a number
		format := linesOf(t, where, fn, call.Args[0])[0]
		return []string{strings.ReplaceAll(format, "%d", "7")}
	case name == "Shell":
		var words []string
		for _, a := range call.Args {
			words = append(words, linesOf(t, where, fn, a)[0])
		}
		return []string{term.Shell(words...)}
	case name == "EditCommand":
		return []string{app.EditCommand("path", linesOf(t, where, fn, call.Args[1])[0])}
	case name == "UninstallFrom":
		return []string{hookcmd.UninstallFrom([]string{"user", "local"})}
	case name == "ShortID", name == "string": // of an ID
		return []string{"name"}
	case name == "SweepHint":
		r := refs.Remote{Name: "origin"}
		return []string{app.SweepHint(r, nil), app.SweepHint(r, errors.New("refused"))}
	case name == "SetClock":
		return []string{doctor.SetClock()}
	case slices.Contains([]string{"FixOpen", "FixConfig", "FixRemote"}, name):
		return []string{"mem status"} // TestMends
	}
	if _, ok := call.Fun.(*ast.SelectorExpr); ok {
		return []string{"path"}
	}
	t.Fatalf("%s: what does %s give?", where, name)
	return nil
}

// TestMends runs the suggested fixes of all kinds of errors, with hostile names and paths.
func TestMends(t *testing.T) {
	t.Parallel()
	all := everyCommand()
	evil := "/m; touch evil\n$(touch evil)`touch evil`'touch evil'"
	of := func(url string) refs.Remote { return refs.Remote{Name: "origin", URL: url} }
	for _, tt := range []struct{ what, got, want string }{
		{"no memory", doctor.FixOpen(evil, refs.ErrNotRepo), "mem init"},
		{"open to others", doctor.FixOpen(evil, refs.ErrUnsafe), "mem doctor --fix"},
		{"newer", doctor.FixOpen(evil, refs.ErrFormat), "go install "},
		{"no device", doctor.FixOpen(evil, &refs.DeviceError{File: evil, Missing: true}), "mem init"},
		{"broken device", doctor.FixOpen(evil, &refs.DeviceError{File: evil, Err: fs.ErrInvalid}), "mem fsck --repair || { mv "},
		{"not mine", doctor.FixOpen(evil, &fs.PathError{Err: syscall.EACCES}), "chmod -R u+rwX "},
		{"damaged", doctor.FixOpen(evil, refs.ErrDamaged), "mem fsck --repair"},
		{"anything", doctor.FixOpen(evil, errors.New("boom")), "mem fsck --repair"},
		{"sum", doctor.FixConfig(evil, fmt.Errorf("x: %w", config.ErrSum)), "mem fsck --repair"},
		{"no JSON", doctor.FixConfig(evil, &config.SyntaxError{}), app.EditCommand(evil, "")[:8]},
		{"no directory", doctor.FixConfig(evil, syscall.ENOTDIR), "export MEM_DIR="},
		{"not to be read", doctor.FixConfig(evil, &fs.PathError{Err: syscall.EACCES}), "chmod 600 "},
		{"an option", doctor.FixConfig(evil, errors.New("boom")), "mem doctor"},
		{"password", doctor.FixRemote(of("https://h/"+evil), fmt.Errorf("x: %w", remote.ErrAuth)), "echo 'url=https://h/"},
		{"key", doctor.FixRemote(of("git@h:m"), remote.ErrAuth), "ssh-add"},
		{"gone", doctor.FixRemote(of(evil), remote.ErrAbsent), "git init --bare "},
		{"gone far away", doctor.FixRemote(of("git@h:"+evil), remote.ErrAbsent), "mem remote set-url origin URL"},
		{"no such place", doctor.FixRemote(of("x:"), remote.ErrURL), "mem remote set-url origin URL"},
		{"no answer", doctor.FixRemote(of("git@h:m"), errors.New("boom")), "mem remote show origin"},
		{"a device", term.Shell("mem", "device", "trust", evil), "mem device trust '"},
	} {
		if !strings.HasPrefix(tt.got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.what, tt.got, tt.want)
		}
		if strings.Contains(tt.got, "evil") && !strings.Contains(tt.got, term.Shell(evil)[1:]) && !strings.Contains(tt.got, strings.TrimSuffix(term.Shell(evil)[1:], "'")) {
			t.Errorf("%s: not quoted: %s", tt.what, tt.got)
		}
		plain := strings.NewReplacer(term.Shell(evil), "path", term.Shell(evil+".broken"), "path", term.Shell("url=https://h/"+evil), "url").Replace(tt.got)
		checkLine(t, all, tt.what, plain)
	}
}
