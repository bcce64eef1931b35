package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Payload has the members that mem uses of the JSON that Claude Code sends to a hook.
type Payload struct {
	Session         string // session_id
	Transcript      string // transcript_path
	Cwd             string
	Prompt          string // prompt_id
	Text            string // the start of prompt
	Source          string // of SessionStart
	AgentID         string // of events inside a subagent
	AgentTranscript string // of SubagentStop
	LastMessage     string // the start of last_assistant_message
	StopActive      bool   // stop_hook_active
	Trigger         string // of PreCompact: manual or auto

	// of PreToolUse, the start of each: the command, the edited file, its lines before and after
	Command, File, Before, After string
}

// Limits of the parts of a payload that are kept. The payload itself may be of any size.
const (
	maxKey   = 64
	maxField = 4096
	maxHint  = 512
	maxText  = 16 << 10
)

var (
	errEmpty     = errors.New("empty")
	errNoObject  = errors.New("no JSON object")
	errTruncated = errors.New("ends in the middle")
	errSyntax    = errors.New("invalid JSON")
)

// field returns where the value of a member goes. Of a hint only the start is kept; any other value must not be too
// long.
func (p *Payload) field(key string) (to *string, hint bool) {
	switch key {
	case "session_id":
		return &p.Session, false
	case "transcript_path":
		return &p.Transcript, false
	case "cwd":
		return &p.Cwd, false
	case "prompt_id":
		return &p.Prompt, false
	case "prompt":
		return &p.Text, true
	case "source":
		return &p.Source, false
	case "trigger":
		return &p.Trigger, false
	case "agent_id":
		return &p.AgentID, false
	case "agent_transcript_path":
		return &p.AgentTranscript, false
	case "last_assistant_message":
		return &p.LastMessage, true
	}
	return nil, false
}

