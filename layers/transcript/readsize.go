package transcript

import (
	"bytes"
	"slices"
)

// The typical size in bytes of a message without its text: keys, ids and, for an answer, its usage. Measured on real
// sessions; accurate on average, not for each message.
const (
	typedOverhead  = 28
	resultOverhead = 200
	answerOverhead = 350
)

// minImageMessage is the size up to which a message is not searched for images.
const minImageMessage = 16 << 10

// read adds an estimate of the bytes of text that a model reads of a record. Only the length of the record counts,
// except for thinking, which is not read again, and images.
func (sc *Scanner) read(m Message) {
	n := int64(len(m.Message))
	if sc.readUnknown || n == 0 {
		return
	}
	switch m.Type {
	case "user":
		if m.Meta {
			return
		}
		if n > minImageMessage && contains(m.Message, `"type":"image"`) {
			n -= nonTextSize(m.Message, `"type":"image"`)
		}
		overhead := int64(resultOverhead)
		if bytes.HasPrefix(m.Message, []byte(`{"role":"user","content":"`)) {
			overhead = typedOverhead
		}
		n = max(n-overhead, n/4)
	case "assistant":
		if hasThinking(m.Message) {
			n -= nonTextSize(m.Message, `"type":"thinking"`, `"type":"redacted_thinking"`)
		}
		n = max(n-answerOverhead, min(n, answerOverhead)/4)
	default:
		return
	}
	sc.carry.Read += max(n, 1)
}

// hasThinking reports whether an answer begins with thinking. Answers with thinking always do.
func hasThinking(message []byte) bool {
	const start = `"content":[{"type":"`
	i := bytes.Index(message, []byte(start))
	if i < 0 {
		return false
	}
	rest := message[i+len(start):]
	return bytes.HasPrefix(rest, []byte(`thinking"`)) || bytes.HasPrefix(rest, []byte(`redacted_thinking"`))
}

// nonTextSize returns the total size of the blocks of a message that contain one of the marks. A mark cannot occur
// unescaped in text.
func nonTextSize(message []byte, marks ...string) (n int64) {
	_ = members(message, func(key, value []byte) bool { // anything else has no blocks
		if string(key) != "content" {
			return true
		}
		elements(value, func(block []byte) bool {
			if slices.ContainsFunc(marks, func(mark string) bool { return contains(block, mark) }) {
				n += int64(len(block))
			}
			return true
		})
		return false
	})
	return n
}
