package handover

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/state"
)

// The client loads the start of MEMORY.md into every session.
const (
	memoryIndex = "memory/MEMORY.md"
	loadedLines = 200
	loadedBytes = 25_000
	leastSaid   = 16 // characters of an item that a note can say already
)

// planned says what became of the last plan that the user accepted, in the last of some digests, the newest first. It is
// "" if a request to implement it stands in one of them, which tells more, or if a later session accepted another.
func planned(digests []Digest, o Open) string {
	last := len(digests) - 1
	for i, d := range digests {
		if slices.ContainsFunc(d.Turns, func(t Turn) bool { return t.Plan != "" && t.Plan == o.Text }) {
			return ""
		}
		if i < last && slices.ContainsFunc(d.Open, func(p Open) bool { return p.What == exchange.AcceptedPlan }) {
			return ""
		}
	}
	n := 0
	for _, f := range digests[last].Files {
		if f.Edited > o.N {
			n++
		}
	}
	said := "The user accepted the plan " + plan(o.Text, showQuestion) + ": "
	if n == 0 {
		return said + "no file of the project was changed after it"
	}
	return said + fmt.Sprintf("%s changed after it", times(n, "file"))
}

// againstNotes leaves out what the client loads from its own memory anyway, and adds what there contradicts a pin or a
// rule.
func (b *briefing) againstNotes(sections []brief.Section) []brief.Section {
	if len(b.notes) == 0 {
		return sections
	}
	var clashes []brief.Item
	for _, s := range sections[:2] { // rules and pins
		what := "pinned"
		if s.Title == "Rules" {
			what = "the rule is"
		}
		for _, it := range s.Items {
			clashes = append(clashes, b.contradicted(it, what)...)
		}
	}
	if loaded := spaced(b.loaded()); loaded != "" {
		for i := range sections {
			sections[i].Items = slices.DeleteFunc(sections[i].Items, func(it brief.Item) bool {
				said := strings.Trim(spaced(it.Text), ".")
				return !it.Always && !it.More && len(said) >= leastSaid && strings.Contains(loaded, said)
			})
		}
	}
	if len(clashes) == 0 {
		return sections
	}
	return slices.Insert(sections, 2, brief.Section{Title: "Claude's notes that contradict it", Items: clashes, MaxUnits: 400,
		More: b.o.Program + " notes"})
}

// loaded returns what the client loads of its index here.
func (b *briefing) loaded() string {
	i := slices.IndexFunc(b.notes, func(f *notes.File) bool { return f.Name == memoryIndex })
	if i < 0 {
		return ""
	}
	s := noteHere(b.m, b.notes[i])
	if s == nil {
		return ""
	}
	text := s.Text[:min(len(s.Text), loadedBytes)]
	var out []byte
	n := 0
	for line := range bytes.Lines([]byte(text)) {
		if n++; n > loadedLines {
			break
		}
		out = append(out, line...)
	}
	return string(out)
}

// noteHere returns the newest state of a note on this device, nil if it has none or it is deleted.
func noteHere(db *state.DB, f *notes.File) *notes.State {
	for _, s := range f.States {
		if s.Stamp.Device == db.Refs.Device().ID {
			if s.Deleted {
				return nil
			}
			return s
		}
	}
	return nil
}

// contradicted returns the lines of notes here that say the contrary of an item, quoted. Two texts do if they have the same
// words, but one of them a negation or another number. Whoever reads both decides.
func (b *briefing) contradicted(it brief.Item, what string) (out []brief.Item) {
	mine := claimOf(it.Text)
	for _, f := range b.notes {
		s := noteHere(b.m, f)
		if s == nil || !strings.HasPrefix(f.Name, "memory/") {
			continue
		}
		for line := range strings.Lines(s.Text) {
			if line = strings.TrimSpace(strings.TrimLeft(line, "#-*+> \t")); !mine.contradicts(claimOf(line)) {
				continue
			}
			out = append(out, brief.Item{Text: fmt.Sprintf("%s says %s, %s: %s", path.Base(f.Name), quoted(line, showQuestion), what,
				quoted(it.Text, showQuestion)), Source: f.Name, Trust: brief.Assistant, Time: s.Time, Why: "it contradicts what you said"})
		}
	}
	return out
}

// A claim is a sentence as a set of words.
type claim struct {
	words   map[string]bool
	numbers []string
	negated bool
}

// claimOf reads a sentence.
func claimOf(s string) claim {
	c := claim{words: map[string]bool{}}
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		switch {
		case w == "not" || w == "never" || w == "no" || w == "without" || w == "cannot" || strings.HasSuffix(w, "n't"):
			c.negated = !c.negated
		case strings.ContainsAny(w[:1], "0123456789"):
			c.numbers = append(c.numbers, w)
		case len(w) > 2 && !filler(w):
			c.words[strings.TrimSuffix(w, "s")] = true
		}
	}
	return c
}

// filler reports whether two sentences about the same may differ in a word.
func filler(w string) bool {
	switch w {
	case "the", "and", "are", "always", "must", "should", "all", "does", "will", "with", "for", "you", "please", "that":
		return true
	}
	return false
}

// contradicts reports whether two sentences have the same words, and one a negation or other numbers.
func (c claim) contradicts(o claim) bool {
	if len(c.words) < 2 || len(c.words) != len(o.words) {
		return false
	}
	for w := range c.words {
		if !o.words[w] {
			return false
		}
	}
	return c.negated != o.negated || !slices.Equal(c.numbers, o.numbers) && len(c.numbers) == len(o.numbers)
}

// spaced returns a text in lower case with single spaces.
func spaced(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
