package main

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLinked looks at what is taken of the cli package: options, the description of commands and the context of an action. Its App
// and its help would link templates, and with them every method of every type and a parser of Markdown, which is set up at each
// start of the program; [Env.invoke] does without.
func TestLinked(t *testing.T) {
	t.Parallel()
	allowed := strings.Fields("Command Context NewContext ActionFunc Flag DocGenerationFlag VisibleFlag Generic " +
		"BoolFlag DurationFlag Float64Flag GenericFlag Int64Flag IntFlag StringFlag Uint64Flag UintFlag")
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	uses := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := goparser.ParseFile(token.NewFileSet(), file.Name(), nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "cli" {
				uses++
				if !slices.Contains(allowed, s.Sel.Name) {
					t.Errorf("%s uses cli.%s", file.Name(), s.Sel.Name)
				}
			}
			return true
		})
	}
	if uses < 100 {
		t.Errorf("found %d uses of the cli package, there are more", uses)
	}
}
