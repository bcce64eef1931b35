package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// exampleLines has the examples at the start of each command's help: a line with the command's words, and below it,
// indented, the lines to type.
//
//go:embed examples/examples.txt
var exampleLines string

// An example is a working command line with a short description.
type example struct {
	Command string `json:"command"`
	About   string `json:"about,omitempty"`
}

// examplesOf returns the examples of the command at path, none if it has none.
func examplesOf(path []string) []example {
	_, rest, found := strings.Cut("\n"+exampleLines, "\n"+strings.Join(path, " ")+"\n")
	if !found {
		return nil
	}
	var list []example
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			break
		}
		typed, about, _ := strings.Cut(line, "  # ")
		list = append(list, example{typed, about})
	}
	return list
}

// writeExamples writes examples with their descriptions aligned.
func writeExamples(b *strings.Builder, list []example) {
	wide := 0
	for _, x := range list {
		if x.About != "" {
			wide = max(wide, len(x.Command))
		}
	}
	for _, x := range list {
		if x.About == "" {
			fmt.Fprintf(b, "   %s\n", x.Command)
			continue
		}
		fmt.Fprintf(b, "   %-*s  # %s\n", wide, x.Command, x.About)
	}
}
