package permanent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Statement is a sentence by which a user asks for something to be remembered or held to for ever.
type Statement struct {
	Text string // of the sentence, white space squeezed; with the one before it where it only points there
	Cue  string // the words that say it is for ever
}

// maxStated is how long a message may be for its sentences to be the user's own words: longer ones are pasted
// instructions, documents and logs, whose "always" is not said to be remembered.
const maxStated = 4000

// maxSentence is how long a sentence may be that is a rule.
const maxSentence = 400

// Stated returns what a user asks, in a message that they typed, to be remembered or held to from now on: "remember this", "always
// ...", "never ...", "from now on ..." as orders, in English, Korean, Japanese and Chinese. Text in quotes, code, block quotes and
// tags is not the user's own, and a question asks for nothing. The same sentence counts once. The caller answers for that text having
// been typed: nothing a tool, a file or a model said may come here.
func Stated(message string) []Statement {
	if utf8.RuneCountInString(message) > maxStated {
		return nil
	}
	var out []Statement
	seen := map[string]bool{}
	before := ""
	for _, s := range sentences(message) {
		cue, back := order(s)
		if cue != "" {
			text := s
			if back && before != "" {
				text = before + " " + s
			}
			if key := squash(text); !seen[key] && (!back || before != "") {
				seen[key] = true
				out = append(out, Statement{text, cue})
			}
		}
		before = s
	}
	return out
}

// squash returns the letters and digits of s alone, in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// order returns the words that make a sentence an order for ever, "" if it is none. Back says that it speaks of the sentence before.
func order(s string) (cue string, back bool) {
	if utf8.RuneCountInString(s) > maxSentence || isQuestion(s) {
		return "", false
	}
	own := blank(s)
	for _, l := range languages() {
		for _, c := range l {
			m := c.says.FindStringSubmatchIndex(own)
			if m == nil || c.unless != nil && c.unless.MatchString(own) {
				continue
			}
			i := c.says.SubexpIndex("cue")
			cue := strings.ToLower(strings.TrimSpace(own[m[2*i]:m[2*i+1]]))
			return cue, c.back != nil && c.back.MatchString(own)
		}
	}
	return "", false
}

func isQuestion(s string) bool {
	t := strings.TrimRight(s, " \t\"')]}”’」』")
	return strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, "؟")
}

// opening and closing are the quotes that stand around words of others. An apostrophe is none.
const opening, closing = "\"`“‘「『«《＂", "\"`”’」』»》＂"

// closes returns what closes a quote that c opens, 0 if it opens none.
func closes(c rune) rune {
	i := slices.Index([]rune(opening), c)
	if i < 0 {
		return 0
	}
	return []rune(closing)[i]
}

// blank replaces what stands in quotes or code by a dash and leaves out what cannot be seen.
func blank(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		if end := closes(r[i]); end != 0 {
			k := i + 1
			for k < len(r) && r[k] != end {
				k++
			}
			if k < len(r) {
				b.WriteString("—")
				i = k
				continue
			}
		}
		if !unicode.Is(unicode.Cf, r[i]) {
			b.WriteRune(r[i])
		}
	}
	return b.String()
}

// sentences returns the sentences of a message that are the user's own: without code, block quotes, tables, tags and headings.
func sentences(message string) []string {
	var out []string
	fence := ""
	tags := 0
	for line := range strings.Lines(message) {
		t := strings.TrimSpace(line)
		if f := fenceOf(t); f != "" {
			switch {
			case fence == "":
				fence = f
			case strings.HasPrefix(f, fence):
				fence = ""
			}
			continue
		}
		opened, closed := tagsOf(t)
		inside := tags > 0 || opened+closed > 0
		tags = max(0, tags+opened-closed)
		if fence != "" || inside || t == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") || strings.ContainsAny(t[:1], ">|#") {
			continue
		}
		out = append(out, split(strings.TrimSpace(strings.TrimLeft(t, "-*•·")))...)
	}
	return out
}

// fenceOf returns the marks of a line that opens or closes a block of code, "" if it does neither.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// tagsOf counts the tags, as in <rules>, that a line opens and closes.
func tagsOf(line string) (opened, closed int) {
	for rest := line; ; {
		k := strings.IndexByte(rest, '<')
		if k < 0 {
			return opened, closed
		}
		rest = rest[k+1:]
		end := strings.IndexByte(rest, '>')
		if end < 1 {
			continue
		}
		name := rest[:end]
		switch c, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "/")); {
		case !unicode.IsLetter(c):
		case name[0] == '/':
			closed++
		case !strings.HasSuffix(name, "/"):
			opened++
		}
	}
}

// split cuts a line into its sentences, at a full stop, question or exclamation mark that ends a word.
func split(line string) []string {
	var out []string
	r := []rune(line)
	start := 0
	put := func(end int) {
		if s := strings.Join(strings.Fields(string(r[start:end])), " "); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i, c := range r {
		switch {
		case strings.ContainsRune("。！？", c):
			put(i + 1)
		case strings.ContainsRune(".!?;", c) && (i+1 == len(r) || r[i+1] == ' ') && !abbreviated(r[start:i]):
			put(i + 1)
		}
	}
	put(len(r))
	return out
}

// abbreviated reports whether the full stop behind words is no end: e.g. i.e. etc. vs.
func abbreviated(words []rune) bool {
	s := strings.ToLower(string(words))
	for _, a := range []string{"e.g", "i.e", "vs", "cf", "approx", "no"} {
		if rest, ok := strings.CutSuffix(s, a); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], " (")) {
			return true
		}
	}
	return false
}
