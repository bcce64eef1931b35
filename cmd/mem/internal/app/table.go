package app

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
)

// A Table prints rows. On a terminal they are aligned, have a header and are cut to its width. Elsewhere, for
// scripts, full values are separated by tabs, without a header.
type Table struct {
	e       *Env
	Columns []Column
	rows    [][]Cell
	absent  []int // columns
}

// A Column describes a column of a [Table].
type Column struct {
	Name     string
	Right    bool // align to the right, for numbers
	Estimate bool // a token estimate: hidden if ui.showTokenEstimates is false
	Shrinks  bool // has what the others leave, at least a third of the line; without it the last column has
	Tail     bool // cut at the start instead of the end, for paths
	Keep     bool // not left out if the line is too long
	Script   bool // for scripts: people do not see it
	Absent   bool // the table does not have it, nor its cells
	Max      int  // maximum width on a terminal if the line is too long; 0 is no limit
}

// A Cell is one value of a row.
type Cell struct {
	Full  string              // for scripts
	Short string              // for people; "" means Full
	Paint func(string) string // colours the text for people
	Bold  int                 // length in bytes of the bold prefix; the rest is dim
}

// Text returns the value for people, sanitised.
func (c Cell) Text() string {
	if c.Short != "" {
		return term.SanitizeLine(c.Short)
	}
	return term.SanitizeLine(c.Full)
}

// blank reports whether the cell has no value.
func (c Cell) blank() bool { return c.Full == "" || c.Full == "-" }

// IdCell returns the cell of an id. People see it shortened to its usual length or its unique prefix, whichever
// is longer; the unique prefix is bold.
func IdCell(id string, unique int) Cell {
	session, device := records.CutDevice(id)
	for unique < len(session) && !utf8.RuneStart(session[unique]) {
		unique++
	}
	short := session[:max(min(unique, len(session)), len(term.ShortID(session)))]
	if device != "" {
		short = records.SessionOn(short, device)
	}
	return Cell{Full: id, Short: short, Bold: unique}
}

// Table returns an empty table that prints to stdout. A column is a [Column], or only its name.
func (e *Env) Table(columns ...any) *Table {
	t := &Table{e: e}
	for i, c := range columns {
		column, ok := c.(Column)
		if !ok {
			column.Name = fmt.Sprint(c)
		}
		if column.Absent {
			t.absent = append(t.absent, i)
		} else {
			t.Columns = append(t.Columns, column)
		}
	}
	return t
}

// ProjectColumn returns the column of a list with the project of each row; a list of one project has none.
func (e *Env) ProjectColumn() Column {
	return Column{Name: "project", Max: 16, Tail: true, Keep: true, Absent: !e.Opt.AllProjects}
}

// Row adds a row with one value for each column: a [Cell], a time, or what fmt.Sprint prints.
func (t *Table) Row(values ...any) {
	var cells []Cell
	for i, v := range values {
		if slices.Contains(t.absent, i) {
			continue
		}
		switch v := v.(type) {
		case Cell:
			cells = append(cells, v)
		case time.Time:
			cells = append(cells, t.e.TimeCell(v))
		default:
			cells = append(cells, Cell{Full: fmt.Sprint(v)})
		}
	}
	t.rows = append(t.rows, cells)
}

// Heading adds a line above the rows that follow, for people only.
func (t *Table) Heading(text string) { t.rows = append(t.rows, []Cell{{Full: text}}) }

// Below adds a dim text below the last row, for people only. It goes on in a new line where the terminal ends; nothing
// of it is left out.
func (t *Table) Below(text string) {
	const indent = "   "
	for width := t.e.Width() - len(indent); text != ""; {
		line := text
		if width > 0 && Columns(text) > width {
			line = displaywidth.TruncateString(text, width, "")
		}
		if line == "" { // not even one character fits
			line = text
		}
		t.rows = append(t.rows, []Cell{{Full: indent + line, Paint: t.e.Style().Dim}})
		text = text[len(line):]
	}
}

func (t *Table) isHeading(row []Cell) bool { return len(row) == 1 && len(t.Columns) > 1 }

