package brief

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A kind is what a name may consist of.
type kind struct {
	marks  string // characters besides letters and digits
	length int    // bytes
	words  int    // in the whole name
	parts  string // characters that separate the parts of which each may have maxWords words
}

// The limits are those of names in real projects: at most one in twenty is longer.
var (
	file     = kind{marks: "._-/+@~()[]{}$#=,", length: 160, words: 24, parts: "/"}
	test     = kind{marks: "._-/+#=:[]()", length: 140, words: 20, parts: "/.:#"}
	branch   = kind{marks: "._-/+#@", length: 80, words: 7, parts: "/"}
	word     = kind{marks: "._-/+@:=,%~", length: 60, words: 10, parts: "/"}
	nameLine = kind{marks: word.marks + " ", length: 160, words: 10, parts: "/ "}
)

const (
	maxWords     = 5  // words of a part of a name
	maxTerse     = 4  // words of a part, or of short parts in a row, of which one may be a small or a linking word
	maxElement   = 80 // bytes of an element of a path
	maxForeign   = 16 // a run of letters beyond ASCII: some scripts write sentences without spaces
	maxArgs      = 60 // bytes of all arguments of a command
	maxExtension = 5  // bytes of the extension of a file
	maxPlain     = 3  // words of a command in a row that are letters only, after the program
)

// SafeFile returns p, cleaned, if it can only be the path of a file, "" otherwise.
func SafeFile(p string) string {
	if len(p) > file.length || !strings.ContainsFunc(p, unicode.IsLetter) {
		return ""
	}
	p = path.Clean(p)
	for element := range strings.SplitSeq(p, "/") {
		if len(element) > maxElement {
			return ""
		}
	}
	if strings.HasPrefix(p, "-") || !file.accepts(p) {
		return ""
	}
	return p
}

// SafeTest returns s if it can only be the name of a test. Otherwise it returns what the name begins with, if that can only be
// a name: the test of Go around a subtest, the class or the file around a test, the unit before "_" in a name of Go.
func SafeTest(s string) string {
	if testName(s) {
		return s
	}
	if before, _, ok := strings.Cut(s, "["); ok { // the parameters of pytest
		return SafeTest(before)
	}
	if outer, _, ok := strings.Cut(s, "/"); ok && strings.HasPrefix(outer, "Test") {
		return SafeTest(outer)
	}
	for _, separator := range []string{"::", "#"} {
		if i := strings.LastIndex(s, separator); i > 0 && testName(s[:i]) {
			return s[:i]
		}
	}
	if i := strings.LastIndexByte(s, '.'); i > 0 && className(s[:i]) {
		return s[:i]
	}
	if outer, _, ok := strings.Cut(s, "::"); ok && strings.Contains(outer, ".") {
		return SafeFile(outer)
	}
	if unit, _, ok := strings.Cut(s, "_"); ok && len(unit) > len("Test") && strings.HasPrefix(unit, "Test") && testName(unit) {
		return unit + "_…"
	}
	return ""
}

func testName(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) && test.accepts(s) }

// className reports whether s is the name of a class, after those of its packages.
func className(s string) bool {
	name := s[strings.LastIndexByte(s, '.')+1:]
	return name != "" && 'A' <= name[0] && name[0] <= 'Z' && testName(s)
}

// SafeBranch returns s if it can only be the name of a branch, "" otherwise. A dot in it belongs to a number.
func SafeBranch(s string) string {
	if strings.HasPrefix(s, "-") || !branch.accepts(s) {
		return ""
	}
	for i := range len(s) {
		if s[i] == '.' && !(i > 0 && digit(s[i-1]) || i+1 < len(s) && digit(s[i+1])) {
			return ""
		}
	}
	return s
}

// IsSafeWord reports whether s is a word of a command line that needs no quotes and can only be a name.
func IsSafeWord(s string) bool { return word.accepts(s) }

// IsJoined reports whether a word of a text consists of several words and is no path: a sentence may be joined so.
func IsJoined(word string) bool {
	n := 0
	for range wordsOf(word) {
		n++
	}
	return n > maxTerse && SafeFile(word) == ""
}

// SafeArgs returns the arguments of a command as text if all of them are flags and names of files, "" otherwise: plain
// words can form a sentence, and so can many flags.
func SafeArgs(words []string) string {
	for _, s := range words {
		flag := strings.HasPrefix(s, "-") && !strings.Contains(s, ",")
		isFile := strings.ContainsAny(s, "./") && SafeFile(strings.TrimSuffix(s, "...")+"x") != ""
		if !IsSafeWord(s) || !flag && !isFile {
			return ""
		}
	}
	all := strings.Join(words, " ")
	if len(all) > maxArgs || !nameLine.accepts(all) {
		return ""
	}
	return all
}

