// Package markdown renders Markdown of transcripts, which anybody may have written, as HTML that does nothing.
package markdown

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

// maxMarkdown is how many bytes of a text are rendered; what is longer is shown as it stands.
const maxMarkdown = 256 << 10

// A Renderer renders texts; any number of pages use one at once.
type Renderer struct{ md goldmark.Markdown }

// New returns a renderer.
func New() *Renderer {
	return &Renderer{goldmark.New(goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(tame{}, 100))))}
}

// HTML renders a text of a transcript. Raw HTML becomes nothing but visible text, addresses that run
// something become dead, and images, which would ask other hosts, become links. Tables keep their columns as
// they were typed: goldmark's extension for them compiles regular expressions when the program starts, which
// each command would pay for.
func (r *Renderer) HTML(source string) template.HTML {
	if len(source) > maxMarkdown {
		return plainHTML(source)
	}
	var b bytes.Buffer
	if err := r.md.Convert([]byte(source), &b); err != nil {
		return plainHTML(source)
	}
	return template.HTML(b.String()) //nolint:gosec // goldmark escapes, and tame leaves no HTML of the text
}

func plainHTML(source string) template.HTML {
	return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>") //nolint:gosec // escaped
}

// tame is what changes a text between reading and rendering it.
type tame struct{}

// Transform replaces HTML by its text and images by links.
func (tame) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
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
		block := ast.NewCodeBlock()
		block.SetLines(n.Lines())
		n.Parent().ReplaceChild(n.Parent(), n, block)
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

// isTable reports whether every line of a paragraph is a row.
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

// asText returns the text that an HTML node was read from.
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
