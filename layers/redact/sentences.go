package redact

import (
	"bytes"
)

// inSentence finds the value of a password in a sentence, after the name that ends at end: "the password of admin is:
// value", "set to value", "(valid for a day): value", "- value". The value must look generated.
func (s *Scan) inSentence(name []byte, end int) {
	for _, word := range [...]string{"password", "passphrase", "passwd", "passwort"} {
		if len(name) == len(word) && hasFold(name, word) {
			s.sentence(end)
		}
	}
}

// sentence searches for the value from end to the end of the sentence.
func (s *Scan) sentence(end int) {
	text := s.Text
	rest := text[end:min(len(text), end+80)]
	rest = rest[:lineLength(rest)]
	for i := 0; i < len(rest); i++ {
		c, n := rest[i], 0
		if !signs.Has(c) || 'a' <= c && (i == 0 || rest[i-1] != ' ') && c <= 'z' {
			continue
		}
		if c == '=' && spaces(rest[:i]) == i {
			return // an assignment
		}
		for _, sign := range [...]string{": ", "= ", "- ", "is ", "to ", "lautet ", "ist ", "est ", "es ", "è ", "é ", "は ",
			"は", "： ", "：", ":"} {
			if bytes.HasPrefix(rest[i:], []byte(sign)) && (sign[0] < 'a' || sign[0] > 'z' || i > 0 && rest[i-1] == ' ') {
				n = len(sign)
				break
			}
		}
		if n == 0 {
			if c == ';' || c == '{' || c == '"' || c == '.' {
				return
			}
			continue
		}
		i += n
		if i+1 < len(rest) && rest[i] == '=' && !Alnum.Has(rest[i+1]) {
			continue // an assignment
		}
		i += spaces(rest[min(i, len(rest)):])
		if bytes.HasPrefix(rest[min(i, len(rest)):], []byte("**")) {
			i += 2
		}
		v := s.word(end + i)
		if s.plausible("password", v, Sentence) {
			s.found(v.Start, v.End, "password")
			return
		}
		i--
	}
}

// signs are the first bytes of the words and marks that precede a value, and the bytes that end a sentence.
var signs = setOf(":=-itle\xc3\xe3\xef;{\".")

// foreignPassword finds the password in "Kennwort: value" and similar words of other languages.
func (s *Scan) foreignPassword(at int, w *word) {
	i := at + len(w.text)
	for i < len(s.Text) && Alnum.Has(s.Text[i]) {
		i++
	}
	s.sentence(i)
}

// lineLength returns the length of the first line of text without its trailing blanks.
func lineLength(text []byte) int {
	n := len(text)
	for _, mark := range [...]string{"\n", `\n`, `\r`} {
		if i := bytes.Index(text[:n], []byte(mark)); i >= 0 {
			n = i
		}
	}
	return len(bytes.TrimRight(text[:n], " \t\r"))
}
