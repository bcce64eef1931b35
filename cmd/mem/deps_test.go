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
		"objects":     "",
		"refs/config": "refs/disk",

		"lineage":          "objects",
		"objects/pack":     "",
		"objects/gitstore": "objects/pack",
		"objects/stream":   "objects",

		"refs/disk": "objects objects/pack",
		"refs/lane": "objects objects/gitstore objects/pack objects/stream refs/disk",
		"refs":      "objects objects/gitstore objects/pack objects/stream refs/disk refs/lane",

		"refs/incoming": "objects objects/gitstore objects/pack objects/stream refs refs/lane",
		"refs/repair":   "objects objects/gitstore objects/pack objects/stream refs refs/disk refs/incoming refs/lane",
		"refs/refstest": "objects objects/gitstore objects/pack objects/stream refs refs/lane",

		"refs/remote": "objects/gitstore objects/pack refs refs/lane",
		"refs/sealed": "objects objects/gitstore objects/pack refs refs/lane refs/remote",

		"hooks/settings":                "refs/disk",
		"layers/brief":                  "",
		"layers/keepit":                 "",
		"layers/tokens":                 "",
		"layers/answers":                "layers/tokens objects",
		"layers/knowledge/facts":        "layers/answers layers/tokens objects",
		"layers/search/index":           "",
		"layers/transcript":             "",
		"layers/knowledge/concepts":     "layers/knowledge/facts",
		"layers/redact":                 "objects",
		"layers/shell":                  "layers/brief layers/tokens",
		"layers/refine":                 "layers/shell layers/transcript",
		"layers/exchange":               "layers/refine layers/shell layers/tokens layers/transcript",
		"layers/version":                "layers/keepit layers/tokens layers/transcript",
		"layers/planning":               "layers/keepit layers/tokens layers/version lineage",
		"layers/compress":               "layers/exchange layers/keepit layers/planning layers/refine layers/shell layers/tokens layers/transcript layers/version",
		"layers/knowledge/permanent":    "layers/answers layers/knowledge/concepts layers/knowledge/facts layers/search/index layers/tokens objects",
		"layers/compose":                "layers/tokens layers/version objects",
		"layers/engines":                "layers/answers layers/compress layers/keepit layers/tokens layers/version objects",
		"layers/trace":                  "layers/keepit layers/planning layers/shell layers/tokens layers/version",
		"layers/records":                "layers/engines layers/keepit layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/planning layers/tokens layers/transcript lineage objects refs refs/lane",
		"cmd/mem/internal/term":         "layers/records layers/tokens",
		"layers/state":                  "layers/compress layers/engines layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/planning layers/records layers/redact layers/tokens layers/transcript layers/version lineage objects objects/pack refs refs/remote refs/sealed",
		"layers/originals":              "layers/records layers/redact layers/refine layers/state layers/transcript layers/version objects refs",
		"layers/projects":               "layers/records layers/state refs refs/lane",
		"layers/trust":                  "layers/history layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/originals layers/projects layers/records layers/refine layers/state layers/transcript layers/version objects refs refs/lane",
		"layers/revision":               "layers/answers layers/brief layers/history layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/originals layers/records layers/refine layers/state layers/transcript layers/trust objects refs",
		"layers/secrets":                "layers/originals layers/projects layers/records layers/redact layers/state layers/transcript layers/trust objects objects/stream refs refs/lane",
		"layers/markers":                "layers/compress layers/keepit layers/originals layers/planning layers/records layers/refine layers/revision layers/state layers/tokens layers/transcript layers/trust layers/version objects refs",
		"layers/capture":                "layers/keepit layers/markers layers/originals layers/projects layers/records layers/redact layers/secrets layers/state layers/transcript layers/trust objects objects/stream refs refs/disk",
		"layers/notes":                  "layers/capture layers/originals layers/projects layers/records layers/redact layers/secrets layers/state layers/trace layers/trust objects refs refs/disk",
		"layers/checkout":               "layers/capture layers/compose layers/knowledge/facts layers/markers layers/originals layers/records layers/redact layers/refine layers/revision layers/state layers/transcript layers/trust layers/version objects refs refs/disk",
		"layers/derive":                 "layers/capture layers/compose layers/compress layers/engines layers/keepit layers/markers layers/originals layers/planning layers/projects layers/records layers/refine layers/sessions layers/state layers/tokens layers/trace layers/transcript layers/trust layers/version lineage objects refs",
		"layers/history":                "layers/records layers/state refs",
		"layers/sessions":               "layers/capture layers/markers layers/originals layers/records layers/state layers/transcript layers/trust objects refs",
		"layers/knowledge":              "layers/answers layers/derive layers/engines layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/records layers/refine layers/revision layers/sessions layers/state layers/tokens layers/transcript layers/trust layers/version objects refs",
		"layers/interchange":            "layers/brief layers/capture layers/checkout layers/exchange layers/keepit layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/projects layers/records layers/redact layers/refine layers/revision layers/secrets layers/sessions layers/state layers/tokens layers/transcript layers/trust layers/version objects refs refs/disk",
		"layers/stats":                  "layers/capture layers/derive layers/engines layers/markers layers/originals layers/planning layers/records layers/state layers/transcript layers/trust objects objects/stream refs refs/lane",
		"layers/forget":                 "layers/capture layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/records layers/redact layers/secrets layers/state layers/transcript layers/trust lineage objects objects/gitstore objects/pack objects/stream refs refs/repair",
		"layers/provenance":             "layers/checkout layers/compose layers/compress layers/derive layers/keepit layers/knowledge layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/planning layers/records layers/refine layers/revision layers/state layers/tokens layers/trace layers/transcript layers/trust layers/version lineage objects refs",
		"layers/search":                 "layers/capture layers/compose layers/exchange layers/notes layers/originals layers/provenance layers/records layers/refine layers/search/index layers/sessions layers/state layers/tokens layers/trust layers/version objects refs",
		"layers/handover":               "layers/brief layers/compress layers/exchange layers/keepit layers/knowledge layers/knowledge/facts layers/knowledge/permanent layers/notes layers/originals layers/records layers/refine layers/search layers/sessions layers/shell layers/state layers/tokens layers/transcript layers/trust layers/version objects refs",
		"layers/view":                   "layers/capture layers/compose layers/derive layers/engines layers/handover layers/keepit layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/planning layers/provenance layers/records layers/search layers/search/index layers/sessions layers/state layers/trace layers/transcript layers/trust objects refs",
		"layers/sync":                   "layers/forget layers/history layers/projects layers/records layers/secrets layers/state layers/trust objects objects/gitstore objects/pack refs refs/incoming refs/lane refs/remote refs/sealed",
		"layers/repair":                 "layers/capture layers/compose layers/knowledge layers/knowledge/facts layers/originals layers/records layers/redact layers/secrets layers/state layers/sync layers/transcript layers/version lineage objects objects/pack objects/stream refs refs/lane refs/remote refs/repair",
		"layers":                        "layers/capture layers/state",
		"layers/layerstest":             "layers layers/answers layers/capture layers/derive layers/engines layers/forget layers/markers layers/originals layers/records layers/redact layers/repair layers/revision layers/state layers/sync layers/trust objects/gitstore refs refs/lane refs/remote refs/repair",
		"cmd/mem/internal/cmdline":      "cmd/mem/internal/app cmd/mem/internal/term",
		"cmd/mem/internal/app":          "cmd/mem/internal/term hooks layers layers/capture layers/engines layers/handover layers/keepit layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/originals layers/projects layers/records layers/redact layers/revision layers/state layers/sync layers/tokens layers/trust objects refs refs/config refs/disk refs/lane refs/remote refs/sealed",
		"hooks":                         "hooks/settings layers layers/capture layers/handover layers/keepit layers/knowledge layers/markers layers/notes layers/projects layers/records layers/state layers/stats layers/transcript objects refs refs/disk",
		"cmd/mem/internal/forgetcmd":    "cmd/mem/internal/app cmd/mem/internal/term layers/forget layers/markers layers/planning layers/records layers/state layers/tokens layers/trust objects refs",
		"cmd/mem/internal/searchcmd":    "cmd/mem/internal/app cmd/mem/internal/term layers layers/keepit layers/projects layers/search layers/search/index layers/sessions layers/tokens layers/trust layers/view objects refs",
		"cmd/mem/internal/versioncmd":   "cmd/mem/internal/app cmd/mem/internal/term layers layers/capture layers/compose layers/compress layers/derive layers/engines layers/handover layers/keepit layers/markers layers/planning layers/records layers/revision layers/state layers/tokens layers/trust layers/version layers/view refs/config",
		"cmd/mem/internal/historycmd":   "cmd/mem/internal/app cmd/mem/internal/knowledgecmd cmd/mem/internal/term hooks layers/engines layers/handover layers/history layers/keepit layers/knowledge/concepts layers/projects layers/provenance layers/revision layers/state layers/tokens layers/trace layers/trust layers/version layers/view refs",
		"cmd/mem/internal/knowledgecmd": "cmd/mem/internal/app cmd/mem/internal/forgetcmd cmd/mem/internal/term cmd/mem/internal/versioncmd layers/answers layers/checkout layers/derive layers/engines layers/interchange layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/notes layers/projects layers/records layers/revision layers/state layers/tokens layers/trust layers/view objects",
		"cmd/mem/internal/sessioncmd":   "cmd/mem/internal/app cmd/mem/internal/hookcmd cmd/mem/internal/knowledgecmd cmd/mem/internal/term cmd/mem/internal/versioncmd layers layers/capture layers/checkout layers/derive layers/engines layers/forget layers/handover layers/interchange layers/keepit layers/knowledge layers/markers layers/notes layers/projects layers/records layers/revision layers/sessions layers/state layers/sync layers/tokens layers/transcript layers/trust layers/view refs",
		"cmd/mem/internal/storecmd":     "cmd/mem/internal/app cmd/mem/internal/term hooks layers layers/checkout layers/derive layers/engines layers/markers layers/originals layers/provenance layers/records layers/redact layers/repair layers/secrets layers/state layers/stats layers/sync layers/tokens layers/trust objects refs refs/config refs/repair",
		"cmd/mem/internal/doctor":       "cmd/mem/internal/app cmd/mem/internal/hookcmd cmd/mem/internal/term hooks layers layers/history layers/projects layers/repair layers/sessions layers/sync layers/tokens layers/trust refs refs/config refs/disk refs/remote",
		"cmd/mem/internal/hookcmd":      "cmd/mem/internal/app cmd/mem/internal/knowledgecmd cmd/mem/internal/storecmd cmd/mem/internal/term cmd/mem/internal/versioncmd hooks hooks/settings layers layers/derive layers/engines layers/redact layers/state layers/trace refs refs/config refs/disk",
		"cmd/mem/internal/remotecmd":    "cmd/mem/internal/app cmd/mem/internal/forgetcmd cmd/mem/internal/term layers layers/capture layers/records layers/revision layers/secrets layers/sessions layers/state layers/sync layers/trust refs refs/disk refs/remote refs/sealed",
		"cmd/mem/internal/exportcmd":    "cmd/mem/internal/app cmd/mem/internal/remotecmd cmd/mem/internal/term cmd/mem/internal/versioncmd cmd/mem/internal/web layers layers/capture layers/checkout layers/interchange layers/markers layers/projects layers/records layers/refine layers/state layers/trust refs/disk",
		"cmd/mem/internal/mcpcmd":       "cmd/mem/internal/app cmd/mem/internal/knowledgecmd cmd/mem/internal/searchcmd cmd/mem/internal/sessioncmd cmd/mem/internal/term cmd/mem/internal/versioncmd layers layers/checkout layers/compose layers/derive layers/keepit layers/knowledge/concepts layers/knowledge/facts layers/markers layers/originals layers/revision layers/search layers/search/index layers/state layers/tokens layers/trust layers/view refs",
		"cmd/mem/internal/web/api":      "cmd/mem/internal/app cmd/mem/internal/doctor cmd/mem/internal/hookcmd cmd/mem/internal/searchcmd cmd/mem/internal/versioncmd hooks layers/capture layers/checkout layers/compose layers/compress layers/derive layers/engines layers/handover layers/history layers/keepit layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/originals layers/planning layers/provenance layers/records layers/revision layers/search layers/sessions layers/state layers/stats layers/trust layers/version layers/view refs refs/config",
		"cmd/mem/internal/web":          "cmd/mem/internal/app cmd/mem/internal/doctor cmd/mem/internal/hookcmd cmd/mem/internal/term cmd/mem/internal/versioncmd cmd/mem/internal/web/api layers/capture layers/checkout layers/compose layers/derive layers/engines layers/exchange layers/history layers/interchange layers/keepit layers/knowledge layers/knowledge/concepts layers/knowledge/facts layers/knowledge/permanent layers/markers layers/notes layers/planning layers/provenance layers/records layers/refine layers/revision layers/search/index layers/sessions layers/state layers/stats layers/sync layers/tokens layers/trace layers/transcript layers/trust layers/version layers/view refs refs/config refs/disk",
		"cmd/mem":                       "cmd/mem/internal/app cmd/mem/internal/cmdline cmd/mem/internal/doctor cmd/mem/internal/exportcmd cmd/mem/internal/forgetcmd cmd/mem/internal/historycmd cmd/mem/internal/hookcmd cmd/mem/internal/knowledgecmd cmd/mem/internal/mcpcmd cmd/mem/internal/remotecmd cmd/mem/internal/searchcmd cmd/mem/internal/sessioncmd cmd/mem/internal/storecmd cmd/mem/internal/term cmd/mem/internal/versioncmd cmd/mem/internal/web layers/capture layers/transcript refs refs/config testdata",

		// Programs and libraries of the tests, which no package of the program imports.
		"testdata": "",
	}
}

