package version

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// headings returns the headings of the second level that a reader of Markdown sees outside of lists and quotes.
func headings(source string) (found []string) {
	doc := goldmark.New().Parser().Parse(text.NewReader([]byte(source)))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			found = append(found, string(h.Lines().Value([]byte(source))))
		}
	}
	return found
}

// TestHeadingsSurvive holds that no text hides the headings that follow it, whatever blocks of code, lists, quotes and
// tags it begins and does not end.
func TestHeadingsSurvive(t *testing.T) {
	t.Parallel()
	nested := "1. Write it:\n\n   ```markdown\n   # Title\n\n   ```bash\n   make\n   ```\n   ```\n\nand so on\n\n```\nlast\n```"
	texts := []string{
		nested, strings.TrimSuffix(nested, "\n```"), "- ```go\n  x\n  ```\n- ```go\n  y", "```a``` is code\n```b``` too",
		"<pre>\nx", "<!-- open", "<details>\n```\nx\n\ny\n```\n</details>", "- <div>\n  ```\n  a\n\n  b\n  ```", "a\n    ```\nb",
		"1. a\n\n     ```\n  x\n     ```\n", "~~~\n```\n~~~\n```", "- > ```\n  > x", "> ```\nx", "````\n```\n````\n```",
		"-\t```\n\tx\n\t```\n\n```", "1. ~~~\n```\n~~~",
	}
	pieces := []string{"```", "```go", "~~~", "````", "```a``` b", "text", "- item", "1. item", "- ```", "2) ~~~ x", "> q", "> ```", "- > ```",
		"# head", "<div>", "</div>", "<pre>", "<!-- x", "<?x", "", "", "    code", "* * *", "+ <p>", "|a|b|"}
	r := rand.New(rand.NewPCG(3, 5))
	for range 4000 {
		var lines []string
		for range 1 + r.IntN(12) {
			lines = append(lines, strings.Repeat(" ", []int{0, 0, 2, 3, 4, 6, 8}[r.IntN(7)])+pieces[r.IntN(len(pieces))])
		}
		texts = append(texts, strings.Join(lines, "\n"))
	}
	for _, said := range texts {
		for _, s := range []Segment{{Role: "assistant"}, {Role: "user"}, {Role: "script"}, {Role: "assistant", Label: "answer"}, {Role: "tool", Code: "text"}} {
			s.Text = said
			got := headings(Markdown([]Segment{{Role: "heading", Text: "#1 first"}, s, {Role: "heading", Text: "#7 last"}}))
			if !slices.Contains(got, "#7 last") || !slices.Contains(got, "#1 first") {
				t.Fatalf("%s %q: headings %q of\n%s", s.Role, said, got, Text([]Segment{s}))
			}
		}
	}
}
