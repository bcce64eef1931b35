package engines

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// defaultWindow is the default number of tokens of a session in one request, as the model counts them.
const defaultWindow = 60_000

// maxAnswer is the number of plain tokens that a request for a window asks for at most: longer answers get worse, and
// servers cut them off.
const maxAnswer = 8_000

// headerTokens estimates the plain tokens of the line before an item.
const headerTokens = 12

// A window is a run of items in one request.
type window struct {
	items []version.Item
	raw   int // plain tokens
}

// splitWindows splits items into windows of about the same length, each of at most size plain tokens and so many that
// an answer of room plain tokens needs about maxAnswer for each at most. An item longer than a window is split, too.
func splitWindows(items []version.Item, size, room int) []window {
	total := 0
	for _, it := range items {
		total += itemTokens(it)
	}
	n := max(1, (total+size-1)/size, (min(room, total)+maxAnswer-1)/maxAnswer)
	size = min(size, total/n+headerTokens)
	var out []window
	w := window{}
	for _, it := range items {
		for _, text := range splitText(it.Text, size-headerTokens) {
			p := it
			p.Text = text
			cost := itemTokens(p)
			if w.raw > 0 && w.raw+cost > size {
				out = append(out, w)
				w = window{}
			}
			w.items, w.raw = append(w.items, p), w.raw+cost
		}
	}
	return append(out, w)
}

func itemTokens(it version.Item) int {
	return tokens.Raw(it.Text) + tokens.Raw(it.Target) + headerTokens
}

// totalTokens returns the plain tokens of windows.
func totalTokens(ws []window) int {
	total := 0
	for _, w := range ws {
		total += w.raw
	}
	return total
}

// share returns the part of room for the window, in proportion to its size among windows of total tokens.
func (w window) share(room, total int) int { return int(int64(room) * int64(w.raw) / int64(total)) }

// splitText splits a text into pieces of at most size plain tokens, at line ends if possible.
func splitText(s string, size int) []string {
	if len(s) <= size || tokens.Raw(s) <= size { // a token has at least one byte
		return []string{s}
	}
	middle := len(s) / 2
	for middle > 0 && !utf8.RuneStart(s[middle]) {
		middle--
	}
	if i := strings.LastIndexByte(s[:middle], '\n'); i > middle/2 {
		middle = i + 1
	}
	if middle == 0 {
		return []string{s}
	}
	return append(splitText(s[:middle], size), splitText(s[middle:], size)...)
}

// lastMessage returns the last message of an item.
func lastMessage(it version.Item) int { return max(it.N, it.To) }

// messageRange formats the messages of an item: "12" or "12-14".
func messageRange(it version.Item) string {
	if lastMessage(it) == it.N {
		return fmt.Sprint(it.N)
	}
	return fmt.Sprintf("%d-%d", it.N, lastMessage(it))
}

// itemText returns the text of an item in the prompt.
func itemText(it version.Item) string {
	return visible(it.String()) // hidden characters are not allowed in answers
}
