package redact

import (
	"bytes"
	"regexp"
	"sync"
)

// A form is a kind of secret that a regular expression finds around a keyword. Its first group is the secret, or where
// the string literal begins that contains it.
type form struct {
	rule  string
	words []string
	re    string
	back  int // how far before the keyword the expression may begin
	check func(secret []byte) bool

	literal  bool
	compiled func() *regexp.Regexp
}

// Parts of the expressions of forms.
const (
	// the set of [unquotedChars], to which an expression adds others before it closes it
	unquoted    = "[^\\x00-\\x20\"'`<>,;()\\[\\]{}|&\\\\"
	visible     = "[^\\x00-\\x20\"'`<>" // that of [Visible]
	closed      = `(?:[^\w-]|$)`
	stringComma = `[ \t]*\\*["'][^"']*["'][\\"')]{0,5}[ \t]*,`
)

// forms returns the forms, which need more than a prefix. Each begins with its keyword, or up to back bytes before it.
func forms() []form {
	always := func([]byte) bool { return true }
	given := func(v []byte) bool { return Plausible("password", v, env) && !common(v) }
	quoted := func(v []byte) bool { return Plausible("password", v, Quoted) }
	entropy := func(least float64) func([]byte) bool {
		return func(v []byte) bool { return Entropy(v[bytes.IndexByte(v, ':')+1:]) > least }
	}
	list := []form{
		{rule: "discord-webhook", words: []string{"/api/webhooks/"}, re: `^.{14}\d{15,24}/([\w-]{60,80})` + closed, check: Random},
		{rule: "discord-bot-token", words: []string{".login('", `.login("`, `.login(\"`}, check: always,
			re: `^.{7}\\?["']([\w-]{23,30}\.[\w-]{6}\.[\w-]{27,40})` + closed},
		{rule: "firebase-server-key", words: []string{":apa91b"}, back: 13, check: always,
			re: `(?:^|[^\w-])([\w-]{10,12}:(?i:apa91b)[\w-]{124,154})` + closed},
		{rule: "aws-signature", words: []string{"x-amz-signature="}, re: `^.{16}([0-9a-f]{64})(?:[^0-9a-f]|$)`,
			check: func(v []byte) bool { return !repeats(v) }},
		{rule: "azure-sas", words: []string{"sig="}, back: 1, re: `^[&?].{4}([\w+/=.~:%-]{40,256})`, check: Random},
		{rule: "telegram-bot-token", words: []string{":aa"}, back: 14, check: entropy(3.5),
			re: `(?:^|\W|bot)(\d{8,10}:[\w-]{35})` + closed},
		{rule: "azure-storage-key", words: []string{"keyname"}, re: `^(?s).{7,147}?[^A-Za-z0-9+/]([A-Za-z0-9+/]{86}==)`,
			check: entropy(4)},
		{rule: "aws-secret-key", words: []string{"secret access key"}, check: isAWSSecret,
			re: `^(?s).{17,40}?[^A-Za-z0-9+/]([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/]|$)`},
		{rule: "password", words: []string{"-passin pass:", "-passout pass:", "-pass pass:"}, check: given,
			re: `^.+? .{5}(` + unquoted + `]+)`}, // of openssl
		{rule: "password", words: []string{"stats auth ", "login=", "proxy-user = ", "proxy-user=", `user = "`}, check: given,
			re: `^(?:.{5} (?i:auth) |.{5}=|.{10} ?= ?|.{4} = ")[="'\\ ]{0,8}[\w.-]` + unquoted + `:/]*:(` + unquoted + `]+)`},
		{rule: "password", words: []string{"credentials("}, literal: true, check: given, re: `^.{12}(?:` + stringComma + `){3}[ \t]*()`}, // of sbt
		{rule: "password", words: []string{"auth=("}, literal: true, check: quoted, re: `^.{6}[bru]?` + stringComma + `[ \t]*()`},
		{rule: "password", words: []string{"identified by", "identified with"}, literal: true, check: quoted, // in SQL
			re: `(?is)^.{11}(?:with.{0,45}? )?by[ \t]*(?:password )?()`},
		{rule: "password", words: []string{"convertto-securestring"}, literal: true, check: quoted,
			re: `^.{22}[^"'\n;|]*?()\\*["']`}, // of PowerShell
		{rule: "url-password", words: []string{`:\/\/`, `:\\/\\/`}, check: isURLPassword, // with escaped slashes, as in some JSON
			re: `^:(?:\\+/){2}` + visible + `/?#\\()|,:]*:(` + visible + `/?#\\()|,]+)@`},
		{rule: "url-password", words: []string{`\://`}, check: isURLPassword, // of a Java properties file
			re: `^\\://` + visible + `]*?\\:(` + visible + `]+)@`},
		{rule: "database-url", words: []string{"jdbc:oracle:"}, check: isURLPassword,
			re: `^.{12}[A-Za-z0-9]{0,8}.` + visible + `/]*/(` + visible + `]+)@`},
	}
	azure := form{rule: "azure-client-secret", back: 4, check: always,
		re: `(?:^|[^\w.-])([\w.~-]{3}\dQ~[\w.~-]{31,34})(?:[^\w.~-]|$)`}
	for _, d := range "0123456789" {
		azure.words = append(azure.words, string(d)+"q~")
	}
	list = append(list, azure)
	for i := range list {
		list[i].compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(list[i].re) })
	}
	return list
}

// match finds the secret of the form around its keyword at text[at:].
func (f *form) match(s *Scan, at int, _ *word) {
	from := max(0, at-f.back)
	m := f.compiled().FindSubmatchIndex(s.Text[from:min(len(s.Text), at+maxCommand)])
	if m == nil {
		return
	}
	v, ok := Span{Start: from + m[2], End: from + m[3]}, true
	if f.literal {
		v, _, ok = s.literal(v.Start)
	}
	if ok && f.check(s.Text[v.Start:v.End]) {
		s.found(v.Start, v.End, f.rule)
	}
}