// outside says which packages may import each module that is not ours. A module that is not here may
// be imported by nobody.
func outside() map[string]string {
	return map[string]string{
		"github.com/zeebo/blake3":                "objects",
		"github.com/go-git/go-git/v5":            "objects/gitstore objects/pack",
		"github.com/urfave/cli/v2":               "cmd/mem cmd/mem/internal/app cmd/mem/internal/cmdline cmd/mem/internal/doctor cmd/mem/internal/exportcmd cmd/mem/internal/forgetcmd cmd/mem/internal/historycmd cmd/mem/internal/hookcmd cmd/mem/internal/knowledgecmd cmd/mem/internal/mcpcmd cmd/mem/internal/remotecmd cmd/mem/internal/searchcmd cmd/mem/internal/sessioncmd cmd/mem/internal/storecmd cmd/mem/internal/versioncmd cmd/mem/internal/web",
		"golang.org/x/term":                      "cmd/mem/internal/app",
		"github.com/clipperhouse/displaywidth":   "cmd/mem cmd/mem/internal/app",
		"github.com/dustin/go-humanize":          "cmd/mem/internal/app",
		"github.com/gofrs/flock":                 "hooks layers/search/index refs/disk",
		"github.com/klauspost/compress":          "layers/search/index layers/transcript objects/pack objects/stream",
		"github.com/tidwall/gjson":               "cmd/mem/internal/mcpcmd cmd/mem/internal/web layers/interchange layers/notes layers/originals layers/refine layers/revision layers/transcript",
		"github.com/kljensen/snowball":           "layers/search/index layers/trace",
		"filippo.io/age":                         "refs/sealed",
		"golang.org/x/text":                      "layers/search",
		"github.com/tailscale/hujson":            "hooks/settings refs/config",
		"github.com/yuin/goldmark":               "cmd/mem/internal/web",
		"github.com/modelcontextprotocol/go-sdk": "cmd/mem/internal/mcpcmd",
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
func doors() []string { return []string{"cmd/mem/internal/app/env.go", "cmd/mem/main.go"} }

// ofTests reports whether a package is a library of tests, which touch the world.
func ofTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

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

// TestLinked checks that nothing but the pages of "mem serve" and "mem export --html", --format and the library of commands pulls in templates: each start pays
// for what is initialised.
func TestLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	// pages, --format, and the help of the library of commands
	templated := []string{"html/template", module + "cmd/mem/internal/web",
		module + "cmd/mem/internal/exportcmd", module + "cmd/mem/internal/app", "github.com/urfave/cli/v2"}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		pkg, rest, _ := strings.Cut(line, " ")
		for _, p := range strings.Fields(rest) {
			if (p == "html/template" || p == "text/template") && !slices.Contains(templated, pkg) {
				t.Errorf("%s imports %s: see go mod why -m, or go list -deps", pkg, p)
			}
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d packages, there are more", len(lines))
	}
}

// checkFile checks a file and records its imports: "objects github.com/zeebo/blake3".
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
	if !slices.Contains(doors(), rel) && !ofTests(pkg) {
		ast.Inspect(f, func(n ast.Node) bool { return checkWorldly(t, fset, rel, n) })
	}
	checkPackageRegexp(t, rel, f)
}

// mayImport returns why the package pkg must not import p in the file rel; "" if it may.
func mayImport(pkg, rel, p string) error {
	if ours, ok := strings.CutPrefix(p, module); ok {
		if !slices.Contains(strings.Fields(imports()[pkg]), ours) {
			return fmt.Errorf("%s must not import %s", pkg, ours)
		}
		return nil
	}
	if slices.Contains(worldlyImports(), p) && !slices.Contains(doors(), rel) && !ofTests(pkg) {
		return fmt.Errorf("%s must not import %s: only cmd/mem/internal/app/env.go touches the world", rel, p)
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
		t.Errorf("%s:%d: %s.%s: only cmd/mem/internal/app/env.go touches the world", rel, fset.Position(sel.Pos()).Line, x.Name, sel.Sel.Name)
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
