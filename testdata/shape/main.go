// Command shape prints the shape of the module, one row a package: a mirror for contributors, and no gate.
//
//	go run ./testdata/shape [-all] [-list] [-about REGEXP] [PACKAGE...]
//
// Tests are not counted. CONTRIBUTING.md says how to read the columns.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// Limits beyond which a function is counted in a column.
const (
	longLine   = 120
	longFunc   = 60
	complex    = 25
	parameters = 5
)

// A listed is a package as "go list -json" describes it.
type listed struct {
	Dir        string
	ImportPath string
	GoFiles    []string
	Export     string
	Module     *struct{ Main bool }
}

// A row is the shape of one package.
type row struct {
	name      string
	files     int
	lines     int
	exported  int      // package-level names and methods
	methods   int      // of the type that has most
	largest   string   // that type
	knot      int      // files of the largest set in which each needs each other, 1 if there is none
	longest   int      // lines of the longest function
	long      int      // functions over longFunc lines
	branching int      // functions of a cyclomatic complexity over complex
	wide      int      // functions with more than parameters parameters
	overlong  int      // lines over longLine characters
	over      []string // the functions over a limit, one line each
	about     int      // lines of the functions that name what -about looks for
}

func main() {
	all := flag.Bool("all", false, "count the programs of testdata, too")
	each := flag.Bool("list", false, "list the functions over a limit instead")
	about := flag.String("about", "", "count the lines of the functions with a name or a word that `REGEXP` matches instead")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if *all {
		patterns = append(patterns, "./testdata/...")
	}
	if err := run(os.Stdout, patterns, *each, *about); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, patterns []string, each bool, about string) error {
	subject, err := regexp.Compile(about)
	if err != nil {
		return err
	}
	packages, exports, err := list(patterns)
	if err != nil {
		return err
	}
	var rows []row
	for _, p := range packages {
		r, err := measure(p, exports, subject)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return b.lines - a.lines })
	if about != "" {
		return writeAbout(w, rows)
	}
	if each {
		return writeEach(w, rows)
	}
	return write(w, rows)
}

// list returns the packages that the patterns name, and the export data of these and of all that they import.
func list(patterns []string) ([]listed, map[string]string, error) {
	load := func(args ...string) ([]listed, error) {
		cmd := exec.Command("go", append([]string{"list", "-json=Dir,ImportPath,GoFiles,Export,Module"}, args...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		var found []listed
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := dec.Decode(&p); err == io.EOF {
				return found, nil
			} else if err != nil {
				return nil, err
			}
			found = append(found, p)
		}
	}
	packages, err := load(patterns...)
	if err != nil {
		return nil, nil, err
	}
	deps, err := load(append([]string{"-export", "-deps"}, patterns...)...)
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	for _, p := range deps {
		exports[p.ImportPath] = p.Export
	}
	return slices.DeleteFunc(packages, func(p listed) bool { return len(p.GoFiles) == 0 }), exports, nil
}

// measure parses and checks the files of p.
func measure(p listed, exports map[string]string, about *regexp.Regexp) (row, error) {
	r := row{name: short(p.ImportPath), files: len(p.GoFiles), knot: 1}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return r, err
		}
		for line := range strings.Lines(string(src)) {
			r.lines++
			if len([]rune(strings.TrimSuffix(line, "\n"))) > longLine {
				r.overlong++
			}
		}
		f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		if err != nil {
			return r, err
		}
		files = append(files, f)
	}
	look := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", look)}
	pkg, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return r, err
	}
	r.countNames(pkg)
	r.countFunctions(fset, files, about)
	r.knot = knot(fset, files, info, pkg)
	return r, nil
}

func short(path string) string {
	_, name, ok := strings.Cut(path, "/mem/")
	if !ok {
		return "."
	}
	return name
}

func (r *row) countNames(pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if o.Exported() {
			r.exported++
		}
		t, ok := o.(*types.TypeName)
		if !ok {
			continue
		}
		n, ok := t.Type().(*types.Named)
		if !ok {
			continue
		}
		for m := range n.Methods() {
			if m.Exported() {
				r.exported++
			}
		}
		if n.NumMethods() > r.methods {
			r.methods, r.largest = n.NumMethods(), name
		}
	}
}

