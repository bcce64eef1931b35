package redact

import (
	"bytes"
	"cmp"
	"regexp"
	"sync"
)

// A form is a kind of secret that a regular expression finds around a keyword. Its first group is the secret, or where
// the string literal or the argument of a command begins that contains it.
type form struct {
	rule  string
	words []string
	re    string
	back  int // how far before the keyword the expression may begin
	reach int // how far behind the beginning of the keyword it may end; 0 is for maxCommand
	check func(secret []byte) bool

	literal, argument bool
	compiled          func() *regexp.Regexp
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
	spoken := func(v []byte) bool {
		return len(v) >= 16 && (strong(v) || hexAny.Run(v, len(v)) == 32 && Random(v)) && Plausible("api-key", v, loose)
	}
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
		{rule: "database-url", words: []string{"@tcp("}, back: 256, check: isURLPassword, // of Go's MySQL driver
			re: visible + `/?#\\()|,:]:(/?` + visible + `/?#\\()|,]` + visible + `?#\\()|,]*)@(?i:tcp)\(`},
		{rule: "password", check: given, back: 255, // a line of .pgpass
			words: []string{":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":15432:", ":25060:", ":26257:", ":54321:", ":54322:", "*:*:"},
			re:    `[\w.*-]:(?:543[234]|6432|6543|15432|25060|26257|5432[12]|\*)(?::[^:\s"'/{}()=,\\]+){2}:(` + visible + `\\]+)`},
		{rule: "jwt", words: []string{"eyj"}, back: 2, reach: 48 << 10, check: func(v []byte) bool { return !isPlaceholder(v) },
			re: `^(?s:|[^\w-]|.[^\w-]|\\[ntr])(eyJ[\w-]{5,}\.ey[\w-]{10,}\.[\w-]{8,})`},
		{rule: "aws-secret-key", words: []string{"akia", "asia"}, check: isAWSSecret,
			re: `^A[KS]IA[A-Z2-7]{16}(?s:.{0,160}?)[^A-Za-z0-9+/]([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/]|$)`},
		{rule: "rails-master-key", words: []string{"master.key"}, check: entropy(3),
			re: `^(?s).{10,200}?(?:\W|\\[ntr])([0-9a-f]{32})(?:\W|$)`},
		{rule: "private-key", words: []string{"private-lines:"}, reach: maxBlock, check: Random, // of PuTTY
			re: `^.{14} ?\d{1,4}(?:\s|\\[nr])+([\w+/=\s\\:,.→-]{40,}?)(?:Private-MAC|[^\w+/=\s\\:,.→-]|$)`},
		{rule: "api-key", words: []string{"api key", "access key", "secret key", "license key"}, check: spoken,
			re: `^\w+ \w+[\\"'*` + "`" + `]*[ \t]*(?:[:=]|is )[ \t\\"'*` + "`" + `]*(` + unquoted + `]*` + unquoted + `.?!:*])`},
		{rule: "password", words: []string{"::add-mask::", "securestring\t"}, check: given, re: `^.{12}\t?(` + visible + `\\]+)`},
		{rule: "password", words: []string{"random_password"}, literal: true, reach: 2000, check: given, // of terraform
			re: `^(?s).*?\bresult\\*"?\s*[:=]\s*()\\*"`},
		{rule: "password", words: []string{"auth "}, back: 8, check: given, // of redis and of SMTP
			re: `(?:^|\n|→|\\[n"])[ \t+>-]*AUTH (?:[\w.-]+ )?(` + unquoted + `]+)\r?(?:\\[nr"]|[\n"]|$)`},
		{rule: "password", words: []string{"bundle config"}, check: given, re: `^.{13}(?: [^\s"']+){1,4}? [^\s:/"']+:(` + unquoted + `]+)`},
		{rule: "password", words: []string{"http-basic."}, argument: true, check: given, re: `^.{11}[\w.-]+ +[^\s"']+ +()`},
		{rule: "password", words: []string{"htpasswd "}, argument: true, check: given,
			re: `^.{9}(?:-\w+ )*?-\w*b\w* (?:-\w+ )*(?:[^\s-]\S* )?\S+ ()`},
		{rule: "password", words: []string{"--password-stdin", "sudo -s", "chpasswd"}, back: maxCommand, argument: true, check: given,
			re: `(?i)^(?s:.*)(?:echo|printf) (?:-\w+ |\\*["']?%\S* )*()[^|\n]*\|[^|\n]*(?:--password-stdin|sudo -s|chpasswd)`},
		{rule: "password", words: []string{"sqlplus ", "impdp ", "expdp ", "sqlldr ", "rman target "}, check: given, // of Oracle
			re: `^\w+ (?:[^\s/]+ )*?\\*["']?\w+/(` + unquoted + `]+?)(?:@[\w.:/-]*)?(?:[\s"'\\;)]|$)`},
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
	m := f.compiled().FindSubmatchIndex(s.Text[from:min(len(s.Text), at+cmp.Or(f.reach, maxCommand))])
	if m == nil {
		return
	}
	v, ok := Span{Start: from + m[2], End: from + m[3]}, true
	switch {
	case f.literal:
		v, _, ok = s.literal(v.Start)
	case f.argument:
		v.Start, v.End = shellWord(s.Text[:min(len(s.Text), at+maxCommand)], v.Start)
	}
	if ok && f.check(s.Text[v.Start:v.End]) {
		s.found(v.Start, v.End, f.rule)
	}
}

// isAWSSecret reports whether 40 characters may be the secret of a key, and no hash, path or name.
func isAWSSecret(v []byte) bool {
	t := traitsOf(v)
	return hexAny.Run(v, 40) < 40 && t.Upper >= 4 && t.Lower >= 4 && t.Digits > 0 && Entropy(v) >= 4 && !isPlaceholder(v)
}
