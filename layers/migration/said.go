package migration

import (
	"bytes"
	"fmt"
	"strings"
)

// A Message is a message of a compressed version.
type Message struct {
	Role       string // user or assistant
	Text       string
	UUID       string   // of the original message, or of the first one it replaces
	Summarised bool     // Text is not the text of the original
	From       []string // the messages that it replaces, if the store names them
}

// Version reads the messages of a version.
func (s *Store) Version(v Version) ([]Message, error) {
	b, err := s.bytes(v.File, maxVersion)
	if err != nil {
		return nil, err
	}
	return ParseVersion(v.File, b)
}

// ParseVersion parses the messages of a version: one JSON object per line, of type user or assistant. Other types are
// ignored. Errors name file.
func ParseVersion(file string, b []byte) ([]Message, error) {
	var out []Message
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parse(file, line)
		if err != nil {
			if e, ok := err.(*SyntaxError); ok { // parse saw one line
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
		out = append(out, Message{role, text, o.text("uuid"), summarised, o.texts("summarizedFrom")})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no message has text", file)
	}
	return out, nil
}

// contentText returns the text of a message's content: a string, or an array of blocks.
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
