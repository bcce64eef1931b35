package redact

import "bytes"

// userinfoEscaped is userinfo of a URL whose slashes are escaped, as some write them in JSON. at is where ":\/\/" stands.
func (s *scan) userinfoEscaped(at int, w *word) {
	text := s.text
	from := at + len(w.text)
	end := from + authority.run(text[from:], 512)
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
func (s *scan) userinfoProperty(at int, w *word) {
	text := s.text
	from := at + len(w.text)
	end := from + visible.run(text[from:], 512)
	host := bytes.LastIndexByte(text[from:end], '@')
	colon := bytes.Index(text[from:end], []byte(`\:`))
	if colon < 0 || host < colon+3 {
		return
	}
	if value := text[from+colon+2 : from+host]; authorises(value) {
		s.found(from+colon+2, from+host, "url-password")
	}
}

// piped finds what "echo value |" hands to a command that reads a password. at is where the option of that command stands.
func (s *scan) piped(at int, _ *word) {
	text := s.text
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
				if i = end; i < limit && quote(text[i]) {
					i++
				}
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

// password takes text[from:end], that a command is given, for a password if it may be one.
func (s *scan) password(from, end int) {
	if value := s.text[from:end]; plausible("password", value, env) && !common(value) {
		s.found(from, end, "password")
	}
}

// htpasswd finds the last word of "htpasswd -b file user password". at is where the command stands.
func (s *scan) htpasswd(at int, w *word) {
	limit := min(len(s.text), at+maxCommand)
	i, words, given := at+len(w.text), 0, false
	file := 2
	for {
		from, end := shellWord(s.text[:limit], i)
		if from == end {
			return
		}
		word := s.text[from:end]
		if i = end; i < limit && quote(s.text[i]) {
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
func (s *scan) pairOfTwo(at int, w *word) {
	user, _, ok := s.literal(at + len(w.text))
	if !ok {
		return
	}
	i := user.end
	for i < len(s.text) && closers.has(s.text[i]) && i < user.end+6 {
		i++
	}
	if i >= len(s.text) || s.text[i] != ',' {
		return
	}
	if v, _, ok := s.literal(i + 1 + spaces(s.text[i+1:])); ok && plausible("password", s.text[v.start:v.end], quoted) {
		s.found(v.start, v.end, "password")
	}
}

// identified finds the password that SQL gives a user. at is where "identified by" stands, or "identified with".
func (s *scan) identified(at int, w *word) {
	i := at + len(w.text)
	if w.text == "identified with" {
		n := bytes.Index(bytes.ToLower(s.text[i:min(len(s.text), i+48)]), []byte(" by"))
		if n < 0 {
			return
		}
		i += n + len(" by")
	}
	i += spaces(s.text[i:])
	if hasFold(s.text[i:], "password ") {
		i += len("password ")
	}
	if v, _, ok := s.literal(i); ok && plausible("password", s.text[v.start:v.end], quoted) {
		s.found(v.start, v.end, "password")
	}
}

// amzSignature finds the signature of an address of S3. at is where the parameter stands.
func (s *scan) amzSignature(at int, w *word) {
	i := at + len(w.text)
	if n := hexLow.run(s.text[i:], 80); n == 64 && !repeats(s.text[i:i+n]) {
		s.found(i, i+n, "aws-signature")
	}
}

// cookieOption finds the cookies in "curl -b 'name=value'". at is where the command stands.
func (s *scan) cookieOption(at int, w *word) {
	limit := min(len(s.text), at+maxCommand)
	for i := at + len(w.text); i < limit; {
		from, end := shellWord(s.text[:limit], i)
		if from == end {
			return
		}
		if i = end; i < limit && quote(s.text[i]) {
			i++
		}
		if o := string(s.text[from:end]); o != "-b" && o != "--cookie" {
			continue
		}
		from, end = shellWord(s.text[:limit], i)
		for from < end {
			n := nameChars.run(s.text[from:end], 128)
			if from += n + 1; n == 0 || from > end || s.text[from-1] != '=' {
				return
			}
			k := cookieChars.run(s.text[from:end], end-from)
			if v := s.text[from : from+k]; len(v) >= 12 && random(v) && !placeholderish(v) && !reference(v, loose) {
				s.found(from, from+k, "cookie")
			}
			from += k + 1
			from += spaces(s.text[min(from, end):end])
		}
		return
	}
}

// gemSource finds the password in "bundle config host user:password". at is where the command stands.
func (s *scan) gemSource(at int, w *word) {
	limit := min(len(s.text), at+maxCommand)
	i := at + len(w.text)
	for range 5 {
		from, end := shellWord(s.text[:limit], i)
		if from == end {
			return
		}
		if i = end; i < limit && quote(s.text[i]) {
			i++
		}
		if n := bytes.IndexByte(s.text[from:end], ':'); n > 0 && bytes.IndexByte(s.text[from:end], '/') < 0 {
			s.password(from+n+1, end)
			return
		}
	}
}

// spokenKey finds the key in "my API key is value" and "API key: value". at is where the two words stand.
func (s *scan) spokenKey(at int, w *word) {
	text := s.text
	i, _, _ := behind(text, at+len(w.text))
	i += spaces(text[i:])
	switch {
	case i < len(text) && (text[i] == ':' || text[i] == '='):
		i++
	case hasFold(text[i:], "is "):
		i += len("is ")
	default:
		return
	}
	i = adorned(text, i)
	for i < len(text) && i < at+64 && bytes.IndexByte([]byte("`\"'\\*"), text[i]) >= 0 {
		i++
	}
	end := i + unquotedChars.run(text[i:], 512)
	for end > i && bytes.IndexByte([]byte(".?!:*"), text[end-1]) >= 0 {
		end--
	}
	if value := text[i:end]; len(value) >= 16 && (strong(value) || hexAny.run(value, len(value)) == 32 && random(value)) && plausible("api-key", value, loose) {
		s.found(i, end, "api-key")
	}
}
