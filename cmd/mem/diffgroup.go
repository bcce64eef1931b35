package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
)

// diffGroup prints where two texts differ in the messages of a group; whole prints all of it.
func (e *Env) diffGroup(c provenance.Comparison, g trace.Group, whole bool) {
	only := ""
	switch {
	case g.Pieces[0] == 0 && g.Pieces[1] > 0:
		only = "  [only in " + c.B.Name + "]"
	case g.Pieces[1] == 0 && g.Pieces[0] > 0:
		only = "  [only in " + c.A.Name + "]"
	}
	e.printf("%s %s -> %s tok%s\n", e.style().cyan(e.safe("@@ "+e.place(c, g.Source, g.Src)+" @@")), tokens.Commas(g.Tokens[0]), tokens.Commas(g.Tokens[1]), e.safe(only))
	for _, k := range g.Keepits {
		e.diffKeepit(k)
	}
	for _, ch := range g.Changes() {
		e.diffChange(ch, whole)
	}
}

func (e *Env) diffKeepit(k trace.KeepitChange) {
	line := fmt.Sprintf("keepit %s  %s", weightsText(k), firstWords(k.Text, 60))
	a, b := k.Sides[0], k.Sides[1]
	switch {
	case !k.Changed && a.Kept:
		e.printf("%s\n", e.safe("! "+line+"  (kept in both)"))
	case !k.Changed:
		e.printf("%s\n", e.safe("! "+line+"  (summarised in both)"))
	case a.Kept && !b.Kept, a.Known && !b.Known:
		e.printf("%s\n", e.style().red(e.safe(fmt.Sprintf("- %s  (%s -> %s)", line, placeText(a), placeText(b)))))
	default:
		e.printf("%s\n", e.style().green(e.safe(fmt.Sprintf("+ %s  (%s -> %s)", line, placeText(a), placeText(b)))))
	}
}

func (e *Env) diffChange(ch trace.Change, whole bool) {
	switch {
	case ch.Words != nil:
		e.printf("%s\n", indent("  ", e.words(ch.Words, whole)))
	case ch.A != "":
		e.printf("%s\n", e.painted(indent("- ", e.safe(shortened(ch.A, whole))), e.style().red))
	default:
		e.printf("%s\n", e.painted(indent("+ ", e.safe(shortened(ch.B, whole))), e.style().green))
	}
}

// painted paints each line of a text on its own, so that a pager shows all of them in colour.
func (e *Env) painted(text string, paint func(string) string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = paint(lines[i])
	}
	return strings.Join(lines, "\n")
}

// indent puts a sign in front of each line.
func indent(sign, text string) string { return sign + strings.ReplaceAll(text, "\n", "\n"+sign) }

// shortened cuts a text that is there to be recognised: a few lines of a few words, and how many more there are.
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
		lines[i] = clip(l, long)
	}
	return strings.Join(lines, "\n")
}

// clip cuts s to n characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// words writes what was taken away as [-this-] and what was added as {+this+}.
func (e *Env) words(edits []trace.Edit, whole bool) string {
	var b strings.Builder
	style := e.style()
	for i, w := range edits {
		text := w.Text
		if !whole && w.Op == trace.Same {
			text = middle(text, i > 0, i < len(edits)-1)
		} else if !whole {
			text = clip(text, 400)
		}
		text = e.safe(text)
		switch w.Op {
		case trace.Del:
			text = e.painted("[-"+text+"-]", style.red)
		case trace.Add:
			text = e.painted("{+"+text+"+}", style.green)
		}
		b.WriteString(text)
	}
	return b.String()
}

// middle drops what is far from the changes at the ends of a text.
func middle(text string, before, after bool) string {
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

// A diffSide is one of two compared texts as diff --json prints it.
type diffSide struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Hash     string `json:"hash,omitempty"`
	Tokens   int    `json:"tokens"`
	Segments int    `json:"segments"`
	Messages int    `json:"messages"`
	Kept     int    `json:"keepits_kept"`
	Keepits  int    `json:"keepits"`
}

// A diffGroupAnswer is a run of messages in which two texts differ.
type diffGroupAnswer struct {
	Session  string             `json:"session"`
	Messages [][2]int           `json:"messages"`
	Segments [2]int             `json:"segments"`
	Tokens   [2]int             `json:"tokens"`
	Changes  []diffChangeAnswer `json:"changes"`
	Keepits  []diffKeepitAnswer `json:"keepits"`
}

type diffChangeAnswer struct {
	Role  string       `json:"role"`
	A     string       `json:"a"`
	B     string       `json:"b"`
	Words []trace.Edit `json:"words,omitempty"`
}

type diffKeepitAnswer struct {
	Message int           `json:"message"`
	Text    string        `json:"text"`
	Changed bool          `json:"changed"`
	A       *keepitInDiff `json:"a"`
	B       *keepitInDiff `json:"b"`
}

type keepitInDiff struct {
	Weight    string `json:"weight"`
	Kept      bool   `json:"kept"`
	Threshold string `json:"threshold,omitempty"`
	Margin    string `json:"margin,omitempty"`
}

func (e *Env) diffJSON(c provenance.Comparison) error {
	s := c.Summary
	answer := struct {
		A       diffSide        `json:"a"`
		B       diffSide        `json:"b"`
		Same    bool            `json:"same"`
		Both    int             `json:"messages_in_both"`
		Anchors []trace.Anchors `json:"anchors"`
	}{Same: c.Same(), Both: s.Both, Anchors: s.Anchors}
	for i, to := range []*diffSide{&answer.A, &answer.B} {
		x := []provenance.Compared{c.A, c.B}[i]
		*to = diffSide{Name: x.Name, Kind: string(x.Rev.Kind), Tokens: s.Tokens[i], Segments: s.Segments[i], Messages: s.Messages[i], Kept: s.Kept[i], Keepits: s.Marks[i]}
		if !x.Rev.Hash.IsZero() {
			to.Hash = x.Rev.Hash.String()
		}
	}
	err := printJSONWith(e, "diff", answer, "groups", func(yield func(diffGroupAnswer) bool) {
		for _, g := range c.Groups {
			if !yield(groupAnswerOf(c, g)) {
				return
			}
		}
	})
	return errors.Join(err, c.Err())
}

func groupAnswerOf(c provenance.Comparison, g trace.Group) diffGroupAnswer {
	a := diffGroupAnswer{Messages: g.Src, Segments: g.Pieces, Tokens: g.Tokens, Changes: []diffChangeAnswer{}, Keepits: []diffKeepitAnswer{}}
	if s := c.Sessions[g.Source]; s != nil {
		a.Session = s.ID
	}
	for _, ch := range g.Changes() {
		a.Changes = append(a.Changes, diffChangeAnswer(ch))
	}
	for _, k := range g.Keepits {
		a.Keepits = append(a.Keepits, diffKeepitAnswer{k.Message, k.Text, k.Changed, keepitInDiffOf(k.Sides[0]), keepitInDiffOf(k.Sides[1])})
	}
	return a
}

func keepitInDiffOf(p trace.Place) *keepitInDiff {
	if !p.Known {
		return nil
	}
	k := &keepitInDiff{Weight: p.Weight.String(), Kept: p.Kept}
	if p.Judged {
		k.Threshold, k.Margin = keepit.Thousandths(p.Threshold), keepit.Thousandths(p.Margin)
	}
	return k
}
