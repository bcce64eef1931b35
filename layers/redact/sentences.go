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

// oracleLogin finds the password in user/password@host, an argument of Oracle's tools.
func (s *Scan) oracleLogin(at int, w *word) {
	for from, end := range s.arguments(at + len(w.text)) {
		word := s.Text[from:end]
		n := bytes.IndexByte(word, '/')
		if n < 1 || wordChars.Run(word, n) < n {
			continue
		}
		if h := bytes.LastIndexByte(word, '@'); h > n {
			end = from + h
		}
		s.password(from+n+1, end)
		return
	}
}

// redisAuth finds the password in a line "AUTH password" or "AUTH user password".
func (s *Scan) redisAuth(at int, w *word) {
	text := s.Text
	if !bytes.HasPrefix(text[at:], []byte("AUTH ")) || at > 0 && !opensLine(text[:at], false) {
		return
	}
	end := at + lineLength(text[at:min(len(text), at+maxValue)])
	var words [][]byte
	for word := range bytes.FieldsSeq(text[at:end]) {
		if words = append(words, word); len(words) > 3 {
			return
		}
	}
	if len(words) < 2 {
		return
	}
	last := trimCell(text, end-len(words[len(words)-1]), end)
	if string(words[1]) == "PLAIN" || string(words[1]) == "LOGIN" { // of SMTP
		plain := decode64(nil, bytes.TrimRight(text[last.Start:last.End], "="))
		if value := plain[bytes.LastIndexByte(plain, 0)+1:]; len(value) == 0 ||
			!Plausible("password", value, env) || common(value) {
			return
		}
	}
	s.password(last.Start, last.End)
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

// nextWord finds the secret that is the whole word after the keyword.
func (s *Scan) nextWord(at int, w *word) {
	i := at + len(w.text)
	end := i + lineRun(s.Text[i:])
	for end > i && bytes.IndexByte([]byte("\"'\\"), s.Text[end-1]) >= 0 {
		end--
	}
	s.password(i, end)
}

// terraformPassword finds the password of a random_password resource of terraform.
func (s *Scan) terraformPassword(at int, w *word) {
	const name = "result"
	from := at + len(w.text)
	rest := s.Text[from:min(len(s.Text), from+2000)]
	if n := bytes.Index(rest, []byte("resource ")); n >= 0 {
		rest = rest[:n]
	}
	i := 0
	for range 8 {
		n := bytes.Index(rest[i:], []byte(name))
		if n < 0 {
			return
		}
		i += n + len(name)
		k, _, _ := skipClosers(s.Text, from+i)
		if k += spaces(s.Text[k:]); k >= len(s.Text) || s.Text[k] != ':' && s.Text[k] != '=' {
			continue
		}
		if v, _, ok := s.literal(k + 1 + spaces(s.Text[k+1:])); ok {
			s.password(v.Start, v.End)
			return
		}
	}
}

// httpBasic finds the second word after "http-basic.name", which poetry and composer use as a password.
func (s *Scan) httpBasic(at int, w *word) {
	i, words := at+len(w.text), 0
	for from, end := range s.arguments(i + dottedChars.Run(s.Text[i:], 64)) {
		if words++; words == 2 {
			s.password(from, end)
			return
		}
	}
}