// SafeCommand returns the first words of a command that are names and together hold no sentence, at most size bytes.
func SafeCommand(words []string, size int) string {
	out, plain := "", 0
	for i, s := range words {
		next := strings.TrimPrefix(out+" "+s, " ")
		if plain++; i == 0 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
			plain = 0
		}
		if !IsSafeWord(s) || len(next) > size || !nameLine.accepts(next) || plain > maxPlain || plain > 1 && linking[strings.ToLower(s)] {
			break
		}
		out = next
	}
	return out
}

// accepts reports whether s is a name of kind k.
func (k kind) accepts(s string) bool {
	if s == "" || len(s) > k.length || !k.spelled(s) || IsHost(s) {
		return false
	}
	small, shell, all := 0, 0, 0
	row, rowLinks := 0, 0 // words of short parts in a row, and the parts that are a small or a linking word
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(k.parts, r) }) {
		n, linked := 0, 0
		if ext := path.Ext(part); len(ext) <= maxExtension {
			part = strings.TrimSuffix(part, ext)
		}
		for w := range wordsOf(part) {
			if n == 0 && w == "test" {
				continue
			}
			n += 1 + (utf8.RuneCountInString(w)-1)*foreign(w)/2
			if smallWords[w] {
				small++
			}
			if smallWords[w] || linking[w] {
				linked++
			}
			if shellWords[w] {
				shell++
			}
		}
		if n > maxWords || n > maxTerse && linked > 0 || linked > 1 && n > 2 {
			return false
		}
		if row += n; n == 1 {
			rowLinks += linked
		} else if n > 2 {
			row, rowLinks = 0, 0
		}
		if row > maxTerse && rowLinks > 0 || rowLinks > 1 {
			return false
		}
		all += n
	}
	return small <= 1 && shell < 2 && all <= k.words
}

// spelled reports whether s has only letters, digits and the marks of k, and only short runs of letters beyond ASCII.
func (k kind) spelled(s string) bool {
	run := 0
	for _, r := range s {
		switch {
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if run++; run > maxForeign {
				return false
			}
			continue
		case r >= utf8.RuneSelf:
			return false
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(k.marks, r):
			return false
		}
		run = 0
	}
	return true
}

// wordsOf yields the words of a name in lower case: runs of at least two letters, where a capital after a small letter
// begins a word. Two letters between digits are none: "1to1".
func wordsOf(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, last := -1, rune(0)
		for i, r := range s + "/" {
			begins := unicode.IsUpper(r) && unicode.IsLower(last)
			if start >= 0 && (begins || !unicode.IsLetter(r)) {
				w := s[start:i]
				counted := len(w) == 2 && start > 0 && digit(s[start-1]) && digit((s + "/")[i])
				if len(w) > 1 && !counted && !yield(strings.ToLower(w)) {
					return
				}
				start = -1
			}
			if start < 0 && unicode.IsLetter(r) {
				start = i
			}
			last = r
		}
	}
}

// foreign is 1 for a word beyond ASCII, which may be several, and 0 otherwise.
func foreign(w string) int {
	if w[0] >= utf8.RuneSelf {
		return 1
	}
	return 0
}

// IsHost reports whether a part of s is the name of a host or the start of a URL.
func IsHost(s string) bool {
	if strings.Contains(s, "//") || strings.HasPrefix(strings.ToLower(s), "www.") {
		return true
	}
	for i := 0; i < len(s); {
		n := i
		for n < len(s) && (letter(s[n]) || digit(s[n]) || s[n] == '.') {
			n++
		}
		if dot := strings.LastIndexByte(s[i:n], '.'); dot > 0 {
			last := strings.ToLower(s[i+dot+1 : n])
			if domains[last] || suffixes[last] && n < len(s) && strings.IndexByte("/:", s[n]) >= 0 {
				return true
			}
			if last == "example" && n < len(s) {
				return true
			}
			if strings.Count(s[i:n], ".") == 3 && strings.Trim(s[i:n], "0123456789.") == "" && !strings.Contains(s[i:n], "..") {
				return true
			}
		}
		i = n + 1
	}
	return false
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

var (
	// smallWords make an instruction of other words; linking words connect them.
	smallWords = set("all any every each everything anything nothing and or but nor not no never always instead only also " +
		"just please now then first before after until unless if when because while you your yours yourself me my mine we " +
		"our us they them their it its this that these those is are was were be been must should shall will would can " +
		"could may might do does did dont let previous prior above earlier ignore disregard forget")
	linking = set("the an to from into onto with without of for in on at by as via than through over under against " +
		"between during within today tomorrow once again")
	shellWords = set("curl wget bash zsh sudo eval exec rm chmod chown nc ncat powershell pwsh iex base64 scp ssh")

	// domains end the names of hosts, and hardly ever those of files; suffixes do both.
	domains  = set("com net org io xyz onion invalid biz ru cn")
	suffixes = set("dev app ai co me info site online link live test local sh example cloud page top us uk de eu")
)
