package permanent

import (
	"regexp"
	"strings"
	"sync"
)

// notOwnLines reports for each line of a message whether it is not the user's own text: code, quotes, tags, or pasted.
// Everything from the first line with a tag or comment to the last one may be inside of it, and everything from the first
// block of code on if one is not closed.
func notOwnLines(lines []string) []bool {
	out := make([]bool, len(lines))
	fence, firstFence, firstTag, paste := "", -1, -1, false
	for i, line := range lines {
		t := strings.TrimSpace(line)
		switch f := fences().FindString(t); {
		case fence != "":
			out[i] = true
			if strings.HasPrefix(f, fence) {
				fence = ""
			}
			continue
		case f != "":
			fence, out[i] = f, true
			if firstFence < 0 {
				firstFence = i
			}
			continue
		}
		paste = t != "" && (paste || pasted().block.MatchString(t))
		out[i] = paste || t == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") ||
			strings.ContainsAny(t[:1], ">|#") || pasted().line.MatchString(t)
		if tags().MatchString(t) {
			if firstTag < 0 {
				firstTag = i
			}
			setAll(out[firstTag : i+1])
		}
	}
	if fence != "" {
		setAll(out[firstFence:])
	}
	return out
}

func setAll(list []bool) {
	for i := range list {
		list[i] = true
	}
}

var (
	fences = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:```+|~~~+)") })
	// tags matches a tag or the start or end of a comment.
	tags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<!--|-->|</?\pL[^>]*>`) })
)

// pasted matches lines written by somebody else: line matches a single line, block the first line of a paragraph.
var pasted = sync.OnceValue(func() (p struct{ line, block *regexp.Regexp }) {
	p.line = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`[+⏺⎿✻│┃║╭╰├└▌]`, `//`, `/\*`, `\*/`, // a patch, a screen, a comment
		// numbered
		`\d+\s*[→│|:]`,
		// a log
		`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d`, `\[?\d\d:\d\d:\d\d`, `\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b\]?[:\s]`,
	}, "|") + `)`)
	p.block = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`[$%❯➜]\s+\S`, `>>>\s`, `PS [^>]*>\s`, `[\w.-]+@[\w.-]+:\S*[$#]\s`, // a terminal
		`diff --git `, `@@ -\d`, `--- a/`, `\+\+\+ b/`, // a patch
		`\*{0,2}\[?(?i:human|user|assistant|system|developer|tool)\]?\*{0,2}\s*:`, `\[/?INST\]`, // a conversation
	}, "|") + `)`)
	return p
})