// ReadPayload reads the JSON of an event from r, in constant memory. With brief it stops as soon as session,
// transcript and directory are known: they come first, and megabytes of a tool's output may follow. Unknown members
// are skipped and never kept.
func ReadPayload(r io.Reader, brief bool) (Payload, error) {
	var p Payload
	s := &scanner{r: r, buf: make([]byte, 0, 32<<10)}
	err := s.object(func(key string) error {
		if err := p.member(s, key); err != nil {
			return fmt.Errorf("member %s: %w", strconv.Quote(key), err)
		}
		if brief && p.Session != "" && p.Transcript != "" && p.Cwd != "" {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil {
		return Payload{}, fmt.Errorf("payload: %w", err)
	}
	return p, nil
}

var errEnough = errors.New("enough")

// member reads the value of one member.
func (p *Payload) member(s *scanner, key string) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if key == "tool_input" && c == '{' {
		return s.object(func(key string) error { return p.input(s, key) })
	}
	to, hint := p.field(key)
	switch {
	case to != nil && *to == "" && c == '"':
		limit := maxField
		if hint {
			limit = maxHint
		}
		if to == &p.Text {
			limit = maxText
		}
		text, whole, err := s.text(limit)
		switch {
		case err != nil:
			return err
		case !whole && !hint:
			return errors.New("too long")
		case !utf8.ValidString(text) && !hint:
			return errors.New("invalid UTF-8")
		}
		*to = strings.ToValidUTF8(text, "")
		return nil
	case key == "stop_hook_active" && c == 't':
		p.StopActive = true
	}
	return s.skip()
}

// input reads the value of one member of the input of a tool.
func (p *Payload) input(s *scanner, key string) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	var to *string
	switch key {
	case "command":
		to = &p.Command
	case "file_path", "notebook_path":
		to = &p.File
	case "old_string":
		to = &p.Before
	case "new_string", "content", "new_source":
		to = &p.After
	}
	if to == nil || *to != "" || c != '"' {
		return s.skip()
	}
	text, _, err := s.text(maxText)
	*to = strings.ToValidUTF8(text, "")
	return err
}

// A scanner reads JSON from a reader through a small buffer.
type scanner struct {
	r   io.Reader
	buf []byte
	pos int
	err error
}

// fill reads more when the buffer is used up. At the end of the input it fails with errTruncated.
func (s *scanner) fill() error {
	for s.pos == len(s.buf) {
		if s.err != nil {
			if s.err == io.EOF {
				return errTruncated
			}
			return s.err
		}
		n, err := s.r.Read(s.buf[:cap(s.buf)])
		s.buf, s.pos, s.err = s.buf[:n], 0, err
	}
	return nil
}

// next returns the next byte.
func (s *scanner) next() (byte, error) {
	if s.pos == len(s.buf) {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	c := s.buf[s.pos]
	s.pos++
	return c, nil
}

// peek returns the next byte that is not white space, without consuming it.
func (s *scanner) peek() (byte, error) {
	for {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			s.pos--
			return c, nil
		}
	}
}

// expect consumes white space and one of the bytes of any.
func (s *scanner) expect(any string) (byte, error) {
	c, err := s.peek()
	if err == nil && strings.IndexByte(any, c) < 0 {
		err = errSyntax
	}
	s.pos++
	return c, err
}

// object reads an object. It calls f before each value, and f must consume the value.
func (s *scanner) object(f func(key string) error) error {
	switch c, err := s.peek(); {
	case errors.Is(err, errTruncated):
		return errEmpty
	case err != nil:
		return err
	case c != '{':
		return errNoObject
	}
	s.pos++
	if c, err := s.peek(); err != nil || c == '}' {
		return err
	}
	for {
		if c, err := s.peek(); err != nil || c != '"' {
			return cmp.Or(err, errSyntax)
		}
		key, _, err := s.text(maxKey)
		if err != nil {
			return err
		}
		if _, err := s.expect(":"); err != nil {
			return err
		}
		if err := f(strings.ToValidUTF8(key, "?")); err != nil {
			return err
		}
		if c, err := s.expect(",}"); err != nil || c == '}' {
			return err
		}
	}
}

// text reads a string and keeps at most limit bytes. Whole reports whether that is all of it.
func (s *scanner) text(limit int) (text string, whole bool, err error) {
	s.pos++ // the quote
	var out []byte
	var high rune // the first half of a surrogate pair
	whole = true
	for {
		c, err := s.next()
		if err != nil {
			return "", false, err
		}
		if c == '"' {
			return string(out), whole, nil
		}
		r := rune(-1)
		if c == '\\' {
			if c, r, err = s.escape(); err != nil {
				return "", false, err
			}
		}
		if len(out) >= limit {
			whole = false
			continue
		}
		switch {
		case r >= 0xdc00 && r < 0xe000 && high != 0:
			out = utf8.AppendRune(out, 0x10000+(high-0xd800)<<10+(r-0xdc00))
		case r >= 0:
			out = utf8.AppendRune(out, r) // half of a pair becomes U+FFFD below
		default:
			out = append(out, c)
		}
		high = 0
		if r >= 0xd800 && r < 0xdc00 {
			out, high = out[:len(out)-len("\uFFFD")], r
		}
	}
}

// escape reads the rest of an escape sequence: the byte c, or the character r if r is not negative.
func (s *scanner) escape() (c byte, r rune, err error) {
	if c, err = s.next(); err != nil {
		return 0, -1, err
	}
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i], -1, nil
	}
	if c != 'u' {
		return 0, -1, errSyntax
	}
	for range 4 {
		h, err := s.next()
		if err != nil {
			return 0, -1, err
		}
		d, err := strconv.ParseUint(string(h), 16, 8)
		if err != nil {
			return 0, -1, errSyntax
		}
		r = r<<4 | rune(d)
	}
	return 0, r, nil
}

// skip consumes a value of any size and depth.
func (s *scanner) skip() error {
	for depth := 0; ; {
		c, err := s.peek()
		if err != nil {
			return err
		}
		switch c {
		case '{', '[':
			depth++
			s.pos++
		case '}', ']', ',', ':':
			if depth == 0 {
				return errSyntax
			}
			if c == '}' || c == ']' {
				depth--
			}
			s.pos++
		case '"':
			err = s.skipText()
		default:
			err = s.skipWord()
		}
		if err != nil || depth == 0 {
			return err
		}
	}
}

// skipText consumes a string. It is the hot loop for a payload of several megabytes.
func (s *scanner) skipText() error {
	s.pos++
	for {
		if err := s.fill(); err != nil {
			return err
		}
		rest := s.buf[s.pos:]
		i := 0
		for i < len(rest) && rest[i] != '"' && rest[i] != '\\' {
			i++
		}
		s.pos += i
		if i == len(rest) {
			continue
		}
		s.pos++
		if rest[i] == '"' {
			return nil
		}
		if _, err := s.next(); err != nil {
			return err
		}
	}
}

// skipWord consumes a number, true, false or null.
func (s *scanner) skipWord() error {
	for n := 0; ; n++ {
		c, err := s.next()
		if err != nil {
			return err
		}
		if strings.IndexByte("+-.0123456789eEtrufalsn", c) < 0 {
			s.pos--
			if n == 0 {
				return errSyntax
			}
			return nil
		}
	}
}
