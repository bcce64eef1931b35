package permanent

import (
	"regexp"
	"strings"
	"sync"
)

// foreign tells of each line of a message whether it is not the user's own: code, quotes, tags, and what was
// pasted. Where a block of code is never closed, or a tag is closed that was not opened, what stands inside has
// ended it: then nothing is the user's own from its first line on, or up to there.
func foreign(lines []string) []bool {
	out := make([]bool, len(lines))
	w := wall{firstFence: -1, firstTag: -1}
	for i, line := range lines {
		t := strings.TrimSpace(line)
		stray := false
		out[i], stray = w.line(i, t)
		if stray && w.firstTag >= 0 {
			all(out[w.firstTag:i])
		}
		out[i] = out[i] || t == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") ||
			strings.ContainsAny(t[:1], ">|#") || pasted().line.MatchString(t)
	}
	if w.fence != "" {
		all(out[w.firstFence:])
	}
	return out
}

func all(list []bool) {
	for i := range list {
		list[i] = true
	}
}

// A wall is what a line stands behind: a block of code, tags, a comment, or the first line of what was pasted.
type wall struct {
	fence                string // the marks that opened a block of code
	firstFence, firstTag int
	tags                 int // that are open
	comment, paste       bool
}

// line takes a line and reports whether it is behind the wall, or part of it. Stray says that it closes more
// tags than are open.
func (w *wall) line(i int, t string) (behind, stray bool) {
	if f := fenceOf(t); f != "" {
		switch {
		case w.fence == "":
			w.fence = f
			if w.firstFence < 0 {
				w.firstFence = i
			}
		case strings.HasPrefix(f, w.fence):
			w.fence = ""
		}
		return true, false
	}
	if w.fence != "" {
		return true, false
	}
	begin, end := strings.LastIndex(t, "<!--"), strings.LastIndex(t, "-->")
	behind = w.comment || begin >= 0
	w.comment = begin > end || w.comment && end < 0
	if w.paste = t != "" && (w.paste || pasted().block.MatchString(t)); w.paste {
		behind = true
	}
	opened, closed := tagsOf(t)
	behind = behind || w.tags > 0 || opened+closed > 0
	if opened > 0 && w.firstTag < 0 {
		w.firstTag = i
	}
	w.tags += opened - closed
	if stray = w.tags < 0; stray {
		w.tags = 0
	}
	return behind, stray
}

// pasted matches lines that somebody else wrote: one such line, or the first of a paragraph of them.
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
