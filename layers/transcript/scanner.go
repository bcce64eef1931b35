package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/transcript/agents"
)

// Longest is the maximum length of an object that is decoded. A longer one is stored like any other.
const Longest = 16 << 20

// A Scanner collects what capture needs in one pass over a session. It keeps one line in memory. The result does not depend on the size of the writes, and a scan that continues from a [Carry] gives the same result as
// one scan of everything. It is not safe for use by several goroutines.
type Scanner struct {
	s           splitter
	sum         func([]byte) [32]byte
	carry       Carry
	readUnknown bool // Carry.Read is unknown for the bytes before this scan
	prompts     []Prompt
	headings    []heading // of this scan
	long        int
	keyText     []byte
}

// NewScanner returns a Scanner for the bytes from carry.Closed on; use the zero Carry for a new session. sum is the
// hash function for the keys of prompts.
func NewScanner(carry Carry, sum func([]byte) [32]byte) *Scanner {
	return &Scanner{s: splitter{off: carry.Closed}, carry: carry, readUnknown: carry.Messages > 0 && carry.Read == 0, sum: sum}
}

// Write scans p. It never fails and does not retain p.
func (sc *Scanner) Write(p []byte) (int, error) {
	sc.s.feed(p, sc.value)
	return len(p), nil
}

func (sc *Scanner) value(v piece) bool {
	sc.carry.Values++
	if v.opaque {
		sc.carry.Opaque++
		return true
	}
	if len(v.raw) > Longest {
		sc.long++
	}
	sc.record(v.raw)
	return true
}

// Withdraw takes the title from messages that the user did not withdraw.
func (sc *Scanner) Withdraw(s Spans) { sc.carry.untitle(s, sc.headings) }

// Summary returns the results so far. A value that is not closed is not counted yet.
func (sc *Scanner) Summary() Summary {
	sc.s.close(false, sc.value)
	c := sc.carry
	c.Closed = sc.s.off
	var waiting []Prompt
	for _, s := range c.Queue.Rest() {
		waiting = append(waiting, sc.prompt(s))
	}
	return Summary{Carry: c, Tail: int64(len(sc.s.line)), Prompts: sc.prompts, Waiting: waiting, Long: sc.long}
}

// A record is the top-level members of an object, not decoded.
type record struct {
	typ, timestamp, session, agent, cwd, branch, version []byte
	uuid, parent                                         []byte
	message, title, leaf, entrypoint, program            []byte
	size                                                 int64 // of message
	meta, sidechain                                      bool
}

// record processes the object raw. Of one that is longer than [Longest], the message is not read.
func (sc *Scanner) record(raw []byte) {
	c := &sc.carry
	if contains(raw, "##keepit") {
		c.Marked++
	}
	r := topLevel(raw)
	if len(raw) > Longest {
		r.message = nil
	} else if r.message == nil {
		if rec := agents.Record(raw, string(r.typ), string(r.program)); rec != nil {
			sc.foreign(rec)
			return
		}
	}
	sc.own(raw, r)
}

// foreign processes the record that replaces the value of another agent.
func (sc *Scanner) foreign(rec []byte) {
	sc.carry.Forked = sc.carry.Forked || rewindOf(rec) != (Rewind{})
	sc.own(rec, topLevel(rec))
}

