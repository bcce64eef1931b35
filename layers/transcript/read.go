package transcript

import (
	"bytes"
	"slices"
)

// What a message has around its text, in bytes: keys, ids, and with an answer its usage. Found on real sessions; it
// need not be right for one message, only for many.
const (
	aroundTyped  = 28
	aroundResult = 200
	aroundAnswer = 350
)

// smallPicture is the size of a message in which no picture is looked for.
const smallPicture = 16 << 10

// read adds about how many bytes of text a model reads of a record. It looks at no more of the record than its length,
// but where it holds what no text is: thinking, which is not read again, and pictures.
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

// thinks reports whether an answer begins with thinking, as those do that hold any.
func thinks(message []byte) bool {
	const start = `"content":[{"type":"`
	i := bytes.Index(message, []byte(start))
	if i < 0 {
		return false
	}
	rest := message[i+len(start):]
	return bytes.HasPrefix(rest, []byte(`thinking"`)) || bytes.HasPrefix(rest, []byte(`redacted_thinking"`))
}

// textless returns how many bytes of a message are blocks that hold one of the marks, which no text holds unescaped.
func textless(message []byte, marks ...string) (n int64) {
	_ = members(message, func(key, value []byte) bool { // what is no object has no blocks
		if string(key) != "content" {
			return true
		}
		_ = elements(value, func(block []byte) bool { // nor has what is no array
			if slices.ContainsFunc(marks, func(mark string) bool { return contains(block, mark) }) {
				n += int64(len(block))
			}
			return true
		})
		return false
	})
	return n
}
