package web

import (
	"fmt"
	"html/template"
	"strings"
)

// bar draws a part of a whole as SVG, because the content security policy forbids style attributes.
func bar(part, whole int, about string) template.HTML {
	width := 0.0
	if whole > 0 {
		width = min(100, 100*float64(max(part, 0))/float64(whole))
	}
	class := "fill"
	if part > whole {
		class = "fill over"
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and an escaped text
		`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" role="img"><title>%s</title><rect class="room" width="100" height="4"/><rect class="%s" width="%.2f" height="4"/></svg>`,
		template.HTMLEscapeString(about), class, width))
}

// share draws a bar with its percentage.
func share(part, whole int64, what string) template.HTML {
	const parts = 10_000
	n := 0
	if whole > 0 {
		n = int(float64(part) / float64(whole) * parts)
	}
	return bar(n, parts, fmt.Sprintf("%s: %.1f %%", what, float64(n)*100/parts))
}

// roundUp returns the least number of the form 1, 2 or 5 times a power of ten that is at least n.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if digit*unit >= n {
				return digit * unit
			}
		}
	}
}

// A column is one bar of a chart.
type column struct {
	Name  string
	Value int
}

// chart draws a column chart as SVG, with the values on its axis written by format. The page also shows a table of the
// numbers.
func chart(title string, columns []column, format func(int) string) template.HTML {
	const height, step, gap, axis, top = 120, 48, 10, 52, 14
	most := 1
	for _, c := range columns {
		most = max(most, c.Value)
	}
	most = roundUp(most)
	var b strings.Builder
	width := axis + max(5, len(columns))*step // few columns are not wider than many
	class := "chart"
	if len(columns) > 6 {
		class = "chart long"
	}
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %d %d" preserveAspectRatio="xMinYMid" role="img"><title>%s</title>`,
		class, width, top+height+20, template.HTMLEscapeString(title))
	ticks := []int{0, most / 2, most}
	if most%2 != 0 { // the middle is no number of what is counted
		ticks = []int{0, most}
	}
	for _, n := range ticks {
		y := top + height - float64(n)/float64(most)*height
		fmt.Fprintf(&b, `<line class="axis" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			axis, y, width, y, axis-6, y+3, template.HTMLEscapeString(format(n)))
	}
	for i, c := range columns {
		h := float64(c.Value) / float64(most) * height
		fmt.Fprintf(&b, `<rect class="fill" x="%d" y="%.1f" width="%d" height="%.1f"><title>%s: %s</title></rect>`,
			axis+i*step+gap/2, top+height-h, step-gap, h, template.HTMLEscapeString(c.Name), template.HTMLEscapeString(format(c.Value)))
		if c.Value > 0 {
			fmt.Fprintf(&b, `<text class="value" x="%d" y="%.1f" text-anchor="middle">%s</text>`, axis+i*step+step/2,
				top+height-h-3, template.HTMLEscapeString(format(c.Value)))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, axis+i*step+step/2, top+height+14,
			template.HTMLEscapeString(c.Name))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers and escaped names
}
