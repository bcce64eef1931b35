package app

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommandEnvironment holds that a program gets no variable that describes one call of git or one session of Claude
// Code, and all others.
func TestCommandEnvironment(t *testing.T) {
	t.Parallel()
	for _, env := range []func() []string{nil, func() []string { return nil }} {
		e := Env{Environ: env}
		if cmd := e.Command(t.Context(), nil, "x"); cmd.Env == nil {
			t.Error("the environment of this process is inherited")
		}
	}
	e := Env{Dir: "/d", Environ: func() []string {
		return []string{"PATH=/bin", "HOME=/h", "GIT_DIR=/r/.git", "GIT_WORK_TREE=/r", "GIT_INDEX_FILE=i", "GIT_COMMON_DIR=c",
			"GIT_OBJECT_DIRECTORY=o", "GIT_NAMESPACE=n", "GIT_PREFIX=", "GIT_CONFIG_PARAMETERS='a.b'='c'", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0=/r", "GIT_QUARANTINE_PATH=q", "GIT_EXEC_PATH=/x", "git_dir=/r",
			"GIT_SHALLOW_FILE=s", "GIT_GRAFT_FILE=g", "GIT_REPLACE_REF_BASE=b", "GIT_DISCOVERY_ACROSS_FILESYSTEM=1", "GIT_SOMETHING_NEW=1",
			"GIT_CEILING_DIRECTORIES=/", "GIT_AUTHOR_NAME=a", "GIT_TRACE=/tmp/t", "GITHUB_TOKEN=g", "GIT_SSH_COMMAND=ssh -i k",
			"GIT_ASKPASS=ask", "GIT_CONFIG_GLOBAL=/dev/null", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s",
			"CLAUDE_CODE_MESSAGING_TOKEN=t", "CLAUDE_CODE_MESSAGING_SOCKET=s", "CLAUDE_ENV_FILE=f", "CLAUDE_CONFIG_DIR=/c",
			"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=k", "=C:=C:\\"}
	}}
	want := []string{"PATH=/bin", "HOME=/h", "GITHUB_TOKEN=g", "GIT_SSH_COMMAND=ssh -i k", "GIT_ASKPASS=ask",
		"GIT_CONFIG_GLOBAL=/dev/null", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=k", "=C:=C:\\", "A=b"}
	if cmd := e.Command(t.Context(), []string{"A=b"}, "x"); !slices.Equal(cmd.Env, want) || cmd.Dir != "/d" {
		t.Errorf("in %s with %q, want %q", cmd.Dir, cmd.Env, want)
	}
}

// TestOneWayToRunPrograms holds that all of mem runs other programs through [Env.Command], also those that a Go package
// is given: no other file makes a command, sets the environment of one or starts a process.
func TestOneWayToRunPrograms(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if d.Name() == "testdata" || d.Name() == "refstest" || d.Name() == "layerstest" { // programs of the tests
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || rel == "cmd/mem/internal/app/command.go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		checked++
		for _, found := range programsIn(f) {
			t.Errorf("%s: %s; use app.Env.Command", rel, found)
		}
		return nil
	})
	if err != nil || checked < 300 {
		t.Fatalf("%d files checked: %v", checked, err)
	}
}

// programsIn returns what a file does that starts programs or sets their environment.
func programsIn(f *ast.File) (out []string) {
	starts := map[string][]string{
		"os/exec": {"Command", "CommandContext", "Cmd{"}, "os": {"StartProcess"},
		"syscall": {"Exec", "ForkExec", "StartProcess", "CreateProcess"}, "golang.org/x/sys/unix": {"Exec"},
	}
	names := map[string][]string{} // by the name of the package in the file
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = starts[path]
	}
	selector := func(n ast.Node) (pkg, name string) {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				return x.Name, s.Sel.Name
			}
		}
		return "", ""
	}
	runs := len(names["exec"]) > 0
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, name := selector(n); slices.Contains(names[pkg], name) {
				out = append(out, pkg+"."+name)
			}
		case *ast.CompositeLit:
			if pkg, name := selector(n.Type); slices.Contains(names[pkg], name+"{") {
				out = append(out, pkg+"."+name+"{}")
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if _, name := selector(l); runs && name == "Env" {
					out = append(out, "an assignment of the environment")
				}
			}
		}
		return true
	})
	return out
}

// TestProgramsIn holds that the test above finds each way.
func TestProgramsIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src  string
		want int
	}{
		{`import "os/exec"; var _ = exec.Command("git")`, 1},
		{`import "os/exec"; var _ = exec.CommandContext`, 1},
		{`import run "os/exec"; var _ = run.Command("git")`, 1},
		{`import "os/exec"; var _ = &exec.Cmd{Path: "git"}`, 1},
		{`import "os/exec"; func f(cmd *exec.Cmd) { cmd.Env = nil }`, 1},
		{`import "os"; var _, _ = os.StartProcess("git", nil, nil)`, 1},
		{`import "syscall"; var _ = syscall.Exec("git", nil, nil)`, 1},
		{`import "os/exec"; var _ = exec.LookPath; var _ exec.Cmd`, 0},
		{`type e struct{}; func (e) Command() {}; var _ = e{}.Command`, 0},
	} {
		var src bytes.Buffer
		src.WriteString("package p; " + tt.src)
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", &src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := programsIn(f); len(got) != tt.want {
			t.Errorf("%s: %q, want %d", tt.src, got, tt.want)
		}
	}
}
