package transcript

import (
	"bytes"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/transcript/agents"
)

// headLimit is how much of one value a [Scanner] looks at. Boundaries and numbers are right for values of any
// size; of what is said behind the limit only short members of the value are read.
const headLimit = 8 << 20

// Longest is how many bytes an object may have for what it says to be read. A longer one is kept like any other.
const Longest = 16 << 20

// A Scanner learns from one pass over a session what capture wants to know, in little memory, whatever the
// length of the lines. Bytes are written to it in pieces of any size; how they are cut makes no difference, and
// a scan that goes on from a [Carry] gives what one scan of everything gives. It is for one goroutine.
type Scanner struct {
	h       head
	sum     func([]byte) [32]byte
	base    int64 // offset of the first byte written
	carry   Carry
	blind   bool // the scan that this one goes on from did not measure Carry.Read
	prompts []Prompt
	long    int
	keyText []byte
}

// NewScanner returns a Scanner for the bytes from carry.Closed on; the zero Carry is that of an empty session. sum is
// the hash of which a [Prompt] keeps the first bytes.
func NewScanner(carry Carry, sum func([]byte) [32]byte) *Scanner {
	return &Scanner{h: head{limit: headLimit}, carry: carry, base: carry.Closed, blind: carry.Messages > 0 &&
		carry.Read == 0, sum: sum}
}

// Write scans p. It never fails and keeps no reference to p.
func (sc *Scanner) Write(p []byte) (int, error) {
	sc.h.feed(p, func(v piece) bool {
		sc.carry.Values++
		if v.opaque {
			sc.carry.Opaque++
		} else {
			if v.end-v.start > Longest {
				sc.long++
			}
			sc.record(sc.h.raw(v, p), v.fields, func(i int) []byte { return sc.h.member(v, i, p) })
		}
		return true
	})
	return len(p), nil
}

// Summary returns what was found so far. A value that is not closed is not counted yet.
func (sc *Scanner) Summary() Summary {
	c := sc.carry
	c.Closed = sc.base + sc.h.s.closed()
	return Summary{Carry: c, Tail: sc.h.s.off - sc.h.s.closed(), Prompts: sc.prompts, Long: sc.long}
}

// A record is what the top-level members of an object say, not decoded.
type record struct {
	typ, timestamp, session, agent, cwd, branch, version, uuid []byte
	message, title, leaf, entrypoint, program                  []byte
	size                                                       int64 // of message, behind the limit too
	// of message, what is before the limit, if it ends behind it
	begun                    []byte
	meta, sidechain, compact bool
}

// record takes the object raw, whose members are where fields says. late gives those that raw does not reach,
// as [head.member] does.
func (sc *Scanner) record(raw []byte, fields []field, late func(i int) []byte) {
	c := &sc.carry
	if contains(raw, "##keepit") {
		c.Marked++
	}
	r := members1(raw, fields, late)
	if r.message == nil && r.begun == nil && len(raw) < headLimit {
		if rec := agents.Record(raw, string(r.typ), string(r.program)); rec != nil {
			sc.foreign(rec)
			return
		}
	}
	sc.own(raw, r)
}

// foreign takes a record that stands for the value of another agent.
func (sc *Scanner) foreign(rec []byte) {
	var m machine
	m.reset()
	if _, verdict := m.feed(rec); verdict == done {
		sc.own(rec, members1(rec, m.fields[:m.n], func(int) []byte { return nil }))
	}
}

// own takes a record whose members are r.
func (sc *Scanner) own(raw []byte, r record) {
	c := &sc.carry
	if len(r.timestamp) > 0 {
		if t, err := time.Parse(time.RFC3339, string(r.timestamp)); err == nil {
			if c.First.IsZero() {
				c.First = t.UTC()
			}
			c.Last = t.UTC()
		}
	}
	first(&c.SessionID, r.session)
	first(&c.Cwd, r.cwd)
	replace(&c.Branch, r.branch)
	replace(&c.Version, r.version)
	sc.read(r)
	switch string(r.typ) {
	case "user":
		if r.message == nil {
			sc.begun(r)
			return
		}
		sc.message(r)
		if !r.meta && !r.compact && !r.sidechain && speaks(r.message) {
			sc.typed(raw)
		}
	case "assistant":
		if r.message != nil {
			sc.message(r)
		}
	case "attachment":
		if contains(raw, "queued_command") {
			sc.typed(raw)
		}
	case "queue-operation":
		sc.typed(raw)
	case "summary":
		from := FromStray
		if len(r.leaf) > 0 && string(r.leaf) == c.LastUUID {
			from = FromSummary
		}
		c.title(quoted(r.title), from, false)
	case "custom-title":
		c.title(quoted(r.title), FromUser, false)
	}
}

