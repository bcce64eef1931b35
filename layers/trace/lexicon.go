package trace

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// A Vocabulary numbers the terms of texts, so that texts can be compared: a term has the same number in every text.
// Terms are the stems of words without stop words, pairs of adjacent Han, Kana or Hangul characters, and anchors. It is
// not safe for concurrent use.
type Vocabulary struct {
	ids   map[string]int32 // by kind and text
	words map[string]int32 // lower-case word -> its term, -1 for stop words
	known []term
	text  int32
}

type term struct {
	anchor bool
	seen   int32 // the last text that has it
}

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary {
	return &Vocabulary{ids: map[string]int32{}, words: map[string]int32{}}
}

// Terms returns the terms of a text, each once, in the order in which they first occur: words before anchors.
func (v *Vocabulary) Terms(text string) (out []int32) {
	v.text++
	add := func(id int32) {
		if id >= 0 && v.known[id].seen != v.text {
			v.known[id].seen = v.text
			out = append(out, id)
		}
	}
	eachTerm(text, func(s string, word bool) {
		if word {
			add(v.word(s))
		} else {
			add(v.id("w", s, false))
		}
	})
	eachName(text, func(a string) { add(v.id("a", a, true)) })
	return out
}

// Anchor reports whether a term is an anchor: a file, a symbol, an issue, a hash, a version, a number, or a span in
// back-ticks.
func (v *Vocabulary) Anchor(term int32) bool { return v.known[term].anchor }

func (v *Vocabulary) id(kind, s string, anchor bool) int32 {
	key := kind + s
	id, ok := v.ids[key]
	if !ok {
		id = int32(len(v.known))
		v.known = append(v.known, term{anchor: anchor})
		v.ids[key] = id
	}
	return id
}

// word returns the term of a word. w is only kept when it is new.
func (v *Vocabulary) word(w string) int32 {
	if id, ok := v.words[w]; ok {
		return id
	}
	id := int32(-1)
	if !english.IsStopWord(w) {
		id = v.id("w", english.Stem(w, true), false)
	}
	v.words[strings.Clone(w)] = id
	return id
}
