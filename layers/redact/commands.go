package redact

import "bytes"

// maxCommand is how much of a command line is looked at.
const maxCommand = 400

// A flagged command takes a password behind an option that is no word.
type flagged struct {
	name   string // with the blank behind it where other words begin so
	flags  []string
	joined bool // the value may stand right behind the option
	apart  bool // or as the next word
	user   bool // the value is user:password
}

// flaggeds are the commands that developers type passwords to.
func flaggeds() []flagged {
	return []flagged{
		{"curl ", []string{"-u", "--user", "--proxy-user", "-U"}, true, true, true},
		{"sshpass ", []string{"-p"}, true, true, false},
		{"docker login", []string{"-p"}, false, true, false},
		{"podman login", []string{"-p"}, false, true, false},
		{"helm registry login", []string{"-p"}, false, true, false},
		{"mysql ", []string{"-p"}, true, false, false},
		{"mysqldump ", []string{"-p"}, true, false, false},
		{"mysqladmin ", []string{"-p"}, true, false, false},
		{"mariadb ", []string{"-p"}, true, false, false},
		{"redis-cli ", []string{"-a", "--pass"}, false, true, false},
		{"sqlcmd ", []string{"-P"}, true, true, false},
		{"ldapsearch ", []string{"-w"}, true, true, false},
		{"ldapadd ", []string{"-w"}, true, true, false},
		{"ldapmodify ", []string{"-w"}, true, true, false},
		{"ldapwhoami ", []string{"-w"}, true, true, false},
		{"twine upload", []string{"-p"}, false, true, false},
		{"az login", []string{"-p"}, false, true, false},
		{"gh secret set", []string{"--body", "-b"}, true, true, false},
		{"mongosh ", []string{"-p"}, true, true, false},
		{"mongo ", []string{"-p"}, true, true, false},
		{"mongodump ", []string{"-p"}, true, true, false},
		{"mongorestore ", []string{"-p"}, true, true, false},
		{"http ", []string{"-a", "--auth"}, false, true, true},
		{"https ", []string{"-a", "--auth"}, false, true, true},
		{"openssl enc", []string{"-k"}, false, true, false},
		{"zip ", []string{"-P"}, true, true, false},
		{"7z ", []string{"-p"}, true, false, false},
		{"7za ", []string{"-p"}, true, false, false},
		{"keytool ", []string{"-storepass", "-keypass"}, false, true, false},
		{"ssh-keygen ", []string{"-N"}, true, true, false},
		{"ssm put-parameter", []string{"--value"}, false, true, false},
		{"cargo login", []string{""}, true, false, false},
	}
}

// match finds the password in the command at text[at:], which ends with its line.
func (f *flagged) match(s *scan, at int, _ *word) {
	text := s.text
	if at > 0 && wordly.has(text[at-1]) && !escaped(text, at) && (at < 2 || !hasFold(text[at-2:], "unzip ")) {
		return
	}
	i, limit := at+len(f.name), min(len(text), at+maxCommand)
	for i < limit {
		from, end := shellWord(text[:limit], i)
		if from == end && (end >= limit || !quote(text[end])) {
			return
		}
		w := text[from:end]
		i = end
		if i < limit && quote(text[i]) {
			i++
		}
		for _, flag := range f.flags {
			if !bytes.HasPrefix(w, []byte(flag)) {
				continue
			}
			switch rest := w[len(flag):]; {
			case len(rest) == 0 && f.apart:
				from, end = shellWord(text[:limit], i)
			case len(rest) == 0 && f.joined && end < limit && quote(text[end]): // -p'value'
				from, end = shellWord(text[:limit], end)
			case len(rest) > 1 && rest[0] == '=' && len(flag) > 2:
				from += len(flag) + 1
			case len(rest) > 0 && f.joined && len(flag) <= 2:
				from += len(flag)
			default:
				continue
			}
			f.value(s, from, end)
			return
		}
	}
}

func (f *flagged) value(s *scan, from, end int) {
	if f.user {
		n := bytes.IndexByte(s.text[from:end], ':')
		if n < 0 {
			return
		}
		from += n + 1
	}
	if value := s.text[from:end]; plausible("password", value, env) && !common(value) {
		s.found(from, end, "password")
	}
}

func quote(c byte) bool { return c == '"' || c == '\'' }

// shellWord returns where the next word of a command is, without its quotes. It is empty where the command ends.
func shellWord(text []byte, i int) (from, end int) {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\\' && i+1 < len(text) && (text[i+1] == '\n' || quote(text[i+1]))) {
		if text[i] == '\\' && text[i+1] == '\n' {
			i++
		}
		i++
	}
	if i < len(text) && quote(text[i]) {
		if n := bytes.IndexByte(text[i+1:], text[i]); n > 0 || n == 0 && goesBehind(text[i+2:], text[i], 0) > 0 {
			q := text[i]
			for end = i + 1 + n; end < len(text); {
				more := goesBehind(text[end+1:], q, 0)
				k := bytes.IndexByte(text[min(len(text), end+1+more):], q)
				if more == 0 || k < 0 {
					break
				}
				end += 1 + more + k
			}
			if end > i+2 && text[end-1] == '\\' {
				end--
			}
			return i + 1, end
		}
		return i, i
	}
	end = i
	for end < len(text) && bytes.IndexByte([]byte(" \t\r\n|;<>()`\\\"'"), text[end]) < 0 {
		end++
	}
	return i, end
}

// passOption finds the value in "-passin pass:value" of openssl. at is where the word stands.
func (s *scan) passOption(at int, w *word) {
	i := at + len(w.text)
	end := i + unquotedChars.run(s.text[i:], maxValue)
	if value := s.text[i:end]; plausible("password", value, env) && !common(value) {
		s.found(i, end, "password")
	}
}

// secureString finds the text that PowerShell is to make one of.
func (s *scan) secureString(at int, w *word) {
	rest := s.text[at+len(w.text) : min(len(s.text), at+len(w.text)+200)]
	n := bytes.IndexAny(rest, `"'`)
	if n < 0 || bytes.ContainsAny(rest[:n], "\n;|") {
		return
	}
	for n > 0 && rest[n-1] == '\\' {
		n--
	}
	v, _, ok := s.literal(at + len(w.text) + n)
	if ok && plausible("password", s.text[v.start:v.end], quoted) {
		s.found(v.start, v.end, "password")
	}
}

// assigns reports whether text ends with a word that gives the variable behind it the value behind that.
func assigns(text []byte) bool {
	if n := visible.runBack(text, 128); n > 2 && bytes.HasPrefix(text[len(text)-n:], []byte("//")) {
		text = text[:len(text)-n] // //registry/:
	}
	for _, words := range [...]string{"setx ", "set -x ", "set -gx ", "set -Ux ", "set -xg ", "ENV ", "bundle config ", "configure set ", "config set ", "secrets set ", "secret set "} {
		if bytes.HasSuffix(text, []byte(words)) {
			return true
		}
	}
	return false
}

// defines reports whether text ends with a call that gives the variable whose name stands behind it a value.
func defines(text []byte) bool {
	for _, words := range [...]string{"define(", "setenv(", "putenv(", "setdefault(", "set_env(", "setProperty(", "Setenv(", "getenv(", "environ.get(", "env(", "config(", "EnvironmentVariable("} {
		if bytes.HasSuffix(text, []byte(words)) {
			return true
		}
	}
	return false
}