// Flush prints the table. A table without rows prints nothing.
func (t *Table) Flush() error {
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
	_, err := t.e.Out.Write([]byte(b.String()))
	return err
}

// hideEstimates removes the columns for scripts, and those of estimates if ui.showTokenEstimates is false.
func (t *Table) hideEstimates() error {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if t.Columns[i].Script {
			t.hideColumn(i)
		}
	}
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Estimate }) {
		return nil
	}
	conf, err := t.e.Settings()
	if err != nil {
		return err
	}
	if conf.Bool("ui.showTokenEstimates") {
		return nil
	}
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if !t.Columns[i].Estimate {
			continue
		}
		t.hideColumn(i)
	}
	return nil
}

func (t *Table) separate(b *strings.Builder) {
	for _, row := range t.rows {
		if t.isHeading(row) {
			continue
		}
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(term.SanitizeLine(c.Full))
		}
		b.WriteByte('\n')
	}
}

const gap = "  "

func (t *Table) align(b *strings.Builder) {
	widths := t.widths()
	head := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = Cell{Full: strings.ToUpper(c.Name), Paint: t.e.Style().Dim}
	}
	t.line(b, head, widths)
	for _, row := range t.rows {
		if t.isHeading(row) {
			paint := t.e.Style().Bold
			if row[0].Paint != nil {
				paint = row[0].Paint
			}
			b.WriteString(paint(row[0].Text()) + "\n")
			continue
		}
		t.line(b, row, widths)
	}
}

func (t *Table) line(b *strings.Builder, row []Cell, widths []int) {
	for i, c := range row {
		if i > 0 {
			b.WriteString(gap)
		}
		text := c.Text()
		if t.Columns[i].Tail {
			text = CutFront(text, widths[i])
		}
		if at := strings.LastIndex(text, " · "); at > 0 && t.Columns[i].Shrinks && Columns(text) > widths[i] {
			apart := Cut(text[at:], widths[i]*2/3) // tells it from others with the same title
			text = Cut(text[:at], widths[i]-Columns(apart)) + apart
		}
		text = Cut(text, widths[i])
		pad := strings.Repeat(" ", max(0, widths[i]-displaywidth.String(text)))
		if t.Columns[i].Right {
			b.WriteString(pad)
		}
		b.WriteString(t.painted(c, text))
		if !t.Columns[i].Right && i < len(row)-1 {
			b.WriteString(pad)
		}
	}
	b.WriteByte('\n')
}

// CutFront returns s, shortened at the start if it is wider than width columns.
func CutFront(s string, width int) string {
	wide := displaywidth.String(s)
	if wide <= width {
		return s
	}
	for g := displaywidth.StringGraphemes(s); wide > width-1 && g.Next(); {
		s, wide = s[len(g.Value()):], wide-g.Width()
	}
	return "…" + s
}

func (t *Table) painted(c Cell, text string) string {
	style := t.e.Style()
	switch {
	case c.Bold > 0 && c.Bold <= len(text) && strings.HasPrefix(text, c.Text()[:c.Bold]):
		return style.Bold(text[:c.Bold]) + style.Dim(text[c.Bold:])
	case c.Paint != nil:
		return c.Paint(text)
	}
	return text
}

// Limits of a table on a narrow terminal.
const (
	longCell  = 24 // wider columns are cut to this first
	shortCell = 17 // then to this, a revision such as 9b2cf535:original, before columns are left out
	leastCell = 12 // minimum of the column that shrinks, before columns are left out
	leastPart = 3  // and the part of the line that it has at least: a third
)

// widths returns the column widths with which a line fits the terminal. It cuts wide columns first, then leaves
// out columns from the last, blank ones first; the first two and the one that shrinks stay.
func (t *Table) widths() []int {
	screen := t.e.Width()
	widths, shrinks := t.naturalWidths()
	if screen <= 0 {
		return widths
	}
	for {
		full := widths[shrinks]
		fits := t.fit(widths, shrinks, screen) <= 0
		if fits && widths[shrinks] == full {
			return widths
		}
		out := t.expendable(shrinks, !fits)
		switch {
		case out < 0 && fits:
			return widths
		case out < 0:
			return t.shrink(widths, shrinks, screen)
		}
		t.hideColumn(out)
		widths, shrinks = t.naturalWidths()
	}
}

