package redact

import (
	"bytes"
	"iter"
)

// arguments yields the bounds of the words of a command from i on, without their quotes.
func (s *Scan) arguments(i int) iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		text := s.Text[:min(len(s.Text), i+maxCommand)]
		for {
			from, end := shellWord(text, i)
			if from == end || !yield(from, end) {
				return
			}
			i = afterQuote(text, end)
		}
	}
}

// pipedPassword finds the argument of echo or printf that is piped to a command reading a password. at is the offset
// of that command's option.
func (s *Scan) pipedPassword(at int, _ *word) {
	text := s.Text
	start := max(0, at-maxCommand)
	if n := bytes.LastIndexByte(text[start:at], '\n'); n >= 0 {
		start += n + 1
	}
	pipe := bytes.LastIndexByte(text[start:at], '|')
	if pipe < 0 {
		return
	}
	for _, name := range [...]string{"echo ", "printf "} {
		n := bytes.LastIndex(text[start:start+pipe], []byte(name))
		if n < 0 {
			continue
		}
		i, limit := start+n+len(name), start+pipe
		for {
			from, end := shellWord(text[:limit], i)
			if from == end {
				return
			}
			if w := text[from:end]; w[0] == '-' || w[0] == '%' {
				i = afterQuote(text[:limit], end)
				continue
			}
			if n := bytes.IndexByte(text[from:end], ':'); n > 0 && hasFold(text[at:], "chpasswd") {
				from += n + 1
			}
			s.password(from, end)
			return
		}
	}
}

// password reports text[from:end], an argument of a command, if it may be a password.
func (s *Scan) password(from, end int) {
	if value := s.Text[from:end]; Plausible("password", value, env) && !common(value) {
		s.found(from, end, "password")
	}
}

// htpasswd finds the last word of "htpasswd -b file user password".
func (s *Scan) htpasswd(at int, w *word) {
	words, given, file := 0, false, 2
	for from, end := range s.arguments(at + len(w.text)) {
		if word := s.Text[from:end]; word[0] == '-' && words == 0 {
			given = given || bytes.IndexByte(word, 'b') > 0
			if bytes.IndexByte(word, 'n') > 0 {
				file = 1
			}
			continue
		}
		if words++; words > file {
			if given {
				s.password(from, end)
			}
			return
		}
	}
}

// cookieOption finds the cookies in "curl -b 'name=value'".
func (s *Scan) cookieOption(at int, w *word) {
	option := ""
	for from, end := range s.arguments(at + len(w.text)) {
		if option != "-b" && option != "--cookie" {
			option = string(s.Text[from:end])
			continue
		}
		s.cookies(from, end)
		return
	}
}

// gemSource finds the password in "bundle config host user:password".
func (s *Scan) gemSource(at int, w *word) {
	words := 0
	for from, end := range s.arguments(at + len(w.text)) {
		if n := bytes.IndexByte(s.Text[from:end], ':'); n > 0 && bytes.IndexByte(s.Text[from:end], '/') < 0 {
			s.password(from+n+1, end)
			return
		}
		if words++; words == 5 {
			return
		}
	}
}

// spokenKey finds the key in "my API key is value" and "API key: value".
func (s *Scan) spokenKey(at int, w *word) {
	text := s.Text
	i, _, _ := skipClosers(text, at+len(w.text))
	i += spaces(text[i:])
	switch {
	case i < len(text) && (text[i] == ':' || text[i] == '='):
		i++
	case hasFold(text[i:], "is "):
		i += len("is ")
	default:
		return
	}
	i = skipDecoration(text, i)
	for i < len(text) && i < at+64 && bytes.IndexByte([]byte("`\"'\\*"), text[i]) >= 0 {
		i++
	}
	end := i + unquotedChars.Run(text[i:], 512)
	for end > i && bytes.IndexByte([]byte(".?!:*"), text[end-1]) >= 0 {
		end--
	}
	if value := text[i:end]; len(value) >= 16 && (strong(value) || hexAny.Run(value, len(value)) == 32 &&
		Random(value)) && Plausible("api-key", value, loose) {
		s.found(i, end, "api-key")
	}
}
