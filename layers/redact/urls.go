package redact

import (
	"bytes"
)

// userinfo finds the password in scheme://user:password@host, and a token in place of the user. at is the offset of
// "://".
func (s *Scan) userinfo(at int, _ *word) {
	text := s.Text
	if at == 0 || !Alnum.Has(text[at-1]) {
		return
	}
	from := at + 3
	host, ok := hostOf(text, from)
	if !ok {
		return
	}
	info := text[from : from+host]
	colon := bytes.IndexByte(info, ':')
	if colon < 0 {
		if len(info) >= 16 && Random(info) && !isPlaceholder(info) &&
			!reference(info, Quoted) {
			s.found(from, from+host, "url-token")
		}
		return
	}
	password := info[colon+1:]
	if !isURLPassword(password) || bytes.Equal(password, info[:colon]) {
		return
	}
	rule := "url-password"
	if database(text[at-scheme.RunBack(text[:at], 24) : at]) {
		rule = "database-url"
	}
	s.found(from+colon+1, from+host, rule)
}

var (
	// authority are the characters of user, password and host of a URL.
	authority = Visible.Without(`/?#\()|,`)
	mailChars = dottedChars.With("%+")
	scheme    = setOf("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
)

func database(scheme []byte) bool {
	for _, name := range [...]string{"postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql", "sqlserver",
		"cockroach", "clickhouse", "libsql", "oracle", "db2", "couchdb", "neo4j"} {
		if bytes.Contains(bytes.ToLower(scheme), []byte(name)) {
			return true
		}
	}
	return false
}

// hostOf returns the offset from from of the @ before the host of a URL whose authority begins at from. The password
// may contain characters that should be escaped in a URL.
func hostOf(text []byte, from int) (at int, ok bool) {
	end := from + authority.Run(text[from:], 512)
	if at = bytes.LastIndexByte(text[from:end], '@'); at > 0 && at < end-from-1 {
		if later := laterHost(text, from, end, at); later > 0 {
			return later, true
		}
		return at, true
	}
	user := wordChars.Run(text[from:], 64)
	if n := mailChars.Run(text[from:], 96); bytes.Contains(text[from:from+n], []byte("%40")) {
		user = n // an address
	}
	if user == 0 || from+user+1 >= len(text) || text[from+user] != ':' {
		return 0, false
	}
	if n := Digits.Run(text[from+user+1:], 6); n > 0 && text[min(len(text)-1, from+user+1+n)] == '/' {
		return 0, false // a port
	}
	end = from + Visible.Run(text[from:], 512)
	if end = wordEnd(text[:end], from); end == from {
		return 0, false
	}
	at = bytes.LastIndexByte(text[from:end], '@')
	if at <= user+1 {
		return 0, false
	}
	n := dottedChars.Run(text[from+at+1:end], 255)
	next := from + at + 1 + n
	return at, n > 2 && (next == end || bytes.IndexByte([]byte(":/?"), text[next]) >= 0)
}

// laterHost returns the offset from from of a later @ than that at at, if the password goes on behind end, the end of
// the authority: what is behind the first @ has neither a dot nor a port, and what is behind the later one may be a
// host. 0 is for none.
func laterHost(text []byte, from, end, at int) int {
	if bytes.IndexByte(text[from:from+at], ':') < 0 || bytes.IndexAny(text[from+at+1:end], ".:[") >= 0 ||
		bytes.EqualFold(text[from+at+1:end], []byte("localhost")) {
		return 0
	}
	stop := wordEnd(text[:from+Visible.Run(text[from:], 512)], from)
	later := bytes.LastIndexByte(text[from:max(from, stop)], '@')
	if later <= at || bytes.Contains(text[from+at:from+later], []byte("://")) {
		return 0
	}
	host := from + later + 1
	n := dottedChars.Run(text[host:stop], 255)
	if next := host + n; n < 1 || next < stop && bytes.IndexByte([]byte(":/?"), text[next]) < 0 {
		return 0
	}
	return later
}

// isURLPassword reports whether the password of a URL is a real one, and not interpolated or an example.
func isURLPassword(password []byte) bool {
	return len(password) >= 4 && !isPlaceholder(password) && !interpolated(password) &&
		!common(password)
}

// authorization finds the credentials after "Authorization:", and after "Bearer" anywhere.
func (s *Scan) authorization(at int, w *word) {
	text := s.Text
	i := at + len(w.text)
	if w.text != "bearer " && w.text != "basic " {
		for i < len(text) && i < at+len(w.text)+8 && bytes.IndexByte([]byte(`"'\:= ,`), text[i]) >= 0 {
			i++
		}
		if i == at+len(w.text) {
			return
		}
		for _, scheme := range [...]string{"bearer ", "basic ", "token ", "apikey ", "digest ", "negotiate "} {
			if hasFold(text[i:], scheme) {
				i += len(scheme)
				break
			}
		}
	} else if at > 0 && Alnum.Has(text[at-1]) {
		return
	}
	i += spaces(text[i:])
	end := i + credential.Run(text[i:], 8<<10)
	value := bytes.TrimRight(text[i:end], ".=,")
	if end < len(text) && (text[end] == '(' || text[end] == '{') {
		return
	}
	if len(value) < 8 || isPlaceholder(value) || reference(value, loose) || weak(value) {
		return
	}
	if w.text == "basic " || bytes.Contains(bytes.ToLower(text[at:i]), []byte("basic ")) {
		if plain := decode64(nil, value); len(value) < 12 || !readable(plain) ||
			bytes.IndexByte(plain, ':') < 1 || common(plain[bytes.IndexByte(plain, ':')+1:]) {
			return
		}
	} else if !Random(value) {
		return
	}
	s.found(i, end, "authorization")
}

// credential are the characters of the credentials in a header.
var credential = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+/=.~:%")

// cookie finds the values in "Cookie: a=b; c=d" that are long and random.
func (s *Scan) cookie(at int, w *word) {
	text := s.Text
	i := at + len(w.text)
	for i < len(text) && i < at+len(w.text)+24 && bytes.IndexByte([]byte("\"'\\: ,\n"), text[i]) >= 0 {
		i++
	}
	if i == at+len(w.text) {
		return
	}
	if hasFold(text[i:], `value"`) || hasFold(text[i:], `value\"`) { // {"name": "Cookie", "value": "..."}
		for i += len("value"); i < len(text) && bytes.IndexByte([]byte(`"\: `), text[i]) >= 0; i++ {
		}
	}
	s.cookies(i, len(text))
}

// cookies reports the values of "a=b; c=d" in text[i:limit] that are long and random.
func (s *Scan) cookies(i, limit int) {
	text := s.Text[:limit]
	for range 64 {
		n := nameChars.Run(text[i:], 128)
		if n == 0 || i+n >= len(text) || text[i+n] != '=' {
			return
		}
		i += n + 1
		end := i + cookieChars.Run(text[i:], 8<<10)
		value := text[i:end]
		if len(value) >= 12 && Random(value) && !isPlaceholder(value) &&
			!reference(value, loose) {
			s.found(i, end, "cookie")
		}
		if end+1 >= len(text) || text[end] != ';' {
			return
		}
		i = end + 1 + spaces(text[end+1:])
	}
}

var cookieChars = Visible.Without(`;,\`)

// maxBlock is the maximum length of a private key that is found whole.
const maxBlock = 64 << 10

// block finds a private key: from "-----BEGIN", or the "---- BEGIN" of ssh.com, to its END line or, if that is missing, to
// the end of the text that may be a part of it.
func (s *Scan) block(at int, w *word) {
	text := s.Text[at:min(len(s.Text), at+maxBlock)]
	head := text[:min(len(text), 80)]
	i := bytes.Index(head, []byte("PRIVATE KEY"))
	if i < 0 || bytes.IndexByte(head[:i], '\n') >= 0 {
		return
	}
	i += len("PRIVATE KEY")
	mark := append(bytes.Clone(text[:5]), "END"...)
	end := bytes.Index(text[i:], mark)
	if end >= 0 {
		end += i
	} else {
		end = endOfBlock(text, i)
	}
	body := 0
	for _, c := range text[i:end] {
		if Base64.Has(c) && c != '-' {
			body++
		}
	}
	if body < 64 || bytes.Contains(text[i:end], []byte("...")) || repeats(bytes.Trim(text[i:end], "-\r\n \\")) {
		return
	}
	if bytes.HasPrefix(text[end:], mark) {
		if n := bytes.Index(text[end+8:min(len(text), end+80)], []byte("----")); n >= 0 {
			end += 8 + n
			end += dashes.Run(text[end:], 5)
		}
	}
	s.found(at, at+end, "private-key")
}

// endOfBlock returns the end of a private key without an END line. Line numbers and other marks that tools add to its
// lines are skipped.
func endOfBlock(text []byte, i int) int {
	for {
		i += blockChars.Run(text[i:], len(text))
		back := Digits.RunBack(text[:i], 8)
		next := i
		for _, mark := range [...]string{"→", "\t"} {
			if back > 0 && bytes.HasPrefix(text[i:], []byte(mark)) {
				next += len(mark)
			}
		}
		if next == i && i < len(text) && bytes.IndexByte([]byte("#+>|*/"), text[i]) >= 0 {
			for next < len(text) && bytes.IndexByte([]byte("#+>|*/ "), text[next]) >= 0 {
				next++
			}
		}
		if next == i || Base64.Run(text[next:], 20) < 20 {
			return i
		}
		i = next
	}
}

var dashes = setOf("-")

// blockChars are the characters of a private key, including quotes and escapes around its lines.
var blockChars = Base64.With("=\r\n \\:,.")

// privateKeyEnd finds the end of a private key whose beginning is missing. at is the offset of "-----END".
func (s *Scan) privateKeyEnd(at int, w *word) {
	text := s.Text
	head := text[at:min(len(text), at+80)]
	label := head[len(w.text):]
	if n := bytes.Index(label, []byte("-----")); n < 0 || !bytes.Contains(label[:n], []byte("PRIVATE KEY")) {
		return
	}
	start, body := at, 0
	for i := at; ; {
		end := len(bytes.TrimRight(text[:i], " #+>|*/"))
		switch n := beforeLineNumber(text[:end]); {
		case n < end:
			end = n
		case end > 0 && text[end-1] == '\n':
			end--
		case bytes.HasSuffix(text[:end], []byte(`\n`)):
			end -= 2
		default:
			end = 0
		}
		line := bytes.TrimRight(text[:end], "\r=")
		k := Base64.RunBack(line, 100)
		if k > 0 && k < len(line) && line[len(line)-k-1] == '\\' {
			k-- // of \n
		}
		if k < 16 || k > 80 || bytes.Contains(line[len(line)-k:], []byte("-----")) {
			break
		}
		i = len(line) - k
		start, body = i, body+k
	}
	if body >= 64 && Random(text[start:at]) {
		s.found(start, at, "private-key")
	}
}

// beforeLineNumber returns the end of the line before the line number at the end of text, as in the output of cat -n;
// len(text) if text does not end with a line number.
func beforeLineNumber(text []byte) int {
	end := len(text)
	for _, mark := range [...]string{"→", "\t"} {
		if bytes.HasSuffix(text, []byte(mark)) {
			end -= len(mark)
			d := Digits.RunBack(text[:end], 8)
			t := bytes.TrimRight(text[:end-d], " ")
			if d > 0 && len(t) > 0 && t[len(t)-1] == '\n' {
				return len(t) - 1
			}
		}
	}
	return len(text)
}
