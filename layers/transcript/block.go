package transcript

import (
	"bytes"
	"strconv"
	"strings"
)

func blocks(raw []byte, whole bool) []Block {
	if len(raw) > 0 && raw[0] == '"' {
		return []Block{{Kind: Text, Text: quoted(raw)}}
	}
	var all []Block
	_ = elements(raw, func(value []byte) bool { // content of another type has no blocks
		if len(value) > 0 && value[0] == '"' {
			all = append(all, Block{Kind: Text, Text: quoted(value)})
		} else {
			all = append(all, block(value, whole))
		}
		return true
	})
	return all
}

func block(raw []byte, whole bool) Block {
	b := Block{}
	var text, thinking []byte
	_ = members(raw, func(key, value []byte) bool { // a block that is not an object has kind Other
		switch string(key) {
		case "type":
			b.Kind = Kind(quoted(value))
		case "text":
			text = value
		case "thinking":
			thinking = value
		case "name":
			b.Name = quoted(value)
		case "id", "tool_use_id":
			b.ToolID = quoted(value)
		case "input":
			b.Input = value
		case "content":
			b.Content = value
		case "is_error":
			b.IsError = string(value) == "true"
		}
		return true
	})
	switch b.Kind {
	case Text:
		b.Text = quoted(text)
	case Thinking:
		if whole {
			b.Text = quoted(thinking)
		}
	case ToolResult:
		if whole {
			b.Text = resultText(b.Content)
		}
	case ToolUse, Image:
	default:
		b.Kind = Other
	}
	return b
}

// resultText returns the text of a tool result's content, which is a string or a list of blocks. Only text blocks
// count.
func resultText(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return quoted(raw)
	}
	return contentText(raw)
}

// contentText returns raw if it is a string, or its text blocks, one per line.
func contentText(raw []byte) string {
	var parts []string
	for _, b := range blocks(raw, false) {
		if b.Kind == Text {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func usage(raw []byte) Usage {
	var u Usage
	_ = members(raw, func(key, value []byte) bool { // anything else has no usage
		switch string(key) {
		case "input_tokens":
			u.Input = number(value)
		case "output_tokens":
			u.Output = number(value)
		case "cache_creation_input_tokens":
			u.CacheWrite = number(value)
		case "cache_read_input_tokens":
			u.CacheRead = number(value)
		case "cache_creation":
			u.CacheHour = countIn(value, "ephemeral_1h_input_tokens")
		case "server_tool_use":
			u.Searches = countIn(value, "web_search_requests")
		}
		return true
	})
	return u
}

// countIn returns a number in an object, 0 if there is none.
func countIn(raw []byte, name string) (n int64) {
	_ = members(raw, func(key, value []byte) bool { // anything else has no members
		if string(key) == name {
			n = number(value)
		}
		return true
	})
	return n
}

func number(raw []byte) int64 {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// member returns the string member with the given name, "" if there is none.
func member(raw []byte, name string) string {
	found := ""
	_ = members(raw, func(key, value []byte) bool { // anything else has no members
		if string(key) == name {
			found = quoted(value)
		}
		return true
	})
	return found
}

// contains reports whether raw contains s literally, without unescaping.
func contains(raw []byte, s string) bool { return bytes.Contains(raw, []byte(s)) }
