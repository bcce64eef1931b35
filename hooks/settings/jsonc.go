package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A node is a value in a text of JSON with comments and trailing commas, as editors and Claude Code take it: where it stands,
// and what is in it. Edits change bytes of the text and nothing else, so order, comments and spaces stay.
type node struct {
	start, end int    // of the value
	Kind       byte   // '{', '[', '"' or 'v' for a number or a word
	items      []item // of an object or an array
}

// An item is a member of an object or an element of an array.
type item struct {
	key   string // of a member
	start int    // of the key or the element
	comma int    // where the comma behind it is, -1 if there is none
	Value *node
}

// A TextError says where a text is no JSON, even with comments.
type TextError struct {
	Line int
	What string
}

func (e *TextError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// maxNesting is how deep values may nest.
const maxNesting = 200

type textParser struct {
	b   []byte
	pos int
}

// ParseText reads a text that holds one value. Nothing but white space and comments is an empty object at its end.
func ParseText(b []byte) (*node, error) {
	p := &textParser{b: b, pos: len(b) - len(bytes.TrimPrefix(b, []byte("\uFEFF")))}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos == len(b) {
		return nil, nil
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos < len(b) {
		return nil, p.fail("something stands behind the end")
	}
	return n, nil
}

func (p *textParser) fail(what string) error {
	return &TextError{1 + bytes.Count(p.b[:min(p.pos, len(p.b))], []byte("\n")), what}
}

// at returns the byte at the position, 0 at the end.
func (p *textParser) at(offset int) byte {
	if p.pos+offset < len(p.b) {
		return p.b[p.pos+offset]
	}
	return 0
}

// space passes white space and comments.
func (p *textParser) space() error {
	for p.pos < len(p.b) {
		switch c := p.b[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.pos++
		case c == '/' && p.at(1) == '/':
			end := bytes.IndexByte(p.b[p.pos:], '\n')
			if end < 0 {
				end = len(p.b) - p.pos
			}
			p.pos += end
		case c == '/' && p.at(1) == '*':
			end := bytes.Index(p.b[p.pos+2:], []byte("*/"))
			if end < 0 {
				return p.fail("a comment does not end")
			}
			p.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *textParser) value(depth int) (*node, error) {
	if depth > maxNesting {
		return nil, p.fail("too deep")
	}
	n := &node{start: p.pos, Kind: p.at(0)}
	var err error
	switch n.Kind {
	case '{', '[':
		err = p.list(n, depth)
	case '"':
		_, err = p.text()
	default:
		n.Kind = 'v'
		err = p.word()
	}
	n.end = p.pos
	return n, err
}

// word passes a number, true, false or null.
func (p *textParser) word() error {
	start := p.pos
	for p.pos < len(p.b) && bytes.IndexByte([]byte(" \t\r\n,]}:/\"{["), p.b[p.pos]) < 0 {
		p.pos++
	}
	if !json.Valid(p.b[start:p.pos]) {
		p.pos = start
		return p.fail("not a value")
	}
	return nil
}

// text passes a string and returns what it says.
func (p *textParser) text() (s string, err error) {
	start := p.pos
	for p.pos++; p.pos < len(p.b) && p.b[p.pos] != '"'; p.pos++ {
		if p.b[p.pos] == '\\' {
			p.pos++
		}
	}
	if p.pos >= len(p.b) {
		p.pos = start
		return "", p.fail("a string does not end")
	}
	p.pos++
	if json.Unmarshal(p.b[start:p.pos], &s) != nil {
		p.pos = start
		return "", p.fail("not a string")
	}
	return s, nil
}

// list reads an object or an array.
func (p *textParser) list(n *node, depth int) error {
	closer := n.Kind + 2 // of '{' and '[' alike
	p.pos++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.at(0) == closer {
			p.pos++
			return nil
		}
		if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
			return p.fail("a comma is missing")
		}
		it, err := p.item(n.Kind == '{', depth)
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if it.comma = -1; p.at(0) == ',' {
			it.comma = p.pos
			p.pos++
		}
		n.items = append(n.items, it)
	}
}

func (p *textParser) item(member bool, depth int) (it item, err error) {
	it.start = p.pos
	if member {
		if p.at(0) != '"' {
			return it, p.fail("not a member")
		}
		if it.key, err = p.text(); err != nil {
			return it, err
		}
		if err := p.space(); err != nil {
			return it, err
		}
		if p.at(0) != ':' {
			return it, p.fail("a colon is missing")
		}
		p.pos++
		if err := p.space(); err != nil {
			return it, err
		}
	}
	it.Value, err = p.value(depth + 1)
	return it, err
}

// Member returns the item with a key, the last one if there are several, as JavaScript has it.
func (n *node) Member(key string) *item {
	for i := len(n.items) - 1; i >= 0; i-- {
		if n.items[i].key == key {
			return &n.items[i]
		}
	}
	return nil
}

// once reports whether no other item has the key: without the last of several, the one before it would count.
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
func (n *node) Plain(b []byte) []byte {
	switch n.Kind {
	case '{', '[':
		out := []byte{n.Kind}
		for i, it := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			if n.Kind == '{' {
				key, _ := json.Marshal(it.key) // a string always encodes
				out = append(append(out, key...), ':')
			}
			out = append(out, it.Value.Plain(b)...)
		}
		return append(out, n.Kind+2)
	}
	return b[n.start:n.end]
}
