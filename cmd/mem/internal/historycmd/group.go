package historycmd

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
)

// Group prints the differences of two texts in a group of messages, in full if whole is set.
func Group(e *app.Env, c provenance.Comparison, g trace.Group, whole bool) {
	only := ""
	switch {
	case g.Pieces[0] == 0 && g.Pieces[1] > 0:
		only = "  [only in " + c.B.Name + "]"
	case g.Pieces[1] == 0 && g.Pieces[0] > 0:
		only = "  [only in " + c.A.Name + "]"
	}
	e.Printf("%s %s -> %s tok%s\n", e.Style().Cyan(e.Safe("@@ "+place(c, g.Source, g.Src)+" @@")),
		tokens.Commas(g.Tokens[0]), tokens.Commas(g.Tokens[1]), e.Safe(only))
	for _, k := range g.Keepits {
		diffKeepit(e, k)
	}
	for _, ch := range g.Changes() {
		diffChange(e, ch, whole)
	}
}

func diffKeepit(e *app.Env, k trace.KeepitChange) {
	line := fmt.Sprintf("marker %s  %s", weightsText(k), tokens.OneLine(k.Text, 60))
	a, b := k.Sides[0], k.Sides[1]
	switch {
	case !k.Changed && a.Kept:
		e.Printf("%s\n", e.Safe("! "+line+"  (kept in both)"))
	case !k.Changed:
		e.Printf("%s\n", e.Safe("! "+line+"  (not protected in either)"))
	case a.Kept && !b.Kept, a.Known && !b.Known:
		e.Printf("%s\n", e.Style().Red(e.Safe(fmt.Sprintf("- %s  (%s -> %s)", line, placeText(a), placeText(b)))))
	default:
		e.Printf("%s\n", e.Style().Green(e.Safe(fmt.Sprintf("+ %s  (%s -> %s)", line, placeText(a), placeText(b)))))
	}
}

func diffChange(e *app.Env, ch trace.Change, whole bool) {
	switch {
	case ch.Words != nil:
		e.Printf("%s\n", indent("  ", words(e, ch.Words, whole)))
	case ch.A != "":
		e.Printf("%s\n", painted(indent("- ", e.Safe(shortened(ch.A, whole))), e.Style().Red))
	default:
		e.Printf("%s\n", painted(indent("+ ", e.Safe(shortened(ch.B, whole))), e.Style().Green))
	}
}

// painted colours each line of a text separately, because pagers reset colour at the end of a line.
func painted(text string, paint func(string) string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = paint(lines[i])
	}
	return strings.Join(lines, "\n")
}

// indent puts a sign in front of each line.
func indent(sign, text string) string { return sign + strings.ReplaceAll(text, "\n", "\n"+sign) }

// shortened cuts a text to a few short lines, and adds the number of the other lines.
func shortened(text string, whole bool) string {
	if whole {
		return text
	}
	const most, long = 6, 300
	lines := strings.Split(text, "\n")
	n := len(lines)
	if n > most {
		lines = append(lines[:most-1:most-1], fmt.Sprintf("… %d more lines", n-most+1))
	}
	for i, l := range lines {
		lines[i] = tokens.Shorten(l, long)
	}
	return strings.Join(lines, "\n")
}

// words marks removed words as [-this-] and added words as {+this+}.
func words(e *app.Env, edits []trace.Edit, whole bool) string {
	var b strings.Builder
	style := e.Style()
	for i, w := range edits {
		text := w.Text
		if !whole && w.Op == trace.Same {
			text = trimUnchanged(text, i > 0, i < len(edits)-1)
		} else if !whole {
			text = tokens.Shorten(text, 400)
		}
		text = e.Safe(text)
		switch w.Op {
		case trace.Del:
			text = painted("[-"+text+"-]", style.Red)
		case trace.Add:
			text = painted("{+"+text+"+}", style.Green)
		}
		b.WriteString(text)
	}
	return b.String()
}

// trimUnchanged cuts the unchanged ends of a text that are far from the changes.
func trimUnchanged(text string, before, after bool) string {
	const near = 100
	r := []rune(text)
	if len(r) <= 2*near+10 {
		return text
	}
	head, tail := "", ""
	if before {
		head = string(r[:near])
	}
	if after {
		tail = string(r[len(r)-near:])
	}
	return head + " … " + tail
}
