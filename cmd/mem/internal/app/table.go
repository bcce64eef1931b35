package app

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// A table prints rows: to a terminal aligned, with a header and cut to its width; to anything else with tabs
// between the full values, without a header, for scripts.
type Table struct {
	e       *Env
	Columns []Column
	rows    [][]Cell
}

type Column struct {
	Name     string
	Right    bool // numbers
	Estimate bool // of tokens: people need not see it, see ui.showTokenEstimates
	Shrinks  bool // gives way if the line is too long; otherwise the last column does
	Tail     bool // what is cut to fit loses its beginning: of a path the end tells more
	Most     int  // for people it is at most so wide, if the line is too long; 0 is no limit
}

// A cell holds the value for scripts and, if it is not the same, the one for people, with its paint.
type Cell struct {
	Full  string
	Short string
	Paint func(string) string
	Bold  int // so many bytes of the text for people are bold and the rest dim: a unique prefix
}

func (c Cell) Text() string {
	if c.Short != "" {
		return term.SanitizeLine(c.Short)
	}
	return term.SanitizeLine(c.Full)
}

// IdCell shows id as short as people write it, but as much of it as tells it from all others, which is bold.
func IdCell(id string, unique int) Cell {
	for unique < len(id) && !utf8.RuneStart(id[unique]) {
		unique++
	}
	return Cell{Full: id, Short: id[:max(min(unique, len(id)), len(term.ShortID(id)))], Bold: unique}
}

func (e *Env) Table(columns ...Column) *Table { return &Table{e: e, Columns: columns} }

// Row adds a row, which has one cell a column.
func (t *Table) Row(cells ...Cell) { t.rows = append(t.rows, cells) }

// Heading adds a line over the rows that follow, for people only.
func (t *Table) Heading(text string) { t.rows = append(t.rows, []Cell{{Full: text}}) }

func (t *Table) isHeading(row []Cell) bool { return len(row) == 1 && len(t.Columns) > 1 }

// Flush prints the table. One without rows prints nothing.
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

// hideEstimates takes out the columns of estimates, if the settings want that.
func (t *Table) hideEstimates() error {
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Estimate }) {
		return nil
	}
	conf, err := t.e.Settings()
	if err != nil {
		return err
	}
	if show, err := conf.Bool("ui.showTokenEstimates"); err != nil || show {
		return err
	}
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if !t.Columns[i].Estimate {
			continue
		}
		t.leaveOut(i)
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
			b.WriteString(t.e.Style().Bold(row[0].Text()) + "\n")
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
			text = cutFront(text, widths[i])
		}
		text = displaywidth.TruncateString(text, widths[i], "…")
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
	longCell  = 24 // wider columns, such as those of long ids, give way first
	shortCell = 16 // and to this much before columns are left out
	leastCell = 12 // the column that shrinks has this much before columns are left out
)

// widths returns how wide each column is, so that a line fits the terminal. On a narrow one wide columns are
// cut, and then columns are left out, the last first; the first two and the one that shrinks stay.
func (t *Table) widths() []int {
	screen := t.e.width()
	widths, shrinks := t.natural()
	if screen <= 0 {
		return widths
	}
	for {
		if t.fit(widths, shrinks, screen) <= 0 {
			return widths
		}
		out := len(t.Columns) - 1
		if out == shrinks {
			out--
		}
		if out < 2 {
			break
		}
		t.leaveOut(out)
		widths, shrinks = t.natural()
	}
	over := t.over(widths, screen)
	for _, least := range []int{8, 4} {
		for i := range widths {
			if i == 0 && least < 8 {
				continue // ids
			}
			cut := min(max(0, widths[i]-least), max(0, over))
			widths[i], over = widths[i]-cut, over-cut
		}
	}
	return widths
}

// over returns how many columns of the screen are lacking.
func (t *Table) over(widths []int, screen int) int {
	total := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total - screen
}

// fit cuts widths that are larger than they must be, and returns how many columns of the screen are lacking then.
func (t *Table) fit(widths []int, shrinks, screen int) int {
	over := t.over(widths, screen)
	cut := func(i, least int) {
		n := min(max(0, widths[i]-least), max(0, over))
		widths[i], over = widths[i]-n, over-n
	}
	for i, c := range t.Columns {
		if c.Most > 0 {
			cut(i, c.Most)
		}
	}
	for i := range widths {
		if i != shrinks {
			cut(i, longCell)
		}
	}
	cut(shrinks, max(leastCell, displaywidth.String(t.Columns[shrinks].Name)))
	for i := range widths {
		if i != shrinks {
			cut(i, shortCell)
		}
	}
	return over
}

// natural returns how wide each column would be with room enough, and which one shrinks.
func (t *Table) natural() (widths []int, shrinks int) {
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

// leaveOut removes a column.
func (t *Table) leaveOut(i int) {
	for k, row := range t.rows {
		if !t.isHeading(row) {
			t.rows[k] = slices.Delete(row, i, i+1)
		}
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
}

// width returns how many columns the terminal has, 0 if it is not known.
func (e *Env) width() int {
	if !e.Term.Stdout || e.Term.Width == nil {
		return 0
	}
	return e.Term.Width()
}

// Safe returns s as it may be printed: as it is to a file or a pipe, sanitised to a terminal.
func (e *Env) Safe(s string) string {
	if e.Term.Stdout {
		return term.Sanitize(s)
	}
	return s
}