// members1 picks the members that matter. Strings lose their quotes only: what is compared or shown has no escapes but
// in paths of Windows, which [first] decodes.
func members1(raw []byte, fields []field, late func(i int) []byte) record {
	var r record
	for i, f := range fields {
		var key, v []byte
		if f.v1 <= int64(len(raw)) {
			key, v = raw[f.k0:f.k1], raw[f.v0:f.v1]
		} else if b := late(i); b != nil && string(b[:f.k1-f.k0]) != "message" {
			key, v = b[:f.k1-f.k0], b[f.v0-f.k0:]
		} else {
			if f.k1 <= int64(len(raw)) && string(raw[f.k0:f.k1]) == "message" {
				r.size, r.begun = f.v1-f.v0, raw[min(f.v0, int64(len(raw))):]
			}
			continue
		}
		switch string(key) {
		case "type":
			r.typ = bare(v)
		case "timestamp":
			r.timestamp = bare(v)
		case "sessionId":
			r.session = v
		case "agent":
			r.program = bare(v)
		case "agentId":
			r.agent = v
		case "cwd":
			r.cwd = v
		case "gitBranch":
			r.branch = v
		case "version":
			r.version = v
		case "uuid":
			r.uuid = v
		case "message":
			r.message, r.size = v, int64(len(v))
		case "isMeta":
			r.meta = string(v) == "true"
		case "isSidechain":
			r.sidechain = string(v) == "true"
		case "isCompactSummary":
			r.compact = string(v) == "true"
		case "summary", "customTitle":
			r.title = v
		case "entrypoint":
			r.entrypoint = bare(v)
		case "leafUuid":
			r.leaf = bare(v)
		}
	}
	return r
}

// message counts a user or assistant record.
func (sc *Scanner) message(r record) {
	c := &sc.carry
	replace(&c.LastUUID, r.uuid)
	assistant := string(r.typ) == "assistant"
	var id, model []byte
	if assistant {
		_ = members(r.message, func(key, value []byte) bool { // what is no object has neither
			switch string(key) {
			case "id":
				id = bare(value)
			case "model":
				model = value
			}
			return id == nil || model == nil
		})
		if string(bare(model)) != "<synthetic>" {
			replace(&c.Model, model)
		}
	}
	if c.Messages == 0 && r.sidechain {
		first(&c.AgentID, r.agent)
	}
	if r.meta {
		return
	}
	if assistant && len(id) > 0 {
		if string(id) == c.LastID {
			return
		}
		c.LastID = string(id)
	} else if assistant {
		c.LastID = ""
	}
	c.Messages++
}

// speaks reports whether the message of a user record holds text and not only tool results.
func speaks(message []byte) bool {
	found := false
	_ = members(message, func(key, value []byte) bool { // what is no object says nothing
		if string(key) != "content" {
			return true
		}
		if len(value) > 0 && value[0] == '"' {
			found = true
			return false
		}
		_ = elements(value, func(block []byte) bool { // neither string nor array: nothing
			if block[0] == '"' {
				found = true
			} else {
				_ = members(block, func(key, value []byte) bool { // no object: no text
					if string(key) == "type" {
						found = found || string(value) == `"text"`
						return false
					}
					return true
				})
			}
			return !found
		})
		return false
	})
	return found
}

// typed takes a record that may hold what the user typed.
func (sc *Scanner) typed(raw []byte) {
	c := &sc.carry
	m, err := decode(Value{N: c.Values, Raw: raw}, false)
	if err != nil {
		return // cut off at the limit: counted, but nobody typed that much
	}
	text, ok := c.Queue.Typed(m)
	if !ok {
		return
	}
	c.Typed++
	c.title(titleOf(text), FromTyped, c.Queue.Script)
	sc.keyText = append(append(sc.keyText[:0], "user\n"...), m.TS...)
	sc.keyText = append(append(sc.keyText, '\n'), text...)
	p := Prompt{N: c.Values}
	hash := sc.sum(sc.keyText)
	copy(p.Key[:], hash[:])
	if !c.Queue.Script && strings.Contains(text, "##keepit") {
		p.Text = text
	}
	sc.prompts = append(sc.prompts, p)
}

// begun takes the title from a message that goes on behind the limit. It is not counted: nobody typed that much.
func (sc *Scanner) begun(r record) {
	c := &sc.carry
	if r.meta || r.compact || r.sidechain || c.TitleFrom >= FromTyped {
		return
	}
	if text, ok := Typed(Message{Type: "user", Blocks: []Block{{Kind: Text, Text: opening(r.begun)}}}); ok {
		c.title(titleOf(text), FromTyped, !Interactive(string(r.entrypoint)))
	}
}

// opening returns the beginning of the first text of a message that is cut off.
func opening(message []byte) (text string) {
	_ = members(message, func(key, value []byte) bool { // what is cut off ends in an error
		if string(key) != "content" || len(value) == 0 {
			return true
		}
		if value[0] == '"' {
			text = beginning(value)
			return false
		}
		_ = elements(value, func(block []byte) bool { // as above
			_ = members(block, func(key, value []byte) bool { // as above
				if string(key) == "text" {
					text = beginning(value)
				}
				return text == ""
			})
			return text == ""
		})
		return false
	})
	return text
}

// beginning returns the first few thousand bytes of a JSON string that may be cut off.
func beginning(raw []byte) string {
	const most = 4 << 10
	if len(raw) > most {
		raw = raw[:most]
	}
	if raw[len(raw)-1] != '"' || len(raw) == 1 {
		raw = append(raw[:len(raw):len(raw)], '"')
	}
	return quoted(raw)
}

// bare returns what stands between the quotes of raw.
func bare(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// first sets s to the string raw if it is empty.
func first(s *string, raw []byte) {
	if *s == "" && len(raw) > 2 {
		*s = quoted(raw)
	}
}

// replace sets s to the string raw unless that is empty.
func replace(s *string, raw []byte) {
	if v := bare(raw); len(v) > 0 && string(v) != *s {
		if bytes.IndexByte(v, '\\') < 0 || quoted(raw) != *s {
			*s = quoted(raw)
		}
	}
}
