package foreign

import (
	"bytes"
	"fmt"
	"strings"
)

// A Said is a message of a version.
type Said struct {
	Role       string // user or assistant
	Text       string
	UUID       string   // of the message that it is, or the first one that it stands for
	Summarised bool     // in other words
	From       []string // the messages that it stands for, if the store tells them
}

// Version reads the messages of a version.
func (s *Store) Version(v Version) ([]Said, error) {
	b, err := s.bytes(v.File, mostVersion)
	if err != nil {
		return nil, err
	}
	return ParseVersion(v.File, b)
}

// ParseVersion reads the messages of a version: one JSON object a line, of which those of the types user and assistant
// are messages. The file is named in errors.
func ParseVersion(file string, b []byte) ([]Said, error) {
	var out []Said
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parse(file, line)
		if err != nil {
			if e, ok := err.(*SyntaxError); ok { // a line is one line
				e.Line = n
			}
			return nil, err
		}
		m, _ := v.(map[string]any)
		o := object(m)
		role := o.text("type")
		if role != "user" && role != "assistant" {
			continue
		}
		text := contentText(o.object("message")["content"])
		if text == "" {
			text = contentText(o["content"])
		}
		if text == "" {
			continue // calls of tools and their results have no text
		}
		summarised, _ := o["isSummarized"].(bool)
		out = append(out, Said{role, text, o.text("uuid"), summarised, o.texts("summarizedFrom")})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: there is no message with text in it", file)
	}
	return out, nil
}

// contentText returns the text of a message's content: a text, or the texts of blocks.
func contentText(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		var parts []string
		for _, b := range v {
			if o, ok := b.(map[string]any); ok && o["type"] == "text" {
				if s := object(o).text("text"); s != "" {
					parts = append(parts, s)
				}
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}
