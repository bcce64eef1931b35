package transcript

import (
	"bytes"
	"slices"
)

// The typical size in bytes of a message without its text: keys, ids and, for an answer, its usage. Measured on real
// sessions; accurate on average, not for each message.
const (
	aroundTyped  = 28
	aroundResult = 200
	aroundAnswer = 350
)

// smallPicture is the size up to which a message is not searched for images.
const smallPicture = 16 << 10

// read adds an estimate of the bytes of text that a model reads of a record. Only the length of the record counts,
// except for thinking, which is not read again, and images.
func (sc *Scanner) read(r record) {
	if sc.blind || r.size == 0 {
		return
	}
	n := r.size
	switch string(r.typ) {
	case "user":
		if r.meta {
			return
		}
		if r.size > smallPicture && contains(r.message, `"type":"image"`) {
			n -= textless(r.message, `"type":"image"`)
		}
		around := int64(aroundResult)
		if bytes.HasPrefix(r.message, []byte(`{"role":"user","content":"`)) {
			around = aroundTyped
		}
		n = max(n-around, n/4)
	case "assistant":
		if thinks(r.message) {
			n -= textless(r.message, `"type":"thinking"`, `"type":"redacted_thinking"`)
		}
		n = max(n-aroundAnswer, min(n, aroundAnswer)/4)
	default:
		return
	}
	sc.carry.Read += max(n, 1)
}

// thinks reports whether an answer begins with thinking. Answers with thinking always do.
func thinks(message []byte) bool {
	const start = `"content":[{"type":"`
	i := bytes.Index(message, []byte(start))
	if i < 0 {
		return false
	}
	rest := message[i+len(start):]
	return bytes.HasPrefix(rest, []byte(`thinking"`)) || bytes.HasPrefix(rest, []byte(`redacted_thinking"`))
}

// textless returns the total size of the blocks of a message that contain one of the marks. A mark cannot occur
// unescaped in text.
func textless(message []byte, marks ...string) (n int64) {
	_ = members(message, func(key, value []byte) bool { // anything else has no blocks
		if string(key) != "content" {
			return true
		}
		_ = elements(value, func(block []byte) bool { // anything else has no elements
			if slices.ContainsFunc(marks, func(mark string) bool { return contains(block, mark) }) {
				n += int64(len(block))
			}
			return true
		})
		return false
	})
	return n
}