// own processes a record with the members r.
func (sc *Scanner) own(raw []byte, r record) {
	c := &sc.carry
	if len(r.timestamp) > 0 {
		if t, ok := timeOf(string(r.timestamp)); ok {
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
	if len(r.uuid) > 0 && !r.sidechain {
		tip := c.Tip
		defer func() { replace(&c.Tip, r.uuid) }()
		c.Forked = c.Forked || string(r.typ) == "user" && len(r.parent) > 0 && string(r.parent) != tip && hasText(r.message)
	}
	switch string(r.typ) {
	case "user":
		if r.message == nil {
			return
		}
		sc.message(r)
		if r.sidechain {
			return
		}
		text := hasText(r.message)
		if text || len(c.Queue.Asked) > 0 || contains(r.message, Refusal) {
			sc.said(raw)
		}
	case "assistant":
		if r.message == nil {
			return
		}
		sc.message(r)
		if !r.sidechain {
			sc.answer(raw, r)
			if c.TitleFrom < FromTyped {
				sc.title(heading{n: c.Values, text: subject(opening(r.message)), from: FromOutcome})
			}
		}
	case "attachment":
		if contains(raw, "queued_command") {
			sc.said(raw)
		}
	case "queue-operation":
		sc.said(raw)
	case "summary":
		from := FromStray
		if len(r.leaf) > 0 && string(r.leaf) == c.LastUUID {
			from = FromSummary
		}
		sc.title(heading{n: c.Values, text: quoted(r.title), from: from})
	case "custom-title":
		sc.title(heading{text: quoted(r.title), from: FromUser})
	case "ai-title":
		sc.title(heading{text: quoted(r.title), from: FromSummary})
	}
}

// topLevel returns the members that the scan uses. Strings only lose their quotes: the compared and shown ones have
// no escapes except in Windows paths, which [first] decodes.
func topLevel(raw []byte) (r record) {
	_ = members(raw, func(key, v []byte) bool { // of a damaged object, those before the damage
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
		case "parentUuid":
			r.parent = bare(v)
		case "message":
			r.message, r.size = v, int64(len(v))
		case "isMeta":
			r.meta = string(v) == "true"
		case "isSidechain":
			r.sidechain = string(v) == "true"
		case "summary", "customTitle", "aiTitle":
			r.title = v
		case "entrypoint":
			r.entrypoint = bare(v)
		case "leafUuid":
			r.leaf = bare(v)
		}
		return true
	})
	return r
}

// message counts a user or assistant record.
func (sc *Scanner) message(r record) {
	c := &sc.carry
	replace(&c.LastUUID, r.uuid)
	assistant := string(r.typ) == "assistant"
	var id, model []byte
	if assistant {
		_ = members(r.message, func(key, value []byte) bool { // anything else has neither
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

// hasText reports whether the message of a user record contains text and not only tool results.
func hasText(message []byte) bool {
	found := false
	_ = members(message, func(key, value []byte) bool { // anything else has no content
		if string(key) != "content" {
			return true
		}
		if len(value) > 0 && value[0] == '"' {
			found = true
			return false
		}
		_ = elements(value, func(block []byte) bool { // other content has no text
			if block[0] == '"' {
				found = true
			} else {
				_ = members(block, func(key, value []byte) bool { // anything else has no text
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

// said processes a record in which the user may say something.
func (sc *Scanner) said(raw []byte) {
	m, err := decode(Value{N: sc.carry.Values, Raw: raw}, false)
	if err != nil {
		return // it is no record
	}
	sc.add(sc.carry.Queue.Said(m))
	if _, ok := PlanSentBack(m); ok { // a request, although the model wrote it
		sc.request(m.N, firstText(m), m.byScript())
	}
}

// answer processes an answer of the model. Its blocks are needed only if it calls a tool that [Queue.Answer] notes.
func (sc *Scanner) answer(raw []byte, r record) {
	m := Message{Type: "assistant", ID: sc.carry.LastID}
	if contains(r.message, `"`+askTool+`"`) || contains(r.message, `"`+otherTools) {
		whole, err := decode(Value{N: sc.carry.Values, Raw: raw}, false)
		if err == nil {
			m = whole
		}
	}
	sc.add(sc.carry.Queue.Answer(m))
}

// add counts what the user said. Texts that left the queue belong to earlier records.
func (sc *Scanner) add(all []Said) {
	for _, s := range all {
		sc.carry.Typed++
		if s.ToolID == "" {
			sc.request(s.N, s.Text, s.Script)
		}
		p := sc.prompt(s)
		i, _ := slices.BinarySearchFunc(sc.prompts, p.N, func(q Prompt, n int) int { return cmp.Compare(q.N, n) })
		sc.prompts = slices.Insert(sc.prompts, i, p)
	}
}

// prompt returns the prompt of what the user said.
func (sc *Scanner) prompt(s Said) Prompt {
	sc.keyText = append(append(sc.keyText[:0], "user\n"...), s.TS...)
	sc.keyText = append(append(sc.keyText, '\n'), s.Text...)
	p := Prompt{N: s.N}
	hash := sc.sum(sc.keyText)
	copy(p.Key[:], hash[:])
	if !s.Script && strings.Contains(s.Text, "##keepit") {
		p.Text = s.Text
	}
	return p
}

// opening returns the beginning of the first text of a message.
func opening(message []byte) (text string) {
	_ = members(message, func(key, value []byte) bool { // anything else has no text
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

// beginning returns the first few thousand bytes of a JSON string.
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

// bare returns raw without its quotes.
func bare(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// first sets s to the string raw if s is empty.
func first(s *string, raw []byte) {
	if *s == "" && len(raw) > 2 {
		*s = quoted(raw)
	}
}

// replace sets s to the string raw unless raw is empty.
func replace(s *string, raw []byte) {
	if v := bare(raw); len(v) > 0 && string(v) != *s {
		if bytes.IndexByte(v, '\\') < 0 || quoted(raw) != *s {
			*s = quoted(raw)
		}
	}
}
