package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestComplexity counts the decisions of a function by hand.
func TestComplexity(t *testing.T) {
	t.Parallel()
	const src = `package p
func f(a, b bool) int {
	if a && b { return 1 }
	for range 3 { }
	switch { case a: return 2; case b: return 3; default: return 4 }
}`
	f, err := parser.ParseFile(token.NewFileSet(), "f.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := complexity(f.Decls[0].(*ast.FuncDecl)); got != 6 {
		t.Errorf("complexity = %d, want 6: one, an if, an and, a loop and two cases", got)
	}
}

// TestKnot has two files that need each other and one that only one of them needs.
func TestKnot(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range map[string]string{
		"a.go": "package p\ntype T struct{}\nfunc a() { b() }",
		"b.go": "package p\nfunc b() { T{}.m(); c() }",
		"c.go": "package p\nfunc c() {}",
		"d.go": "package p\nfunc (T) m() { a() }",
	} {
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{}).Check("p", fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	if got := knot(fset, files, info, pkg); got != 3 {
		t.Errorf("knot = %d, want 3: a, b and d", got)
	}
}
