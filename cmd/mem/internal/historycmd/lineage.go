package historycmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// runLineage prints what a revision was made from, or with down what was made from it.
func runLineage(ctx context.Context, run app.Run, name string, down bool) error {
	rev, err := run.Resolve(ctx, name)
	if err != nil {
		return err
	}
	made, err := provenance.Lineage(ctx, run.DB, rev, down)
	if errors.Is(err, provenance.ErrNoLineage) {
		return app.WithHint(err, "name a session, version or composition")
	}
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("lineage", nil, "direction", map[bool]string{true: "down", false: "up"}[down],
			"root", made)
	}
	run.Page("lineage")
	tree[*provenance.Node]{run.Env, func(x *provenance.Node) []string { return madeWords(run.Env, x) },
		func(x *provenance.Node) []*provenance.Node { return x.Next }}.print(made, "", "")
	return nil
}

// A tree is printed as one. A node has several words, which may contain blanks.
type tree[T any] struct {
	e     *app.Env
	words func(T) []string
	next  func(T) []T
}

// print prints the lines of x and those of its descendants; first is the prefix of its first line, rest that of the
// others.
func (t tree[T]) print(x T, first, rest string) {
	below := t.next(x)
	more := rest + "   "
	if len(below) > 0 {
		more = rest + "|  "
	}
	for i, line := range wrapped(t.words(x), t.e.Width()-app.Columns(more)) {
		if i > 0 {
			first = more
		}
		t.e.Printf("%s%s\n", first, line)
	}
	for i, n := range below {
		if i == len(below)-1 {
			t.print(n, rest+"`- ", rest+"   ")
		} else {
			t.print(n, rest+"|- ", rest+"|  ")
		}
	}
}

// leastLine is the width that lines are not wrapped below, in columns.
const leastLine = 16

// wrapped joins words with two blanks to lines of at most width columns; if width is not positive, to one line. It
// breaks a word that is longer at its blanks and cuts what is still longer at the start, because most are paths.
func wrapped(words []string, width int) (lines []string) {
	if width <= 0 {
		return []string{strings.Join(words, "  ")}
	}
	width = max(width, leastLine)
	line := ""
	add := func(word, gap string) {
		switch {
		case line == "":
			line = word
		case app.Columns(line)+len(gap)+app.Columns(word) <= width:
			line += gap + word
		default:
			lines, line = append(lines, line), word
		}
	}
	for _, word := range words {
		if app.Columns(word) <= width {
			add(word, "  ")
			continue
		}
		start, text, end := unpainted(word)
		gap := "  "
		for part := range strings.FieldsSeq(text) {
			add(start+app.CutFront(part, width)+end, gap)
			gap = " "
		}
	}
	return append(lines, line)
}

// unpainted splits a text into the start of its colour, the text without it and the end of the colour.
func unpainted(s string) (start, text, end string) {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return "", s, ""
	}
	code, text, _ := strings.Cut(rest, "m")
	text, _ = strings.CutSuffix(text, "\x1b[0m")
	return "\x1b[" + code + "m", text, "\x1b[0m"
}

func madeWords(e *app.Env, x *provenance.Node) []string {
	kind := string(x.Kind)
	if x.Kind == state.IsObject {
		kind = "missing"
	}
	words := []string{kind, e.Style().Yellow(e.Safe(app.SessionName(e, x.Name, x.Session)))}
	if !x.Hash.IsZero() {
		words = append(words, app.HashText(e, x.Hash))
	}
	if x.Step != "" {
		words = append(words, fmt.Sprintf("%s/%d", x.Step, x.Version))
	}
	if x.Engine != "" {
		words = append(words, e.Safe(x.Engine))
	}
	if x.Since != "" {
		words = append(words, "since "+e.Safe(x.Since))
	}
	if x.Tokens > 0 {
		words = append(words, tokens.Commas(x.Tokens)+" tok")
	}
	if n := len(x.Witnesses); n > 0 {
		words = append(words, term.Count(n, "witness object"))
	}
	if !x.Time.IsZero() {
		at := e.TimeCell(x.Time)
		if e.Term.Stdout {
			at.Full = at.Text()
		}
		words = append(words, at.Full)
	}
	return words
}
