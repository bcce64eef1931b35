// This part of the package writes a session, version or composition as one self-contained HTML file.

package exportcmd

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web"
	"github.com/memvcs/mem/layers/refine"
)

//go:embed page.html
var source string

// A Page is the content of the file: entries of a session, or a text.
type Page struct {
	Title   string
	Kind    string // session, version, composition
	Name    string
	Project string
	First   string // when it began
	Entries []refine.Entry
	Text    string // Markdown
}

// A turn is an entry, and whether it is the first of its message.
type turn struct {
	refine.Entry
	First bool
}

// Write writes a page.
func (p Page) Write(w io.Writer) error {
	md := web.NewMarkdown()
	t, err := template.New("page").Funcs(template.FuncMap{"md": md.HTML, "diff": diff, "when": when}).Parse(source)
	if err != nil {
		return fmt.Errorf("the template: %w", err)
	}
	shown := struct {
		Page
		Turns []turn
	}{Page: p}
	last := 0
	for _, e := range p.Entries {
		shown.Turns = append(shown.Turns, turn{e, e.N != last})
		last = e.N
	}
	var b bytes.Buffer
	if err := t.Execute(&b, shown); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err = w.Write(clean(b.Bytes()))
	return err
}

// clean drops control characters, which could control a terminal.
func clean(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, b)
}

// A line of a diff.
type line struct{ Class, Text string }

func diff(s string) (out []line) {
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		class := ""
		switch {
		case strings.HasPrefix(l, "+"):
			class = "added"
		case strings.HasPrefix(l, "-"):
			class = "removed"
		}
		out = append(out, line{class, l})
	}
	return out
}

// when formats a time of a transcript for people, "" if it is invalid.
func when(ts string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2 Jan 2006 15:04 UTC")
}
