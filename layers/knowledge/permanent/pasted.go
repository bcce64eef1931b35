package permanent

import (
	"regexp"
	"strings"
	"sync"
)

// notOwnLines reports for each line of a message whether it is not the user's own text: code, quotes, tags, or pasted.
// If a code block is never closed, everything from the first code block on counts as not the user's own; if a tag is
// closed that was not opened, everything from the first tag to there: text inside may have ended the block.
func notOwnLines(lines []string) []bool {
	out := make([]bool, len(lines))
	b := blockState{firstFence: -1, firstTag: -1}
	for i, line := range lines {
		t := strings.TrimSpace(line)
		stray := false
		out[i], stray = b.read(i, t)
		if stray && b.firstTag >= 0 {
			setAll(out[b.firstTag:i])
			b.firstTag = i
		}
		out[i] = out[i] || t == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") ||
			strings.ContainsAny(t[:1], ">|#") || pasted().line.MatchString(t)
	}
	if b.fence != "" {
		setAll(out[b.firstFence:])
	}
	return out
}

func setAll(list []bool) {
	for i := range list {
		list[i] = true
	}
}

// A blockState contains the blocks that are open at a line: code, tags, a comment, or pasted text.
type blockState struct {
	fence                string // the marks that opened a block of code
	firstFence, firstTag int    // -1 for none; the lines from firstTag on may be inside a tag
	tags                 int    // number of open tags
	comment, paste       bool
}

// read processes a line and reports whether it is inside a block or one of its ends, and whether it closes more tags
// than are open.
func (b *blockState) read(i int, t string) (behind, stray bool) {
	if f := fenceOf(t); f != "" {
		switch {
		case b.fence == "":
			b.fence = f
			if b.firstFence < 0 {
				b.firstFence = i
			}
		case strings.HasPrefix(f, b.fence):
			b.fence = ""
		}
		return true, false
	}
	if b.fence != "" {
		return true, false
	}
	begin, end := strings.LastIndex(t, "<!--"), strings.LastIndex(t, "-->")
	behind = b.comment || begin >= 0
	b.comment = begin > end || b.comment && end < 0
	if b.paste = t != "" && (b.paste || pasted().block.MatchString(t)); b.paste {
		behind = true
	}
	opened, closed := tagsOf(t)
	behind = behind || b.tags > 0 || opened+closed > 0
	if opened > 0 && b.firstTag < 0 {
		b.firstTag = i
	}
	b.tags += opened - closed
	if stray = b.tags < 0; stray {
		b.tags = 0
	}
	return behind, stray
}

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
