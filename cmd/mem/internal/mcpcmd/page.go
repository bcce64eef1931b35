package mcpcmd

import "unicode/utf8"

// PageSize is the maximum length of a page in bytes.
const PageSize = 12_000

// Page returns the page of text at offset and the offset of the next page, 0 after the last. A page ends after a line if
// possible, and never within a character.
func Page(text string, offset int) (page string, next int) {
	offset = min(max(offset, 0), len(text))
	for offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset++
	}
	rest := text[offset:]
	if len(rest) <= PageSize {
		return rest, 0
	}
	end := PageSize
	for i := end; i > PageSize/2; i-- {
		if rest[i-1] == '\n' {
			return rest[:i], offset + i
		}
	}
	for !utf8.RuneStart(rest[end]) {
		end--
	}
	return rest[:end], offset + end
}
