package main

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/memvcs/mem/"

// imports says which of our packages each package may import. It is policy, in the order of the layers:
// change the design before this table, and the table before the code.
func imports() map[string]string {
	return map[string]string{
		"objects":           "",
		"layers/transcript": "",
		"layers/keepit":     "",
		"layers/tokens":     "",
		"layers/claims":     "",
		"refs/config":       "",

		"objects/objectstest": "objects",
		"lineage":             "objects",
		"objects/pack":        "",
		"objects/gitstore":    "objects/pack",
		"objects/stream":      "objects",
		"layers/redact":       "objects",
		"layers/refine":       "layers/transcript",

		"layers/search/terms": "",
		"layers/search/index": "layers/search/terms",
		"layers/search":       "layers/refine layers/search/terms layers/search/index",

		"layers/compress": "lineage layers/keepit layers/tokens layers/refine",
		"refs":            "objects objects/pack objects/gitstore objects/stream",

		"refs/remote": "objects/pack objects/gitstore refs",
		"refs/sealed": "objects objects/pack objects/gitstore refs refs/remote",

		"layers/engines": "objects layers/claims layers/tokens layers/keepit layers/compress",
		"layers/facts":   "objects layers/claims",

		"layers/concepts":  "layers/facts",
		"layers/permanent": "objects layers/claims layers/facts layers/concepts",
		"layers/views":     "layers/tokens layers/brief layers/facts layers/concepts layers/permanent",
		"layers/trace":     "layers/keepit layers/tokens layers/compress",
		"layers/compose":   "objects layers/tokens layers/compress",
		"layers/tier":      "layers/keepit layers/tokens layers/compress layers/compose",

		"layers/brief":   "",
		"layers/records": "",

		"layers/handover": "layers/refine layers/brief",

		"layers/worktree": "objects objects/pack",

		"layers": "objects lineage objects/pack objects/gitstore objects/stream refs refs/remote refs/sealed layers/claims layers/transcript layers/keepit layers/tokens layers/redact layers/refine layers/compress layers/engines layers/compose layers/tier layers/trace layers/facts layers/concepts layers/permanent layers/views layers/brief layers/handover layers/records layers/worktree layers/search layers/search/index",

		"hooks": "objects layers layers/brief layers/keepit layers/transcript",

		"cmd/mem": "layers hooks refs refs/config refs/remote refs/sealed objects layers/transcript layers/keepit layers/tokens layers/compress layers/engines layers/compose layers/tier layers/trace layers/facts layers/concepts layers/permanent layers/views testdata layers/redact layers/worktree layers/search layers/search/index cmd/mem/internal/cli cmd/mem/internal/mcp cmd/mem/internal/proof cmd/mem/internal/web",

		"cmd/mem/internal/cli":   "",
		"cmd/mem/internal/proof": "objects layers",
		"cmd/mem/internal/web":   "layers layers/compose layers/compress layers/concepts layers/engines layers/facts layers/keepit layers/permanent layers/refine layers/search layers/search/index layers/tokens layers/trace refs refs/config",
		"cmd/mem/internal/mcp":   "layers/tokens",

		// Programs and libraries of the tests, which no package of the program imports.
		"testdata": "",
	}
}

// outside says which packages may import each module that is not ours. A module that is not here may
// be imported by nobody.
func outside() map[string]string {
	return map[string]string{
		"github.com/zeebo/blake3":                    "objects",
		"github.com/go-git/go-git/v5":                "objects/gitstore",
		"github.com/memvcs/mem/cmd/mem/internal/cli": "cmd/mem",
		"golang.org/x/term":                          "cmd/mem",
		"github.com/clipperhouse/displaywidth":       "cmd/mem",
		"github.com/gofrs/flock":                     "refs refs/config hooks cmd/mem/internal/proof layers/search/index",
		"github.com/klauspost/compress":              "objects/pack objects/stream layers/search/index",
		"github.com/tidwall/gjson":                   "layers/refine layers",
		"github.com/kljensen/snowball":               "layers/compress layers/facts layers/search/terms",
		"filippo.io/age":                             "refs/sealed",
		"golang.org/x/sys":                           "refs",
		"github.com/yuin/goldmark":                   "cmd/mem/internal/web",
		"github.com/modelcontextprotocol/go-sdk":     "cmd/mem/internal/mcp",
	}
}

// A worldly name reaches the world outside: the clock, randomness, the environment, the terminal. Only
// cmd/mem may, and there only env.go; whoever needs such a thing below is given it.
func worldly() map[string][]string {
	return map[string][]string{
		"os": {"Getenv", "LookupEnv", "Environ", "Setenv", "Getwd", "Chdir", "Exit", "Stdin", "Stdout", "Stderr", "Args",
			"UserHomeDir", "UserCacheDir", "UserConfigDir", "Hostname", "Executable"},
		"time": {"Now", "Since", "Until"},
		"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"log":  {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default"},
	}
}

