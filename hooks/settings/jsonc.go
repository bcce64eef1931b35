package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A node is a value in a text of JSON with comments and trailing commas, with its position in the text. Edits replace
// bytes of the text, so order, comments and white space stay.
type node struct {
	start, end int    // of the value
	Kind       byte   // '{', '[', '"', or 'v' for any other value
	items      []item // of an object or an array
	source     hujson.Value
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // of a member
	start int    // of the key or the element
	comma int    // position of the comma after it, -1 if there is none
	Value *node
}

// A TextError reports a syntax error in a text of JSON with comments.
type TextError struct {
	Line int
	What string
}

func (e *TextError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Limits of a text: the depth of its values, and the number of objects and arrays for the recursive parser.
const (
	maxNesting = 200
	maxValues  = 100_000
)

// ParseText parses a text of one value. It returns nil for a text of white space and comments.
func ParseText(b []byte) (*node, error) {
	text := bytes.TrimPrefix(b, []byte("\uFEFF"))
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxValues {
		return nil, &TextError{1, "too many values"}
	}
	v, err := hujson.Parse(text)
	if err != nil { // perhaps a comment without a newline at the end
		if v, again := hujson.Parse(append(slices.Clone(text), '\n')); again == nil {
			return newNode(v, len(b)-len(text), 0)
		}
		if onlyComments(text) {
			return nil, nil
		}
		return nil, textError(err)
	}
	return newNode(v, len(b)-len(text), 0)
}

// onlyComments reports whether text is white space and comments: it parses if a value is appended.
func onlyComments(text []byte) bool {
	v, err := hujson.Parse(slices.Concat(text, []byte("\n0")))
	return err == nil && v.StartOffset > len(text)
}

// textError parses the line out of the message of hujson, which has no field for it.
func textError(err error) error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return err
	}
	_, what, _ := strings.Cut(err.Error(), fmt.Sprintf("column %d: ", column))
	return &TextError{line, what}
}

// newNode converts v. Shift is added to its offsets.
func newNode(v hujson.Value, shift, depth int) (*node, error) {
	if depth > maxNesting {
		return nil, &TextError{1, "too deep"}
	}
	n := &node{start: shift + v.StartOffset, end: shift + v.EndOffset, Kind: 'v', source: v}
	var err error
	switch x := v.Value.(type) {
	case *hujson.Object:
		n.Kind = '{'
		for i, m := range x.Members {
			it := item{key: m.Name.Value.(hujson.Literal).String(), start: shift + m.Name.StartOffset}
			if err = n.add(it, m.Value, i == len(x.Members)-1, shift, depth); err != nil {
				return nil, err
			}
		}
	case *hujson.Array:
		n.Kind = '['
		for i, e := range x.Elements {
			it := item{start: shift + e.StartOffset}
			if err = n.add(it, e, i == len(x.Elements)-1, shift, depth); err != nil {
				return nil, err
			}
		}
	case hujson.Literal:
		if x.Kind() == '"' {
			n.Kind = '"'
		}
	}
	return n, nil
}

// add appends an item with the value v.
func (n *node) add(it item, v hujson.Value, last bool, shift, depth int) (err error) {
	it.comma = -1
	if !last || v.AfterExtra != nil {
		it.comma = shift + v.EndOffset + len(v.AfterExtra)
	}
	it.Value, err = newNode(v, shift, depth+1)
	n.items = append(n.items, it)
	return err
}

// Member returns the item with a key, the last one if there are several, as in JavaScript.
func (n *node) Member(key string) *item {
	for i := len(n.items) - 1; i >= 0; i-- {
		if n.items[i].key == key {
			return &n.items[i]
		}
	}
	return nil
}

// once reports whether exactly one item has the key. Removing the last of several would make the one before it count.
func (n *node) once(key string) bool {
	k := 0
	for _, it := range n.items {
		if it.key == key {
			k++
		}
	}
	return k == 1
}

// Plain returns the value without comments and trailing commas.
func (n *node) Plain() []byte {
	v := n.source.Clone()
	v.Minimize()
	return v.Pack()
}
