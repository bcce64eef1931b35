package transcript

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

func blocks(raw []byte, whole bool) []Block {
	if len(raw) > 0 && raw[0] == '"' {
		return []Block{{Kind: Text, Text: quoted(raw)}}
	}
	var all []Block
	elements(raw, func(value []byte) bool { // content of another type has no blocks
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
	r := gjson.ParseBytes(raw)
	return Usage{Input: r.Get("input_tokens").Int(), Output: r.Get("output_tokens").Int(),
		CacheWrite: r.Get("cache_creation_input_tokens").Int(), CacheRead: r.Get("cache_read_input_tokens").Int(),
		CacheHour: r.Get("cache_creation.ephemeral_1h_input_tokens").Int(),
		Searches:  r.Get("server_tool_use.web_search_requests").Int()}
}

// member returns the string member with the given name, "" if there is none.
func member(raw []byte, name string) string { return quoted([]byte(gjson.GetBytes(raw, name).Raw)) }

// contains reports whether raw contains s literally, without unescaping.
func contains(raw []byte, s string) bool { return bytes.Contains(raw, []byte(s)) }
