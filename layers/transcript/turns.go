package transcript

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"slices"
	"unicode"
)

// A Common is what two transcripts of one session have in common. Records that no person and no model wrote are not
// compared: the client appends some of them after the end of a session.
type Common struct {
	Turns        int   // user and assistant records at the beginning of both
	EndA, EndB   int64 // the offsets after the last of them
	MoreA, MoreB bool  // whether further ones follow
}

// Continued reports whether b has all turns of a.
func (c Common) Continued() bool { return c.Turns > 0 && !c.MoreA }

// Compare compares the turns of two transcripts by their uuid and the words of their messages, of which half must be the
// same: paths, which differ between machines, and secrets, which only one of them has, make no difference.
func Compare(a, b io.Reader) (c Common, err error) {
	nextA, stopA := iter.Pull2(spoken(a))
	defer stopA()
	nextB, stopB := iter.Pull2(spoken(b))
	defer stopB()
	for {
		ta, errA, moreA := nextA()
		if errA != nil {
			return c, errA
		}
		tb, errB, moreB := nextB()
		if errB != nil {
			return c, errB
		}
		if !moreA || !moreB || ta.key != tb.key || !sameWords(ta.message, tb.message) {
			c.MoreA, c.MoreB = moreA, moreB
			return c, nil
		}
		c.Turns, c.EndA, c.EndB = c.Turns+1, ta.end, tb.end
	}
}

// A spokenRecord is a user or assistant record.
type spokenRecord struct {
	key     string
	message []byte
	end     int64 // the offset after it
}

// sameWords reports whether half of the words of the longer of two messages are in the other, too.
func sameWords(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	short, all, same := map[string]bool{}, 0, 0
	for w := range bytes.FieldsFuncSeq(b, notLetter) {
		short[string(w)] = true
	}
	for w := range bytes.FieldsFuncSeq(a, notLetter) {
		switch string(w) {
		case "role", "user", "assistant", "type", "text", "content": // of every message
			continue
		}
		all++
		if short[string(w)] {
			same++
		}
	}
	return 2*same >= all
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

func spoken(r io.Reader) iter.Seq2[spokenRecord, error] {
	return func(yield func(spokenRecord, error) bool) {
		for v, err := range Whole(r) {
			if err != nil {
				yield(spokenRecord{}, err)
				return
			}
			if key, message := keyAndMessage(v); key != "" && !yield(spokenRecord{key, message, v.Off + v.Size}, nil) {
				return
			}
		}
	}
}

// TurnKey identifies a user or assistant record in copies of its session: by its uuid, or by its time and message if it
// has none. It is "" for other records.
func TurnKey(v Value) string {
	key, _ := keyAndMessage(v)
	return key
}

func keyAndMessage(v Value) (key string, message []byte) {
	if v.Opaque || v.cut() {
		return "", nil
	}
	kind, uuid, other := "", "", ""
	err := members(v.Raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = quoted(value)
		case "uuid":
			uuid = quoted(value)
		case "timestamp", "message":
			other += string(value)
			if string(key) == "message" {
				message = slices.Clone(value)
			}
		}
		return true
	})
	if err != nil || kind != "user" && kind != "assistant" {
		return "", nil
	}
	return cmp.Or(uuid, other), message
}
