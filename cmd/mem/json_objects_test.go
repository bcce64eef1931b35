package main

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declarations returns the declarations of a package.
func declarations(t *testing.T, dir string) (out []ast.Decl) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
	must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(token.NewFileSet(), path, nil, goparser.ParseComments)
		must(t, err)
		out = append(out, f.Decls...)
	}
	return out
}

// objectsText lists the objects of package view with all of their members, and the words for an author, from the code. An
// example has only the members that are not empty.
func objectsText(t *testing.T) string {
	t.Helper()
	var objects []string
	for _, d := range declarations(t, "layers/view") {
		types, ok := d.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok || !s.Name.IsExported() {
				continue
			}
			of, ok := s.Type.(*ast.StructType)
			if x, alias := s.Type.(*ast.SelectorExpr); alias && s.Assign.IsValid() {
				of, ok = structOf(t, "layers/"+fmt.Sprint(x.X), x.Sel.Name), true
			}
			if !ok {
				continue
			}
			if members := membersText(t, of); members != "" {
				objects = append(objects, fmt.Sprintf("- %s: %s\n", s.Name, members))
			}
		}
	}
	slices.Sort(objects)
	var authors []string
	for _, d := range declarations(t, "layers/transcript") {
		consts, ok := d.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			c, ok := spec.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(c.Names[0].Name, "By") || len(c.Values) != 1 {
				continue
			}
			value, ok := c.Values[0].(*ast.BasicLit)
			if !ok {
				continue
			}
			word, err := strconv.Unquote(value.Value)
			must(t, err)
			authors = append(authors, strings.TrimSpace("- `"+word+"` "+strings.TrimSpace(c.Comment.Text()))+"\n")
		}
	}
	return "\n## Objects\n\nAll members of the objects in these answers and in those of the API. \"?\" marks one that is left out when it is empty;\n" +
		"an object has the members of the one that it names without quotes too.\n\n" + strings.Join(objects, "") +
		"\n## Authors\n\nThe member `role` is one of these words for a message; a text that mem made has the kind of its line. In `mem blame`, `mem` is the author of a\nremark such as `[refused by the user: ...]`, of which the messages are those that it is about.\n\n" + strings.Join(authors, "")
}

// structOf returns the declaration of a struct.
func structOf(t *testing.T, dir, name string) *ast.StructType {
	t.Helper()
	for _, d := range declarations(t, dir) {
		types, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range types.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.Name == name {
				of, ok := s.Type.(*ast.StructType)
				if ok {
					return of
				}
			}
		}
	}
	t.Fatalf("no struct %s in %s", name, dir)
	return nil
}

// membersText returns the names of the members of a struct, "" for one without names.
func membersText(t *testing.T, of *ast.StructType) string {
	t.Helper()
	var out []string
	named := false
	for _, f := range of.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case len(f.Names) == 0 && name == "":
			kind := f.Type
			if pointer, ok := kind.(*ast.StarExpr); ok {
				kind = pointer.X
			}
			switch x := kind.(type) {
			case *ast.Ident:
				out = append(out, x.Name)
			case *ast.SelectorExpr: // of facts, concepts and rules
				if fmt.Sprint(x.X) == "time" {
					continue
				}
				inner := membersText(t, structOf(t, "layers/knowledge/"+fmt.Sprint(x.X), x.Sel.Name))
				out, named = append(out, inner), named || inner != ""
			}
		case name != "" && name != "-":
			named = true
			if strings.Contains(options, "omit") {
				out = append(out, "`"+name+"`?")
			} else {
				out = append(out, "`"+name+"`")
			}
		}
	}
	if !named {
		return ""
	}
	return strings.Join(out, ", ")
}