func (r *row) countFunctions(fset *token.FileSet, files []*ast.File, about *regexp.Regexp) {
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			r.longest = max(r.longest, lines)
			if mentions(fn, about) {
				r.about += lines
			}
			if lines > longFunc {
				r.long++
			}
			params, paths := fn.Type.Params.NumFields(), complexity(fn)
			if params > parameters {
				r.wide++
			}
			if paths > complex {
				r.branching++
			}
			if lines > longFunc || params > parameters || paths > complex {
				r.over = append(r.over, fmt.Sprintf("%d lines\t%d parameters\tcomplexity %d\t  %s  %s",
					lines, params, paths, fn.Name.Name, fset.Position(fn.Pos())))
			}
		}
	}
}

// mentions reports whether a function has an identifier or a text that about matches.
func mentions(fn *ast.FuncDecl, about *regexp.Regexp) (found bool) {
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.Ident:
			found = found || about.MatchString(x.Name)
		case *ast.BasicLit:
			found = found || about.MatchString(x.Value)
		}
		return !found
	})
	return found
}

// writeAbout prints the lines of the functions that -about found in each package, and their sum.
func writeAbout(w io.Writer, rows []row) error {
	sum := 0
	for _, r := range rows {
		if sum += r.about; r.about > 0 {
			if _, err := fmt.Fprintf(w, "%6d  %s\n", r.about, r.name); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "%6d  all\n", sum)
	return err
}

// complexity is McCabe's cyclomatic complexity: one more than the decisions in the function.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// knot returns how many files the largest set has in which each file needs every other, directly or through others.
func knot(fset *token.FileSet, files []*ast.File, info *types.Info, pkg *types.Package) int {
	index := map[string]int{}
	for i, f := range files {
		index[fset.Position(f.Pos()).Filename] = i
	}
	needs := make([]map[int]bool, len(files))
	for i := range needs {
		needs[i] = map[int]bool{}
	}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !declared(o, pkg) {
			continue
		}
		from, to := index[fset.Position(id.Pos()).Filename], index[fset.Position(o.Pos()).Filename]
		needs[from][to] = true
	}
	reach := make([]map[int]bool, len(files))
	for i := range files {
		reach[i] = map[int]bool{}
		visit(i, needs, reach[i])
	}
	largest := 1
	for i := range files {
		n := 0
		for j := range reach[i] {
			if reach[j][i] {
				n++
			}
		}
		largest = max(largest, n)
	}
	return largest
}

// declared reports whether o is a package-level name or a method.
func declared(o types.Object, pkg *types.Package) bool {
	if o.Parent() == pkg.Scope() {
		return true
	}
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

func visit(i int, needs []map[int]bool, seen map[int]bool) {
	for j := range needs[i] {
		if !seen[j] {
			seen[j] = true
			visit(j, needs, seen)
		}
	}
}

// writeEach lists the functions over a limit.
func writeEach(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		for _, line := range r.over {
			fmt.Fprintln(t, line+"\t")
		}
	}
	return t.Flush()
}

func write(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lines\tfiles\texported\tmethods\tknot\tlongest\t>60\t>25\t>5\t>120\t  package\t")
	var sum row
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s", r.lines, r.files, r.exported, r.methods, r.knot, r.longest, r.long, r.branching, r.wide, r.overlong, r.name)
		if r.methods > 40 {
			fmt.Fprintf(t, " (%s)", r.largest)
		}
		fmt.Fprintln(t, "\t")
		sum.lines, sum.files, sum.exported, sum.long = sum.lines+r.lines, sum.files+r.files, sum.exported+r.exported, sum.long+r.long
		sum.branching, sum.wide, sum.overlong = sum.branching+r.branching, sum.wide+r.wide, sum.overlong+r.overlong
		sum.methods, sum.knot, sum.longest = max(sum.methods, r.methods), max(sum.knot, r.knot), max(sum.longest, r.longest)
	}
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  all, median %d lines\t\n", sum.lines, sum.files, sum.exported, sum.methods, sum.knot, sum.longest,
		sum.long, sum.branching, sum.wide, sum.overlong, rows[len(rows)/2].lines)
	return t.Flush()
}
