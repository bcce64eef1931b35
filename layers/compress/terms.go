package compress

import (
	"github.com/memvcs/mem/layers/compress/anchors"
)

// A Vocabulary numbers the terms of texts, so that texts can be compared: a term has the same number in every text.
// Terms are the stems of words without stop words, pairs of adjacent Han, Kana or Hangul characters, and anchors. It is
// not safe for concurrent use.
type Vocabulary struct {
	l    *lexicon
	text int32
}

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary { return &Vocabulary{l: newLexicon()} }

// Terms returns the terms of a text, each once, in the order in which they first occur: words before anchors.
func (v *Vocabulary) Terms(text string) []int32 {
	v.text++
	return v.l.gather(nil, v.text, text, gatherOptions{in: v.text})
}

// Len returns the number of terms.
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
