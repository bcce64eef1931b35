package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// A table prints rows: to a terminal aligned, with a header and cut to its width; to anything else with tabs
// between the full values, without a header, for scripts.
type table struct {
	e       *Env
	columns []column
	rows    [][]cell
}

type column struct {
	name     string
	right    bool // numbers
	estimate bool // of tokens: people need not see it, see ui.showTokenEstimates
	shrinks  bool // gives way if the line is too long; otherwise the last column does
	tail     bool // what is cut to fit loses its beginning: of a path the end tells more
	most     int  // for people it is at most so wide, if the line is too long; 0 is no limit
}

// A cell holds the value for scripts and, if it is not the same, the one for people, with its paint.
type cell struct {
	full  string
	short string
	paint func(string) string
	bold  int // so many bytes of the text for people are bold and the rest dim: a unique prefix
}

func (c cell) text() string {
	if c.short != "" {
		return sanitizeLine(c.short)
	}
	return sanitizeLine(c.full)
}

// idCell shows id as short as people write it, but as much of it as tells it from all others, which is bold.
func idCell(id string, unique int) cell {
	for unique < len(id) && !utf8.RuneStart(id[unique]) {
		unique++
	}
	return cell{full: id, short: id[:max(min(unique, len(id)), len(shortID(id)))], bold: unique}
}

func (e *Env) table(columns ...column) *table { return &table{e: e, columns: columns} }

// row adds a row, which has one cell a column.
func (t *table) row(cells ...cell) { t.rows = append(t.rows, cells) }

// heading adds a line over the rows that follow, for people only.
func (t *table) heading(text string) { t.rows = append(t.rows, []cell{{full: text}}) }

func (t *table) isHeading(row []cell) bool { return len(row) == 1 && len(t.columns) > 1 }

// flush prints the table. One without rows prints nothing.
func (t *table) flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	var b strings.Builder
	if t.e.Term.Stdout {
		if err := t.hideEstimates(); err != nil {
			return err
		}
		t.align(&b)
	} else {
		t.separate(&b)
	}
	_, err := t.e.out.Write([]byte(b.String()))
	return err
}

// hideEstimates takes out the columns of estimates, if the settings want that.
func (t *table) hideEstimates() error {
	if !slices.ContainsFunc(t.columns, func(c column) bool { return c.estimate }) {
		return nil
	}
	conf, err := t.e.settings()
	if err != nil {
		return err
	}
	if show, err := conf.Bool("ui.showTokenEstimates"); err != nil || show {
		return err
	}
	for i := len(t.columns) - 1; i >= 0; i-- {
		if !t.columns[i].estimate {
			continue
		}
		for k, row := range t.rows {
			if !t.isHeading(row) {
				t.rows[k] = slices.Delete(row, i, i+1)
			}
		}
		t.columns = slices.Delete(t.columns, i, i+1)
	}
	return nil
}

func (t *table) separate(b *strings.Builder) {
	for _, row := range t.rows {
		if t.isHeading(row) {
			continue
		}
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(sanitizeLine(c.full))
		}
		b.WriteByte('\n')
	}
}

const gap = "  "

func (t *table) align(b *strings.Builder) {
	widths := t.widths()
	head := make([]cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{full: strings.ToUpper(c.name), paint: t.e.style().dim}
	}
	t.line(b, head, widths)
	for _, row := range t.rows {
		if t.isHeading(row) {
			b.WriteString(t.e.style().bold(row[0].text()) + "\n")
			continue
		}
		t.line(b, row, widths)
	}
}

func (t *table) line(b *strings.Builder, row []cell, widths []int) {
	for i, c := range row {
		if i > 0 {
			b.WriteString(gap)
		}
		text := c.text()
		if t.columns[i].tail {
			text = cutFront(text, widths[i])
		}
		text = displaywidth.TruncateString(text, widths[i], "…")
		pad := strings.Repeat(" ", max(0, widths[i]-displaywidth.String(text)))
		if t.columns[i].right {
			b.WriteString(pad)
		}
		b.WriteString(t.painted(c, text))
		if !t.columns[i].right && i < len(row)-1 {
			b.WriteString(pad)
		}
	}
	b.WriteByte('\n')
}

// cutFront cuts what is before the last columns of a text that is wider.
func cutFront(s string, width int) string {
	wide := displaywidth.String(s)
	if wide <= width {
		return s
	}
	for g := displaywidth.StringGraphemes(s); wide > width-1 && g.Next(); {
		s, wide = s[len(g.Value()):], wide-g.Width()
	}
	return "…" + s
}

func (t *table) painted(c cell, text string) string {
	style := t.e.style()
	switch {
	case c.bold > 0 && c.bold <= len(text):
		return style.bold(text[:c.bold]) + style.dim(text[c.bold:])
	case c.paint != nil:
		return c.paint(text)
	}
	return text
}

// widths returns how wide each column is, so that a line fits the terminal if that can be.
func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	shrinks, total := len(t.columns)-1, len(gap)*(len(t.columns)-1)
	for i, c := range t.columns {
		widths[i] = displaywidth.String(c.name)
		for _, row := range t.rows {
			if t.isHeading(row) {
				continue
			}
			widths[i] = max(widths[i], displaywidth.String(row[i].text()))
		}
		total += widths[i]
		if c.shrinks {
			shrinks = i
		}
	}
	screen := t.e.width()
	for i, c := range t.columns {
		if c.most > 0 && screen > 0 && total > screen {
			cut := min(max(0, widths[i]-c.most), total-screen)
			widths[i], total = widths[i]-cut, total-cut
		}
	}
	if screen > 0 && total > screen {
		least := min(widths[shrinks], max(8, displaywidth.String(t.columns[shrinks].name)))
		widths[shrinks] = max(least, widths[shrinks]-(total-screen))
	}
	return widths
}

// width returns how many columns the terminal has, 0 if it is not known.
func (e *Env) width() int {
	if !e.Term.Stdout || e.Term.Width == nil {
		return 0
	}
	return e.Term.Width()
}

// safe returns s as it may be printed: as it is to a file or a pipe, sanitised to a terminal.
func (e *Env) safe(s string) string {
	if e.Term.Stdout {
		return sanitize(s)
	}
	return s
}
