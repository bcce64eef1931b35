package redact

import (
	"bytes"
)

// nearKey is the maximum distance between the id of an AWS key and its secret.
const nearKey = 160

// awsSecret finds the secret next to the id of an AWS key at text[at:]: 40 characters of base64 on the same or the
// next line, in either direction.
func (s *Scan) awsSecret(at int, _ *word) {
	text := s.Text
	if at > 0 && (Alnum.Has(text[at-1]) || text[at-1] == '_') && !escaped(text, at) ||
		Upper.Run(text[at:], 21) != 20 {
		return
	}
	if isPlaceholder(text[at : at+20]) {
		return
	}
	for i, limit := at+20, min(len(text), at+20+nearKey); i < limit; i++ {
		if n := awsSecretChars.Run(text[i:], 64); n > 0 {
			if n == 40 && s.aws40(i, i+n) {
				return
			}
			i += n
		}
	}
	for i, limit := at, max(0, at-nearKey); i > limit; i-- {
		if n := awsSecretChars.RunBack(text[:i], 64); n > 0 {
			if n == 40 && s.aws40(i-n, i) {
				return
			}
			i -= n
		}
	}
}

// awsSecretChars are the characters of the secret of an AWS key.
var awsSecretChars = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/")

// aws40 reports text[from:to] as the secret of a key unless it is a hash, a path or a name.
func (s *Scan) aws40(from, to int) bool {
	ok := isAWSSecret(s.Text[from:to])
	if ok {
		s.found(from, to, "aws-secret-key")
	}
	return ok
}

// isAWSSecret reports whether 40 characters may be the secret of a key, and no hash, path or name.
func isAWSSecret(v []byte) bool {
	t := traitsOf(v)
	return hexAny.Run(v, 40) < 40 && t.Upper >= 4 && t.Lower >= 4 && t.Digits > 0 && Entropy(v) >= 4 && !isPlaceholder(v)
}

// passwordLine finds the password in a line of .pgpass, host:port:database:user:password. at is the offset of the
// port.
func (s *Scan) passwordLine(at int, _ *word) {
	text := s.Text
	start := at - hostChars.RunBack(text[:at], 255)
	if start >= 1 && start < at && text[start-1] == '\\' && text[start] == 'n' {
		start++ // behind \n
	}
	end := at + lineLength(text[at:min(len(text), at+maxValue)])
	if n := bytes.IndexByte(text[at:end], '"'); n >= 0 { // of a string within this one
		end = at + len(bytes.TrimRight(text[at:at+n], `\`))
	}
	fields := bytes.SplitN(text[start:end], []byte(":"), 5)
	if len(fields) < 5 || bytes.ContainsAny(bytes.Join(fields[:4], nil), " \t/\"'{}()=,") {
		return
	}
	for _, f := range fields[:4] {
		if len(f) == 0 {
			return
		}
	}
	value := bytes.TrimRight(fields[4], "\r \"'")
	value = value[:Visible.Run(value, len(value))]
	from := end - len(fields[4])
	s.password(from, from+len(value))
}

// masterKey finds the content of a Rails master.key file: 32 hexadecimal digits on a line of their own.
func (s *Scan) masterKey(at int, w *word) {
	text := s.Text[:min(len(s.Text), at+200)]
	for i := at + len(w.text); i < len(text); i++ {
		n := hexLow.Run(text[i:], 64)
		if n == 32 && (!wordChars.Has(text[i-1]) || escaped(text, i)) && endsLine(text[i+n:]) &&
			Entropy(text[i:i+n]) > 3 {
			s.found(i, i+n, "rails-master-key")
			return
		}
		if n > 0 {
			i += n
		}
	}
}

// putty finds the private part of a key in PuTTY's format.
func (s *Scan) putty(at int, w *word) {
	text := s.Text[:min(len(s.Text), at+maxBlock)]
	i := at + len(w.text)
	i += spaces(text[i:])
	i += Digits.Run(text[i:], 4)
	end := i + blockChars.Run(text[i:], maxBlock)
	if n := bytes.Index(text[i:end], []byte("Private-MAC")); n >= 0 {
		end = i + n
	}
	for i < end && bytes.IndexByte([]byte("\r\n \\nr"), text[i]) >= 0 {
		i++
	}
	for end > i && bytes.IndexByte([]byte("\r\n \\"), text[end-1]) >= 0 {
		end--
	}
	if end-i >= 40 && Random(text[i:end]) {
		s.found(i, end, "private-key")
	}
}

// ssh2 finds a private key in the format of ssh.com.
func (s *Scan) ssh2(at int, w *word) {
	text := s.Text[at:min(len(s.Text), at+maxBlock)]
	head := text[:min(len(text), 80)]
	end := bytes.Index(text, []byte("---- END SSH2"))
	if !bytes.Contains(head, []byte("PRIVATE KEY")) || end < 100 {
		return
	}
	if n := bytes.Index(text[end:], []byte(" ----")); n >= 0 && n < 80 {
		end += n + len(" ----")
	}
	s.found(at, at+end, "private-key")
}
