package compress

import (
	"github.com/memvcs/mem/layers/compress/anchors"
)

// A Vocabulary numbers what texts are about, so that texts can be held against each other: the same term has the
// same number in every text. Terms are the stems of words without stop words, pairs of neighbouring Han, Kana or
// Hangul characters, and anchors. It must not be used by two goroutines at once.
type Vocabulary struct {
	l    *lexicon
	text int32
}

// NewVocabulary returns a vocabulary that knows no text yet.
func NewVocabulary() *Vocabulary { return &Vocabulary{l: newLexicon()} }

// About returns the terms of a text, each once, in the order in which they first occur: words before anchors.
func (v *Vocabulary) About(text string) []int32 {
	v.text++
	return v.l.gather(nil, v.text, text, gathering{in: v.text})
}

// Len is how many terms the vocabulary knows.
func (v *Vocabulary) Len() int { return v.l.known.n }

// Anchor reports whether a term is an anchor: a file, a symbol, an issue, a hash, a version, a number, or a span in
// back-ticks.
func (v *Vocabulary) Anchor(term int32) bool { return v.l.known.at(term).Kind == anchors.AnchorConcept }

// EachAnchor yields the anchors of a text in order; one that occurs twice is yielded twice.
func EachAnchor(text string, yield func(string)) { anchors.EachAnchor(text, yield) }

// IsFile reports whether an anchor looks like the name of a file.
func IsFile(anchor string) bool { return anchors.FileName(anchor) }

// IsSymbol reports whether an anchor is written like a symbol: camelCase, PascalCase or snake_case.
func IsSymbol(anchor string) bool { return anchors.Symbol(anchor) }
