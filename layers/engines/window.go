package engines

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tokens"
)

// DefaultWindow is how many tokens of a session a model is shown at once, by its own way of counting.
const DefaultWindow = 60_000

// longestAnswer is how many plain tokens a window may be asked for: answers much longer than that get worse, and
// servers cut them off.
const longestAnswer = 8_000

// header is about what the line in front of an item costs, in plain tokens.
const header = 12

// A window is a run of items that a model is shown at once.
type window struct {
	items []compress.Item
	raw   int // plain tokens
}

// cut divides items into windows of at most size plain tokens each, of about the same length, and at least least of
// them. An item that is longer than a window is divided, too.
func cut(items []compress.Item, size, least int) []window {
	total := 0
	var pieces []compress.Item
	var cost []int
	for _, it := range items {
		for _, text := range pieceTexts(it.Text, size-header) {
			p := it
			p.Text = text
			n := tokens.Raw(text) + tokens.Raw(it.Target) + header
			pieces, cost, total = append(pieces, p), append(cost, n), total+n
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	n := max(1, least, (total+size-1)/size)
	target := min(size, total/n+header)
	var out []window
	w := window{}
	for i, p := range pieces {
		if w.raw > 0 && w.raw+cost[i] > target {
			out = append(out, w)
			w = window{}
		}
		w.items, w.raw = append(w.items, p), w.raw+cost[i]
	}
	return append(out, w)
}

// pieceTexts divides a text into pieces of at most size plain tokens, at the ends of lines where there are some.
func pieceTexts(s string, size int) []string {
	if len(s) <= size || tokens.Raw(s) <= size { // no token is empty
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
	return append(pieceTexts(s[:middle], size), pieceTexts(s[middle:], size)...)
}

// last is the last of an item's messages.
func last(it compress.Item) int { return max(it.N, it.To) }

// numbers writes the messages of an item: "12" or "12-14".
func numbers(it compress.Item) string {
	if last(it) == it.N {
		return fmt.Sprint(it.N)
	}
	return fmt.Sprintf("%d-%d", it.N, last(it))
}

// whole is the text of an item as the model is shown it.
func whole(it compress.Item) string {
	text := it.Text
	if it.Kind == compress.Edit {
		text = strings.TrimSpace("changed " + it.Target + " " + it.Text)
	}
	if strings.ContainsFunc(text, hidden) { // no answer may hold it
		return strings.Map(func(r rune) rune {
			if hidden(r) {
				return -1
			}
			return r
		}, text)
	}
	return text
}
