package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/template"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// A format prints answers with the template of --format.
type format struct {
	e    *Env
	tmpl *template.Template
}

// parseFormat parses the argument of --format: a Go template over the members of --json, in which \n, \t and \0
// are a line feed, a tab and a NUL.
func (e *Env) parseFormat(text string) (*format, error) {
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(text)
	tmpl, err := template.New("--format").Option("missingkey=error").Funcs(
		template.FuncMap{"short": term.ShortID}).Parse(text)
	if err != nil {
		return nil, WithHint(Usagef("option --format: %v", err),
			"docs/json.md lists the members, such as {{.title}}")
	}
	return &format{e, tmpl}, nil
}

// print prints one answer, with a line feed unless the output ends with one or with a NUL.
func (f *format) print(answer any) error {
	b, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // keeps the digits of numbers
	var members map[string]any
	if err := d.Decode(&members); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	addOmitted(members, answer)
	var out strings.Builder
	if err := f.tmpl.Execute(&out, members); err != nil {
		return WithHint(Usagef("option --format: %v", err), "docs/json.md lists the members, such as {{.title}}")
	}
	line := out.String()
	if !strings.HasSuffix(line, "\n") && !strings.HasSuffix(line, "\x00") {
		line += "\n"
	}
	f.e.Printf("%s", f.e.Safe(line))
	return nil
}

// addOmitted adds the empty members that omitempty drops, so that a template may use them.
func addOmitted(members map[string]any, answer any) {
	t := reflect.TypeOf(answer)
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if _, ok := members[name]; !ok && name != "" && name != "-" {
			members[name] = ""
		}
	}
}
