package redact

import (
	"bytes"
	"strings"
)

// maxCommand is the number of bytes of a command line that are examined.
const maxCommand = 400

// A passwordCommand is a command that takes a password in an option with a short or unspecific name.
type passwordCommand struct {
	name   string // ends with a blank if other words begin with it; in the table several, between bars
	flags  []string
	joined bool // the value may follow the option directly
	apart  bool // the value may be the next word
	user   bool // the value is user:password
}

// passwordCommands returns the commands that take passwords in options.
func passwordCommands() (out []passwordCommand) {
	for _, c := range []passwordCommand{
		{"curl ", []string{"-u", "--user", "--proxy-user", "-U"}, true, true, true},
		{"sshpass |mongosh |mongo |mongodump |mongorestore ", []string{"-p"}, true, true, false},
		{"docker login|podman login|helm registry login|twine upload|az login", []string{"-p"}, false, true, false},
		{"mysql |mysqldump |mysqladmin |mariadb |7z |7za ", []string{"-p"}, true, false, false},
		{"redis-cli ", []string{"-a", "--pass"}, false, true, false},
		{"sqlcmd |zip ", []string{"-P"}, true, true, false},
		{"ldapsearch |ldapadd |ldapmodify |ldapwhoami ", []string{"-w"}, true, true, false},
		{"gh secret set", []string{"--body", "-b"}, true, true, false},
		{"http |https ", []string{"-a", "--auth"}, false, true, true},
		{"openssl enc", []string{"-k"}, false, true, false},
		{"keytool ", []string{"-storepass", "-keypass"}, false, true, false},
		{"ssh-keygen ", []string{"-N"}, true, true, false},
		{"ssm put-parameter", []string{"--value"}, false, true, false},
		{"cargo login", []string{""}, true, false, false},
	} {
		for name := range strings.SplitSeq(c.name, "|") {
			c.name = name
			out = append(out, c)
		}
	}
	return out
}

// match finds the password in the command at text[at:], up to the end of the line.
func (f *passwordCommand) match(s *Scan, at int, _ *word) {
	text := s.Text
	if at > 0 && wordChars.Has(text[at-1]) && !escaped(text, at) &&
		(at < 2 || !hasFold(text[at-2:], "unzip ")) {
		return
	}
	i, limit := at+len(f.name), min(len(text), at+maxCommand)
	for i < limit {
		from, end := shellWord(text[:limit], i)
		if from == end && (end >= limit || !Quote(text[end])) {
			return
		}
		i = afterQuote(text[:limit], end)
		if from, end, ok := f.argument(text[:limit], from, end, i); ok {
			f.value(s, from, end)
			return
		}
	}
}

// argument returns the value of an option if the word text[from:end] is that option or begins with it. i is the
// offset after the word.
func (f *passwordCommand) argument(text []byte, from, end, i int) (start, stop int, ok bool) {
	w := text[from:end]
	for _, flag := range f.flags {
		if !bytes.HasPrefix(w, []byte(flag)) {
			continue
		}
		switch rest := w[len(flag):]; {
		case len(rest) == 0 && f.apart:
			start, stop = shellWord(text, i)
			return start, stop, true
		case len(rest) == 0 && f.joined && end < len(text) && Quote(text[end]): // -p'value'
			start, stop = shellWord(text, end)
			return start, stop, true
		case len(rest) > 1 && rest[0] == '=' && len(flag) > 2:
			return from + len(flag) + 1, end, true
		case len(rest) > 0 && f.joined && len(flag) <= 2:
			return from + len(flag), end, true
		}
	}
	return 0, 0, false
}

// value reports text[from:end], or the part after the user's name, if it may be a password.
func (f *passwordCommand) value(s *Scan, from, end int) {
	if f.user {
		n := bytes.IndexByte(s.Text[from:end], ':')
		if n < 0 {
			return
		}
		from += n + 1
	}
	s.password(from, end)
}

// password reports text[from:end], an argument of a command, if it may be a password.
func (s *Scan) password(from, end int) {
	if value := s.Text[from:end]; Plausible("password", value, env) && !common(value) {
		s.found(from, end, "password")
	}
}

// afterQuote returns the offset after the word of a command that ends at end: after its closing quote, if it has one.
func afterQuote(text []byte, end int) int {
	if end < len(text) && Quote(text[end]) {
		return end + 1
	}
	return end
}
