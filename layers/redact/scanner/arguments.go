package scanner

import (
	"bytes"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// userinfoEscaped is userinfo of a URL whose slashes are escaped, as some write them in JSON. at is where
// ":\/\/" stands.
func (s *Scan) userinfoEscaped(at int, w *word) {
	text := s.Text
	from := at + len(w.text)
	end := from + authority.Run(text[from:], 512)
	host := bytes.LastIndexByte(text[from:end], '@')
	colon := bytes.IndexByte(text[from:end], ':')
	if colon < 0 || host < colon+2 {
		return
	}
	if value := text[from+colon+1 : from+host]; authorises(value) {
		s.found(from+colon+1, from+host, "url-password")
	}
}

// userinfoProperty is userinfo of a URL in a file of properties, whose colons are escaped. at is where "\://" stands.
func (s *Scan) userinfoProperty(at int, w *word) {
	text := s.Text
	from := at + len(w.text)
	end := from + lexical.Visible.Run(text[from:], 512)
	host := bytes.LastIndexByte(text[from:end], '@')
	colon := bytes.Index(text[from:end], []byte(`\:`))
	if colon < 0 || host < colon+3 {
		return
	}
	if value := text[from+colon+2 : from+host]; authorises(value) {
		s.found(from+colon+2, from+host, "url-password")
	}
}

// piped finds what "echo value |" hands to a command that reads a password. at is where the option of that
// command stands.
func (s *Scan) piped(at int, _ *word) {
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
			from, end := lexical.ShellWord(text[:limit], i)
			if from == end {
				return
			}
			if w := text[from:end]; w[0] == '-' || w[0] == '%' {
				if i = end; i < limit && lexical.Quote(text[i]) {
					i++
				}
				continue
			}
			if n := bytes.IndexByte(text[from:end], ':'); n > 0 && lexical.HasFold(text[at:], "chpasswd") {
				from += n + 1
			}
			s.password(from, end)
			return
		}
	}
}

// password takes text[from:end], that a command is given, for a password if it may be one.
func (s *Scan) password(from, end int) {
	if value := s.Text[from:end]; lexical.Plausible("password", value, lexical.Env) && !lexical.Common(value) {
		s.found(from, end, "password")
	}
}

// htpasswd finds the last word of "htpasswd -b file user password". at is where the command stands.
func (s *Scan) htpasswd(at int, w *word) {
	limit := min(len(s.Text), at+maxCommand)
	i, words, given := at+len(w.text), 0, false
	file := 2
	for {
		from, end := lexical.ShellWord(s.Text[:limit], i)
		if from == end {
			return
		}
		word := s.Text[from:end]
		if i = end; i < limit && lexical.Quote(s.Text[i]) {
			i++
		}
		if word[0] == '-' && words == 0 {
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

// pairOfTwo finds the password in auth=("user", "password"). at is where "auth=(" stands.
func (s *Scan) pairOfTwo(at int, w *word) {
	user, _, ok := s.literal(at + len(w.text))
	if !ok {
		return
	}
	i := user.End
	for i < len(s.Text) && lexical.Closers.Has(s.Text[i]) && i < user.End+6 {
		i++
	}
	if i >= len(s.Text) || s.Text[i] != ',' {
		return
	}
	if v, _, ok := s.literal(i + 1 + lexical.Spaces(s.Text[i+1:])); ok &&
		lexical.Plausible("password", s.Text[v.Start:v.End], lexical.Quoted) {
		s.found(v.Start, v.End, "password")
	}
}

// identified finds the password that SQL gives a user. at is where "identified by" stands, or "identified with".
func (s *Scan) identified(at int, w *word) {
	i := at + len(w.text)
	if w.text == "identified with" {
		n := bytes.Index(bytes.ToLower(s.Text[i:min(len(s.Text), i+48)]), []byte(" by"))
		if n < 0 {
			return
		}
		i += n + len(" by")
	}
	i += lexical.Spaces(s.Text[i:])
	if lexical.HasFold(s.Text[i:], "password ") {
		i += len("password ")
	}
	if v, _, ok := s.literal(i); ok && lexical.Plausible("password", s.Text[v.Start:v.End], lexical.Quoted) {
		s.found(v.Start, v.End, "password")
	}
}

// amzSignature finds the signature of an address of S3. at is where the parameter stands.
func (s *Scan) amzSignature(at int, w *word) {
	i := at + len(w.text)
	if n := lexical.HexLow.Run(s.Text[i:], 80); n == 64 && !lexical.Repeats(s.Text[i:i+n]) {
		s.found(i, i+n, "aws-signature")
	}
}

// cookieOption finds the cookies in "curl -b 'name=value'". at is where the command stands.
func (s *Scan) cookieOption(at int, w *word) {
	limit := min(len(s.Text), at+maxCommand)
	for i := at + len(w.text); i < limit; {
		from, end := lexical.ShellWord(s.Text[:limit], i)
		if from == end {
			return
		}
		if i = end; i < limit && lexical.Quote(s.Text[i]) {
			i++
		}
		if o := string(s.Text[from:end]); o != "-b" && o != "--cookie" {
			continue
		}
		from, end = lexical.ShellWord(s.Text[:limit], i)
		for from < end {
			n := lexical.NameChars.Run(s.Text[from:end], 128)
			if from += n + 1; n == 0 || from > end || s.Text[from-1] != '=' {
				return
			}
			k := cookieChars.Run(s.Text[from:end], end-from)
			if v := s.Text[from : from+k]; len(v) >= 12 && lexical.Random(v) && !lexical.Placeholderish(v) &&
				!lexical.Reference(v, lexical.Loose) {
				s.found(from, from+k, "cookie")
			}
			from += k + 1
			from += lexical.Spaces(s.Text[min(from, end):end])
		}
		return
	}
}

// gemSource finds the password in "bundle config host user:password". at is where the command stands.
func (s *Scan) gemSource(at int, w *word) {
	limit := min(len(s.Text), at+maxCommand)
	i := at + len(w.text)
	for range 5 {
		from, end := lexical.ShellWord(s.Text[:limit], i)
		if from == end {
			return
		}
		if i = end; i < limit && lexical.Quote(s.Text[i]) {
			i++
		}
		if n := bytes.IndexByte(s.Text[from:end], ':'); n > 0 && bytes.IndexByte(s.Text[from:end], '/') < 0 {
			s.password(from+n+1, end)
			return
		}
	}
}

// spokenKey finds the key in "my API key is value" and "API key: value". at is where the two words stand.
func (s *Scan) spokenKey(at int, w *word) {
	text := s.Text
	i, _, _ := lexical.Behind(text, at+len(w.text))
	i += lexical.Spaces(text[i:])
	switch {
	case i < len(text) && (text[i] == ':' || text[i] == '='):
		i++
	case lexical.HasFold(text[i:], "is "):
		i += len("is ")
	default:
		return
	}
	i = lexical.Adorned(text, i)
	for i < len(text) && i < at+64 && bytes.IndexByte([]byte("`\"'\\*"), text[i]) >= 0 {
		i++
	}
	end := i + lexical.UnquotedChars.Run(text[i:], 512)
	for end > i && bytes.IndexByte([]byte(".?!:*"), text[end-1]) >= 0 {
		end--
	}
	if value := text[i:end]; len(value) >= 16 && (lexical.Strong(value) || lexical.HexAny.Run(value, len(value)) == 32 &&
		lexical.Random(value)) && lexical.Plausible("api-key", value, lexical.Loose) {
		s.found(i, end, "api-key")
	}
}