// expendable returns the column to leave out next: the last one without values, else, if any may go, the last one.
// It returns -1 if there is none.
func (t *Table) expendable(shrinks int, any bool) int {
	last := -1
	for i := len(t.Columns) - 1; i >= 2; i-- {
		if i == shrinks || t.Columns[i].Keep {
			continue
		}
		if !slices.ContainsFunc(t.rows, func(row []Cell) bool { return !t.isHeading(row) && !row[i].blank() }) {
			return i
		}
		if any {
			last = max(last, i)
		}
	}
	return last
}

// shrink cuts columns until a line fits the terminal, the one that shrinks after the others. The first column has the
// ids in most tables: it is cut last, and not below 8. Half a number is another number: numbers are cut after the rest.
func (t *Table) shrink(widths []int, shrinks, screen int) []int {
	over := t.over(widths, screen)
	cut := func(i, least int) {
		n := min(max(0, widths[i]-least), max(0, over))
		widths[i], over = widths[i]-n, over-n
	}
	for _, least := range []int{8, 4} {
		for i := len(widths) - 1; i > 0; i-- {
			if i != shrinks && (!t.Columns[i].Right || least < 8) {
				cut(i, least)
			}
		}
		if shrinks > 0 {
			cut(shrinks, least)
		}
		cut(0, 8)
	}
	return widths
}

// over returns how much wider than the screen a line is.
func (t *Table) over(widths []int, screen int) int {
	total := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total - screen
}

// fit cuts wide columns of text as far as needed and returns how much wider than the screen a line still is.
func (t *Table) fit(widths []int, shrinks, screen int) int {
	over := t.over(widths, screen)
	cut := func(i, least int) {
		n := min(max(0, widths[i]-least), max(0, over))
		widths[i], over = widths[i]-n, over-n
	}
	for i, c := range t.Columns {
		if c.Max > 0 {
			cut(i, c.Max)
		}
	}
	for i := range widths {
		if i != shrinks && !t.Columns[i].Right {
			cut(i, longCell)
		}
	}
	cut(shrinks, max(leastCell, screen/leastPart, displaywidth.String(t.Columns[shrinks].Name)))
	for i := range widths {
		if i != shrinks && !t.Columns[i].Right {
			cut(i, shortCell)
		}
	}
	return over
}

// naturalWidths returns the width that each column needs, and the index of the column that shrinks.
func (t *Table) naturalWidths() (widths []int, shrinks int) {
	widths, shrinks = make([]int, len(t.Columns)), len(t.Columns)-1
	for i, c := range t.Columns {
		widths[i] = displaywidth.String(c.Name)
		for _, row := range t.rows {
			if !t.isHeading(row) {
				widths[i] = max(widths[i], displaywidth.String(row[i].Text()))
			}
		}
		if c.Shrinks {
			shrinks = i
		}
	}
	return widths, shrinks
}

// hideColumn removes a column.
func (t *Table) hideColumn(i int) {
	for k, row := range t.rows {
		if !t.isHeading(row) {
			t.rows[k] = slices.Delete(row, i, i+1)
		}
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
}

// Columns returns the width of s on a terminal, without its colours.
func Columns(s string) int { return displaywidth.Options{ControlSequences: true}.String(s) }

// Cut returns s, shortened at the end if it is wider than width columns.
func Cut(s string, width int) string { return displaywidth.TruncateString(s, width, "…") }

// Width returns the width of the terminal in columns, 0 if unknown or if stdout is no terminal.
func (e *Env) Width() int {
	if !e.Term.Stdout || e.Term.Width == nil {
		return 0
	}
	return e.Term.Width()
}

// Safe returns s for stdout: sanitised for a terminal, unchanged for a file or pipe.
func (e *Env) Safe(s string) string {
	if e.Term.Stdout {
		return term.Sanitize(s)
	}
	return s
}