// worldlyImports may stand in env.go alone, whatever is used of them.
func worldlyImports() []string {
	return []string{"math/rand", "math/rand/v2", "crypto/rand", "golang.org/x/term", "os/user", "os/signal"}
}

// doors are the files that may touch the world.
func doors() []string { return []string{"cmd/mem/env.go", "cmd/mem/main.go"} }

// TestImports checks every file of the module that is no test, whatever system it is for.
func TestImports(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files := 0
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" && rel != "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		files++
		checkFile(t, name, rel, used)
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files, %v", files, err)
	}
	for pkg, may := range imports() {
		for _, p := range strings.Fields(may) {
			if !used[pkg+" "+module+p] {
				t.Errorf("the table lets %s import %s, which it does not", pkg, p)
			}
		}
	}
	for mod, users := range outside() {
		for _, pkg := range strings.Fields(users) {
			if !used[pkg+" "+mod] {
				t.Errorf("the table lets %s import %s, which it does not", pkg, mod)
			}
		}
	}
}

// TestLinked checks that only the pages of "mem serve" pull in templates: what commands print needs none. Behind the modules nothing
// else may, because each start pays for what is initialised.
func TestLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		pkg, rest, _ := strings.Cut(line, " ")
		for _, p := range strings.Fields(rest) {
			if (p == "html/template" || p == "text/template") && pkg != module+"cmd/mem/internal/web" && pkg != "html/template" {
				t.Errorf("%s imports %s: see go mod why -m, or go list -deps", pkg, p)
			}
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d packages, there are more", len(lines))
	}
}

// checkFile checks a file, and notes who imports what: "objects github.com/zeebo/blake3".
func checkFile(t *testing.T, name, rel string, used map[string]bool) {
	fset := token.NewFileSet()
	f, err := goparser.ParseFile(fset, name, nil, goparser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	pkg := path.Dir(rel)
	if strings.HasPrefix(pkg, "testdata/") {
		return // a generator, run by hand or by tests
	}
	if _, ok := imports()[pkg]; !ok {
		t.Errorf("%s is not in the table of packages", pkg)
	}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
		}
		if err := mayImport(pkg, rel, p); err != nil {
			t.Error(err)
		}
		used[pkg+" "+p] = true
		for mod := range outside() {
			if strings.HasPrefix(p, mod+"/") {
				used[pkg+" "+mod] = true
			}
		}
	}
	if !slices.Contains(doors(), rel) {
		ast.Inspect(f, func(n ast.Node) bool { return checkWorldly(t, fset, rel, n) })
	}
	if !strings.HasPrefix(pkg, "objects/objectstest") {
		checkPackageRegexp(t, rel, f)
	}
}

// mayImport says what is wrong with the package pkg importing p in the file rel.
func mayImport(pkg, rel, p string) error {
	if ours, ok := strings.CutPrefix(p, module); ok {
		if !slices.Contains(strings.Fields(imports()[pkg]), ours) {
			return fmt.Errorf("%s must not import %s", pkg, ours)
		}
		return nil
	}
	if slices.Contains(worldlyImports(), p) && !slices.Contains(doors(), rel) && pkg != "objects/objectstest" {
		return fmt.Errorf("%s must not import %s: only cmd/mem/env.go touches the world", rel, p)
	}
	first, _, _ := strings.Cut(p, "/")
	if !strings.Contains(first, ".") {
		return nil
	}
	for mod, users := range outside() {
		if p == mod || strings.HasPrefix(p, mod+"/") {
			if slices.Contains(strings.Fields(users), pkg) {
				return nil
			}
			return fmt.Errorf("%s must not import %s", pkg, p)
		}
	}
	return fmt.Errorf("%s imports %s, which is not in the table of modules", pkg, p)
}

func checkWorldly(t *testing.T, fset *token.FileSet, rel string, n ast.Node) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	x, ok := sel.X.(*ast.Ident)
	if ok && slices.Contains(worldly()[x.Name], sel.Sel.Name) {
		t.Errorf("%s:%d: %s.%s: only cmd/mem/env.go touches the world", rel, fset.Position(sel.Pos()).Line, x.Name, sel.Sel.Name)
	}
	return true
}

// checkPackageRegexp refuses regular expressions that are compiled when the program starts.
func checkPackageRegexp(t *testing.T, rel string, f *ast.File) {
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false // runs later
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "MustCompile") {
				t.Errorf("%s: %s at package level slows every start", rel, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestTableIsAnOrder checks that the table of packages has no cycle.
func TestTableIsAnOrder(t *testing.T) {
	t.Parallel()
	table := imports()
	done := map[string]bool{}
	for range table {
		for pkg, needs := range table {
			if !slices.ContainsFunc(strings.Fields(needs), func(p string) bool { return !done[p] }) {
				done[pkg] = true
			}
		}
	}
	for pkg := range table {
		if !done[pkg] {
			t.Errorf("%s imports itself in a circle, or a package that is not in the table", pkg)
		}
	}
}
