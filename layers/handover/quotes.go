package handover

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minClause  = 4  // words of the shortest passage that is a whole clause
	minWords   = 6  // words of any other passage
	minRunes   = 8  // characters of the shortest passage in a script without spaces
	minLetters = 14 // letters and digits of the shortest passage: shorter ones are names and numbers
	gap        = " … "
)

// lengths are the numbers of words that are looked for.
var lengths = [...]int{1, minClause, minClause + 1, minWords, minRunes}

// A place is where a word stands in a text.
type place struct{ text, start, end int }

// A quoteRow is the first sight of consecutive words: by a tool or by the user and the model.
type quoteRow struct {
	at      [][2]int // the text and the index of its first word
	length  int
	decided bool
	printed bool
}

// repeated are texts of the model with the passages that it repeats from what a tool printed before: a file, a page or the output
// of a command. They are not the model's words, and their writer may have meant them for the next reader.
//
// A passage is six words or more (eight characters of a script without spaces), a whole clause of four words or more, or a
// URL. Fewer words are common to any two texts about one subject. What the user or the model wrote before a tool printed it
// is theirs: a commit message stays, although "git log" prints it.
//
// [passagesOf] takes the texts; the session is then told in its order with Written and Printed, in memory that depends only on
// the texts.
type repeated struct {
	texts []string
	words [][]place
	rows  map[uint64]*quoteRow
	known map[uint64]bool // hashes of words of the texts
}

// passagesOf prepares texts.
func passagesOf(texts []string) *repeated {
	p := &repeated{texts: texts, rows: map[uint64]*quoteRow{}, known: map[uint64]bool{}}
	for i, text := range texts {
		var list []place
		var hashes []uint64
		for start, end := range words(text) {
			h := hash(text[start:end])
			list, hashes = append(list, place{i, start, end}), append(hashes, h)
			p.known[h] = true
		}
		p.words = append(p.words, list)
		for k := range list {
			for _, n := range lengths {
				if k+n > len(list) {
					break
				}
				if passage(text, list[k:k+n]) && (n < minClause || n >= minWords || clause(text, list, k, k+n)) {
					p.expect(hashes[k:k+n], i, k)
				}
			}
		}
	}
	return p
}

// passage reports whether words are enough to be a passage.
func passage(text string, list []place) bool {
	first, last := list[0], list[len(list)-1]
	switch len(list) {
	case 1:
		return isURL(text[first.start:first.end])
	case minRunes:
		return last.end-first.start >= minLetters
	default:
		size := 0
		for _, w := range list {
			s := text[w.start:w.end]
			if alone(s) {
				return false
			}
			size += len(s)
		}
		return size >= minLetters
	}
}

// clause reports whether the words from on, up to to, are a clause: nothing but marks that end one is around them.
func clause(text string, list []place, from, to int) bool {
	before, after := text[:list[from].start], text[list[to-1].end:]
	if from > 0 {
		before = before[list[from-1].end:]
	}
	if to < len(list) {
		after = text[list[to-1].end:list[to].start]
	}
	ends := func(s string) bool { return strings.ContainsAny(s, ".:;!?\n\"“”„«»()[]{}>|*-–—") }
	return (from == 0 || ends(before)) && (to == len(list) || ends(after))
}

func (p *repeated) expect(hashes []uint64, text, word int) {
	key := rowKey(hashes)
	r := p.rows[key]
	if r == nil {
		r = &quoteRow{length: len(hashes)}
		p.rows[key] = r
	}
	r.at = append(r.at, [2]int{text, word})
}

func rowKey(hashes []uint64) uint64 {
	key := uint64(len(hashes))
	for _, h := range hashes {
		key = (key ^ h) * 0x9e3779b97f4a7c15
		key ^= key >> 29
	}
	return key
}

// Written tells what the user or the model wrote next.
func (p *repeated) Written(text string) { p.see(text, false) }

// Printed tells what a tool printed next.
func (p *repeated) Printed(text string) { p.see(text, true) }

