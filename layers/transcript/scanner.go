package transcript

import (
	"cmp"
	"slices"
	"strings"
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
	before      int  // messages before the record
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

// record processes the object raw. Of one that is longer than [Longest], the message is not read.
func (sc *Scanner) record(raw []byte) {
	c := &sc.carry
	sc.before = c.Messages
	if contains(raw, "##keepit") {
		c.Marked++
	}
	m, err := decode(Value{N: c.Values, Raw: raw}, false)
	if err != nil {
		return // it is an object, so this cannot happen
	}
	if !m.Time.IsZero() {
		if c.First.IsZero() {
			c.First = m.Time.UTC()
		}
		c.Last = m.Time.UTC()
	}
	c.SessionID, c.Cwd = cmp.Or(c.SessionID, m.SessionID), cmp.Or(c.Cwd, m.Cwd)
	c.Branch, c.Version = cmp.Or(m.Branch, c.Branch), cmp.Or(m.Version, c.Version)
	sc.read(m)
	c.Forked = c.Forked || m.Rewind != (Rewind{})
	if m.UUID != "" && !m.Sidechain {
		c.Forked, c.Tip = c.Forked || m.Forks(c.Tip), m.UUID
	}
	long := len(raw) > Longest
	switch m.Type {
	case "user":
		if m.Message == nil || long {
			return
		}
		sc.message(m)
		if !m.Sidechain {
			sc.said(m)
		}
	case "assistant":
		if m.Message == nil || long {
			return
		}
		sc.message(m)
		if !m.Sidechain {
			sc.add(c.Queue.Answer(m))
			if c.TitleFrom < FromTyped {
				sc.title(heading{n: c.Values, text: subject(firstText(m)), from: FromOutcome})
			}
		}
	case "attachment", "queue-operation":
		sc.said(m)
	case "summary":
		from := FromStray
		if m.LeafUUID != "" && m.LeafUUID == c.LastUUID {
			from = FromSummary
		}
		sc.title(heading{n: c.Values, text: m.Title, from: from})
	case "custom-title":
		sc.title(heading{text: m.Title, from: FromUser})
	case "ai-title":
		sc.title(heading{text: member(raw, "aiTitle"), from: FromSummary})
	}
}

// message counts a user or assistant record.
func (sc *Scanner) message(m Message) {
	c := &sc.carry
	c.LastUUID = cmp.Or(m.UUID, c.LastUUID)
	if m.Type == "assistant" && !m.Synthetic() {
		c.Model = cmp.Or(m.Model, c.Model)
	}
	if c.Messages == 0 && m.Sidechain {
		c.AgentID = cmp.Or(c.AgentID, m.AgentID)
	}
	if m.Meta {
		return
	}
	if m.Type == "assistant" {
		if m.ID != "" && m.ID == c.LastID {
			return
		}
		c.LastID = m.ID
	}
	c.Messages++
}

// said processes a record in which the user may say something.
func (sc *Scanner) said(m Message) {
	sc.add(sc.carry.Queue.Said(m))
	if _, ok := PlanSentBack(m); ok { // a request, although the model wrote it
		sc.request(m.N, firstText(m), m.byScript())
	}
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
	p := Prompt{N: s.N, Before: sc.before}
	hash := sc.sum(sc.keyText)
	copy(p.Key[:], hash[:])
	if !s.Script && strings.Contains(s.Text, "##keepit") {
		p.Text = s.Text
	}
	return p
}
