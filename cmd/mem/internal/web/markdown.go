package web

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is the maximum size of a rendered text in bytes. Longer texts, and those that take too long, are shown as
// plain text.
const maxMarkdown = 256 << 10

// Markdown renders untrusted Markdown of transcripts as harmless HTML. It is safe for concurrent use.
type Markdown struct{ md goldmark.Markdown }

// NewMarkdown returns a renderer.
func NewMarkdown() *Markdown {
	return &Markdown{goldmark.New(goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(sanitizer{}, 100))))}
}

// HTML renders a text of a transcript. Raw HTML becomes visible text, dangerous URLs such as javascript: are removed,
// and images, which would load from other hosts, become links. Tables have plain cells: goldmark's extension for tables
// compiles regular expressions when the program starts, which would slow down every command.
func (r *Markdown) HTML(source string) template.HTML {
	if len(source) > maxMarkdown || isHard(source) {
		return plainHTML(source)
	}
	var b bytes.Buffer
	if err := r.md.Convert([]byte(source), &b); err != nil {
		return plainHTML(source)
	}
	return template.HTML(b.String()) //nolint:gosec // goldmark escapes, and sanitizer leaves no HTML of the text
}

// Limits of a text that is rendered. The time that goldmark takes grows with their squares.
const (
	maxMarks = 1500 // brackets and emphasis in a paragraph
	maxDepth = 100  // quotes and lists that begin in one line
)

// isHard reports whether rendering a text takes too long, as one made for that purpose does.
func isHard(source string) bool {
	marks := 0
	for line := range strings.Lines(source) {
		if strings.TrimSpace(line) == "" {
			marks = 0
			continue
		}
		depth, before := 0, ' '
		for _, c := range line[:len(line)-len(strings.TrimLeft(line, "> \t-*+.)0123456789"))] {
			if c == '>' || c == ' ' && strings.ContainsRune("-*+.)", before) {
				depth++
			}
			before = c
		}
		for _, c := range []string{"[", "*", "_"} {
			marks += strings.Count(line, c)
		}
		if marks > maxMarks || depth > maxDepth {
			return true
		}
	}
	return false
}

func plainHTML(source string) template.HTML {
	return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>") //nolint:gosec // escaped
}

// A sanitizer changes a parsed text before it is rendered.
type sanitizer struct{}

// Transform replaces HTML with its source text, images with links, and tables with HTML of their cells.
func (sanitizer) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	var raw, images, tables []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering {
			switch n.Kind() {
			case ast.KindRawHTML, ast.KindHTMLBlock:
				raw = append(raw, n)
			case ast.KindImage:
				images = append(images, n)
			case ast.KindParagraph:
				if isTable(n, source) {
					tables = append(tables, n)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range tables {
		n.Parent().ReplaceChild(n.Parent(), n, asTable(n, source))
	}
	for _, n := range raw {
		if n.Parent() == nil {
			continue
		}
		n.Parent().ReplaceChild(n.Parent(), n, asText(n, source))
	}
	for _, n := range images {
		image, ok := n.(*ast.Image)
		if !ok {
			continue
		}
		link := ast.NewLink()
		link.Destination = image.Destination
		for c := image.FirstChild(); c != nil; c = image.FirstChild() {
			link.AppendChild(link, c)
		}
		n.Parent().ReplaceChild(n.Parent(), n, link)
	}
}

// isTable reports whether a paragraph has several lines and every line is a table row.
func isTable(n ast.Node, source []byte) bool {
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		if !bytes.HasPrefix(bytes.TrimSpace(line.Value(source)), []byte("|")) {
			return false
		}
	}
	return lines.Len() > 1
}

// asTable returns a table of the rows of a paragraph.
func asTable(n ast.Node, source []byte) ast.Node {
	var b strings.Builder
	cell := "th"
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		row := strings.Trim(strings.TrimSpace(string(line.Value(source))), "|")
		if strings.Trim(row, "|-: \t") == "" { // below the heading
			continue
		}
		b.WriteString("<tr>")
		for text := range strings.SplitSeq(row, "|") {
			text = template.HTMLEscapeString(strings.TrimSpace(strings.ReplaceAll(text, "**", "")))
			if parts := strings.Split(text, "`"); len(parts) == 3 {
				text = parts[0] + "<code>" + parts[1] + "</code>" + parts[2]
			}
			b.WriteString("<" + cell + ">" + text + "</" + cell + ">")
		}
		b.WriteString("</tr>")
		cell = "td"
	}
	html := ast.NewString([]byte("<table>" + b.String() + "</table>"))
	html.SetCode(true) // written as it is
	block := ast.NewTextBlock()
	block.AppendChild(block, html)
	return block
}

// asText returns the source text of an HTML node.
func asText(n ast.Node, source []byte) ast.Node {
	var b strings.Builder
	if inline, ok := n.(*ast.RawHTML); ok {
		for i := range inline.Segments.Len() {
			part := inline.Segments.At(i)
			b.Write(part.Value(source))
		}
		return ast.NewString([]byte(b.String()))
	}
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	if block, ok := n.(*ast.HTMLBlock); ok && block.HasClosure() {
		b.Write(block.ClosureLine.Value(source))
	}
	p := ast.NewParagraph()
	p.AppendChild(p, ast.NewString([]byte(b.String())))
	return p
}