func (p *repeated) see(text string, printed bool) {
	if len(p.rows) == 0 {
		return
	}
	var last []uint64 // consecutive words of the texts
	for start, end := range words(text) {
		h := hash(text[start:end])
		if !p.known[h] {
			last = last[:0]
			continue
		}
		if len(last) == minRunes {
			last = append(last[:0], last[1:]...)
		}
		last = append(last, h)
		for _, n := range lengths {
			if n > len(last) {
				break
			}
			if r := p.rows[rowKey(last[len(last)-n:])]; r != nil && r.length == n && !r.decided {
				r.decided, r.printed = true, printed
			}
		}
	}
}

// Cut returns text i without its passages that a tool printed, "" if only those are in it.
func (p *repeated) Cut(i int) string {
	text, list := p.texts[i], p.words[i]
	gone := make([]bool, len(list))
	found := false
	for _, r := range p.rows {
		for _, at := range r.at {
			for k := 0; r.printed && at[0] == i && k < r.length; k++ {
				gone[at[1]+k], found = true, true
			}
		}
	}
	if !found {
		return text
	}
	var b strings.Builder
	at, left := 0, false
	for k := 0; k < len(list); k++ {
		if !gone[k] {
			left = true
			continue
		}
		from := list[k].start
		b.WriteString(strings.TrimRight(text[at:from], " \t\n\"'`“‘(["))
		b.WriteString(gap)
		for k+1 < len(list) && gone[k+1] {
			k++
		}
		at = list[k].end
		if i := strings.LastIndexByte(text[from:at], '\n'); i >= 0 { // what follows is on a line of its own
			line := text[from+i : at]
			b.WriteString(line[:len(line)-len(strings.TrimLeft(line, "\n•◦· "))] + missing + " ")
		}
		if rest := text[at:]; k+1 == len(list) {
			at = len(text) // only marks are behind it
		} else {
			at += len(rest) - len(strings.TrimLeft(rest, ".:;,!?\"'`”’»)]"))
		}
	}
	b.WriteString(text[at:])
	if !left {
		return ""
	}
	return strings.Trim(strings.NewReplacer(gap+" ", gap, gap+"\n", " …\n").Replace(b.String()), " \n")
}

// hash is that of a word in lower case. It is the same in every process: marks are stored.
func hash(word string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(word))) // never fails
	return h.Sum64()
}

// Marks returns what [repeated.Mark] needs to know about the passages that a tool printed, sorted.
func (p *repeated) Marks() (out []uint64) {
	for key, r := range p.rows {
		if r.printed {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// Mark tells the marks of a session instead of the session: a text that is part of one of those that the marks were
// made of is then cut as that one.
func (p *repeated) Mark(marks []uint64) {
	for key, r := range p.rows {
		if _, printed := slices.BinarySearch(marks, key); printed {
			r.decided, r.printed = true, true
		}
	}
}

// words yields the words of a text: runs of characters other than blanks, without punctuation at their ends, and each
// character of a script without spaces.
func words(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start, end := -1, 0 // of the word: from its first to behind its last letter
		flush := func() bool {
			ok := start < 0 || yield(start, end)
			start = -1
			return ok
		}
		for i, r := range s {
			size := utf8.RuneLen(r)
			if size < 0 {
				size = 1
			}
			switch {
			case unspaced(r) || r == '…': // what is on both sides of a gap is no passage
				if !flush() || !yield(i, i+size) {
					return
				}
			case unicode.IsSpace(r) || strings.ContainsRune("→|<>()[]{}\"'`,;“”‘’*", r):
				if !flush() {
					return
				}
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				if start < 0 {
					start = i
				}
				end = i + size
			}
		}
		flush()
	}
}

// unspaced reports whether r belongs to a script that is written without spaces.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// alone reports whether a word is one character of such a script.
func alone(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unspaced(r) || r == '…'
}

func isURL(word string) bool { return strings.Contains(word, "://") || strings.HasPrefix(word, "www.") }
