package redact

import (
	"bytes"
)

// inWord are the bytes of a word: all but blanks, line ends and control characters.
var inWord = func() (v byteSet) {
	for c := range 256 {
		if c > ' ' && c != 0x7f {
			v[c>>6] |= 1 << (c & 63)
		}
	}
	return v
}()

// maxOpen is the number of bytes before a value that are searched for open quotes and brackets.
const maxOpen = 256

// A nesting describes the quotes and brackets that are open at a place in a line.
type nesting struct {
	Quotes   byteSet
	brackets [4]int
}

const openers, enders = "([{<", ")]}>"

// openBefore returns the quotes and brackets that are open at the end of text.
func openBefore(text []byte) (o nesting) {
	text = text[max(0, len(text)-maxOpen):]
	if n := bytes.LastIndexByte(text, '\n'); n >= 0 {
		text = text[n+1:]
	}
	if n := bytes.LastIndex(text, []byte(`\n`)); n >= 0 {
		text = text[n+2:]
	}
	for i, c := range text {
		switch c {
		case '"', '`', '\'':
			if c == '\'' && i > 0 && i+1 < len(text) && Alnum.Has(text[i-1]) && Alnum.Has(text[i+1]) {
				continue // an apostrophe
			}
			o.Quotes[c>>6] ^= 1 << (c & 63)
		case '(', '[', '{', '<':
			o.brackets[bytes.IndexByte([]byte(openers), c)]++
		case ')', ']', '}', '>':
			k := bytes.IndexByte([]byte(enders), c)
			o.brackets[k] = max(0, o.brackets[k]-1)
		}
	}
	return o
}

// any reports whether a quote or a bracket is open.
func (o *nesting) any() bool { return o.Quotes != byteSet{} || o.brackets != [4]int{} }

// wordEnd returns the end of the unquoted value at i: a blank, the closing quote or bracket of what was open before
// i, or a separator that something else follows.
func wordEnd(text []byte, i int) int {
	end := i + inWord.Run(text[i:], maxValue)
	o := openBefore(text[:i])
	var inner [4]int
	for k := i; k < end; k++ {
		switch c := text[k]; c {
		case '"', '\'', '`':
			if o.Quotes.Has(c) {
				return k - slashesBefore(text[i:k])
			}
		case '\\':
			if k+1 < end && (text[k+1] == 'n' || text[k+1] == 't') || hasFold(text[k:], `\r\n`) || hasFold(text[k:], `\u001b`) {
				return k
			}
		case 0x1b:
			return k
		case '(', '[', '{', '<':
			inner[bytes.IndexByte([]byte(openers), c)]++
		case ')', ']', '}', '>':
			n := bytes.IndexByte([]byte(enders), c)
			if inner[n]--; inner[n] < 0 && o.brackets[n] > 0 {
				return k
			}
		case ',', ';', '|', '&':
			if separates(text, k) {
				return k
			}
		}
	}
	return end
}

// slashesBefore returns the number of backslashes at the end of text.
func slashesBefore(text []byte) int { return len(text) - len(bytes.TrimRight(text, `\`)) }

// separates reports whether the separator at k ends a value: it is followed by the end of the text, a quote, or
// another key.
func separates(text []byte, k int) bool {
	c, rest := text[k], text[k+1:]
	if len(rest) == 0 || rest[0] <= ' ' || Quote(rest[0]) || rest[0] == '\\' && len(rest) > 1 &&
		(Quote(rest[1]) || rest[1] == 'n' || rest[1] == 'r') {
		return c == ',' || c == ';'
	}
	n := nameChars.Run(rest, 64)
	return n > 1 && Letters.Has(rest[0]) && n < len(rest) &&
		(rest[n] == '=' && n+1 < len(rest) && rest[n+1] > ' ' || rest[n] == ':' && c == ',')
}

// LineEnd returns the end of the value at i that extends to the end of its line. If a quote or a bracket is open
// before i, it returns wordEnd.
func LineEnd(text []byte, i int) int {
	end := i + inWord.Run(text[i:], maxValue)
	if o := openBefore(text[:i]); o.any() {
		return wordEnd(text, i)
	}
	// a line end or a colour of a string within this one
	for _, mark := range [...]string{`\n`, `\r\n`, `\u001b[`, "\x1b["} {
		if n := bytes.Index(text[i:end], []byte(mark)); n >= 0 {
			end = i + n
		}
	}
	return end
}

// keyFollows reports whether text begins with a semicolon and another key of a connection string.
func keyFollows(text []byte) bool {
	if len(text) == 0 || text[0] != ';' {
		return false
	}
	n := 1 + keyChars.Run(text[1:], 48)
	return n > 2 && n < len(text) && text[n] == '='
}

var keyChars = setOf("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")

// hasConnectionKey reports whether text contains a key of a connection string.
func hasConnectionKey(text []byte) bool {
	low := bytes.ToLower(text)
	for _, key := range [...]string{"server=", "data source=", "host=", "uid=", "user id=", "user=", "username=",
		"database=", "dbname=", "catalog=", "driver=", "provider=", "encrypt=", "port=", "endpoint="} {
		if bytes.Contains(low, []byte(key)) {
			return true
		}
	}
	return false
}

// closingQuote returns the end of the quoted value at i in a sentence: before the first quote q that ends a word, and
// before at most slashes backslashes. ok is false if there is none.
func closingQuote(text []byte, i int, q byte, slashes int) (end int, ok bool) {
	limit := i + inWord.Run(text[i:], maxValue)
	for k := i + 1; k < limit; k++ {
		if text[k] != q {
			continue
		}
		n := k + 1 // behind what may close the quote and the sentence
		for n < limit && bytes.IndexByte([]byte(".,;:!?)*\"'"), text[n]) >= 0 || n+1 < limit && text[n] == '\\' &&
			Quote(text[n+1]) {
			n++
		}
		if n >= limit || hasFold(text[n:], `\n`) || hasFold(text[n:], `\r\n`) {
			return k - min(slashes, slashesBefore(text[i:k])), true
		}
	}
	return limit, false
}

// sentenceMarks are the punctuation marks after the last word of a sentence.
const sentenceMarks = ".?!:,;"

// lineRun returns the length of the text without blanks at the start of text, up to the end of its line.
func lineRun(text []byte) int {
	n := visibleLine.Run(text, maxValue)
	if k := bytes.Index(text[:n], []byte(`\n`)); k >= 0 {
		n = k
	}
	return n
}
